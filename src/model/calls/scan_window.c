/* SPDX-License-Identifier: MIT
 *
 * Clips blocks to a window.
 */
#include "model/calls/scan_window.h"

#include "base/vec.h"
#include "model/calls/callers.h"

#include <stdlib.h>

void weft_scan_part_fini(struct weft_scan_part *part)
{
    WEFT_VEC_FINI(&part->cut);
    WEFT_VEC_FINI(&part->open);
    free(part->end_ns);
    free(part->flags);
    free(part->chain);
    part->end_ns = NULL;
    part->flags = NULL;
    part->chain = NULL;
    part->cap_end = part->cap_flags = part->cap_chain = 0;
}

/* First block whose last event (or first call) is at or after `time_ns`; n_blocks if none is. */
static uint64_t find_block(const struct weft_trace *trace, uint32_t thread_id, uint64_t time_ns,
                           bool by_begin)
{
    const struct weft_store *store = weft_trace_store(trace);
    uint64_t low = 0, high = weft_trace_thread(trace, thread_id)->n_blocks;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        const struct weft_block_info *info = weft_store_block_get(store, thread_id, mid);
        if ((by_begin ? info->first_ns : info->last_ns) < time_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void weft_scan_part_begin(struct weft_scan_part *part, const struct weft_trace *trace,
                          uint32_t thread_id, const struct weft_window *window)
{
    const struct weft_model_thread *thread = weft_trace_thread(trace, thread_id);
    uint64_t n_blocks = thread->n_blocks;
    uint64_t first = find_block(trace, thread_id, window->from_ns, false);
    uint64_t end = find_block(trace, thread_id, window->to_ns, true);
    if (first == n_blocks && n_blocks > 0)
        first--; /* calls that stay open to the thread's end */
    part->window = *window;
    part->first_block = first;
    part->base_row = 0;
    part->cut.n = 0;
    part->thread = *thread;
    part->thread.first_ns = weft_window_clip(window, thread->first_ns);
    part->thread.last_ns = weft_window_clip(window, thread->last_ns);
    part->thread.n_blocks = end > first ? end - first : n_blocks > 0;
    part->thread.calls = part->thread.cut_calls = 0;
}

/* Clips an end, and sets the flag if it was clipped. */
static uint64_t clip_end(const struct weft_scan_part *part, uint64_t end_ns, uint32_t *flags)
{
    if (end_ns <= part->window.to_ns)
        return end_ns;
    *flags |= WEFT_CALL_CUT_END;
    return part->window.to_ns;
}

/* Ended before the window began, or as it began. */
static bool is_before(const struct weft_scan_part *part, const struct weft_open_call *call)
{
    return call->start_ns < part->window.from_ns && call->end_ns <= part->window.from_ns;
}

bool weft_scan_part_open(struct weft_scan_part *part, const struct weft_calls *calls)
{
    size_t row = weft_calls_find(calls, part->window.from_ns);
    size_t n_open = weft_calls_depth(calls, row);
    if (!weft_vec_reserve(&part->chain, &part->cap_chain, n_open + 1, sizeof *part->chain))
        return false;
    size_t n_left = weft_calls_chain(calls, row, part->chain);
    for (size_t depth = 0; depth < n_open; depth++) {
        struct weft_open_call open = weft_calls_chained(calls, part->chain, n_left, depth);
        if (is_before(part, &open) || open.start_ns >= part->window.to_ns)
            break;
        struct weft_open_call *cut = WEFT_VEC_PUSH(&part->cut);
        if (!cut)
            return false;
        open.flags |= WEFT_CALL_CUT_START;
        open.start_ns = open.start_ns > part->window.from_ns ? open.start_ns : part->window.from_ns;
        open.end_ns = clip_end(part, open.end_ns, &open.flags);
        open.row = UINT64_MAX;
        *cut = open;
    }
    part->base_row = calls->first_row + row;
    part->thread.cut_calls = part->cut.n;
    return true;
}

bool weft_scan_part_skip(struct weft_scan_part *part, const struct weft_calls *calls)
{
    size_t row = (size_t)(part->base_row - calls->first_row);
    while (row < calls->n_rows && calls->depth[row] > part->cut.n)
        row++;
    part->base_row = calls->first_row + row;
    return row < calls->n_rows;
}

/* The calls open when the block begins, as the part numbers them. */
static bool clip_open(struct weft_scan_part *part, struct weft_calls *calls)
{
    part->open.n = 0;
    for (size_t i = 0; i < calls->n_open; i++) {
        if (is_before(part, &calls->open[i]))
            break;
        struct weft_open_call *open = WEFT_VEC_PUSH(&part->open);
        if (!open)
            return false;
        *open = calls->open[i];
        open->end_ns = clip_end(part, open->end_ns, &open->flags);
        open->row = open->row < part->base_row || open->row == UINT64_MAX
                        ? UINT64_MAX
                        : open->row - part->base_row;
    }
    calls->open = part->open.items;
    calls->n_open = part->open.n;
    return true;
}

/* Ends beyond the window's. */
static bool clip_ends(struct weft_scan_part *part, struct weft_calls *calls)
{
    size_t n = calls->n_rows;
    if (!weft_vec_reserve(&part->end_ns, &part->cap_end, n + 1, sizeof *part->end_ns) ||
        !weft_vec_reserve(&part->flags, &part->cap_flags, n + 1, 1))
        return false;
    bool has_flags = calls->flags != NULL;
    for (size_t i = 0; i < n; i++) {
        uint32_t flags = calls->flags ? calls->flags[i] : 0;
        part->end_ns[i] = clip_end(part, calls->end_ns[i], &flags);
        part->flags[i] = (uint8_t)flags;
        has_flags = has_flags || flags;
    }
    calls->end_ns = part->end_ns;
    calls->flags = has_flags ? part->flags : NULL;
    return true;
}

bool weft_scan_part_clip(struct weft_scan_part *part, uint64_t block, struct weft_calls *calls)
{
    size_t first =
        part->base_row > calls->first_row ? (size_t)(part->base_row - calls->first_row) : 0;
    first = first < calls->n_rows ? first : calls->n_rows;
    size_t end = weft_calls_find(calls, part->window.to_ns);
    end = end > first ? end : first;
    calls->first_row += first - part->base_row;
    calls->n_rows = end - first;
    calls->start_ns += first;
    calls->end_ns += first;
    calls->function_id += first;
    calls->depth += first;
    calls->flags = calls->flags ? calls->flags + first : NULL;
    calls->n_args = 0; /* scans in a window hand out no arguments */
    if (block == 0) {
        calls->open = part->cut.items;
        calls->n_open = part->cut.n;
    } else if (!clip_open(part, calls)) {
        return false;
    }
    return clip_ends(part, calls);
}
