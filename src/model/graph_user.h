/* SPDX-License-Identifier: MIT
 *
 * States of threads of which no kernel tells, from what programs tell: a thread in a call runs,
 * unless a function is open that is there to wait (model/waiting.h), or a lock was asked for that
 * another thread then released; in no call it waits for its next task, if a flow ends in that.
 */
#ifndef WEFT_MODEL_GRAPH_USER_H
#define WEFT_MODEL_GRAPH_USER_H

#include "model/graph.h"
#include "model/graph_edges.h"
#include "model/trace.h"

struct weft_graph_user;

/* Of the part [from_ns, to_ns] of the trace. */
WEFT_CHECKED enum weft_code weft_graph_user_open(const struct weft_trace *trace, uint64_t from_ns,
                                                 uint64_t to_ns, uint64_t memory_bytes,
                                                 struct weft_graph_user **user,
                                                 struct weft_err *err);

/* From now on of another part; what is known of calls stays. */
void weft_graph_user_window(struct weft_graph_user *user, uint64_t from_ns, uint64_t to_ns);

/* NULL is allowed. */
void weft_graph_user_close(struct weft_graph_user *user);

/* As the operation of a graph (model/graph.h). */
WEFT_CHECKED enum weft_code weft_graph_user_before(struct weft_graph_user *user, uint32_t thread_id,
                                                   uint64_t at_ns, struct weft_graph_state *state,
                                                   struct weft_err *err);

/* Who released the lock for which a LOCK waits. */
void weft_graph_user_cause(struct weft_graph_user *user, uint32_t thread_id,
                           const struct weft_graph_state *state, struct weft_graph_edge *edge);

/* What a wait that nobody is known to have ended was for, as the function says in which the thread
 * waited: a timer (nanosleep), the network (recv); WEFT_PATH_WAKER_UNKNOWN if it does not. Of a
 * state that was told last for the thread. */
enum weft_path_reason weft_graph_user_reason(const struct weft_graph_user *user, uint32_t thread_id,
                                             const struct weft_graph_state *state);

#endif
