/* SPDX-License-Identifier: MIT
 *
 * The execution graph of a trace: states and wakeups from its kernel events; packets, locks, flows
 * and forks; for threads without kernel events, states inferred from calls and locks
 * (docs/analyses/critical-path.md has the rules).
 */
#ifndef WEFT_MODEL_GRAPH_TRACE_H
#define WEFT_MODEL_GRAPH_TRACE_H

#include "model/graph/graph.h"
#include "model/graph/spans.h"
#include "model/trace.h"

/* Of the part [from_ns, to_ns]: edges that begin before it are not found. Reads nothing yet: tables
 * of packets, locks and flows of that part are made when they are first asked for, of any size
 * (base/room.h). What is read again when it is asked for again takes `memory_bytes` (0: no bound),
 * besides what `known`, of all graphs, keeps (NULL: it keeps that itself). For one thread at a
 * time. */
WEFT_CHECKED enum weft_code weft_trace_graph_open(const struct weft_trace *trace,
                                                  struct weft_graph_known *known, uint64_t from_ns,
                                                  uint64_t to_ns, uint64_t memory_bytes,
                                                  struct weft_graph **graph, struct weft_err *err);

/* From now on of another part: as if it were opened anew, but what is known of calls stays. */
WEFT_CHECKED enum weft_code weft_trace_graph_window(struct weft_graph *graph, uint64_t from_ns,
                                                    uint64_t to_ns, struct weft_err *err);

/* NULL is allowed. */
void weft_trace_graph_close(struct weft_graph *graph);

#endif
