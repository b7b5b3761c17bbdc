/* SPDX-License-Identifier: MIT */
#include "model/graph_trace.h"

#include "model/graph_user.h"

#include <stdlib.h>

struct trace_graph {
    struct weft_graph graph; /* first */
    struct weft_graph_user *user;
};

static struct trace_graph *of(struct weft_graph *graph)
{
    return (struct trace_graph *)graph;
}

static enum weft_code before(struct weft_graph *graph, uint32_t thread_id, uint64_t at_ns,
                             struct weft_graph_state *state, struct weft_err *err)
{
    return weft_graph_user_before(of(graph)->user, thread_id, at_ns, state, err);
}

static enum weft_code cause(struct weft_graph *graph, uint32_t thread_id,
                            struct weft_graph_state *state, struct weft_graph_edge *edge,
                            struct weft_err *err)
{
    return weft_graph_user_cause(of(graph)->user, thread_id, state, edge, err);
}

static enum weft_code arrival(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, struct weft_graph_edge *edge, struct weft_err *err)
{
    return weft_graph_user_flow(of(graph)->user, thread_id, from_ns, to_ns, edge, err);
}

static const struct weft_graph_ops trace_ops = { before, cause, arrival, NULL };

bool weft_trace_has_switches(const struct weft_trace *trace)
{
    return weft_trace_meta(trace)->events_of_kind[WEFT_EVENT_SWITCH] > 0;
}

enum weft_code weft_trace_graph_open(const struct weft_trace *trace, uint64_t from_ns,
                                     uint64_t to_ns, uint64_t memory_bytes,
                                     struct weft_graph **graph, struct weft_err *err)
{
    struct trace_graph *made = calloc(1, sizeof *made);
    *graph = NULL;
    if (!made)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for a graph");
    made->graph.ops = &trace_ops;
    enum weft_code code =
        weft_graph_user_open(trace, from_ns, to_ns, memory_bytes, &made->user, err);
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
    weft_graph_user_close(of(graph)->user);
    free(graph);
}
