/* SPDX-License-Identifier: MIT
 *
 * Ranks shapes level by level, by depth: children are final before their parents, so that
 * comparisons read numbers only. A step of the merge sort compares at most as many children as the
 * shape that it moves has, which bounds the total by log n times the number of children.
 */
#include "analysis/shapes/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { INSERTION_ITEMS = 16 }; /* stretches that insertion sorts */

/* A child under its canonical id, and where it stands in the raw set. */
struct edge {
    uint32_t id, raw_edge;
};

/* A shape of the level: function rank, then first child + 1, decide most comparisons. */
struct entry {
    uint64_t key;
    uint32_t raw;
};

struct job {
    const struct weft_shape_set *raw;
    const uint32_t *ranks;
    uint32_t *raw_of, *id_of;
    struct edge *edges;            /* raw->child, each shape's in order once its level has begun */
    struct entry *entries, *spare; /* [n_shapes] */
};

/* ---- functions ------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b, void *context)
{
    const uint32_t *x = a, *y = b;
    const struct weft_str *names = context;
    int order = weft_str_compare(names[*x], names[*y]);
    return order ? order : (*x > *y) - (*x < *y);
}

enum weft_code weft_shape_function_ranks(const struct weft_str *names, size_t n_functions,
                                         struct weft_arena *arena, uint32_t **ranks,
                                         struct weft_err *err)
{
    uint32_t *ordered = malloc(n_functions * sizeof *ordered + 1);
    *ranks = WEFT_ARENA_NEW(arena, n_functions, uint32_t);
    if (!ordered || !*ranks) {
        free(ordered);
        return weft_no_memory(err, "an order of shapes");
    }
    for (size_t k = 0; k < n_functions; k++)
        ordered[k] = (uint32_t)k;
    void *context = (void *)(uintptr_t)names; /* qsort_r takes no const */
    qsort_r(ordered, n_functions, sizeof *ordered, by_name, context);
    for (size_t k = 0; k < n_functions; k++)
        (*ranks)[ordered[k]] = (uint32_t)k;
    free(ordered);
    return WEFT_OK;
}

/* ---- children ------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void sort_edges(struct edge *edges, size_t n)
{
    if (n > INSERTION_ITEMS) {
        qsort(edges, n, sizeof *edges, by_id);
        return;
    }
    for (size_t k = 1; k < n; k++) {
        const struct edge moved = edges[k];
        size_t at = k;
        for (; at > 0 && edges[at - 1].id > moved.id; at--)
            edges[at] = edges[at - 1];
        edges[at] = moved;
    }
}

static struct entry entry_of(struct job *job, uint32_t raw)
{
    uint32_t from = job->raw->first_child[raw];
    uint32_t end = job->raw->first_child[raw + 1];
    for (uint32_t k = from; k < end; k++)
        job->edges[k] = (struct edge){ .id = job->id_of[job->raw->child[k]], .raw_edge = k };
    sort_edges(job->edges + from, end - from);
    uint64_t first = from < end ? (uint64_t)job->edges[from].id + 1 : 0;
    uint64_t rank = job->ranks[job->raw->function_id[raw]];
    return (struct entry){ .key = rank << 32 | first, .raw = raw };
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* Same function, same first child: the rest decides. */
static bool children_before(const struct job *job, uint32_t x, uint32_t y)
{
    const uint32_t *first = job->raw->first_child;
    size_t n_x = first[x + 1] - first[x];
    size_t n_y = first[y + 1] - first[y];
    for (size_t k = 0; k < n_x && k < n_y; k++) {
        uint32_t id_x = job->edges[first[x] + k].id;
        uint32_t id_y = job->edges[first[y] + k].id;
        if (id_x != id_y)
            return id_x < id_y;
    }
    return n_x < n_y;
}

static bool is_before(const struct job *job, const struct entry *x, const struct entry *y)
{
    return x->key != y->key ? x->key < y->key : children_before(job, x->raw, y->raw);
}

/* Merging compares no shape with more children than the one it then moves: the whole costs no more
 * than log n times the number of children. */
static void merge(const struct job *job, struct entry *entries, size_t middle, size_t n,
                  struct entry *spare)
{
    if (!is_before(job, &entries[middle], &entries[middle - 1]))
        return;
    memcpy(spare, entries, middle * sizeof *entries);
    size_t left = 0;
    size_t right = middle;
    size_t out = 0;
    while (left < middle && right < n)
        entries[out++] =
            is_before(job, &entries[right], &spare[left]) ? entries[right++] : spare[left++];
    if (left < middle)
        memcpy(entries + out, spare + left, (middle - left) * sizeof *entries);
}

static void sort_entries(const struct job *job, struct entry *entries, size_t n,
                         struct entry *spare)
{
    if (n < 2)
        return;
    sort_entries(job, entries, n / 2, spare);
    sort_entries(job, entries + n / 2, n - n / 2, spare);
    merge(job, entries, n / 2, n, spare);
}

/* Raw ids by depth, in raw_of; `count_of` [deepest + 2] is scratch. */
static void sort_by_depth(struct job *job, uint32_t deepest, uint32_t *count_of)
{
    const struct weft_shape_set *raw = job->raw;
    for (size_t s = 0; s < raw->n_shapes; s++)
        count_of[raw->depth[s] + 1]++;
    for (uint32_t depth = 0; depth < deepest; depth++)
        count_of[depth + 1] += count_of[depth];
    for (size_t s = 0; s < raw->n_shapes; s++)
        job->raw_of[count_of[raw->depth[s]]++] = (uint32_t)s;
}

static void sort_levels(struct job *job)
{
    size_t n_shapes = job->raw->n_shapes;
    for (size_t from = 0, end; from < n_shapes; from = end) {
        uint32_t depth = job->raw->depth[job->raw_of[from]];
        for (end = from; end < n_shapes && job->raw->depth[job->raw_of[end]] == depth; end++)
            job->entries[end] = entry_of(job, job->raw_of[end]);
        sort_entries(job, job->entries + from, end - from, job->spare);
        for (size_t s = from; s < end; s++) {
            job->raw_of[s] = job->entries[s].raw;
            job->id_of[job->raw_of[s]] = (uint32_t)s;
        }
    }
}

/* ---- the result ----------------------------------------------------------------------------- */

static enum weft_code fill_set(const struct job *job, struct weft_arena *arena,
                               struct weft_shape_order *order, struct weft_err *err)
{
    const struct weft_shape_set *raw = job->raw;
    size_t n_edges = raw->first_child[raw->n_shapes];
    uint32_t *function_id = WEFT_ARENA_NEW(arena, raw->n_shapes, uint32_t);
    uint32_t *depth = WEFT_ARENA_NEW(arena, raw->n_shapes, uint32_t);
    uint32_t *first_child = WEFT_ARENA_NEW(arena, raw->n_shapes + 1, uint32_t);
    uint32_t *child = WEFT_ARENA_NEW(arena, n_edges, uint32_t);
    uint32_t *raw_edge = WEFT_ARENA_NEW(arena, n_edges, uint32_t);
    if (!function_id || !depth || !first_child || !child || !raw_edge)
        return weft_no_memory(err, "an order of shapes");
    uint32_t n = 0;
    for (size_t s = 0; s < raw->n_shapes; s++) {
        uint32_t from = job->raw_of[s];
        function_id[s] = raw->function_id[from];
        depth[s] = raw->depth[from];
        first_child[s] = n;
        for (uint32_t k = raw->first_child[from]; k < raw->first_child[from + 1]; k++, n++) {
            child[n] = job->edges[k].id;
            raw_edge[n] = job->edges[k].raw_edge;
        }
    }
    first_child[raw->n_shapes] = n;
    *order = (struct weft_shape_order){
        .set = { .n_shapes = raw->n_shapes,
                 .function_id = function_id,
                 .depth = depth,
                 .first_child = first_child,
                 .child = child },
        .raw_of = job->raw_of,
        .id_of = job->id_of,
        .raw_edge = raw_edge,
    };
    return WEFT_OK;
}

enum weft_code weft_shape_order(const struct weft_shape_set *raw, const uint32_t *function_ranks,
                                struct weft_arena *arena, struct weft_shape_order *order,
                                struct weft_err *err)
{
    uint32_t deepest = 0;
    for (size_t s = 0; s < raw->n_shapes; s++)
        deepest = raw->depth[s] > deepest ? raw->depth[s] : deepest;
    size_t n_edges = raw->first_child[raw->n_shapes];
    struct job job = {
        .raw = raw,
        .ranks = function_ranks,
        .raw_of = WEFT_ARENA_NEW(arena, raw->n_shapes, uint32_t),
        .id_of = WEFT_ARENA_NEW(arena, raw->n_shapes, uint32_t),
        .edges = malloc(n_edges * sizeof *job.edges + 1),
        .entries = malloc(raw->n_shapes * sizeof *job.entries + 1),
        .spare = malloc(raw->n_shapes * sizeof *job.spare + 1),
    };
    uint32_t *count_of = calloc((size_t)deepest + 2, sizeof *count_of);
    enum weft_code code = WEFT_OK;
    if (!job.raw_of || !job.id_of || !job.edges || !job.entries || !job.spare || !count_of) {
        code = weft_no_memory(err, "an order of shapes");
    } else {
        sort_by_depth(&job, deepest, count_of);
        sort_levels(&job);
        code = fill_set(&job, arena, order, err);
    }
    free(count_of);
    free(job.spare);
    free(job.entries);
    free(job.edges);
    return code;
}
