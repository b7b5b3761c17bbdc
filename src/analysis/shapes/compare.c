/* SPDX-License-Identifier: MIT
 *
 * Shapes of both sides, the lower ids first, so that children are known, go through one table; what
 * is new there is put in canonical order in the end.
 */
#include "analysis/shapes/compare.h"

#include "analysis/shapes/order.h"
#include "schema/event.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const struct weft_shape_side *sides;
    struct weft_shape_set raw; /* the columns below */
    uint32_t *function_id, *depth, *first_child, *child;
    uint32_t *slots; /* hash of a shape -> raw id + 1 */
    size_t n_slots;
    uint32_t *raw_of[2]; /* by shape of a side */
};

static int by_id(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Ascending, each once; their number. */
static uint32_t sort_children(uint32_t *children, uint32_t n)
{
    bool ascends = true;
    for (uint32_t k = 1; k < n; k++)
        ascends &= children[k - 1] < children[k];
    if (ascends)
        return n;
    qsort(children, n, sizeof *children, by_id);
    uint32_t n_kept = 1;
    for (uint32_t k = 1; k < n; k++)
        if (children[k] != children[n_kept - 1])
            children[n_kept++] = children[k];
    return n_kept;
}

static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ (hash >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static size_t slot_start(const struct job *job, uint32_t function_id, const uint32_t *children,
                         uint32_t n)
{
    uint64_t hash = mix(function_id + UINT64_C(1));
    for (uint32_t k = 0; k < n; k++)
        hash = mix(hash + children[k] + 1);
    return (size_t)hash & (job->n_slots - 1);
}

static bool is_raw(const struct job *job, uint32_t raw, uint32_t function_id,
                   const uint32_t *children, uint32_t n)
{
    uint32_t first = job->first_child[raw];
    return job->function_id[raw] == function_id && job->first_child[raw + 1] - first == n &&
           memcmp(job->child + first, children, n * sizeof *children) == 0;
}

/* The raw id of a side's shape; its children have theirs. */
static uint32_t add(struct job *job, size_t side, uint32_t shape)
{
    const struct weft_shape_side *from = &job->sides[side];
    size_t n_children;
    const uint32_t *of_shape = weft_shape_children(from->set, shape, &n_children);
    uint32_t raw = (uint32_t)job->raw.n_shapes;
    uint32_t function_id = from->common_function[from->set->function_id[shape]];
    uint32_t *children = job->child + job->first_child[raw];
    for (size_t k = 0; k < n_children; k++)
        children[k] = job->raw_of[side][of_shape[k]];
    uint32_t n = sort_children(children, (uint32_t)n_children);
    size_t at = slot_start(job, function_id, children, n);
    for (; job->slots[at]; at = (at + 1) & (job->n_slots - 1))
        if (is_raw(job, job->slots[at] - 1, function_id, children, n))
            return job->slots[at] - 1;
    job->slots[at] = raw + 1;
    job->function_id[raw] = function_id;
    job->depth[raw] = from->set->depth[shape];
    job->first_child[raw + 1] = job->first_child[raw] + n;
    job->raw.n_shapes++;
    return raw;
}

static enum weft_code init(struct job *job, struct weft_err *err)
{
    const struct weft_shape_set *a = job->sides[0].set;
    const struct weft_shape_set *b = job->sides[1].set;
    uint64_t n_shapes = (uint64_t)a->n_shapes + b->n_shapes;
    uint64_t n_children = (uint64_t)a->first_child[a->n_shapes] + b->first_child[b->n_shapes];
    if (n_shapes >= UINT32_MAX / 2 || n_children >= UINT32_MAX)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "too many shapes to compare");
    job->n_slots = 16;
    while (job->n_slots < n_shapes * 2)
        job->n_slots *= 2;
    job->function_id = malloc((n_shapes + 1) * sizeof *job->function_id);
    job->depth = malloc((n_shapes + 1) * sizeof *job->depth);
    job->first_child = calloc(n_shapes + 2, sizeof *job->first_child);
    job->child = malloc((n_children + 1) * sizeof *job->child);
    job->slots = calloc(job->n_slots, sizeof *job->slots);
    job->raw_of[0] = malloc((a->n_shapes + 1) * sizeof *job->raw_of[0]);
    job->raw_of[1] = malloc((b->n_shapes + 1) * sizeof *job->raw_of[1]);
    if (!job->function_id || !job->depth || !job->first_child || !job->child || !job->slots ||
        !job->raw_of[0] || !job->raw_of[1])
        return weft_no_memory(err, "a union of shapes");
    job->raw.function_id = job->function_id;
    job->raw.depth = job->depth;
    job->raw.first_child = job->first_child;
    job->raw.child = job->child;
    return WEFT_OK;
}

static void fini(struct job *job)
{
    free(job->function_id);
    free(job->depth);
    free(job->first_child);
    free(job->child);
    free(job->slots);
    free(job->raw_of[0]);
    free(job->raw_of[1]);
}

static enum weft_code link_sides(const struct job *job, const struct weft_shape_order *order,
                                 struct weft_arena *arena, struct weft_shape_union *all,
                                 struct weft_err *err)
{
    *all = (struct weft_shape_union){ .set = order->set };
    for (size_t side = 0; side < 2; side++) {
        size_t n = job->sides[side].set->n_shapes;
        uint32_t *of = WEFT_ARENA_NEW(arena, n, uint32_t);
        uint32_t *from = WEFT_ARENA_NEW(arena, all->set.n_shapes, uint32_t);
        if (!of || !from)
            return weft_no_memory(err, "a union of shapes");
        for (size_t s = 0; s < all->set.n_shapes; s++)
            from[s] = WEFT_ID_NONE;
        for (size_t s = n; s-- > 0;) { /* so that the lowest stays */
            of[s] = order->id_of[job->raw_of[side][s]];
            from[of[s]] = (uint32_t)s;
        }
        all->of[side] = of;
        all->from[side] = from;
    }
    return WEFT_OK;
}

enum weft_code weft_shape_union_build(const struct weft_shape_side sides[2],
                                      const struct weft_str *names, size_t n_functions,
                                      struct weft_arena *arena, struct weft_shape_union *all,
                                      struct weft_err *err)
{
    struct job job = { .sides = sides };
    struct weft_shape_order order;
    uint32_t *ranks;
    enum weft_code code = init(&job, err);
    for (size_t side = 0; !code && side < 2; side++)
        for (uint32_t s = 0; s < sides[side].set->n_shapes; s++)
            job.raw_of[side][s] = add(&job, side, s);
    if (!code)
        code = weft_shape_function_ranks(names, n_functions, arena, &ranks, err);
    if (!code)
        code = weft_shape_order(&job.raw, ranks, arena, &order, err);
    if (!code)
        code = link_sides(&job, &order, arena, all, err);
    fini(&job);
    return code;
}
