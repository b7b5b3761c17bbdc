/* SPDX-License-Identifier: MIT
 *
 * The runs of a file of records, in order of time.
 *
 * WiredTiger reuses the number of a closed session for a new one, whose records overwrite the file
 * from its beginning; what is left of the older sessions follows:
 *
 *     file:   | newest session, from its start | end of the one before | end of the oldest |
 *     time:         3                                 2                       1
 *
 * So a step back to before all that came so far begins a run. Steps inside a run stay: there two
 * threads shared a session, and the sink repairs them.
 */
#ifndef WEFT_INGEST_OPTRACK_RUNS_H
#define WEFT_INGEST_OPTRACK_RUNS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { WEFT_OP_RECORD_BYTES = 16 };

/* A file with more runs is taken as one. */
enum { WEFT_OP_MOST_RUNS = 4096 };

struct weft_op_run {
    size_t begin, end; /* numbers of records */
    uint64_t min_ticks, max_ticks;
};

struct weft_op_runs {
    struct weft_op_run *items; /* ascending by time; no two overlap */
    size_t n, cap;
    size_t n_lost; /* records that were overwritten: as many as lie before each older run */
};

/* `records` holds n_records * 16 bytes. NOMEM. The caller frees, also after a failure. */
WEFT_CHECKED enum weft_code weft_op_runs_find(const uint8_t *records, size_t n_records,
                                              struct weft_op_runs *runs, struct weft_err *err);
void weft_op_runs_fini(struct weft_op_runs *runs);

/* Operations at the edges of a run, by the rules of docs/ingest/balance.md. */
struct weft_op_edges {
    struct {
        uint16_t *items; /* exited without entry, innermost first */
        size_t n, cap;
    } before;
    struct {
        uint16_t *items; /* entered without exit, outermost first */
        size_t n, cap;
    } open;
};

WEFT_CHECKED enum weft_code weft_op_edges_find(const uint8_t *records,
                                               const struct weft_op_run *run,
                                               struct weft_op_edges *edges, struct weft_err *err);
void weft_op_edges_fini(struct weft_op_edges *edges);

#endif
