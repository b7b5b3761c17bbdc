/* SPDX-License-Identifier: MIT
 *
 * The calls open where the window starts come from the block's directory entry (or, for the first
 * block, from the calls cut at the start of the trace). After them, blocks without a wanted
 * function or a call that is long enough are skipped undecoded.
 */
#include "model/calls/overlap.h"

#include "base/vec.h"
#include "model/calls/callers.h"

uint64_t weft_overlap_block(const struct weft_scan *scan, uint64_t at_ns)
{
    uint64_t low = 0, high = scan->thread->n_blocks;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (weft_scan_block(scan, mid)->first_ns < at_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? low - 1 : 0;
}

static bool add(struct weft_overlap *overlap, const struct weft_open_call *call)
{
    if (!weft_overlaps(&overlap->window, call->start_ns, call->end_ns))
        return true;
    struct weft_open_call *item = WEFT_VEC_PUSH(&overlap->open);
    if (item)
        *item = *call;
    return item != NULL;
}

/* Of a block that is not the first: innermost first, then turned round. */
static bool add_open(struct weft_overlap *overlap, const struct weft_store *store,
                     uint32_t thread_id, uint64_t block)
{
    const struct weft_open_call *call = NULL;
    while ((call = weft_store_open_call(store, thread_id, block, call)))
        if (!add(overlap, call))
            return false;
    struct weft_open_call *items = overlap->open.items;
    for (size_t low = 0, high = overlap->open.n; low + 1 < high; low++) {
        const struct weft_open_call other = items[--high];
        items[high] = items[low];
        items[low] = other;
    }
    return true;
}

/* Of the thread's begin: also those that end before its first row. */
static bool add_cut(struct weft_overlap *overlap, const struct weft_store *store,
                    uint32_t thread_id)
{
    size_t n = 0;
    const struct weft_open_call *cut = weft_store_cut_calls(store, thread_id, &n);
    for (size_t i = 0; i < n; i++)
        if (!add(overlap, &cut[i]))
            return false;
    return true;
}

bool weft_overlap_init(struct weft_overlap *overlap, struct weft_scan *scan,
                       const struct weft_window *window, const struct weft_overlap_wanted *wanted)
{
    const struct weft_store *store = weft_trace_store(scan->trace);
    *overlap = (struct weft_overlap){ .scan = scan, .window = WEFT_WINDOW_ALL };
    if (window)
        overlap->window = *window;
    if (wanted)
        overlap->wanted = *wanted;
    overlap->next_block = weft_overlap_block(scan, overlap->window.from_ns);
    return overlap->next_block == 0
               ? add_cut(overlap, store, scan->thread_id)
               : add_open(overlap, store, scan->thread_id, overlap->next_block);
}

void weft_overlap_fini(struct weft_overlap *overlap)
{
    WEFT_VEC_FINI(&overlap->open);
}

static enum weft_code is_wanted(const struct weft_overlap *overlap, uint64_t block, bool *out,
                                struct weft_err *err)
{
    const uint8_t *functions = overlap->wanted.functions;
    const uint32_t *ids = NULL;
    size_t n_ids = 0;
    *out = weft_scan_block(overlap->scan, block)->longest_call_ns >= overlap->wanted.least_ns;
    if (!*out || !functions)
        return WEFT_OK;
    enum weft_code code = weft_scan_functions(overlap->scan, block, &ids, &n_ids, err);
    *out = false;
    for (size_t i = 0; !code && i < n_ids && !*out; i++)
        *out = functions[ids[i]] != 0;
    return code;
}

enum weft_code weft_overlap_next(struct weft_overlap *overlap, const struct weft_calls **calls,
                                 size_t *n_rows, struct weft_err *err)
{
    struct weft_scan *scan = overlap->scan;
    *calls = NULL;
    *n_rows = 0;
    for (; overlap->next_block < scan->thread->n_blocks; overlap->next_block++) {
        bool is_here = false;
        if (weft_scan_block(scan, overlap->next_block)->first_ns >= overlap->window.to_ns)
            break;
        WEFT_TRY(is_wanted(overlap, overlap->next_block, &is_here, err));
        if (!is_here)
            continue;
        weft_scan_seek(scan, overlap->next_block++);
        enum weft_code code = weft_scan_next(scan, calls, err);
        if (code == WEFT_OK && *calls)
            *n_rows = weft_calls_find(*calls, overlap->window.to_ns);
        return code;
    }
    return WEFT_OK;
}
