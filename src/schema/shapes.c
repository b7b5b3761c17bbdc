/* SPDX-License-Identifier: MIT
 *
 * Frees the result of Shapes.
 */
#include "schema/shapes.h"

void weft_shapes_table_free(struct weft_shapes_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}
