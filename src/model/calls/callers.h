/* SPDX-License-Identifier: MIT
 *
 * Which calls are open at a row of a block: shared by whoever looks at a part of a thread.
 */
#ifndef WEFT_MODEL_CALLS_CALLERS_H
#define WEFT_MODEL_CALLS_CALLERS_H

#include "store/reader.h"

#include <stddef.h>
#include <stdint.h>

/* First row that starts at or after `time_ns`; n_rows if there is none. O(log rows). */
static inline size_t weft_calls_find(const struct weft_calls *calls, uint64_t time_ns)
{
    size_t low = 0, high = calls->n_rows;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (calls->start_ns[mid] < time_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The stack after row `row` - 1 was entered: its depth. */
static inline size_t weft_calls_depth(const struct weft_calls *calls, size_t row)
{
    return row ? (size_t)calls->depth[row - 1] + 1 : calls->n_open;
}

/* The calls of that stack by depth: `chain`, weft_calls_depth elements, gets their rows from the
 * element returned on; those below it are calls->open. O(rows before). */
static inline size_t weft_calls_chain(const struct weft_calls *calls, size_t row, uint32_t *chain)
{
    size_t n_left = weft_calls_depth(calls, row);
    for (; row > 0 && n_left > 0; row--)
        if (calls->depth[row - 1] == n_left - 1)
            chain[--n_left] = (uint32_t)(row - 1);
    return n_left;
}

/* Element `depth` of the stack. */
static inline struct weft_open_call weft_calls_chained(const struct weft_calls *calls,
                                                       const uint32_t *chain, size_t n_left,
                                                       size_t depth)
{
    if (depth < n_left)
        return calls->open[depth];
    uint32_t row = chain[depth];
    return (struct weft_open_call){
        .start_ns = calls->start_ns[row],
        .end_ns = calls->end_ns[row],
        .row = calls->first_row + row,
        .function_id = calls->function_id[row],
        .depth = (uint32_t)depth,
        .flags = calls->flags ? calls->flags[row] : 0,
    };
}

#endif
