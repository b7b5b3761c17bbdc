/* SPDX-License-Identifier: MIT
 *
 * Connects the parts that make a tree: the graph with locks (model/graph), the walk
 * (analysis/path/walk.c), the stacks (stacks.c) and the filling (fill.c), and divides the memory
 * between them. query/build.c has one maker for each worker.
 */
#include "analysis/ecct/ecct.h"

#include "analysis/ecct/stacks.h"
#include "analysis/path/walk.h"
#include "model/graph/locks.h"
#include "model/graph/trace.h"

#include <stdlib.h>

/* Of memory: 1/2 + 1/8 + 1/8 + 1/4. */
enum { GRAPH_SHARE = 2, LOCKS_SHARE = 8, STACKS_SHARE = 4 };

struct weft_ecct_maker {
    const struct weft_trace *trace;
    struct weft_ecct_opts opts;
    struct weft_ecct_tree *tree;
    struct weft_ecct_stacks *stacks;
    struct weft_ecct_fill *fill;
    struct weft_graph *graph,
        *graph_of_trace; /* the first adds locks to the second, which is within it */
    struct weft_path_walked walked;
};

struct weft_ecct_maker *weft_ecct_maker_new(const struct weft_trace *trace,
                                            const struct weft_ecct_names *names,
                                            const struct weft_ecct_opts *opts)
{
    struct weft_ecct_maker *maker = calloc(1, sizeof *maker);
    if (!maker)
        return NULL;
    maker->trace = trace;
    maker->opts = *opts;
    maker->tree = weft_ecct_tree_new();
    maker->stacks = weft_ecct_stacks_new(trace, names, opts->memory_bytes / STACKS_SHARE);
    if (maker->tree && maker->stacks)
        maker->fill = weft_ecct_fill_new(maker->tree, &weft_ecct_stacks_ops, maker->stacks,
                                         opts->max_threads);
    if (maker->fill)
        return maker;
    weft_ecct_maker_free(maker);
    return NULL;
}

static void close_locks(struct weft_ecct_maker *maker)
{
    weft_path_walked_fini(&maker->walked); /* its names are the graph's */
    weft_locks_graph_close(maker->graph);
    maker->graph = NULL;
}

static void close_graphs(struct weft_ecct_maker *maker)
{
    close_locks(maker);
    weft_trace_graph_close(maker->graph_of_trace);
}

void weft_ecct_maker_free(struct weft_ecct_maker *maker)
{
    if (!maker)
        return;
    close_graphs(maker);
    weft_ecct_fill_free(maker->fill);
    weft_ecct_stacks_free(maker->stacks);
    weft_ecct_tree_free(maker->tree);
    free(maker);
}

void weft_ecct_maker_trust(struct weft_ecct_maker *maker)
{
    weft_ecct_tree_trust(maker->tree);
    weft_ecct_stacks_trust(maker->stacks);
}

const struct weft_ecct_tree *weft_ecct_maker_tree(const struct weft_ecct_maker *maker)
{
    return maker->tree;
}

enum weft_code weft_ecct_maker_window(struct weft_ecct_maker *maker, uint64_t from_ns,
                                      uint64_t to_ns, struct weft_err *err)
{
    close_locks(maker);
    if (!weft_ecct_stacks_window(maker->stacks, from_ns, to_ns))
        return weft_no_memory(err, "executions");
    enum weft_code code = maker->graph_of_trace
                              ? weft_trace_graph_window(maker->graph_of_trace, from_ns, to_ns, err)
                              : weft_trace_graph_open(maker->trace, maker->opts.known, from_ns,
                                                      to_ns, maker->opts.memory_bytes / GRAPH_SHARE,
                                                      &maker->graph_of_trace, err);
    return code == WEFT_OK
               ? weft_locks_graph_open(maker->trace, maker->graph_of_trace, from_ns, to_ns,
                                       maker->opts.locks, maker->opts.memory_bytes / LOCKS_SHARE,
                                       &maker->graph, err)
               : code;
}

enum weft_code weft_ecct_make(struct weft_ecct_maker *maker, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, const struct weft_progress *progress,
                              struct weft_ecct_made *made, struct weft_err *err)
{
    const struct weft_path_walk_opts walk = {
        .thread_id = thread_id,
        .from_ns = from_ns,
        .to_ns = to_ns,
        .progress = progress,
        .with_frames = true,
    };
    *made = (struct weft_ecct_made){ 0 };
    if (thread_id >= weft_trace_n_threads(maker->trace) || from_ns > to_ns)
        return weft_fail(
            err, WEFT_E_ARG, WEFT_NO_OFFSET,
            "expected an execution of a thread of the trace that ends after its start");
    enum weft_code code = weft_path_walk(maker->graph, &walk, &maker->walked, err);
    WEFT_THEN(code, weft_ecct_fill(maker->fill, maker->graph, &maker->walked, &made->filled, err));
    made->segments = maker->walked.segments.items;
    made->n_segments = maker->walked.segments.n;
    made->n_path_cycles = maker->walked.n_cycles;
    made->n_path_too_deep = maker->walked.n_too_deep;
    return code;
}
