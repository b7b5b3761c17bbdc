/* SPDX-License-Identifier: MIT
 *
 * The execution graph, as whoever walks it backward sees it: the state of a thread just before a
 * point of time, what ended a wait, what reached a thread first. It is never built as a whole:
 * each answer reads what it needs.
 *
 *   thread A  ---running---+--------blocked--------+--running--
 *                          :                       ^
 *                          : the path leaves A     | wakeup
 *                          :                       |
 *   thread B  -------------+-------running---------+-----------
 */
#ifndef WEFT_MODEL_GRAPH_GRAPH_H
#define WEFT_MODEL_GRAPH_GRAPH_H

#include "base/error.h"
#include "schema/path.h"

#include <stddef.h>
#include <stdint.h>

/* A horizontal edge. */
struct weft_graph_state {
    uint64_t start_ns, end_ns;
    enum weft_path_state state;
    enum weft_path_reason reason; /* BLOCKED: as far as the state itself shows */
    int32_t cpu;                  /* -1 unknown */
    uint32_t waker_thread_id;     /* BLOCKED: the thread that ran where the wakeup came from, or
                                     WEFT_ID_NONE */
    int32_t waker_cpu;            /* where that was */
    struct weft_str name;         /* valid until the graph is closed */
    bool is_uncertain;
    bool is_timed_out;  /* BLOCKED: for something that did not come in time */
    bool is_of_program; /* inferred from calls and locks, not from kernel events */
};

/* A vertical edge: from_ns <= to_ns. */
struct weft_graph_edge {
    uint64_t from_ns, to_ns;
    uint32_t from_thread_id;
    enum weft_path_edge kind;
    uint32_t lock; /* number of what was waited for + 1; 0: none (model/graph/locks.h) */
    bool is_uncertain;
    bool is_task; /* it brought something to do: what the thread did before does not matter */
    bool is_open; /* the wait had not ended when its thread or the trace did: the thread that it is
                     for, which is not followed */
};

struct weft_graph;

/* What another thread had, and when. */
typedef enum weft_code (*weft_graph_see_fn)(void *context, uint32_t thread_id, uint64_t from_ns,
                                            uint64_t to_ns, struct weft_err *err);

struct weft_graph_ops {
    /* The state in which the instant just before at_ns lies: start_ns < at_ns <= end_ns. Where
     * nothing is known, it is UNKNOWN. at_ns > 0. */
    enum weft_code (*before)(struct weft_graph *graph, uint32_t thread_id, uint64_t at_ns,
                             struct weft_graph_state *state, struct weft_err *err);
    /* What ended a wait that `before` gave; edge->from_thread_id is WEFT_ID_NONE if no thread did,
     * or none is known. May mend state->reason, name and is_uncertain. */
    enum weft_code (*cause)(struct weft_graph *graph, uint32_t thread_id,
                            struct weft_graph_state *state, struct weft_graph_edge *edge,
                            struct weft_err *err);
    /* The earliest edge that reached a thread in [from_ns, to_ns], but for those that ended waits;
     * from_thread_id is WEFT_ID_NONE if there is none. */
    enum weft_code (*arrival)(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, struct weft_graph_edge *edge, struct weft_err *err);
    /* Calls `see` for each thread that ran on the CPU for which a PREEMPTED thread waited, interval
     * by interval of [from_ns, to_ns], as far as it is known. NULL: nothing is known. */
    enum weft_code (*occupants)(struct weft_graph *graph, uint32_t thread_id, int32_t cpu,
                                uint64_t from_ns, uint64_t to_ns, weft_graph_see_fn see,
                                void *context, struct weft_err *err);
    /* The same for requests of others that block devices served in [from_ns, to_ns], clipped, in
     * order of their begins; they may overlap. */
    enum weft_code (*sharers)(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, weft_graph_see_fn see, void *context,
                              struct weft_err *err);
};

struct weft_graph {
    const struct weft_graph_ops *ops;
};

static inline bool weft_graph_has_source(const struct weft_graph_edge *edge)
{
    return edge->from_thread_id != WEFT_ID_NONE;
}

#endif
