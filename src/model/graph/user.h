/* SPDX-License-Identifier: MIT
 *
 * States of threads without kernel events, from what programs recorded: a thread in a call runs,
 * unless a function is open that is there to wait, or one of input or output that takes long
 * (model/graph/waiting.h), or a lock was asked for that another thread then released; in no call it
 * waits for its next task, if a flow ends in that.
 */
#ifndef WEFT_MODEL_GRAPH_USER_H
#define WEFT_MODEL_GRAPH_USER_H

#include "model/graph/edges.h"
#include "model/graph/graph.h"
#include "model/graph/spans.h"
#include "model/trace.h"

struct weft_graph_user;

/* Of the part [from_ns, to_ns] of the trace. `known` is what graphs share, or NULL. */
WEFT_CHECKED enum weft_code weft_graph_user_open(const struct weft_trace *trace,
                                                 struct weft_graph_known *known, uint64_t from_ns,
                                                 uint64_t to_ns, uint64_t memory_bytes,
                                                 struct weft_graph_user **user,
                                                 struct weft_err *err);

/* From now on of another part; what is known of calls stays. */
void weft_graph_user_window(struct weft_graph_user *user, uint64_t from_ns, uint64_t to_ns);

/* NULL is allowed. */
void weft_graph_user_close(struct weft_graph_user *user);

/* As the operation of a graph (model/graph/graph.h). */
WEFT_CHECKED enum weft_code weft_graph_user_before(struct weft_graph_user *user, uint32_t thread_id,
                                                   uint64_t at_ns, struct weft_graph_state *state,
                                                   struct weft_err *err);

/* What ended a wait, as far as the program recorded it: the release of the lock for which a LOCK
 * waits, the end of the thread that was joined, the thread that made a descriptor ready (inferred:
 * a process that is not recorded may have done so, too). Corrects state->reason. */
WEFT_CHECKED enum weft_code weft_graph_user_cause(struct weft_graph_user *user, uint32_t thread_id,
                                                  struct weft_graph_state *state,
                                                  struct weft_graph_edge *edge,
                                                  struct weft_err *err);

/* Corrects the reason, and the name, of a wait whose end is unexplained, by the function in which
 * the thread waited: a timer (nanosleep, a poll whose time was over), the network (recv), a file
 * (fsync), or else the call itself (poll). It stays as it is if that does not say. Of the state
 * that was last returned for the thread. */
WEFT_CHECKED enum weft_code weft_graph_user_reason(struct weft_graph_user *user, uint32_t thread_id,
                                                   struct weft_graph_state *state,
                                                   struct weft_err *err);

/* As the operation of a graph: the other threads that waited for files meanwhile, which may be on
 * one disk. */
WEFT_CHECKED enum weft_code weft_graph_user_sharers(struct weft_graph_user *user,
                                                    uint32_t thread_id, uint64_t from_ns,
                                                    uint64_t to_ns, weft_graph_see_fn see,
                                                    void *context, struct weft_err *err);

/* Whether the thread is then in a call that may send (weft_is_sending_name). Reads the calls there.
 */
WEFT_CHECKED enum weft_code weft_graph_user_sends(struct weft_graph_user *user, uint32_t thread_id,
                                                  uint64_t at_ns, bool *sends,
                                                  struct weft_err *err);

#endif
