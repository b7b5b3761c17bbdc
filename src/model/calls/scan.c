/* SPDX-License-Identifier: MIT
 *
 * Walks threads over the store.
 */
#include "model/calls/scan.h"

#include "base/vec.h"
#include "model/calls/scan_window.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    CACHED_BLOCKS = 16,
    LEAST_CACHED_BLOCKS = 2,
    BLOCK_BYTES = 2 << 20, /* of a full one, decoded */
    CACHE_SHARE = 8,       /* of the ceiling for all workers: one part in so many */
};

/* The cut frames of a thread as columns; grown, never shrunk. */
struct scan_cut {
    size_t cap;
    uint64_t *start_ns, *end_ns;
    uint32_t *function_id, *depth;
    uint8_t *flags;
};

/* One worker's buffers. Block b of a thread lives in slot b % n_slots. */
struct weft_scan_cache {
    struct scan_cut cut;
    struct weft_scan_part part;
    struct weft_block_buf *ids_buf; /* for weft_scan_functions */
    struct slot {
        struct weft_block_buf *buf;
        struct weft_calls calls;
        uint32_t thread_id;
        uint64_t block;
        bool is_full;
    } slots[CACHED_BLOCKS];
    size_t n_slots;
};

static void cut_fini(struct scan_cut *cut)
{
    free(cut->start_ns);
    free(cut->end_ns);
    free(cut->function_id);
    free(cut->depth);
    free(cut->flags);
}

static bool cut_grow(struct scan_cut *cut, size_t n)
{
    if (n <= cut->cap)
        return true;
    cut_fini(cut);
    *cut = (struct scan_cut){
        .start_ns = calloc(n, sizeof *cut->start_ns),
        .end_ns = calloc(n, sizeof *cut->end_ns),
        .function_id = calloc(n, sizeof *cut->function_id),
        .depth = calloc(n, sizeof *cut->depth),
        .flags = calloc(n, sizeof *cut->flags),
    };
    if (!cut->start_ns || !cut->end_ns || !cut->function_id || !cut->depth || !cut->flags)
        return false;
    cut->cap = n;
    return true;
}

static enum weft_code cut_block(struct weft_scan *scan, const struct weft_open_call *frames,
                                size_t n, struct weft_err *err)
{
    struct scan_cut *cut = &scan->cache->cut;
    if (!cut_grow(cut, n))
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu cut calls", n);
    for (size_t i = 0; i < n; i++) {
        cut->start_ns[i] = frames[i].start_ns;
        cut->end_ns[i] = frames[i].end_ns;
        cut->function_id[i] = frames[i].function_id;
        cut->depth[i] = (uint32_t)i;
        cut->flags[i] = (uint8_t)(frames[i].flags | WEFT_CALL_CUT_START);
    }
    scan->first_call = 0;
    scan->is_cut = true;
    scan->calls = (struct weft_calls){
        .n_rows = n,
        .start_ns = cut->start_ns,
        .end_ns = cut->end_ns,
        .function_id = cut->function_id,
        .depth = cut->depth,
        .flags = cut->flags,
    };
    return WEFT_OK;
}

/* Array bounds rest on the depths: believe the block, not the directory. */
static enum weft_code check_depths(const struct weft_scan *scan, struct weft_err *err)
{
    uint32_t deepest = 0;
    for (size_t i = 0; i < scan->calls.n_rows; i++)
        deepest = scan->calls.depth[i] > deepest ? scan->calls.depth[i] : deepest;
    if (deepest < scan->depth_bound && scan->calls.n_open <= scan->depth_bound)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                     "expected depths below %" PRIu32 ", found %" PRIu32, scan->depth_bound,
                     deepest);
}

static bool buf_ready(struct weft_block_buf **buf)
{
    if (!*buf)
        *buf = weft_block_buf_new();
    return *buf != NULL;
}

/* The part's number of a block as the thread's. */
static uint64_t stored_number(const struct weft_scan *scan, uint64_t block)
{
    return scan->part ? scan->part->first_block + block : block;
}

const struct weft_block_info *weft_scan_block(const struct weft_scan *scan, uint64_t block)
{
    return weft_store_block_get(weft_trace_store(scan->trace), scan->thread_id,
                                stored_number(scan, block));
}

/* Decodes a block of the thread unless it still stands in its slot. */
static enum weft_code load_stored(struct weft_scan *scan, uint64_t block, struct weft_err *err)
{
    struct slot *slot = &scan->cache->slots[block % scan->cache->n_slots];
    if (slot->is_full && slot->thread_id == scan->thread_id && slot->block == block) {
        scan->calls = slot->calls;
        return WEFT_OK;
    }
    slot->is_full = false;
    if (!buf_ready(&slot->buf))
        return weft_no_memory(err, "a block");
    enum weft_code code = weft_store_load(weft_trace_store(scan->trace), scan->thread_id, block,
                                          slot->buf, &scan->calls, err);
    if (!code)
        code = check_depths(scan, err);
    slot->calls = scan->calls;
    slot->thread_id = scan->thread_id;
    slot->block = block;
    slot->is_full = code == WEFT_OK;
    return code;
}

static enum weft_code load_block(struct weft_scan *scan, uint64_t block, struct weft_err *err)
{
    enum weft_code code = load_stored(scan, stored_number(scan, block), err);
    if (!code && scan->part && !weft_scan_part_clip(scan->part, block, &scan->calls))
        code = weft_no_memory(err, "a block");
    return code;
}

/* The cut frames of the thread, or the calls open at the window's begin. */
static const struct weft_open_call *cut_calls(const struct weft_scan *scan, size_t *n_calls)
{
    if (!scan->part)
        return weft_store_cut_calls(weft_trace_store(scan->trace), scan->thread_id, n_calls);
    *n_calls = scan->part->cut.n;
    return scan->part->cut.items;
}

enum weft_code weft_scan_functions(struct weft_scan *scan, uint64_t block, const uint32_t **ids,
                                   size_t *n_ids, struct weft_err *err)
{
    if (!buf_ready(&scan->cache->ids_buf))
        return weft_no_memory(err, "a block");
    return weft_store_block_functions(weft_trace_store(scan->trace), scan->thread_id,
                                      stored_number(scan, block), scan->cache->ids_buf, ids, n_ids,
                                      err);
}

enum weft_code weft_scan_next(struct weft_scan *scan, const struct weft_calls **calls,
                              struct weft_err *err)
{
    *calls = NULL;
    scan->is_cut = false;
    if (!scan->is_cut_done) {
        scan->is_cut_done = true;
        size_t n = 0;
        const struct weft_open_call *frames = cut_calls(scan, &n);
        if (n) {
            enum weft_code code = cut_block(scan, frames, n, err);
            *calls = code ? NULL : &scan->calls;
            return code;
        }
    }
    if (scan->next_block >= scan->thread->n_blocks)
        return WEFT_OK;
    if (weft_progress_is_cancelled(scan->progress))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    enum weft_code code = load_block(scan, scan->next_block, err);
    if (code) {
        (void)weft_within(err, "block %" PRIu64, scan->next_block);
        return code;
    }
    weft_progress_add(scan->progress, scan->calls.n_rows);
    scan->next_block++;
    scan->first_call = scan->calls.first_row + scan->thread->cut_calls;
    *calls = &scan->calls;
    return WEFT_OK;
}

void weft_scan_seek(struct weft_scan *scan, uint64_t block)
{
    scan->is_cut_done = true;
    scan->next_block = block;
}

void weft_scan_rewind(struct weft_scan *scan)
{
    scan->is_cut_done = false;
    scan->next_block = 0;
}

/* The end of the last root call that the current block contains. */
static uint64_t last_root_end(const struct weft_calls *calls)
{
    uint64_t end_ns = calls->n_open ? calls->open[0].end_ns : 0;
    for (size_t i = calls->n_rows; i-- > 0;)
        if (calls->depth[i] == 0)
            return calls->end_ns[i] > end_ns ? calls->end_ns[i] : end_ns;
    return end_ns;
}

/* Start of the first call, where none is cut. A window may begin in a block and hold none of it. */
static enum weft_code first_start(struct weft_scan *scan, bool *has_calls, uint64_t *start_ns,
                                  struct weft_err *err)
{
    *start_ns = weft_scan_block(scan, 0)->first_ns;
    *has_calls = true;
    for (uint64_t block = 0; scan->part && block < scan->thread->n_blocks; block++) {
        enum weft_code code = load_block(scan, block, err);
        if (code)
            return code;
        *has_calls = scan->calls.n_rows > 0;
        if (*has_calls) {
            *start_ns = scan->calls.start_ns[0];
            return WEFT_OK;
        }
        *start_ns = 0;
    }
    return WEFT_OK;
}

enum weft_code weft_scan_extent(struct weft_scan *scan, bool *has_calls, uint64_t *start_ns,
                                uint64_t *end_ns, struct weft_err *err)
{
    uint64_t n_blocks = scan->thread->n_blocks;
    size_t n_cut = 0;
    const struct weft_open_call *cut = cut_calls(scan, &n_cut);
    *start_ns = *end_ns = 0;
    *has_calls = n_cut || n_blocks;
    if (n_cut) {
        *start_ns = cut[0].start_ns;
        *end_ns = cut[0].end_ns;
    } else if (n_blocks) {
        enum weft_code code = first_start(scan, has_calls, start_ns, err);
        if (code || !*has_calls)
            return code;
    }
    if (n_blocks) {
        const struct weft_calls *calls = NULL;
        struct weft_progress *progress = scan->progress;
        weft_scan_seek(scan, n_blocks - 1);
        scan->progress = NULL; /* this block will be read, and counted, again */
        enum weft_code code = weft_scan_next(scan, &calls, err);
        scan->progress = progress;
        if (code)
            return code;
        uint64_t last_ns = calls ? last_root_end(calls) : 0;
        *end_ns = last_ns > *end_ns ? last_ns : *end_ns;
    }
    weft_scan_rewind(scan);
    return WEFT_OK;
}

size_t weft_scan_n_threads(const struct weft_trace *trace, const uint32_t *ids, size_t n_ids)
{
    return ids && n_ids ? n_ids : weft_trace_n_threads(trace);
}

uint32_t weft_scan_thread_id(const uint32_t *ids, size_t n_ids, size_t item)
{
    return ids && n_ids ? ids[item] : (uint32_t)item;
}

uint64_t weft_scan_calls(const struct weft_trace *trace, const uint32_t *ids, size_t n_ids)
{
    uint64_t n_calls = 0;
    size_t n = weft_scan_n_threads(trace, ids, n_ids);
    for (size_t i = 0; i < n; i++)
        n_calls += weft_trace_thread(trace, weft_scan_thread_id(ids, n_ids, i))->calls;
    return n_calls;
}

enum weft_code weft_scan_check(const struct weft_trace *trace, const uint32_t *ids, size_t n_ids,
                               struct weft_err *err)
{
    for (size_t i = 0; ids && i < n_ids; i++)
        if (ids[i] >= weft_trace_n_threads(trace) || (i && ids[i] <= ids[i - 1]))
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                             "expected ascending thread ids below %" PRIu32 ", found %" PRIu32,
                             weft_trace_n_threads(trace), ids[i]);
    return WEFT_OK;
}

static void cache_fini(struct weft_scan_cache *cache)
{
    for (size_t i = 0; i < cache->n_slots; i++)
        if (cache->slots[i].buf)
            weft_block_buf_free(cache->slots[i].buf);
    if (cache->ids_buf)
        weft_block_buf_free(cache->ids_buf);
    cut_fini(&cache->cut);
    weft_scan_part_fini(&cache->part);
}

/* As many decoded blocks as are worth their memory, for each worker. */
static size_t n_slots_for(const struct weft_run *run, unsigned n_workers)
{
    const uint64_t n_fit = run->memory_bytes / CACHE_SHARE / n_workers / BLOCK_BYTES;
    if (run->memory_bytes == 0 || n_fit > CACHED_BLOCKS)
        return CACHED_BLOCKS;
    return n_fit > LEAST_CACHED_BLOCKS ? (size_t)n_fit : LEAST_CACHED_BLOCKS;
}

/* Pieces in the order in which they are begun: those with most calls first, so that no worker is
 * left alone with a long one at the end. */
struct turn {
    struct weft_scan_piece piece;
    size_t item;
};

struct job {
    const struct weft_trace *trace;
    const struct weft_window *window;
    struct turn *turns;
    weft_scan_fn fn;
    void *context;
    struct weft_progress *progress;
    struct weft_scan_cache *caches; /* by worker */
};

static int by_calls(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->piece.calls != y->piece.calls)
        return x->piece.calls > y->piece.calls ? -1 : 1;
    return x->item < y->item ? -1 : 1;
}

/* Makes the scan one of the part of its thread that lies in the window. */
static enum weft_code enter_window(struct weft_scan *scan, const struct weft_window *window,
                                   struct weft_err *err)
{
    struct weft_scan_part *part = &scan->cache->part;
    weft_scan_part_begin(part, scan->trace, scan->thread_id, window);
    scan->window = window;
    scan->thread = &part->thread;
    scan->calls = (struct weft_calls){ .n_rows = 0 };
    enum weft_code code =
        part->thread.n_blocks > 0 ? load_stored(scan, part->first_block, err) : WEFT_OK;
    if (code)
        return code;
    struct weft_calls calls = scan->calls;
    if (part->first_block == 0) /* some of these may end before the first row */
        calls.open = cut_calls(scan, &calls.n_open);
    if (!weft_scan_part_open(part, &calls))
        return weft_no_memory(err, "a window");
    for (uint64_t block = 1; !weft_scan_part_skip(part, &scan->calls); block++) {
        if (block >= part->thread.n_blocks)
            break;
        code = load_stored(scan, part->first_block + block, err);
        if (code)
            return code;
    }
    scan->part = part;
    return WEFT_OK;
}

static enum weft_code run_item(void *context, size_t turn, unsigned worker, struct weft_err *err)
{
    struct job *job = context;
    uint32_t id = job->turns[turn].piece.thread_id;
    const struct weft_model_thread *thread = weft_trace_thread(job->trace, id);
    uint64_t bound = (uint64_t)thread->max_depth + thread->cut_calls + 2;
    struct weft_scan scan = {
        .trace = job->trace,
        .thread = thread,
        .thread_id = id,
        .item = job->turns[turn].item,
        .depth_bound = bound < UINT32_MAX / 2 ? (uint32_t)bound : UINT32_MAX / 2,
        .cache = &job->caches[worker],
        .progress = job->progress,
    };
    enum weft_code code = job->window ? enter_window(&scan, job->window, err) : WEFT_OK;
    if (!code)
        code = job->fn(job->context, &scan, worker, err);
    if (code)
        (void)weft_within(err, "thread %" PRIu64, thread->info.tid);
    return code;
}

enum weft_code weft_scan_pieces(const struct weft_trace *trace,
                                const struct weft_scan_piece *pieces, size_t n_pieces,
                                const struct weft_window *window, const struct weft_run *run,
                                weft_scan_fn fn, void *context, struct weft_err *err)
{
    unsigned n_workers = weft_pool_workers(run->pool);
    struct job job = {
        .trace = trace,
        .window = window,
        .turns = malloc((n_pieces + 1) * sizeof *job.turns),
        .fn = fn,
        .context = context,
        .progress = run->progress,
        .caches = calloc(n_workers, sizeof *job.caches),
    };
    enum weft_code code = WEFT_OK;
    for (unsigned i = 0; job.caches && i < n_workers; i++)
        job.caches[i].n_slots = n_slots_for(run, n_workers);
    if (job.caches && job.turns) {
        for (size_t i = 0; i < n_pieces; i++)
            job.turns[i] = (struct turn){ pieces[i], i };
        qsort(job.turns, n_pieces, sizeof *job.turns, by_calls);
        code = weft_pool_run(run->pool, n_pieces, run_item, &job, run->progress, err);
    } else {
        code = weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %u workers", n_workers);
    }
    for (unsigned i = 0; job.caches && i < n_workers; i++)
        cache_fini(&job.caches[i]);
    free(job.turns);
    free(job.caches);
    return code;
}

enum weft_code weft_scan_threads(const struct weft_trace *trace, const uint32_t *ids, size_t n_ids,
                                 const struct weft_window *window, const struct weft_run *run,
                                 weft_scan_fn fn, void *context, struct weft_err *err)
{
    enum weft_code code = weft_scan_check(trace, ids, n_ids, err);
    if (code)
        return code;
    size_t n_items = weft_scan_n_threads(trace, ids, n_ids);
    struct weft_scan_piece *pieces = malloc((n_items + 1) * sizeof *pieces);
    if (!pieces)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu threads", n_items);
    for (size_t i = 0; i < n_items; i++) {
        uint32_t id = weft_scan_thread_id(ids, n_ids, i);
        pieces[i] = (struct weft_scan_piece){ id, weft_trace_thread(trace, id)->calls };
    }
    code = weft_scan_pieces(trace, pieces, n_items, window, run, fn, context, err);
    free(pieces);
    return code;
}
