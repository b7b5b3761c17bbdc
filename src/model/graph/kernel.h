/* SPDX-License-Identifier: MIT
 *
 * The execution graph of threads whose states come from kernel events (model/states/states.h):
 * wakeups, forks, packets, and which thread ran on a CPU.
 */
#ifndef WEFT_MODEL_GRAPH_KERNEL_H
#define WEFT_MODEL_GRAPH_KERNEL_H

#include "model/graph/graph.h"
#include "model/trace.h"

struct weft_graph_kernel;

/* Of the part [from_ns, to_ns] of the trace. */
WEFT_CHECKED enum weft_code weft_graph_kernel_open(const struct weft_trace *trace, uint64_t from_ns,
                                                   uint64_t to_ns, uint64_t memory_bytes,
                                                   struct weft_graph_kernel **kernel,
                                                   struct weft_err *err);

/* Of another part from now on; states and runs on CPUs are kept. */
void weft_graph_kernel_window(struct weft_graph_kernel *kernel, uint64_t from_ns, uint64_t to_ns);

/* NULL is allowed. */
void weft_graph_kernel_close(struct weft_graph_kernel *kernel);

/* Whether an event of the kernel concerns the thread. */
bool weft_graph_kernel_knows(const struct weft_graph_kernel *kernel, uint32_t thread_id);

/* When the last switch was: until then the states of threads are recorded. */
uint64_t weft_graph_kernel_last_ns(const struct weft_graph_kernel *kernel);

/* As the operations of a graph (model/graph/graph.h); of arrivals, forks. */
WEFT_CHECKED enum weft_code weft_graph_kernel_before(struct weft_graph_kernel *kernel,
                                                     uint32_t thread_id, uint64_t at_ns,
                                                     struct weft_graph_state *state,
                                                     struct weft_err *err);
WEFT_CHECKED enum weft_code weft_graph_kernel_cause(struct weft_graph_kernel *kernel,
                                                    uint32_t thread_id,
                                                    struct weft_graph_state *state,
                                                    struct weft_graph_edge *edge,
                                                    struct weft_err *err);
WEFT_CHECKED enum weft_code weft_graph_kernel_arrival(struct weft_graph_kernel *kernel,
                                                      uint32_t thread_id, uint64_t from_ns,
                                                      uint64_t to_ns, struct weft_graph_edge *edge,
                                                      struct weft_err *err);
WEFT_CHECKED enum weft_code weft_graph_kernel_occupants(struct weft_graph_kernel *kernel,
                                                        uint32_t thread_id, int32_t cpu,
                                                        uint64_t from_ns, uint64_t to_ns,
                                                        weft_graph_see_fn see, void *context,
                                                        struct weft_err *err);
WEFT_CHECKED enum weft_code weft_graph_kernel_sharers(struct weft_graph_kernel *kernel,
                                                      uint32_t thread_id, uint64_t from_ns,
                                                      uint64_t to_ns, weft_graph_see_fn see,
                                                      void *context, struct weft_err *err);

#endif
