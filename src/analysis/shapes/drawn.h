/* SPDX-License-Identifier: MIT
 *
 * Which clusters' runs are looked for. The pass over occurrences keeps a cell for each cluster and
 * column of a thread in which it occurs. Where nearly every call has a shape of its own these would
 * be more than memory holds.
 */
#ifndef WEFT_ANALYSIS_SHAPES_DRAWN_H
#define WEFT_ANALYSIS_SHAPES_DRAWN_H

#include "model/window.h"
#include "schema/shapes.h"

struct weft_shape_drawing {
    struct weft_window window; /* that the columns divide */
    uint32_t n_columns;
    uint64_t max_cells; /* of a thread */
};

/* Of the clusters of a thread that are in ribbons (ribbon[i] is not WEFT_ID_NONE), takes those of
 * most time, of equals the lower id, as long as all their cells fit, and sets ribbon[i] of the
 * others to WEFT_ID_NONE. A cluster has at most as many cells as there are columns, and at most two
 * for each occurrence and one for each column's width of its time. *n_left: how many were omitted.
 * False without memory. O(n log n). */
WEFT_CHECKED bool weft_shapes_draw(const struct weft_shape_drawing *drawing,
                                   const struct weft_shape_presence *presences, size_t n,
                                   uint32_t *ribbon, uint64_t *n_left);

#endif
