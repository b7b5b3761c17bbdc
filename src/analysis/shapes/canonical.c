/* SPDX-License-Identifier: MIT
 *
 * Renumbers what mining found to canonical order.
 */
#include "analysis/shapes/order.h"
#include "analysis/shapes/parts.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* The found shapes as columns. */
struct raw {
    struct weft_shape_set set;
    uint32_t *function_id, *depth, *first_child;
};

static bool raw_ready(struct raw *raw, const struct weft_shape_table *table)
{
    size_t n = table->n_nodes;
    raw->function_id = malloc((n + 1) * sizeof *raw->function_id);
    raw->depth = malloc((n + 1) * sizeof *raw->depth);
    raw->first_child = calloc(n + 1, sizeof *raw->first_child);
    if (!raw->function_id || !raw->depth || !raw->first_child)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct weft_shape_node *node = &table->nodes[i];
        uint32_t deepest = 0;
        for (uint32_t c = 0; c < node->n_children; c++) /* these come before */
            deepest = (uint32_t)weft_max_u64(deepest, raw->depth[table->child[node->first + c]]);
        raw->function_id[i] = node->function_id;
        raw->depth[i] = deepest + 1;
        raw->first_child[i + 1] = (uint32_t)(node->first + node->n_children);
    }
    raw->set =
        (struct weft_shape_set){ n, raw->function_id, raw->depth, raw->first_child, table->child };
    return true;
}

static void raw_fini(struct raw *raw)
{
    free(raw->function_id);
    free(raw->depth);
    free(raw->first_child);
}

static enum weft_code rank_functions(const struct weft_trace *trace, struct weft_arena *arena,
                                     uint32_t **ranks, struct weft_err *err)
{
    uint32_t n = weft_trace_n_functions(trace);
    struct weft_str *names = malloc(((size_t)n + 1) * sizeof *names);
    if (!names)
        return weft_no_memory(err, "shapes");
    for (uint32_t id = 0; id < n; id++)
        names[id] = weft_trace_function(trace, id)->name;
    enum weft_code code = weft_shape_function_ranks(names, n, arena, ranks, err);
    free(names);
    return code;
}

/* The table to look sets up in, with the numbers of mined->set. */
static enum weft_code make_table(struct weft_mined *mined, struct weft_err *err)
{
    const struct weft_shape_set *set = &mined->set;
    for (uint32_t i = 0; i < set->n_shapes; i++) {
        size_t n = 0;
        const uint32_t *children = weft_shape_children(set, i, &n);
        uint32_t function_id = set->function_id[i];
        if (weft_shape_table_intern(&mined->table, function_id, children, n,
                                    weft_shape_hash(function_id, children, n)) == WEFT_SHAPE_NONE)
            return weft_no_memory(err, "shapes");
    }
    return WEFT_OK;
}

static int by_shape_id(const void *a, const void *b)
{
    const struct weft_shape_row *x = a, *y = b;
    return (x->shape_id > y->shape_id) - (x->shape_id < y->shape_id);
}

/* Rows and given shapes refer to the new numbers. */
static void renumber(struct weft_mined *mined, const uint32_t *id_of)
{
    for (size_t t = 0; t < mined->n_threads; t++) {
        struct weft_mined_thread *thread = &mined->threads[t];
        for (size_t i = 0; i < thread->n_rows; i++)
            thread->rows[i].shape_id = id_of[thread->rows[i].shape_id];
        if (thread->n_rows)
            qsort(thread->rows, thread->n_rows, sizeof *thread->rows, by_shape_id);
    }
    for (size_t p = 0; p < mined->n_parts; p++)
        for (size_t i = 0; i < mined->parts[p].n_given; i++)
            if (mined->parts[p].given[i] < WEFT_SHAPE_REFUSED)
                mined->parts[p].given[i] = id_of[mined->parts[p].given[i]];
}

static enum weft_code put_in_order(const struct weft_trace *trace, const struct weft_merged *merged,
                                   struct weft_mined *mined, const struct raw *raw,
                                   const uint32_t **id_of, struct weft_err *err)
{
    uint32_t *ranks = NULL;
    struct weft_shape_order order;
    enum weft_code code = rank_functions(trace, mined->arena, &ranks, err);
    if (!code)
        code = weft_shape_order(&raw->set, ranks, mined->arena, &order, err);
    if (code)
        return code;
    size_t n_child = merged->table.n_child;
    mined->repeats = malloc((n_child + 1) * sizeof *mined->repeats);
    if (!mined->repeats)
        return weft_no_memory(err, "shapes");
    for (size_t i = 0; i < n_child; i++)
        mined->repeats[i] = merged->repeats[order.raw_edge[i]];
    mined->set = order.set;
    *id_of = order.id_of;
    renumber(mined, order.id_of);
    return make_table(mined, err);
}

enum weft_code weft_order_shapes(const struct weft_trace *trace, const struct weft_merged *merged,
                                 struct weft_mined *mined, const uint32_t **id_of,
                                 struct weft_err *err)
{
    struct raw raw = { 0 };
    mined->arena = weft_arena_new(0);
    enum weft_code code = mined->arena && raw_ready(&raw, &merged->table)
                              ? put_in_order(trace, merged, mined, &raw, id_of, err)
                              : weft_no_memory(err, "shapes");
    raw_fini(&raw);
    return code;
}
