/* SPDX-License-Identifier: MIT
 *
 * Random sets of shapes, many of them alike: most shapes are others with a child exchanged, added
 * or taken away. Ids are in order of making, children before parents: a raw set for
 * weft_shape_order.
 */
#ifndef WEFT_TESTS_RANDOM_SHAPES_H
#define WEFT_TESTS_RANDOM_SHAPES_H

#include "analysis/shapes/order.h"
#include "tap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct random_shapes_opts {
    uint32_t n_shapes; /* wanted; fewer if the rest cannot be told apart */
    uint32_t n_functions;
    uint32_t max_children;
    uint32_t max_depth;
    bool is_recursive; /* a function may be below itself */
};

struct random_shapes {
    struct random_shapes_opts opts;
    uint64_t *state;
    uint32_t *function_id, *depth, *first_child, *child, *slots;
    uint32_t n_shapes, n_slots;
    struct weft_shape_set set;
};

static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    return n ? (uint32_t)(tap_random(state) % n) : 0;
}

static inline uint64_t random_shape_hash(uint32_t function_id, const uint32_t *children, uint32_t n)
{
    uint64_t hash = function_id;
    for (uint32_t k = 0; k < n; k++)
        hash = (hash ^ children[k]) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return hash ^ hash >> 32;
}

/* Adds what stands behind the last shape's children, unless there is such a shape. */
static inline void random_shape_add(struct random_shapes *shapes, uint32_t function_id, uint32_t n)
{
    const uint32_t from = shapes->first_child[shapes->n_shapes];
    uint32_t *children = shapes->child + from;
    uint32_t at = (uint32_t)(random_shape_hash(function_id, children, n) % shapes->n_slots);
    for (; shapes->slots[at]; at = (at + 1) % shapes->n_slots) {
        const uint32_t s = shapes->slots[at] - 1;
        const uint32_t first = shapes->first_child[s];
        if (shapes->function_id[s] == function_id && shapes->first_child[s + 1] - first == n &&
            memcmp(shapes->child + first, children, n * sizeof *children) == 0)
            return;
    }
    uint32_t depth = 1;
    for (uint32_t k = 0; k < n; k++)
        depth = shapes->depth[children[k]] + 1 > depth ? shapes->depth[children[k]] + 1 : depth;
    if (depth > shapes->opts.max_depth)
        return;
    shapes->slots[at] = ++shapes->n_shapes;
    shapes->function_id[shapes->n_shapes - 1] = function_id;
    shapes->depth[shapes->n_shapes - 1] = depth;
    shapes->first_child[shapes->n_shapes] = from + n;
}

/* Puts a child among the sorted children; their number. */
static inline uint32_t random_child_add(uint32_t *children, uint32_t n, uint32_t child)
{
    uint32_t at = 0;
    while (at < n && children[at] < child)
        at++;
    if (at < n && children[at] == child)
        return n;
    memmove(children + at + 1, children + at, (n - at) * sizeof *children);
    children[at] = child;
    return n + 1;
}

static inline void random_shape_make(struct random_shapes *shapes)
{
    uint64_t *state = shapes->state;
    uint32_t *children = shapes->child + shapes->first_child[shapes->n_shapes];
    uint32_t function_id = random_below(state, shapes->opts.n_functions);
    uint32_t n = 0;
    if (shapes->n_shapes && random_below(state, 8)) { /* like another one */
        const uint32_t model = random_below(state, shapes->n_shapes);
        function_id = random_below(state, 8) ? shapes->function_id[model] : function_id;
        n = shapes->first_child[model + 1] - shapes->first_child[model];
        memcpy(children, shapes->child + shapes->first_child[model], n * sizeof *children);
        if (n && random_below(state, 2)) {
            const uint32_t gone = random_below(state, n--);
            memmove(children + gone, children + gone + 1, (n - gone) * sizeof *children);
        }
    }
    for (uint32_t k = random_below(state, 3); k > 0 && n < shapes->opts.max_children; k--) {
        const uint32_t child = random_below(state, shapes->n_shapes);
        if (child < shapes->n_shapes &&
            (shapes->opts.is_recursive || shapes->function_id[child] > function_id))
            n = random_child_add(children, n, child);
    }
    for (uint32_t k = 0; k < n; k++) /* a changed function may be below itself now */
        if (!shapes->opts.is_recursive && shapes->function_id[children[k]] <= function_id)
            return;
    random_shape_add(shapes, function_id, n);
}

/* Without recursion functions call only those of higher ids. Aborts without memory. */
static inline void random_shapes_init(struct random_shapes *shapes,
                                      const struct random_shapes_opts *opts, uint64_t *state)
{
    const size_t most = opts->n_shapes;
    *shapes = (struct random_shapes){ .opts = *opts, .state = state };
    shapes->n_slots = opts->n_shapes * 2 + 1;
    shapes->function_id = calloc(most + 1, sizeof *shapes->function_id);
    shapes->depth = calloc(most + 1, sizeof *shapes->depth);
    shapes->first_child = calloc(most + 2, sizeof *shapes->first_child);
    shapes->child = calloc((most + 1) * (opts->max_children + 1), sizeof *shapes->child);
    shapes->slots = calloc(shapes->n_slots, sizeof *shapes->slots);
    if (!shapes->function_id || !shapes->depth || !shapes->first_child || !shapes->child ||
        !shapes->slots)
        abort();
    for (uint32_t k = 0; k < opts->n_shapes * 8u && shapes->n_shapes < most; k++)
        random_shape_make(shapes);
    shapes->set = (struct weft_shape_set){ .n_shapes = shapes->n_shapes,
                                           .function_id = shapes->function_id,
                                           .depth = shapes->depth,
                                           .first_child = shapes->first_child,
                                           .child = shapes->child };
}

static inline void random_shapes_fini(struct random_shapes *shapes)
{
    free(shapes->function_id);
    free(shapes->depth);
    free(shapes->first_child);
    free(shapes->child);
    free(shapes->slots);
}

#endif
