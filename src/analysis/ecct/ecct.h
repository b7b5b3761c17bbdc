/* SPDX-License-Identifier: MIT
 *
 * Enhanced calling context trees: where the time of executions went, on all threads that they
 * depended on (docs/analyses/ecct.md).
 */
#ifndef WEFT_ANALYSIS_ECCT_ECCT_H
#define WEFT_ANALYSIS_ECCT_ECCT_H

#include "analysis/ecct/fill.h"
#include "analysis/ecct/names.h"
#include "base/pool.h"
#include "model/graph/spans.h"
#include "model/locks/locks.h"
#include "model/trace.h"

struct weft_ecct_opts {
    unsigned max_threads;           /* on a chain; 0: WEFT_ECCT_THREADS */
    uint64_t memory_bytes;          /* of one worker; 0: no bound */
    const struct weft_locks *locks; /* of the whole trace; NULL: read where they are needed */
    struct weft_graph_known *known; /* that workers share; NULL: each keeps its own */
};

/* Makes trees of executions, one after the other, into one generic tree. Of one worker. */
struct weft_ecct_maker;

/* The trace and the names must live longer. NULL without memory. */
struct weft_ecct_maker *weft_ecct_maker_new(const struct weft_trace *trace,
                                            const struct weft_ecct_names *names,
                                            const struct weft_ecct_opts *opts);
/* NULL is allowed. */
void weft_ecct_maker_free(struct weft_ecct_maker *maker);

/* The confidence of its tree's nodes is that of the executions made from here on. */
void weft_ecct_maker_trust(struct weft_ecct_maker *maker);

/* The tree of all executions that it made: numbers of nodes depend on their order. */
const struct weft_ecct_tree *weft_ecct_maker_tree(const struct weft_ecct_maker *maker);

/* Executions in [from_ns, to_ns] follow: what is collected of the trace for that part (packets,
 * locks, requests, spans) is collected once for all of them. Edges that begin before from_ns are
 * not known. */
WEFT_CHECKED enum weft_code weft_ecct_maker_window(struct weft_ecct_maker *maker, uint64_t from_ns,
                                                   uint64_t to_ns, struct weft_err *err);

struct weft_ecct_made {
    struct weft_ecct_filled filled;
    struct weft_path_segment *segments; /* of its path */
    size_t n_segments;
    uint64_t n_path_cycles, n_path_too_deep;
};

/* The tree of what ended on a thread at to_ns and had begun at from_ns, within the window. Valid
 * until the next one. Fails as weft_path_run does. */
WEFT_CHECKED enum weft_code weft_ecct_make(struct weft_ecct_maker *maker, uint32_t thread_id,
                                           uint64_t from_ns, uint64_t to_ns,
                                           const struct weft_progress *progress,
                                           struct weft_ecct_made *made, struct weft_err *err);

#endif
