/* SPDX-License-Identifier: MIT */
#include "schema/compare.h"

void weft_compare_table_free(struct weft_compare_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}
