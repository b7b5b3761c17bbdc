/* SPDX-License-Identifier: MIT
 *
 * A set of shapes in canonical order (schema/shapes.h) as plain columns: what the metric, clusters
 * and ribbons are computed from. They need no trace.
 */
#ifndef WEFT_ANALYSIS_SHAPES_SET_H
#define WEFT_ANALYSIS_SHAPES_SET_H

#include <stddef.h>
#include <stdint.h>

struct weft_shape_set {
    size_t n_shapes;
    const uint32_t *function_id; /* [n_shapes] */
    const uint32_t *depth;       /* [n_shapes], ascending */
    const uint32_t *first_child; /* [n_shapes + 1]: children of s are child[first_child[s] ...
                                    first_child[s + 1]) */
    const uint32_t *child;       /* shape ids, ascending in each shape, lower than the shape's */
};

static inline const uint32_t *weft_shape_children(const struct weft_shape_set *set, uint32_t shape,
                                                  size_t *n_children)
{
    *n_children = set->first_child[shape + 1] - set->first_child[shape];
    return set->child + set->first_child[shape];
}

#endif
