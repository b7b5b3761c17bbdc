/* SPDX-License-Identifier: MIT
 *
 * The passes over the calls that refine quantiles.
 */
#include "analysis/calls/quantiles.h"

static void refine_block(struct weft_quantiles *quantiles, const struct weft_calls *calls)
{
    const unsigned edge = WEFT_CALL_CUT_START | WEFT_CALL_CUT_END;
    const uint32_t *first_target = quantiles->first_target;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint32_t id = calls->function_id[i];
        if (first_target[id] && !(calls->flags && (calls->flags[i] & edge)))
            weft_quantiles_see(quantiles, id, calls->end_ns[i] - calls->start_ns[i]);
    }
}

/* Whether the block calls a function that is still refined. */
static enum weft_code is_block_wanted(const struct weft_quantiles *quantiles,
                                      struct weft_scan *scan, uint64_t block, bool *is_wanted,
                                      struct weft_err *err)
{
    const uint32_t *ids = NULL;
    size_t n_ids = 0;
    enum weft_code code = weft_scan_functions(scan, block, &ids, &n_ids, err);
    *is_wanted = false;
    for (size_t i = 0; !code && i < n_ids && !*is_wanted; i++)
        *is_wanted = quantiles->first_target[ids[i]] != 0;
    return code;
}

static enum weft_code refine_item(void *context, struct weft_scan *scan, unsigned index,
                                  struct weft_err *err)
{
    (void)index;
    struct weft_quantiles *quantiles = context;
    enum weft_code code = WEFT_OK;
    for (uint64_t block = 0; !code && block < scan->thread->n_blocks; block++) {
        bool is_wanted = false;
        const struct weft_calls *calls = NULL;
        code = is_block_wanted(quantiles, scan, block, &is_wanted, err);
        if (code || !is_wanted)
            continue;
        weft_scan_seek(scan, block);
        code = weft_scan_next(scan, &calls, err);
        if (!code && calls)
            refine_block(quantiles, calls);
    }
    return code;
}

enum weft_code weft_quantiles_run(struct weft_quantiles *quantiles, const struct weft_trace *trace,
                                  const uint32_t *ids, size_t n_ids,
                                  const struct weft_window *window, const struct weft_run *run,
                                  struct weft_err *err)
{
    for (;;) {
        bool is_needed = false;
        enum weft_code code = weft_quantiles_begin(quantiles, &is_needed, err);
        if (code || !is_needed)
            return code;
        code = weft_scan_threads(trace, ids, n_ids, window, run, refine_item, quantiles, err);
        if (!code)
            code = weft_quantiles_end(quantiles, err);
        if (code)
            return code;
    }
}
