/* SPDX-License-Identifier: MIT
 *
 * Chooses between the two sources of a thread's states: the kernel's scheduling events (kernel.c),
 * else its calls (user.c), which also fill the time before, after and between kernel events. Tasks
 * (tasks.c) and declared dependencies are applied to both. This is the graph that analysis/path and
 * analysis/ecct open.
 */
#include "model/graph/trace.h"

#include "model/dependencies.h"
#include "model/graph/kernel.h"
#include "model/graph/tasks.h"
#include "model/graph/user.h"

#include <stdlib.h>

/* The source of a thread's states. */
enum teller { NOT_ASKED, KERNEL, PROGRAM };

struct trace_graph {
    struct weft_graph graph; /* first */
    const struct weft_trace *trace;
    struct weft_graph_kernel *kernel; /* NULL: the trace has none */
    struct weft_graph_user *user;
    struct weft_graph_tasks *tasks;
    uint64_t memory_bytes;
    uint64_t kernel_last_ns; /* of its last switch */
    uint8_t *tellers;        /* by thread: enum teller */
};

static struct trace_graph *of(struct weft_graph *graph)
{
    return (struct trace_graph *)graph;
}

static bool is_told_by_kernel(struct trace_graph *graph, uint32_t thread_id)
{
    uint8_t *teller = &graph->tellers[thread_id];
    if (*teller == NOT_ASKED)
        *teller =
            graph->kernel && weft_graph_kernel_knows(graph->kernel, thread_id) ? KERNEL : PROGRAM;
    return *teller == KERNEL;
}

/* Whether the kernel's word does not reach to at_ns: events before or after its trace, or lost. */
static bool is_beyond_kernel(const struct trace_graph *graph, uint64_t at_ns,
                             const struct weft_graph_state *state)
{
    return state->state == WEFT_PATH_UNKNOWN || at_ns > graph->kernel_last_ns ||
           (state->state == WEFT_PATH_BLOCKED && state->end_ns >= graph->kernel_last_ns);
}

/* States from calls where there are none from kernel events. */
static enum weft_code fill_gap(struct trace_graph *graph, uint32_t thread_id, uint64_t at_ns,
                               struct weft_graph_state *state, struct weft_err *err)
{
    struct weft_graph_state told;
    if (!is_beyond_kernel(graph, at_ns, state) ||
        weft_trace_thread(graph->trace, thread_id)->calls == 0)
        return WEFT_OK;
    enum weft_code code = weft_graph_user_before(graph->user, thread_id, at_ns, &told, err);
    if (code != WEFT_OK || told.state == WEFT_PATH_UNKNOWN)
        return code;
    const bool was_unknown = state->state == WEFT_PATH_UNKNOWN;
    const uint64_t least_ns =
        was_unknown || state->state == WEFT_PATH_BLOCKED ? state->start_ns : graph->kernel_last_ns;
    const uint64_t most_ns = was_unknown ? state->end_ns : UINT64_MAX;
    told.start_ns = told.start_ns > least_ns ? told.start_ns : least_ns;
    told.end_ns = told.end_ns < most_ns ? told.end_ns : most_ns;
    told.is_of_program = true;
    *state = told;
    return WEFT_OK;
}

/* What a declared dependency leads to begins there: the time since what it depends on is a wait for
 * that, whatever else the thread did meanwhile. */
static void apply_dependency(const struct trace_graph *graph, uint32_t thread_id, uint64_t at_ns,
                             struct weft_graph_state *state)
{
    const struct weft_dependency *dependency =
        weft_trace_dependency(graph->trace, thread_id, at_ns);
    if (!dependency)
        return;
    if (dependency->to_ns == at_ns)
        *state = (struct weft_graph_state){
            .start_ns = dependency->from_ns < at_ns ? dependency->from_ns : at_ns - 1,
            .end_ns = at_ns,
            .state = WEFT_PATH_BLOCKED,
            .reason = WEFT_PATH_TASK,
            .cpu = -1,
            .waker_thread_id = WEFT_ID_NONE,
        };
    else if (state->state != WEFT_PATH_BLOCKED && dependency->to_ns > state->start_ns)
        state->start_ns = dependency->to_ns;
}

/* Did a declared dependency end the wait? */
static bool cause_of_dependency(const struct trace_graph *graph, uint32_t thread_id,
                                const struct weft_graph_state *state, struct weft_graph_edge *edge)
{
    const struct weft_dependency *dependency =
        state->reason == WEFT_PATH_TASK
            ? weft_trace_dependency(graph->trace, thread_id, state->end_ns)
            : NULL;
    if (!dependency || dependency->to_ns != state->end_ns)
        return false;
    *edge = (struct weft_graph_edge){ .from_ns = dependency->from_ns,
                                      .to_ns = dependency->to_ns,
                                      .from_thread_id = dependency->from_thread_id,
                                      .kind = WEFT_PATH_FLOW,
                                      .is_task = true };
    return true;
}

static enum weft_code before(struct weft_graph *graph, uint32_t thread_id, uint64_t at_ns,
                             struct weft_graph_state *state, struct weft_err *err)
{
    const bool is_kernel = is_told_by_kernel(of(graph), thread_id);
    enum weft_code code =
        is_kernel ? weft_graph_kernel_before(of(graph)->kernel, thread_id, at_ns, state, err)
                  : weft_graph_user_before(of(graph)->user, thread_id, at_ns, state, err);
    if (code == WEFT_OK && is_kernel)
        code = fill_gap(of(graph), thread_id, at_ns, state, err);
    state->is_of_program |= !is_kernel;
    WEFT_THEN(code, weft_graph_tasks_before(of(graph)->tasks, thread_id, at_ns, state, err));
    if (code == WEFT_OK)
        apply_dependency(of(graph), thread_id, at_ns, state);
    return code;
}

/* A wait of which no wakeup was seen may be one for a lock that was released. */
static enum weft_code cause_of_lock(struct trace_graph *graph, uint32_t thread_id,
                                    struct weft_graph_state *state, struct weft_graph_edge *edge,
                                    struct weft_err *err)
{
    struct weft_graph_state told;
    enum weft_code code = weft_graph_user_before(graph->user, thread_id, state->end_ns, &told, err);
    if (code != WEFT_OK || told.reason != WEFT_PATH_LOCK)
        return code;
    code = weft_graph_user_cause(graph->user, thread_id, &told, edge, err);
    if (code == WEFT_OK && weft_graph_has_source(edge)) {
        state->reason = WEFT_PATH_LOCK;
        edge->to_ns = state->end_ns;
        edge->from_ns = edge->from_ns < edge->to_ns ? edge->from_ns : edge->to_ns;
    }
    return code;
}

/* Within one machine a packet is received where it is sent: a thread of the program whose call
 * sends, as its library recorded it, where no system calls or packets say so. */
static enum weft_code cause_of_sender(struct trace_graph *graph,
                                      const struct weft_graph_state *state,
                                      struct weft_graph_edge *edge, struct weft_err *err)
{
    bool sends = false;
    if (state->waker_thread_id == WEFT_ID_NONE)
        return WEFT_OK;
    const enum weft_code code =
        weft_graph_user_sends(graph->user, state->waker_thread_id, state->end_ns, &sends, err);
    if (code == WEFT_OK && sends)
        *edge = (struct weft_graph_edge){ .from_ns = state->end_ns,
                                          .to_ns = state->end_ns,
                                          .from_thread_id = state->waker_thread_id,
                                          .kind = WEFT_PATH_PACKET,
                                          .is_uncertain = true };
    return code;
}

static enum weft_code cause_of_kernel(struct trace_graph *graph, uint32_t thread_id,
                                      struct weft_graph_state *state, struct weft_graph_edge *edge,
                                      struct weft_err *err)
{
    enum weft_code code = weft_graph_kernel_cause(graph->kernel, thread_id, state, edge, err);
    if (code == WEFT_OK && state->reason == WEFT_PATH_NETWORK && !weft_graph_has_source(edge))
        return cause_of_sender(graph, state, edge, err);
    if (code != WEFT_OK || weft_graph_has_source(edge) ||
        (state->reason != WEFT_PATH_WAKER_UNKNOWN && state->reason != WEFT_PATH_IDLE))
        return code;
    return cause_of_lock(graph, thread_id, state, edge, err);
}

static enum weft_code cause(struct weft_graph *graph, uint32_t thread_id,
                            struct weft_graph_state *state, struct weft_graph_edge *edge,
                            struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (cause_of_dependency(of(graph), thread_id, state, edge))
        return WEFT_OK;
    if (state->is_of_program)
        code = weft_graph_user_cause(of(graph)->user, thread_id, state, edge, err);
    else if (state->reason != WEFT_PATH_TASK)
        code = cause_of_kernel(of(graph), thread_id, state, edge, err);
    WEFT_THEN(code, weft_graph_tasks_cause(of(graph)->tasks, thread_id, state, edge, err));
    if (code == WEFT_OK && state->reason == WEFT_PATH_TASK && !weft_graph_has_source(edge))
        state->reason = WEFT_PATH_WAKER_UNKNOWN; /* in no call, for an unknown reason */
    else if (code == WEFT_OK && state->is_of_program && state->reason == WEFT_PATH_WAKER_UNKNOWN &&
             !weft_graph_has_source(edge))
        code = weft_graph_user_reason(of(graph)->user, thread_id, state, err);
    return code;
}

static enum weft_code arrival(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, struct weft_graph_edge *edge, struct weft_err *err)
{
    if (of(graph)->tellers[thread_id] == KERNEL)
        return weft_graph_kernel_arrival(of(graph)->kernel, thread_id, from_ns, to_ns, edge, err);
    return weft_graph_tasks_flow(of(graph)->tasks, thread_id, from_ns, to_ns, edge, err);
}

static enum weft_code occupants(struct weft_graph *graph, uint32_t thread_id, int32_t cpu,
                                uint64_t from_ns, uint64_t to_ns, weft_graph_see_fn see,
                                void *context, struct weft_err *err)
{
    if (!of(graph)->kernel)
        return WEFT_OK;
    return weft_graph_kernel_occupants(of(graph)->kernel, thread_id, cpu, from_ns, to_ns, see,
                                       context, err);
}

static enum weft_code sharers(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, weft_graph_see_fn see, void *context,
                              struct weft_err *err)
{
    if (!of(graph)->kernel)
        return weft_graph_user_sharers(of(graph)->user, thread_id, from_ns, to_ns, see, context,
                                       err);
    return weft_graph_kernel_sharers(of(graph)->kernel, thread_id, from_ns, to_ns, see, context,
                                     err);
}

static const struct weft_graph_ops trace_ops = { before, cause, arrival, occupants, sharers };

static enum weft_code open_kernel(struct trace_graph *graph, uint64_t from_ns, uint64_t to_ns,
                                  struct weft_err *err)
{
    if (!weft_trace_has_switches(graph->trace))
        return WEFT_OK;
    const enum weft_code code = weft_graph_kernel_open(
        graph->trace, from_ns, to_ns, graph->memory_bytes / 2, &graph->kernel, err);
    if (code == WEFT_OK)
        graph->kernel_last_ns = weft_graph_kernel_last_ns(graph->kernel);
    return code;
}

enum weft_code weft_trace_graph_window(struct weft_graph *graph, uint64_t from_ns, uint64_t to_ns,
                                       struct weft_err *err)
{
    weft_graph_user_window(of(graph)->user, from_ns, to_ns);
    weft_graph_tasks_window(of(graph)->tasks, from_ns, to_ns);
    if (!of(graph)->kernel)
        return open_kernel(of(graph), from_ns, to_ns, err);
    weft_graph_kernel_window(of(graph)->kernel, from_ns, to_ns);
    return WEFT_OK;
}

enum weft_code weft_trace_graph_open(const struct weft_trace *trace, uint64_t from_ns,
                                     uint64_t to_ns, uint64_t memory_bytes,
                                     struct weft_graph **graph, struct weft_err *err)
{
    struct trace_graph *made = calloc(1, sizeof *made);
    *graph = NULL;
    if (!made)
        return weft_no_memory(err, "a graph");
    made->graph.ops = &trace_ops;
    made->trace = trace;
    made->memory_bytes = memory_bytes;
    made->tellers = calloc((size_t)weft_trace_n_threads(trace) + 1, 1);
    enum weft_code code = made->tellers ? weft_graph_user_open(trace, from_ns, to_ns,
                                                               memory_bytes / 4, &made->user, err)
                                        : weft_no_memory(err, "a graph");
    WEFT_THEN(code,
              weft_graph_tasks_open(trace, from_ns, to_ns, memory_bytes / 4, &made->tasks, err));
    WEFT_THEN(code, open_kernel(made, from_ns, to_ns, err));
    if (code == WEFT_OK)
        *graph = &made->graph;
    else
        weft_trace_graph_close(&made->graph);
    return code;
}

void weft_trace_graph_close(struct weft_graph *graph)
{
    if (!graph)
        return;
    weft_graph_kernel_close(of(graph)->kernel);
    weft_graph_user_close(of(graph)->user);
    weft_graph_tasks_close(of(graph)->tasks);
    free(of(graph)->tellers);
    free(graph);
}
