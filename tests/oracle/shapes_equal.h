/* SPDX-License-Identifier: MIT
 *
 * Whether two tables of shapes are the same, field by field.
 */
#ifndef WEFT_TESTS_SHAPES_EQUAL_H
#define WEFT_TESTS_SHAPES_EQUAL_H

#include "schema/shapes.h"

#include <stdbool.h>

/* Notes the first difference as a TAP comment. */
bool shapes_tables_equal(const struct weft_shapes_table *got, const struct weft_shapes_table *want);

#endif
