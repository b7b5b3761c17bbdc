/* SPDX-License-Identifier: MIT
 *
 * Walks the blocks of one partition of a thread.
 */
#include "analysis/shapes/parts.h"
#include "base/vec.h"

#include <stdlib.h>

/* What the scan's block holds at its begin, as a list of calls. */
struct opening {
    struct weft_open_call *items;
    size_t n, cap;
};

static bool copy_opening(struct opening *opening, const struct weft_scan *scan,
                         const struct weft_calls *calls)
{
    size_t n = scan->is_cut ? calls->n_rows : calls->n_open;
    opening->n = n;
    if (!weft_vec_reserve(&opening->items, &opening->cap, n + 1, sizeof *opening->items))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (scan->is_cut)
            opening->items[i] = (struct weft_open_call){
                .start_ns = calls->start_ns[i],
                .end_ns = calls->end_ns[i],
                .row = UINT64_MAX,
                .function_id = calls->function_id[i],
                .flags = calls->flags[i],
            };
        else
            opening->items[i] = calls->open[i];
        if (opening->items[i].row == UINT64_MAX)
            opening->items[i].flags |= WEFT_CALL_CUT_START;
    }
    return true;
}

/* The first block of a partition, and what is open there; `calls` may become NULL: no rows. */
static enum weft_code open_part(struct weft_scan *scan, uint64_t first_block,
                                struct opening *opening, const struct weft_calls **calls,
                                struct weft_err *err)
{
    if (first_block == 0)
        weft_scan_rewind(scan);
    else
        weft_scan_seek(scan, first_block);
    opening->n = 0;
    enum weft_code code = weft_scan_next(scan, calls, err);
    if (code || !*calls || (first_block == 0 && !scan->is_cut))
        return code;
    if (!copy_opening(opening, scan, *calls))
        return weft_no_memory(err, "shapes");
    return scan->is_cut ? weft_scan_next(scan, calls, err) : WEFT_OK;
}

enum weft_code weft_part_walk(struct weft_scan *scan, struct weft_miner *miner,
                              const struct weft_part_walk *walk, struct weft_err *err)
{
    const struct weft_mine_part *part = walk->part;
    struct opening opening = { 0 };
    const struct weft_calls *calls = NULL;
    bool is_last = weft_part_is_last(scan, part);
    const uint32_t *given = walk->borders ? NULL : part->given;
    enum weft_code code = open_part(scan, part->first_block, &opening, &calls, err);
    if (!code)
        code = weft_miner_begin(miner, scan->depth_bound, opening.items, opening.n, given,
                                walk->borders, err);
    free(opening.items);
    while (!code && calls) {
        code = weft_miner_block(miner, calls, err);
        if (!code && walk->take)
            code = walk->take(walk->context, err);
        calls = NULL;
        if (!code && scan->next_block < part->end_block)
            code = weft_scan_next(scan, &calls, err);
    }
    if (!code)
        code = weft_miner_end(miner, is_last, is_last ? 0 : walk->n_open_end, err);
    return code || !walk->take ? code : walk->take(walk->context, err);
}

bool weft_part_is_empty(const struct weft_scan *scan, const struct weft_mine_part *part)
{
    uint64_t end =
        part->end_block < scan->thread->n_blocks ? part->end_block : scan->thread->n_blocks;
    return part->first_block > 0 && part->first_block >= end;
}

bool weft_part_is_last(const struct weft_scan *scan, const struct weft_mine_part *part)
{
    return part->end_block >= scan->thread->n_blocks;
}

struct weft_scan_piece weft_part_piece(const struct weft_trace *trace,
                                       const struct weft_mined *mined, size_t part)
{
    const struct weft_mine_part *is = &mined->parts[part];
    uint32_t id = mined->threads[is->item].thread_id;
    const struct weft_model_thread *thread = weft_trace_thread(trace, id);
    uint64_t n_blocks = thread->n_blocks, first = is->first_block < n_blocks ? is->first_block : 0;
    uint64_t n = (is->end_block < n_blocks ? is->end_block : n_blocks) - first;
    return (struct weft_scan_piece){
        .thread_id = id,
        .calls = n == n_blocks ? thread->calls : thread->calls / n_blocks * n,
    };
}
