/* SPDX-License-Identifier: MIT
 *
 * Hash-consed sets: one node for each distinct (function, set of child shapes), so that equal sets
 * are equal ids. Used three times: for the states that calls pass through while they run, for the
 * shapes that all workers have found together, and for these in canonical order.
 *
 * The hash of a set is a sum over its members, so that of a set and one more member costs O(1).
 */
#ifndef WEFT_ANALYSIS_SHAPES_TABLE_H
#define WEFT_ANALYSIS_SHAPES_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct weft_shape_node {
    uint64_t hash;
    uint64_t first; /* its children are child[first ... first + n_children), ascending */
    uint32_t function_id;
    uint32_t n_children;
    uint32_t shape; /* the user's; WEFT_SHAPE_NONE at first */
};

#define WEFT_SHAPE_NONE UINT32_MAX
#define WEFT_SHAPE_REFUSED (UINT32_MAX - 1) /* beyond a limit */

/* Zeroed: empty. */
struct weft_shape_table {
    struct weft_shape_node *nodes;
    size_t n_nodes, cap_nodes;
    uint32_t *child;
    size_t n_child, cap_child;
    uint32_t *slots; /* node + 1, or 0 */
    size_t n_slots;  /* a power of two, or 0 */
};

void weft_shape_table_fini(struct weft_shape_table *table);

static inline uint64_t weft_shape_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The hash of the empty set of a function, and what a member adds to that of a set. */
static inline uint64_t weft_shape_hash_function(uint32_t function_id)
{
    return weft_shape_mix(function_id + UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t weft_shape_hash_child(uint32_t child)
{
    return weft_shape_mix(child + UINT64_C(0xd1b54a32d192ed03));
}

uint64_t weft_shape_hash(uint32_t function_id, const uint32_t *children, size_t n_children);

static inline const uint32_t *weft_shape_table_children(const struct weft_shape_table *table,
                                                        uint32_t node)
{
    return table->child + table->nodes[node].first;
}

/* The node of a set, or WEFT_SHAPE_NONE. `children` ascend, `hash` is theirs. Expected O(1) and one
 * comparison of the sets. */
uint32_t weft_shape_table_find(const struct weft_shape_table *table, uint32_t function_id,
                               const uint32_t *children, size_t n_children, uint64_t hash);

/* The same, adding the set if it is new; WEFT_SHAPE_NONE without memory. `children` may not lie in
 * the table. */
uint32_t weft_shape_table_intern(struct weft_shape_table *table, uint32_t function_id,
                                 const uint32_t *children, size_t n_children, uint64_t hash);

#endif
