/* SPDX-License-Identifier: MIT */
#include "schema/frequencies.h"

void weft_frequencies_table_free(struct weft_frequencies_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}
