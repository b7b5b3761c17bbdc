/* SPDX-License-Identifier: MIT
 *
 * Tasks: the root calls of threads that take one task after the other, and the threads that posted
 * them.
 *
 *     poster   ----[ task  p ]--------------------
 *                          :.............         flow: posted at p, begun at b
 *     thread   --[ others      ]--[ others ]:[ task ]--
 *                          <----- queued --->
 *
 * What the thread did before b has nothing to do with its task, unless it posted it itself.
 */
#ifndef WEFT_MODEL_GRAPH_TASKS_H
#define WEFT_MODEL_GRAPH_TASKS_H

#include "model/graph/graph.h"
#include "model/trace.h"

struct weft_graph_tasks;

/* Of the part [from_ns, to_ns] of the trace. */
WEFT_CHECKED enum weft_code weft_graph_tasks_open(const struct weft_trace *trace, uint64_t from_ns,
                                                  uint64_t to_ns, uint64_t memory_bytes,
                                                  struct weft_graph_tasks **tasks,
                                                  struct weft_err *err);

/* From now on of another part; what is known of calls stays. */
void weft_graph_tasks_window(struct weft_graph_tasks *tasks, uint64_t from_ns, uint64_t to_ns);

/* NULL is allowed. */
void weft_graph_tasks_close(struct weft_graph_tasks *tasks);

/* Mends a state that ends at at_ns or later: it begins no earlier than a task that was posted; and
 * where one begins at at_ns for which the thread had no time before, it is a wait for that. */
WEFT_CHECKED enum weft_code weft_graph_tasks_before(struct weft_graph_tasks *tasks,
                                                    uint32_t thread_id, uint64_t at_ns,
                                                    struct weft_graph_state *state,
                                                    struct weft_err *err);

/* What ended a wait, `edge` being what a kernel says of that, if any. A thread that waits in no
 * call and begins a task then has waited for that. */
WEFT_CHECKED enum weft_code weft_graph_tasks_cause(struct weft_graph_tasks *tasks,
                                                   uint32_t thread_id,
                                                   struct weft_graph_state *state,
                                                   struct weft_graph_edge *edge,
                                                   struct weft_err *err);

/* The first flow that ends on the thread in [from_ns, to_ns] and began on another one. */
WEFT_CHECKED enum weft_code weft_graph_tasks_flow(struct weft_graph_tasks *tasks,
                                                  uint32_t thread_id, uint64_t from_ns,
                                                  uint64_t to_ns, struct weft_graph_edge *edge,
                                                  struct weft_err *err);

#endif
