/* SPDX-License-Identifier: MIT
 *
 * Canonical order of shapes (schema/shapes.h): depth, function name, function id, children's
 * canonical ids compared lexicographically, shorter first. It depends on the set alone, not on the
 * order in which the shapes were found.
 */
#ifndef WEFT_ANALYSIS_SHAPES_ORDER_H
#define WEFT_ANALYSIS_SHAPES_ORDER_H

#include "analysis/shapes/set.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/* (*ranks)[function_id], from 0, all different: by name, then by id. In `arena`. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_shape_function_ranks(const struct weft_str *names,
                                                      size_t n_functions, struct weft_arena *arena,
                                                      uint32_t **ranks, struct weft_err *err);

struct weft_shape_order {
    struct weft_shape_set set; /* as shape_set.h wants it */
    const uint32_t *raw_of;    /* [n_shapes]: the raw id of a shape */
    const uint32_t *id_of;     /* [n_shapes]: the shape of a raw id */
    const uint32_t *raw_edge;  /* [edges]: of each of the set's children, its index in raw->child */
};

/* Puts `raw` in order: shapes that are all different, under any dense ids, their children in any
 * order, none twice, each of lower depth than the parent (depth = 1 + the deepest child's). Level
 * by level: the children of a depth's shapes have their ids already. Everything of *order is in
 * `arena`. O(s log s) for s = shapes + children. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_shape_order(const struct weft_shape_set *raw,
                                             const uint32_t *function_ranks,
                                             struct weft_arena *arena,
                                             struct weft_shape_order *order, struct weft_err *err);

#endif
