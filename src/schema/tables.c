/* SPDX-License-Identifier: MIT
 *
 * Frees result tables. A table lives in the arena that it owns.
 */
#include "schema/tables.h"

void weft_functions_table_free(struct weft_functions_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_regtime_table_free(struct weft_regtime_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_outliers_table_free(struct weft_outliers_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_activity_table_free(struct weft_activity_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_interval_table_free(struct weft_interval_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_calls_table_free(struct weft_calls_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_call_table_free(struct weft_call_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_histogram_table_free(struct weft_histogram_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_tree_table_free(struct weft_tree_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}
