/* SPDX-License-Identifier: MIT
 *
 * Implements store/reader.h over arrays. Slow and plain.
 */
#include "memory_store.h"

#include "store/block_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct weft_store {
    const struct memory_trace *trace;
    struct weft_store_meta meta;
    struct weft_store_thread *threads;
    struct weft_store_function *functions;
    struct weft_block_info **blocks;
    struct weft_open_call **cut;
    struct weft_open_call **open; /* [thread][block * (max_depth + 2) + depth] */
};

struct weft_block_buf {
    uint64_t *start_ns, *end_ns;
    uint32_t *function_id, *depth, *ids;
    uint8_t *flags;
    struct weft_open_call *open;
};

void memory_store_path(const struct memory_trace *trace, char path[MEMORY_PATH_BYTES])
{
    (void)snprintf(path, MEMORY_PATH_BYTES, "memory:%" PRIxPTR, (uintptr_t)trace);
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Index of the caller of call i, or -1. */
static ptrdiff_t caller_of(const struct memory_thread *thread, size_t i)
{
    ptrdiff_t last = thread->calls[i].depth ? (ptrdiff_t)i - 1 : -1;
    for (ptrdiff_t j = last; j >= 0; j--)
        if (thread->calls[j].depth + 1 == thread->calls[i].depth)
            return j;
    return -1;
}

/* Calls open when the block that begins with call `first` begins. */
static size_t find_open(const struct memory_trace *trace, const struct memory_thread *thread,
                        size_t first, struct weft_open_call *open)
{
    size_t n = thread->calls[first].depth;
    ptrdiff_t at = caller_of(thread, first);
    if ((trace->is_early || first == thread->n_cut) && first > 0) {
        /* the call before and its callers, even if they ended; cut frames are open at first */
        at = (ptrdiff_t)first - 1;
        n = (size_t)thread->calls[at].depth + 1;
    }
    for (; at >= 0; at = caller_of(thread, (size_t)at)) {
        const struct memory_call *call = &thread->calls[at];
        bool is_cut = (size_t)at < thread->n_cut;
        open[call->depth] = (struct weft_open_call){
            .start_ns = call->start_ns,
            .end_ns = call->end_ns,
            .row = is_cut ? UINT64_MAX : (uint64_t)at - thread->n_cut,
            .function_id = call->function_id,
            .depth = call->depth,
            .flags = call->flags,
        };
    }
    return n;
}

/* Silences from call i (its entry) to the entry of call i + 1, or to the thread's end; with early
 * exits, all of them but the first belong to the block of call i + 1. */
static uint64_t longest_silence(const struct memory_thread *thread, size_t i, bool to_next)
{
    uint64_t longest = 0, at_ns = thread->calls[i].start_ns;
    bool has_next = i + 1 < thread->n_calls;
    for (ptrdiff_t j = (ptrdiff_t)i; j >= 0; j = caller_of(thread, (size_t)j)) {
        if (has_next && thread->calls[j].depth < thread->calls[i + 1].depth)
            break;
        longest = max_u64(longest, thread->calls[j].end_ns - at_ns);
        at_ns = thread->calls[j].end_ns;
    }
    if (has_next && to_next)
        longest = max_u64(longest, thread->calls[i + 1].start_ns - at_ns);
    return longest;
}

/* The last exit before call `next` that belongs to the block before it; 0 if there is none. */
static uint64_t last_exit(const struct memory_trace *trace, const struct memory_thread *thread,
                          size_t next)
{
    uint64_t last_ns = 0;
    for (ptrdiff_t j = (ptrdiff_t)next - 1; j >= 0 && !trace->is_early;
         j = caller_of(thread, (size_t)j))
        if (thread->calls[j].depth >= thread->calls[next].depth)
            last_ns = max_u64(last_ns, thread->calls[j].end_ns);
    return last_ns;
}

static void summarise(const struct memory_trace *trace, const struct memory_thread *thread,
                      size_t first, size_t n, struct weft_block_info *info)
{
    *info = (struct weft_block_info){
        .first_row = first - thread->n_cut,
        .n_rows = (uint32_t)n,
        .first_ns = thread->calls[first].start_ns,
        .n_functions = trace->n_functions,
    };
    for (size_t i = first; i < first + n; i++) {
        const struct memory_call *call = &thread->calls[i];
        info->max_depth = call->depth > info->max_depth ? call->depth : info->max_depth;
        info->longest_call_ns = max_u64(info->longest_call_ns, call->end_ns - call->start_ns);
        bool is_inside = i + 1 < first + n;
        if (is_inside || !trace->is_early || i + 1 == thread->n_calls)
            info->longest_gap_ns =
                max_u64(info->longest_gap_ns, longest_silence(thread, i, is_inside));
        info->last_ns = max_u64(info->last_ns, call->start_ns);
    }
    if (first > 0) /* what joins it to the block before; early: its exits too. Too much is fine. */
        info->longest_gap_ns =
            max_u64(info->longest_gap_ns, longest_silence(thread, first - 1, true));
    info->last_ns = first + n == thread->n_calls
                        ? max_u64(info->last_ns, thread->last_ns)
                        : max_u64(info->last_ns, last_exit(trace, thread, first + n));
}

static void open_thread(struct weft_store *store, uint32_t id)
{
    const struct memory_trace *trace = store->trace;
    const struct memory_thread *from = &trace->threads[id];
    struct weft_store_thread *thread = &store->threads[id];
    size_t n_rows = from->n_calls - from->n_cut;
    thread->info.tid = 100 + id;
    thread->calls = n_rows;
    thread->cut_calls = from->n_cut;
    thread->n_blocks = (n_rows + trace->block_rows - 1) / trace->block_rows;
    thread->last_ns = from->last_ns;
    thread->first_ns = UINT64_MAX;
    for (size_t i = 0; i < from->n_calls; i++) {
        const struct memory_call *call = &from->calls[i];
        uint64_t event_ns = i < from->n_cut ? call->end_ns : call->start_ns;
        thread->first_ns = event_ns < thread->first_ns ? event_ns : thread->first_ns;
        thread->max_depth = call->depth > thread->max_depth ? call->depth : thread->max_depth;
    }
    store->meta.calls += n_rows;
    store->meta.cut_calls += from->n_cut;
    store->meta.duration_ns = max_u64(store->meta.duration_ns, from->last_ns);
    store->blocks[id] = calloc(thread->n_blocks + 1, sizeof **store->blocks);
    store->open[id] =
        calloc((thread->n_blocks + 1) * ((size_t)thread->max_depth + 2), sizeof **store->open);
    for (size_t b = 0; b < thread->n_blocks; b++) {
        size_t first = b * trace->block_rows;
        size_t n = n_rows - first < trace->block_rows ? n_rows - first : trace->block_rows;
        summarise(trace, from, from->n_cut + first, n, &store->blocks[id][b]);
        store->blocks[id][b].n_open =
            (uint32_t)find_open(trace, from, from->n_cut + first,
                                &store->open[id][b * ((size_t)thread->max_depth + 2)]);
    }
    store->cut[id] = calloc(from->n_cut + 1, sizeof **store->cut);
    for (size_t i = 0; i < from->n_cut; i++)
        store->cut[id][i] = (struct weft_open_call){ .end_ns = from->calls[i].end_ns,
                                                     .row = UINT64_MAX,
                                                     .function_id = from->calls[i].function_id,
                                                     .depth = (uint32_t)i,
                                                     .flags = from->calls[i].flags };
}

enum weft_code weft_store_open(const char *path, struct weft_store **store, struct weft_err *err)
{
    uintptr_t address = 0;
    if (sscanf(path, "memory:%" SCNxPTR, &address) != 1)
        return weft_fail(err, WEFT_E_IO, WEFT_NO_OFFSET, "expected a trace in memory");
    struct weft_store *opened = calloc(1, sizeof *opened);
    opened->trace = (const struct memory_trace *)address;
    opened->meta.n_threads = opened->trace->n_threads;
    opened->meta.n_functions = opened->trace->n_functions;
    opened->threads = calloc(opened->trace->n_threads + 1, sizeof *opened->threads);
    opened->blocks = calloc(opened->trace->n_threads + 1, sizeof *opened->blocks);
    opened->cut = calloc(opened->trace->n_threads + 1, sizeof *opened->cut);
    opened->open = calloc(opened->trace->n_threads + 1, sizeof *opened->open);
    opened->functions = calloc(opened->trace->n_functions + 1, sizeof *opened->functions);
    for (uint32_t i = 0; i < opened->trace->n_threads; i++)
        open_thread(opened, i);
    for (uint32_t i = 0; i < opened->trace->n_functions; i++) {
        opened->functions[i].key = i;
        if (opened->trace->functions)
            opened->functions[i] = opened->trace->functions[i];
    }
    *store = opened;
    return WEFT_OK;
}

void weft_store_close(struct weft_store *store)
{
    for (uint32_t i = 0; i < store->trace->n_threads; i++) {
        free(store->blocks[i]);
        free(store->cut[i]);
        free(store->open[i]);
    }
    free(store->blocks);
    free(store->cut);
    free(store->open);
    free(store->threads);
    free(store->functions);
    free(store);
}

const struct weft_store_meta *weft_store_meta_get(const struct weft_store *store)
{
    return &store->meta;
}

const struct weft_store_thread *weft_store_thread_get(const struct weft_store *store,
                                                      uint32_t thread_id)
{
    return &store->threads[thread_id];
}

const struct weft_store_function *weft_store_function_get(const struct weft_store *store,
                                                          uint32_t function_id)
{
    return &store->functions[function_id];
}

const struct weft_note *weft_store_note_get(const struct weft_store *store, size_t note)
{
    (void)store;
    (void)note;
    return NULL;
}

const struct weft_block_info *weft_store_block_get(const struct weft_store *store,
                                                   uint32_t thread_id, uint64_t block)
{
    return &store->blocks[thread_id][block];
}

struct weft_block_buf *weft_block_buf_new(void)
{
    return calloc(1, sizeof(struct weft_block_buf));
}

static void buf_clear(struct weft_block_buf *buf)
{
    free(buf->start_ns);
    free(buf->end_ns);
    free(buf->function_id);
    free(buf->depth);
    free(buf->flags);
    free(buf->open);
    free(buf->ids);
    *buf = (struct weft_block_buf){ 0 };
}

void weft_block_buf_free(struct weft_block_buf *buf)
{
    buf_clear(buf);
    free(buf);
}

enum weft_code weft_store_block_functions(struct weft_store *store, uint32_t thread_id,
                                          uint64_t block, struct weft_block_buf *buf,
                                          const uint32_t **ids, size_t *n_ids, struct weft_err *err)
{
    (void)err;
    const struct memory_thread *thread = &store->trace->threads[thread_id];
    const struct weft_block_info *info = &store->blocks[thread_id][block];
    const struct memory_call *calls = thread->calls + thread->n_cut + info->first_row;
    buf_clear(buf);
    buf->ids = calloc(store->trace->n_functions + 1, sizeof *buf->ids);
    *n_ids = 0;
    for (uint32_t id = 0; id < store->trace->n_functions; id++) {
        bool is_in = false;
        for (uint32_t i = 0; i < info->n_rows; i++)
            is_in = is_in || calls[i].function_id == id;
        if (is_in)
            buf->ids[(*n_ids)++] = id;
    }
    *ids = buf->ids;
    return WEFT_OK;
}

enum weft_code weft_store_load(struct weft_store *store, uint32_t thread_id, uint64_t block,
                               struct weft_block_buf *buf, struct weft_calls *calls,
                               struct weft_err *err)
{
    (void)err;
    const struct memory_thread *thread = &store->trace->threads[thread_id];
    const struct weft_block_info *info = &store->blocks[thread_id][block];
    size_t first = thread->n_cut + (size_t)info->first_row, n = info->n_rows;
    buf_clear(buf);
    buf->start_ns = calloc(n, sizeof *buf->start_ns);
    buf->end_ns = calloc(n, sizeof *buf->end_ns);
    buf->function_id = calloc(n, sizeof *buf->function_id);
    buf->depth = calloc(n, sizeof *buf->depth);
    buf->flags = calloc(n, sizeof *buf->flags);
    buf->open = calloc((size_t)store->threads[thread_id].max_depth + 2, sizeof *buf->open);
    bool has_flags = false;
    for (size_t i = 0; i < n; i++) {
        const struct memory_call *call = &thread->calls[first + i];
        buf->start_ns[i] = call->start_ns;
        buf->end_ns[i] = call->end_ns;
        buf->function_id[i] = call->function_id;
        buf->depth[i] = call->depth;
        buf->flags[i] = (uint8_t)call->flags;
        has_flags = has_flags || call->flags;
    }
    *calls = (struct weft_calls){
        .n_rows = n,
        .first_row = info->first_row,
        .start_ns = buf->start_ns,
        .end_ns = buf->end_ns,
        .function_id = buf->function_id,
        .depth = buf->depth,
        .flags = has_flags ? buf->flags : NULL,
        .open = buf->open,
        .n_open = find_open(store->trace, thread, first, buf->open),
    };
    return WEFT_OK;
}

const struct weft_open_call *weft_store_cut_calls(const struct weft_store *store,
                                                  uint32_t thread_id, size_t *n_calls)
{
    *n_calls = store->trace->threads[thread_id].n_cut;
    return store->cut[thread_id];
}

const struct weft_open_call *weft_store_open_call(const struct weft_store *store,
                                                  uint32_t thread_id, uint64_t block,
                                                  const struct weft_open_call *above)
{
    const size_t n_depths = (size_t)store->threads[thread_id].max_depth + 2;
    const uint32_t n_open = above ? above->depth : store->blocks[thread_id][block].n_open;
    return n_open > 0 ? &store->open[thread_id][block * n_depths + n_open - 1] : NULL;
}

/* Keeps no contexts: intervals are answered from calls. */
enum weft_code weft_store_contexts(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                   unsigned level, struct weft_block_buf *buf,
                                   struct weft_context_tree *tree,
                                   struct weft_context_entries *entries, bool *is_known,
                                   struct weft_err *err)
{
    (void)store, (void)thread_id, (void)block, (void)level, (void)buf, (void)tree, (void)entries;
    (void)err;
    *is_known = false;
    return WEFT_OK;
}

bool weft_store_has_contexts(const struct weft_store *store, uint32_t thread_id, uint64_t block,
                             unsigned level)
{
    (void)store, (void)thread_id, (void)block, (void)level;
    return false;
}

/* ---- parts of blocks ------------------------------------------------------------------------- */

/* A block decoded as a whole. */
struct weft_block_part {
    struct weft_block_buf *buf;
    struct weft_calls calls;
    struct weft_open_call *open;
    uint64_t last_ns;
    uint32_t *functions; /* of open calls, then every function by its id */
    uint64_t *ends;      /* of the calls open, by depth */
    uint8_t *code;
    struct memory_times {
        uint8_t *plane, *ext; /* every time is an escape */
        size_t n;
    } gaps, tails;
};

struct weft_block_part *weft_block_part_new(void)
{
    struct weft_block_part *part = calloc(1, sizeof *part);
    part->buf = weft_block_buf_new();
    return part;
}

static void steps_clear(struct weft_block_part *part)
{
    free(part->functions);
    free(part->ends);
    free(part->code);
    free(part->gaps.plane);
    free(part->gaps.ext);
    free(part->tails.plane);
    free(part->tails.ext);
}

void weft_block_part_free(struct weft_block_part *part)
{
    if (!part)
        return;
    weft_block_buf_free(part->buf);
    free(part->open);
    steps_clear(part);
    free(part);
}

enum weft_code weft_block_part_open(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                    struct weft_block_part *part, struct weft_err *err)
{
    part->last_ns = store->blocks[thread_id][block].last_ns;
    return weft_store_load(store, thread_id, block, part->buf, &part->calls, err);
}

uint64_t weft_block_part_start_ns(const struct weft_block_part *part, size_t row)
{
    return part->calls.start_ns[row];
}

bool weft_block_part_is_whole(const struct weft_block_part *part)
{
    (void)part;
    return false;
}

size_t weft_block_part_n_rows(const struct weft_block_part *part)
{
    return part->calls.n_rows;
}

size_t weft_block_part_find(struct weft_block_part *part, uint64_t time_ns)
{
    size_t row = 0;
    while (row < part->calls.n_rows && part->calls.start_ns[row] < time_ns)
        row++;
    return row;
}

enum weft_code weft_block_part_rows(struct weft_block_part *part, size_t first, size_t end,
                                    struct weft_calls *calls, struct weft_err *err)
{
    (void)err;
    const struct weft_calls *whole = &part->calls;
    const size_t n_open = first ? (size_t)whole->depth[first - 1] + 1 : whole->n_open;
    free(part->open);
    part->open = calloc(n_open + 1, sizeof *part->open);
    for (size_t depth = n_open, row = first; depth-- > 0;) {
        while (row > 0 && whole->depth[row - 1] != depth)
            row--;
        if (row == 0)
            part->open[depth] = whole->open[depth];
        else
            part->open[depth] = (struct weft_open_call){ .start_ns = whole->start_ns[row - 1],
                                                         .end_ns = whole->end_ns[row - 1],
                                                         .row = whole->first_row + row - 1,
                                                         .function_id = whole->function_id[row - 1],
                                                         .depth = (uint32_t)depth };
    }
    *calls = (struct weft_calls){
        .n_rows = end - first,
        .first_row = whole->first_row + first,
        .start_ns = whole->start_ns + first,
        .end_ns = whole->end_ns + first,
        .function_id = whole->function_id + first,
        .depth = whole->depth + first,
        .open = part->open,
        .n_open = n_open,
    };
    return WEFT_OK;
}

static struct memory_times times_new(size_t n_most)
{
    return (struct memory_times){ malloc(n_most + 1), malloc(n_most * 8 + 1), 0 };
}

static void times_put(struct memory_times *times, uint64_t *now_ns, uint64_t time_ns)
{
    times->plane[times->n] = 255;
    weft_store_u64(times->ext + 8 * times->n++, time_ns - *now_ns);
    *now_ns = time_ns;
}

enum weft_code weft_block_part_steps(struct weft_block_part *part, size_t first, size_t end,
                                     struct weft_block_steps *steps, struct weft_err *err)
{
    const struct weft_calls *whole = &part->calls;
    const size_t n = end - first, n_functions = UINT16_MAX + 1;
    struct weft_calls calls;
    const enum weft_code code = weft_block_part_rows(part, first, end, &calls, err);
    const size_t n_open = calls.n_open;
    steps_clear(part);
    part->functions = malloc((n_functions + n_open) * sizeof *part->functions);
    part->ends = malloc((n_open + n + 1) * sizeof *part->ends);
    part->code = malloc(3 * n);
    part->gaps = times_new(n);
    part->tails = times_new(n_open + n);
    for (size_t i = 0; i < n_open; i++) {
        part->functions[i] = calls.open[i].function_id;
        part->ends[i] = calls.open[i].end_ns;
    }
    for (size_t i = 0; i < n_functions; i++)
        part->functions[n_open + i] = (uint32_t)i;
    size_t depth = n_open;
    uint64_t now_ns = n_open > calls.depth[0] ? part->ends[n_open - 1] : calls.start_ns[0];
    *steps = (struct weft_block_steps){ .first_ns = now_ns, .is_wide = true };
    for (size_t i = 0; i < n; i++) {
        while (depth > calls.depth[i])
            times_put(&part->tails, &now_ns, part->ends[--depth]);
        times_put(&part->gaps, &now_ns, calls.start_ns[i]);
        part->ends[depth++] = calls.end_ns[i];
        part->code[3 * i] = (uint8_t)calls.function_id[i];
        part->code[3 * i + 1] = (uint8_t)(calls.function_id[i] >> 8);
    }
    steps->last_ns = now_ns;
    const size_t n_before = part->tails.n;
    const size_t n_left = end < whole->n_rows ? whole->depth[end] : 0;
    while (depth > n_left && (end < whole->n_rows || part->ends[depth - 1] <= part->last_ns))
        times_put(&part->tails, &now_ns, part->ends[--depth]);
    steps->n_behind = part->tails.n - n_before;
    steps->depth = calls.depth;
    steps->code = part->code;
    steps->ids = part->functions + n_open;
    steps->gaps = part->gaps.plane;
    steps->gap_ext = part->gaps.ext;
    steps->tails = part->tails.plane;
    steps->tail_ext = part->tails.ext;
    steps->open = part->functions;
    steps->n_open = n_open;
    steps->n_rows = n;
    return code;
}
