/* SPDX-License-Identifier: MIT
 *
 * A set of shapes with counts, of one call that has many callees.
 */
#ifndef WEFT_ANALYSIS_SHAPES_WIDE_H
#define WEFT_ANALYSIS_SHAPES_WIDE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_shape_wide;

/* NULL without memory; NULL may be freed. */
struct weft_shape_wide *weft_shape_wide_new(void);
void weft_shape_wide_free(struct weft_shape_wide *wide);

/* Counts `shape` `count` times. Expected O(1). False without memory. */
WEFT_CHECKED bool weft_shape_wide_add(struct weft_shape_wide *wide, uint32_t shape, uint64_t count);

/* The members, ascending, and their counts, until something is added or sorted again. False without
 * memory. */
WEFT_CHECKED bool weft_shape_wide_sort(struct weft_shape_wide *wide, const uint32_t **shapes,
                                       const uint64_t **counts, size_t *n);

#endif
