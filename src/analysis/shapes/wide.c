/* SPDX-License-Identifier: MIT
 *
 * Sets of many shapes.
 */
#include "analysis/shapes/wide.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>

struct member {
    uint64_t count;
    uint32_t shape;
};

struct weft_shape_wide {
    struct weft_map *map; /* shape to place in `count` */
    uint64_t *count;
    size_t cap_count;
    struct member *members; /* sorted, and as columns: */
    uint32_t *sorted_shape;
    uint64_t *sorted_count;
    size_t cap_members, cap_sorted_shape, cap_sorted_count;
};

struct weft_shape_wide *weft_shape_wide_new(void)
{
    struct weft_shape_wide *wide = calloc(1, sizeof *wide);
    if (!wide)
        return NULL;
    wide->map = weft_map_new();
    if (!wide->map) {
        free(wide);
        return NULL;
    }
    return wide;
}

void weft_shape_wide_free(struct weft_shape_wide *wide)
{
    if (!wide)
        return;
    weft_map_free(wide->map);
    free(wide->count);
    free(wide->members);
    free(wide->sorted_shape);
    free(wide->sorted_count);
    free(wide);
}

bool weft_shape_wide_add(struct weft_shape_wide *wide, uint32_t shape, uint64_t count)
{
    if (!weft_vec_reserve(&wide->count, &wide->cap_count, (size_t)weft_map_count(wide->map) + 1,
                          sizeof *wide->count))
        return false;
    bool is_new = false;
    uint32_t at = weft_map_add(wide->map, shape, &is_new);
    if (at == WEFT_MAP_NONE)
        return false;
    wide->count[at] = is_new ? count : wide->count[at] + count;
    return true;
}

static int by_shape(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

bool weft_shape_wide_sort(struct weft_shape_wide *wide, const uint32_t **shapes,
                          const uint64_t **counts, size_t *n)
{
    *n = weft_map_count(wide->map);
    if (!weft_vec_reserve(&wide->members, &wide->cap_members, *n + 1, sizeof *wide->members) ||
        !weft_vec_reserve(&wide->sorted_shape, &wide->cap_sorted_shape, *n + 1,
                          sizeof *wide->sorted_shape) ||
        !weft_vec_reserve(&wide->sorted_count, &wide->cap_sorted_count, *n + 1,
                          sizeof *wide->sorted_count))
        return false;
    for (size_t i = 0; i < *n; i++)
        wide->members[i] = (struct member){
            .count = wide->count[i],
            .shape = (uint32_t)weft_map_key(wide->map, (uint32_t)i),
        };
    qsort(wide->members, *n, sizeof *wide->members, by_shape);
    for (size_t i = 0; i < *n; i++) {
        wide->sorted_shape[i] = wide->members[i].shape;
        wide->sorted_count[i] = wide->members[i].count;
    }
    *shapes = wide->sorted_shape;
    *counts = wide->sorted_count;
    return true;
}
