/* SPDX-License-Identifier: MIT
 *
 * Result tables: what an analysis gives and what front ends print. Plain values. Each table begins
 * with the arena that it, and all of it, lies in:
 *
 *     struct weft_NAME_table {
 *         struct weft_arena *arena;
 *         ...
 *     };
 *
 * Thread and function ids are the model's dense ids. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_RESULT_H
#define WEFT_SCHEMA_RESULT_H

#include "base/arena.h"

/* Frees a result table; NULL is allowed. */
static inline void weft_result_free(void *table)
{
    if (table)
        weft_arena_free(*(struct weft_arena **)table);
}

#endif
