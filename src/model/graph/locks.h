/* SPDX-License-Identifier: MIT
 *
 * A graph with locks, around one without them: waits get the edges of model/locks/locks.h - a
 * release, a signal, the last arrival at a barrier, the end of a thread - and those from kernel
 * events get the name of what was waited for.
 */
#ifndef WEFT_MODEL_GRAPH_LOCKS_H
#define WEFT_MODEL_GRAPH_LOCKS_H

#include "model/graph/graph.h"
#include "model/locks/locks.h"

/* `inner` stays the caller's and must live longer. Operations on locks until to_ns are read, from
 * where a wait begins that reaches into the path, at most 2 s before it,
 * when the first wait is asked for that may be one; without names if that needs more than
 * `memory_bytes` (0: no bound). Or they are `whole`, those of the whole trace, which must live
 * longer (NULL: they are read). */
WEFT_CHECKED enum weft_code weft_locks_graph_open(const struct weft_trace *trace,
                                                  struct weft_graph *inner, uint64_t from_ns,
                                                  uint64_t to_ns, const struct weft_locks *whole,
                                                  uint64_t memory_bytes, struct weft_graph **graph,
                                                  struct weft_err *err);

/* NULL is allowed. */
void weft_locks_graph_close(struct weft_graph *graph);

/* What edges mean by `lock`; lives as the graph. */
const struct weft_lock_object *weft_locks_graph_object(struct weft_graph *graph, uint32_t lock);

#endif
