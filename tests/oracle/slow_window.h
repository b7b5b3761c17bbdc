/* SPDX-License-Identifier: MIT
 *
 * The calls of a thread within a window, the slow and obvious way: every call looks for its callers
 * in the whole list. It follows model/calls/walk.h and shares no code with it.
 */
#ifndef WEFT_TESTS_SLOW_WINDOW_H
#define WEFT_TESTS_SLOW_WINDOW_H

#include "slow_calls.h"

struct slow_row {
    uint64_t start_ns, end_ns, self_ns;
    uint32_t key, depth, flags;
    const struct slow_call *call;
    ptrdiff_t caller; /* index, or -1 */
    bool is_out;
};

struct slow_window {
    struct slow_row *rows; /* those of the window, in order of entry */
    size_t n_rows;
};

static uint64_t slow_clip(uint64_t at_ns, uint64_t from_ns, uint64_t to_ns)
{
    return at_ns < from_ns ? from_ns : at_ns > to_ns ? to_ns : at_ns;
}

/* All calls, cut frames first, and their callers. */
static struct slow_row *slow_rows_all(const struct slow_calls *calls, size_t *n_rows)
{
    struct slow_row *rows = calloc(calls->n_cut + calls->n_rows + 1, sizeof *rows);
    *n_rows = calls->n_cut + calls->n_rows;
    for (size_t i = 0; i < *n_rows; i++) {
        const bool is_cut = i < calls->n_cut;
        rows[i].call = is_cut ? &calls->cut[calls->n_cut - 1 - i] : &calls->rows[i - calls->n_cut];
        rows[i].depth =
            is_cut ? (uint32_t)i : (uint32_t)(rows[i].call->level + (int64_t)calls->n_cut);
        rows[i].caller = -1;
        for (ptrdiff_t j = (ptrdiff_t)i - 1; j >= 0 && rows[i].caller < 0; j--)
            if (rows[j].depth + 1 == rows[i].depth)
                rows[i].caller = j;
    }
    return rows;
}

/* Free with slow_window_free. */
__attribute__((unused)) static struct slow_window
slow_window_build(const struct slow_calls *calls, uint64_t from_ns, uint64_t to_ns)
{
    struct slow_window window = { 0 };
    size_t n_all;
    struct slow_row *all = slow_rows_all(calls, &n_all);
    for (size_t i = 0; i < n_all; i++) {
        struct slow_row *row = &all[i];
        const struct slow_call *call = row->call;
        row->key = call->key;
        row->is_out = call->start_ns >= to_ns ||
                      (call->start_ns < from_ns && call->end_ns <= from_ns) ||
                      (row->caller >= 0 && all[row->caller].is_out);
        row->start_ns = slow_clip(call->start_ns, from_ns, to_ns);
        row->end_ns = slow_clip(call->end_ns, from_ns, to_ns);
        row->flags = call->flags | (call->start_ns < from_ns ? WEFT_CALL_CUT_START : 0) |
                     (call->end_ns > to_ns ? WEFT_CALL_CUT_END : 0);
        row->self_ns = row->end_ns - row->start_ns;
        if (!row->is_out && row->caller >= 0)
            all[row->caller].self_ns -= row->self_ns;
    }
    for (size_t i = 0; i < n_all; i++) /* callers point into the whole list: forget them */
        if (!all[i].is_out)
            all[window.n_rows++] = all[i];
    window.rows = all;
    return window;
}

__attribute__((unused)) static void slow_window_free(struct slow_window *window)
{
    free(window->rows);
}

#endif
