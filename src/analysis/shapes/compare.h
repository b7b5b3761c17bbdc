/* SPDX-License-Identifier: MIT
 *
 * The union of the shapes of two traces, or of two windows of one, over functions known to be the
 * same: so that both are clustered at once, and a cluster or shape can be seen to appear, to vanish
 * or to change its rate.
 */
#ifndef WEFT_ANALYSIS_SHAPES_COMPARE_H
#define WEFT_ANALYSIS_SHAPES_COMPARE_H

#include "analysis/shapes/set.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/* One of the two. */
struct weft_shape_side {
    const struct weft_shape_set *set;
    const uint32_t *common_function; /* by function id of the set: number in the common numbering,
                                        where functions of the same (module, name) are one */
};

struct weft_shape_union {
    struct weft_shape_set set; /* function ids are common numbers; canonical order by their names */
    const uint32_t *of[2];     /* by shape id of a side's set: the shape of the union */
    const uint32_t *from[2];   /* by shape of the union: the side's shape, WEFT_ID_NONE without one;
                                  the lowest where several became one, as their functions did */
};

/* `names` of the `n_functions` common functions. Everything of *all is in `arena`. O(s log s) for
 * s = shapes + children of both. WEFT_E_NOMEM; WEFT_E_LIMIT from 2^32 - 1 children on. */
WEFT_CHECKED enum weft_code weft_shape_union_build(const struct weft_shape_side sides[2],
                                                   const struct weft_str *names, size_t n_functions,
                                                   struct weft_arena *arena,
                                                   struct weft_shape_union *all,
                                                   struct weft_err *err);

#endif
