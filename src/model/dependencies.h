/* SPDX-License-Identifier: MIT
 *
 * Dependencies that a user declared (docs/rules.md, "Dependencies"): what thread B does from
 * `to_ns` on was made possible by what thread A did until `from_ns`, as when B takes from a queue,
 * or reads in shared memory, what A put there. They are edges of the execution graph
 * (model/graph/trace.h).
 */
#ifndef WEFT_MODEL_DEPENDENCIES_H
#define WEFT_MODEL_DEPENDENCIES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct weft_trace;

struct weft_dependency {
    uint64_t from_ns, to_ns; /* from_ns <= to_ns */
    uint32_t from_thread_id, to_thread_id;
};

/* Replaces those of the trace by copies of these, in any order; those of a thread on itself are
 * left out. Before analyses run: readers are not locked out. WEFT_E_NOMEM changes nothing. */
WEFT_CHECKED enum weft_code weft_trace_depend(struct weft_trace *trace,
                                              const struct weft_dependency *dependencies,
                                              size_t n_dependencies, struct weft_err *err);

/* The last one that leads to the thread at at_ns or earlier, of several at one time the one that
 * began last; NULL if there is none. O(log n). */
const struct weft_dependency *weft_trace_dependency(const struct weft_trace *trace,
                                                    uint32_t thread_id, uint64_t at_ns);

#endif
