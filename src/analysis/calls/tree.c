/* SPDX-License-Identifier: MIT
 *
 * One calling context tree of several threads: what each did in an interval, added path by path.
 */
#include "analysis/calls/calls.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/calls/scan.h"
#include "model/interval/interval.h"

#include <stdlib.h>

/* A context; its id is its place. A child has a higher id than its parent. */
struct node {
    uint32_t parent; /* id, or WEFT_ID_NONE */
    uint32_t function_id;
    uint32_t depth;
    uint64_t count, sum_ns, self_ns;
};

struct tree {
    struct {
        struct node *items;
        size_t n, cap;
    } nodes;
    struct weft_map *ids; /* (parent + 1) << 32 | function: node */
    uint64_t called_ns, no_call_ns, outside_ns;
};

struct worker {
    struct weft_interval_reader *reader;
    struct tree tree;
    struct {
        uint32_t *items; /* by context of the answer at hand: node */
        size_t n, cap;
    } node_of;
};

struct job {
    const struct weft_trace *trace;
    const struct weft_thread_filter *filter;
    const struct weft_tree_opts *opts;
    struct worker *workers;
};

/* ---- adding up ------------------------------------------------------------------------------- */

/* The child of `parent` (WEFT_ID_NONE: a root) for the function; WEFT_ID_NONE without memory. */
static uint32_t child_of(struct tree *tree, uint32_t parent, uint32_t function_id, uint32_t depth)
{
    bool is_new = false;
    if (!tree->ids)
        tree->ids = weft_map_new();
    if (!tree->ids)
        return WEFT_ID_NONE;
    const uint64_t key = (uint64_t)(parent + 1) << 32 | function_id; /* + 1: WEFT_ID_NONE is 0 */
    uint32_t id = weft_map_add(tree->ids, key, &is_new);
    if (id == WEFT_MAP_NONE || !is_new)
        return id == WEFT_MAP_NONE ? WEFT_ID_NONE : id;
    struct node *node = WEFT_VEC_PUSH(&tree->nodes);
    if (!node)
        return WEFT_ID_NONE;
    *node = (struct node){ .parent = parent, .function_id = function_id, .depth = depth };
    return id;
}

static void add_times(struct node *node, uint64_t count, uint64_t sum_ns, uint64_t self_ns)
{
    node->count += count;
    node->sum_ns += sum_ns;
    node->self_ns += self_ns;
}

static bool add_interval(struct worker *worker, const struct weft_interval *interval)
{
    struct tree *tree = &worker->tree;
    if (!weft_vec_reserve(&worker->node_of.items, &worker->node_of.cap, interval->n_contexts + 1,
                          sizeof *worker->node_of.items))
        return false;
    for (size_t i = 0; i < interval->n_contexts; i++) {
        const struct weft_interval_context *context = &interval->contexts[i];
        const uint32_t parent =
            context->parent == WEFT_ID_NONE ? WEFT_ID_NONE : worker->node_of.items[context->parent];
        uint32_t id = child_of(tree, parent, context->function_id, context->depth);
        if (id == WEFT_ID_NONE)
            return false;
        worker->node_of.items[i] = id;
        add_times(&tree->nodes.items[id], context->count, context->sum_ns, context->self_ns);
        tree->called_ns += context->parent == WEFT_ID_NONE ? context->sum_ns : 0;
    }
    tree->no_call_ns += interval->no_call_ns;
    tree->outside_ns += interval->outside_ns;
    return true;
}

static bool add_tree(struct tree *to, const struct tree *from)
{
    uint32_t *id_of = calloc(from->nodes.n + 1, sizeof *id_of);
    bool is_ok = id_of != NULL;
    for (size_t i = 0; is_ok && i < from->nodes.n; i++) {
        const struct node *node = &from->nodes.items[i];
        id_of[i] = child_of(to, node->parent == WEFT_ID_NONE ? WEFT_ID_NONE : id_of[node->parent],
                            node->function_id, node->depth);
        is_ok = id_of[i] != WEFT_ID_NONE;
        if (is_ok)
            add_times(&to->nodes.items[id_of[i]], node->count, node->sum_ns, node->self_ns);
    }
    free(id_of);
    to->called_ns += from->called_ns;
    to->no_call_ns += from->no_call_ns;
    to->outside_ns += from->outside_ns;
    return is_ok;
}

static enum weft_code run_item(void *context, size_t item, unsigned index, struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[index];
    const struct weft_thread_filter *filter = job->filter;
    const uint32_t thread_id =
        weft_scan_thread_id(filter ? filter->ids : NULL, filter ? filter->n_ids : 0, item);
    struct weft_interval interval;
    if (!worker->reader)
        worker->reader = weft_interval_reader_new(job->trace);
    if (!worker->reader)
        return weft_no_memory(err, "a tree of calls");
    enum weft_code code = weft_interval_cct(worker->reader, thread_id, job->opts->from_ns,
                                            job->opts->to_ns, &interval, err);
    if (code == WEFT_OK && !add_interval(worker, &interval))
        code = weft_no_memory(err, "a tree of calls");
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A node on its way to its row. */
struct ranked {
    uint32_t id;
    const struct node *node;
};

/* Of one parent the longest first, then by function: ids differ with the number of workers. */
static int compare_siblings(const void *a_ptr, const void *b_ptr)
{
    const struct ranked *a = a_ptr, *b = b_ptr;
    if (a->node->parent != b->node->parent)
        return a->node->parent + 1 < b->node->parent + 1 ? -1 : 1;
    if (a->node->sum_ns != b->node->sum_ns)
        return a->node->sum_ns > b->node->sum_ns ? -1 : 1;
    return (a->node->function_id > b->node->function_id) -
           (a->node->function_id < b->node->function_id);
}

/* All nodes in pre-order: ids in `order`. */
static bool put_in_order(const struct tree *tree, uint32_t *order)
{
    const size_t n = tree->nodes.n;
    struct ranked *sorted = calloc(n + 1, sizeof *sorted);
    uint32_t *first = calloc(n + 2, sizeof *first); /* by parent + 1: place in `sorted` */
    uint32_t *stack = calloc(n + 1, sizeof *stack); /* places in `sorted`: next to be put */
    bool is_ok = sorted && first && stack;
    for (uint32_t i = 0; is_ok && i < n; i++)
        sorted[i] = (struct ranked){ .id = i, .node = &tree->nodes.items[i] };
    if (is_ok) {
        qsort(sorted, n, sizeof *sorted, compare_siblings);
        for (size_t parent = 0, at = 0; parent <= n + 1; parent++) {
            if (parent <= n)
                first[parent] = (uint32_t)at;
            while (at < n && sorted[at].node->parent + 1 == parent)
                at++;
        }
        first[n + 1] = (uint32_t)n;
        size_t n_open = 0, n_put = 0;
        for (uint32_t at = first[1]; at-- > first[0];) /* the last to be put lies deepest */
            stack[n_open++] = at;
        while (n_open > 0) {
            const uint32_t id = sorted[stack[--n_open]].id;
            order[n_put++] = id;
            for (uint32_t at = first[id + 2]; at-- > first[id + 1];)
                stack[n_open++] = at;
        }
    }
    free(sorted);
    free(first);
    free(stack);
    return is_ok;
}

struct weight {
    uint64_t sum_ns;
    uint32_t place;
};

static int compare_weights(const void *a_ptr, const void *b_ptr)
{
    const struct weight *a = a_ptr, *b = b_ptr;
    if (a->sum_ns != b->sum_ns)
        return a->sum_ns > b->sum_ns ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Which places of the pre-order stay: a caller has no less time than what it calls, and stands
 * before it. */
static bool choose(const struct tree *tree, const uint32_t *order, uint32_t limit, bool *is_kept)
{
    const size_t n = tree->nodes.n;
    struct weight *weights = calloc(n + 1, sizeof *weights);
    for (uint32_t i = 0; weights && i < n; i++)
        weights[i] = (struct weight){ tree->nodes.items[order[i]].sum_ns, i };
    if (weights)
        qsort(weights, n, sizeof *weights, compare_weights);
    for (size_t i = 0; weights && i < n; i++)
        is_kept[weights[i].place] = limit == 0 || i < limit;
    free(weights);
    return weights != NULL;
}

static void fill_rows(const struct tree *tree, const uint32_t *order, const bool *is_kept,
                      uint32_t *row_of, struct weft_tree_table *table)
{
    for (size_t i = 0; i < tree->nodes.n; i++) {
        const struct node *node = &tree->nodes.items[order[i]];
        if (!is_kept[i]) {
            table->folded_self_ns += node->self_ns;
            continue;
        }
        row_of[order[i]] = (uint32_t)table->n_rows;
        table->rows[table->n_rows++] = (struct weft_tree_row){
            .parent = node->parent == WEFT_ID_NONE ? WEFT_ID_NONE : row_of[node->parent],
            .function_id = node->function_id,
            .depth = node->depth,
            .count = node->count,
            .sum_ns = node->sum_ns,
            .self_ns = node->self_ns,
        };
    }
}

static enum weft_code make_table(const struct tree *tree, const struct weft_tree_opts *opts,
                                 struct weft_tree_table **result, struct weft_err *err)
{
    const size_t n = tree->nodes.n, n_rows = opts->limit && opts->limit < n ? opts->limit : n;
    uint32_t *order = calloc(n + 1, sizeof *order), *row_of = calloc(n + 1, sizeof *row_of);
    bool *is_kept = calloc(n + 1, sizeof *is_kept);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_tree_table *table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_tree_table) : NULL;
    if (table)
        *table = (struct weft_tree_table){
            .arena = arena,
            .rows = WEFT_ARENA_NEW(arena, n_rows, struct weft_tree_row),
            .n_found = n,
            .from_ns = opts->from_ns,
            .to_ns = opts->to_ns,
            .called_ns = tree->called_ns,
            .no_call_ns = tree->no_call_ns,
            .outside_ns = tree->outside_ns,
        };
    const bool is_ok = order && row_of && is_kept && table && table->rows &&
                       put_in_order(tree, order) && choose(tree, order, opts->limit, is_kept);
    if (is_ok)
        fill_rows(tree, order, is_kept, row_of, table);
    else if (arena)
        weft_arena_free(arena);
    free(order);
    free(row_of);
    free(is_kept);
    *result = is_ok ? table : NULL;
    return is_ok ? WEFT_OK : weft_no_memory(err, "a tree of calls");
}

static enum weft_code merge(struct job *job, unsigned n_workers, struct weft_err *err)
{
    for (unsigned w = 1; w < n_workers; w++)
        if (!add_tree(&job->workers[0].tree, &job->workers[w].tree))
            return weft_no_memory(err, "a tree of calls");
    return WEFT_OK;
}

enum weft_code weft_tree_run(const struct weft_trace *trace,
                             const struct weft_thread_filter *filter,
                             const struct weft_tree_opts *opts, const struct weft_run *run,
                             struct weft_tree_table **table, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    const size_t n_ids = filter ? filter->n_ids : 0;
    const unsigned n_workers = weft_pool_workers(run->pool);
    *table = NULL;
    enum weft_code code = weft_scan_check(trace, ids, n_ids, err);
    if (code == WEFT_OK && opts->from_ns > opts->to_ns)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    if (code != WEFT_OK)
        return code;
    struct job job = { .trace = trace,
                       .filter = filter,
                       .opts = opts,
                       .workers = calloc(n_workers, sizeof *job.workers) };
    code = job.workers ? weft_pool_run(run->pool, weft_scan_n_threads(trace, ids, n_ids), run_item,
                                       &job, run->progress, err)
                       : weft_no_memory(err, "a tree of calls");
    WEFT_THEN(code, merge(&job, n_workers, err));
    WEFT_THEN(code, make_table(&job.workers[0].tree, opts, table, err));
    for (unsigned w = 0; job.workers && w < n_workers; w++) {
        weft_interval_reader_free(job.workers[w].reader);
        weft_map_free(job.workers[w].tree.ids);
        WEFT_VEC_FINI(&job.workers[w].tree.nodes);
        WEFT_VEC_FINI(&job.workers[w].node_of);
    }
    free(job.workers);
    return code;
}
