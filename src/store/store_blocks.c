/* SPDX-License-Identifier: MIT
 *
 * Builds the reader's tables of blocks from their heads, be they from the index or from the blocks
 * themselves, and links the calls that are open between blocks into stacks. At the end keys become
 * ids, and calls without an exit end with their thread. O(blocks + open calls).
 */
#include "base/vec.h"
#include "store/contexts.h"
#include "store/store.h"

#include <inttypes.h>

/* Does the block follow what the thread has so far? */
static enum weft_code head_check(const struct store_thread *thread,
                                 const struct weft_block_head *head, uint64_t at_off,
                                 struct weft_err *err)
{
    if (head->block != thread->blocks.n || head->first_row != thread->info.calls)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected block %zu from call %" PRIu64 " on, found block %" PRIu64
                         " from %" PRIu64 " on",
                         thread->blocks.n, thread->info.calls, head->block, head->first_row);
    if (head->n_carried != thread->n_carried || head->n_cut_before != thread->cut.n)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected %" PRIu32 " open calls and %zu cut ones before the block, found "
                         "%" PRIu32 " and %" PRIu32,
                         thread->n_carried, thread->cut.n, head->n_carried, head->n_cut_before);
    if (thread->blocks.n > 0 && head->first_event_ns < thread->info.last_ns)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected events from %" PRIu64 " ns on, found %" PRIu64,
                         thread->info.last_ns, head->first_event_ns);
    if (head->n_exits - head->n_ended + head->n_left != head->n_rows)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected the exits of %" PRIu32 " calls, found %" PRIu32
                         " of this block and %" PRIu32 " calls left open",
                         head->n_rows, head->n_exits - head->n_ended, head->n_left);
    const uint32_t n_ended_carried =
        head->n_ended < head->n_carried ? head->n_ended : head->n_carried;
    const uint32_t n_cut_here = head->n_ended - n_ended_carried;
    if (n_cut_here > WEFT_FORMAT_MAX_DEPTH - head->n_cut_before ||
        head->n_left > WEFT_FORMAT_MAX_DEPTH - (head->n_carried - n_ended_carried))
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected at most %d open calls, found more", WEFT_FORMAT_MAX_DEPTH);
    return WEFT_OK;
}

/* Walks the frames without keeping them: afterwards they are known to be good. */
static enum weft_code frames_check(struct weft_cursor in, const struct weft_block_head *head,
                                   struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(&in);
    struct weft_block_ended ended = { 0 };
    for (uint32_t i = 0; i < head->n_ended && !in.fault; i++) {
        ended = weft_block_ended_parse(&in, head, i, &ended);
        if (ended.flags & ~(uint32_t)WEFT_FORMAT_CALL_FLAGS)
            in.fault = true;
    }
    struct weft_block_left left = { 0 };
    for (uint32_t i = 0; i < head->n_left && !in.fault; i++)
        left = weft_block_left_parse(&in, head, i, &left);
    if (in.fault)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected %" PRIu32 " frames that end and %" PRIu32
                         " that stay open in the block, found a broken one",
                         head->n_ended, head->n_left);
    return WEFT_OK;
}

static enum weft_code frames_end(struct store_thread *thread, struct weft_cursor *in,
                                 const struct weft_block_head *head, struct weft_err *err)
{
    struct weft_block_ended ended = { 0 };
    for (uint32_t i = 0; i < head->n_ended; i++) {
        ended = weft_block_ended_parse(in, head, i, &ended);
        struct weft_open_call *call;
        if (i < head->n_carried) {
            call = &thread->crossing.items[thread->top];
            thread->top = thread->below.items[thread->top];
            thread->n_carried--;
        } else {
            call = WEFT_VEC_PUSH(&thread->cut);
            if (!call)
                return weft_no_memory(err, "the index of blocks");
            call->function_id = ended.cut_key;
            call->row = UINT64_MAX;
        }
        call->end_ns = ended.end_ns;
        call->flags = ended.flags;
    }
    return WEFT_OK;
}

static enum weft_code frames_open(struct store_thread *thread, struct weft_cursor *in,
                                  const struct weft_block_head *head, struct weft_err *err)
{
    struct weft_block_left left = { 0 };
    for (uint32_t i = 0; i < head->n_left; i++) {
        left = weft_block_left_parse(in, head, i, &left);
        struct weft_open_call *call = WEFT_VEC_PUSH(&thread->crossing);
        uint32_t *below = WEFT_VEC_PUSH(&thread->below);
        if (!call || !below)
            return weft_no_memory(err, "the index of blocks");
        *call = (struct weft_open_call){
            .start_ns = left.start_ns,
            .end_ns = UINT64_MAX, /* still open */
            .row = head->first_row + left.row,
            .function_id = left.function_key,
            .depth = thread->n_carried - (uint32_t)thread->cut.n,
        };
        *below = thread->top;
        thread->top = (uint32_t)(thread->crossing.n - 1);
        thread->n_carried++;
    }
    return WEFT_OK;
}

enum weft_code weft_store_add_block(struct weft_store *store, const struct weft_chunk *chunk,
                                    struct weft_cursor in, struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(&in);
    struct weft_block_head head;
    WEFT_TRY(weft_block_head_parse(&in, &head, err));
    if (head.thread_id >= store->threads.n)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected one of %zu threads, found a block of thread %" PRIu32,
                         store->threads.n, head.thread_id);
    struct store_thread *thread = &store->threads.items[head.thread_id];
    if (head_check(thread, &head, at_off, err) != WEFT_OK ||
        frames_check(in, &head, err) != WEFT_OK)
        return WEFT_E_MALFORMED;
    struct store_block *block = WEFT_VEC_PUSH(&thread->blocks);
    if (!block)
        return weft_no_memory(err, "the index of blocks");
    if (thread->blocks.n == 1)
        thread->info.first_ns = head.first_event_ns;
    block->info = (struct weft_block_info){
        .first_row = head.first_row,
        .n_rows = head.n_rows,
        .first_ns = head.first_ns,
        .last_ns = head.last_ns,
        .longest_call_ns = head.longest_call_ns,
        .longest_gap_ns = head.longest_gap_ns,
        .n_bytes = chunk->chunk_bytes,
        .n_functions = head.n_functions,
    };
    block->off = chunk->off;
    block->chunk_bytes = chunk->chunk_bytes;
    block->info.first_event_ns = head.first_event_ns;
    block->n_exits = head.n_exits;
    block->n_carried = head.n_carried;
    block->n_cut_before = head.n_cut_before;
    block->n_ended = head.n_ended;
    block->n_left = head.n_left;
    block->top = thread->top;
    block->max_level = head.max_level;
    enum weft_code code = frames_end(thread, &in, &head, err);
    block->first_left = (uint32_t)thread->crossing.n;
    WEFT_THEN(code, frames_open(thread, &in, &head, err));
    thread->info.calls += head.n_rows;
    thread->info.last_ns = head.last_ns;
    return code;
}

enum weft_code weft_store_parse_place(const struct weft_store *store, struct weft_cursor *in,
                                      uint64_t *previous_off, struct weft_chunk *chunk,
                                      struct weft_cursor *head, struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t step = weft_cur_varint(in);
    const uint64_t chunk_bytes = weft_cur_varint(in);
    const uint64_t head_bytes = weft_cur_varint(in);
    const uint64_t file_bytes = store->file.n_bytes;
    if (in->fault || head_bytes > weft_cur_left(in) || *previous_off > file_bytes ||
        step > (file_bytes - *previous_off) / 8 ||
        chunk_bytes > file_bytes - *previous_off - step * 8)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected a block within the file, found a step of %" PRIu64
                         " and %" PRIu64 " bytes",
                         step, chunk_bytes);
    *previous_off += step * 8;
    *chunk = (struct weft_chunk){ .off = *previous_off, .chunk_bytes = chunk_bytes };
    *head = weft_cur_sub(in, (size_t)head_bytes);
    return WEFT_OK;
}

/* One entry of the index: place of the chunk and a copy of its head. */
static enum weft_code entry_parse(struct weft_store *store, struct weft_cursor *in,
                                  size_t thread_id, uint64_t *previous_off, struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const size_t n_threads = store->threads.n;
    struct weft_chunk chunk;
    struct weft_cursor head;
    WEFT_TRY(weft_store_parse_place(store, in, previous_off, &chunk, &head, err));
    const size_t n_before = store->threads.items[thread_id].blocks.n;
    WEFT_TRY(weft_store_add_block(store, &chunk, head, err));
    if (store->threads.items[thread_id].blocks.n != n_before + 1)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected a block of thread %zu of %zu, found one of another", thread_id,
                         n_threads);
    return WEFT_OK;
}

static enum weft_code index_parse(struct weft_store *store, struct weft_cursor *in,
                                  struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_threads = weft_cur_varint(in);
    if (in->fault || n_threads != store->threads.n)
        return weft_fail(err, WEFT_E_MALFORMED, at_off, "expected %zu threads, found %" PRIu64,
                         store->threads.n, n_threads);
    for (size_t i = 0; i < n_threads; i++) {
        const uint64_t last_ns = weft_cur_varint(in);
        const uint64_t n_blocks = weft_cur_varint(in);
        uint64_t previous_off = 0;
        enum weft_code code = WEFT_OK;
        for (uint64_t j = 0; j < n_blocks && !in->fault && code == WEFT_OK; j++)
            code = entry_parse(store, in, i, &previous_off, err);
        if (code != WEFT_OK) {
            (void)weft_within(err, "thread %zu", i);
            return code;
        }
        struct weft_store_thread *info = &store->threads.items[i].info;
        if (in->fault || last_ns < info->last_ns || last_ns > WEFT_FORMAT_MAX_NS)
            return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                             "expected the last event of thread %zu at or after %" PRIu64
                             " ns, found %" PRIu64,
                             i, info->last_ns, last_ns);
        if (n_blocks == 0)
            info->first_ns = last_ns;
        info->last_ns = last_ns;
    }
    if (weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected the end of the index, %zu bytes left", weft_cur_left(in));
    return WEFT_OK;
}

enum weft_code weft_store_parse_blocks(struct weft_store *store, const struct weft_chunk *chunk,
                                       struct weft_err *err)
{
    struct weft_bytes room = { 0 };
    struct weft_cursor content;
    enum weft_code code = weft_chunk_open(chunk, store->decoder, &room, &content, err);
    WEFT_THEN(code, index_parse(store, &content, err));
    store->has_index = true;
    weft_bytes_fini(&room);
    if (code != WEFT_OK)
        (void)weft_within(err, "index of blocks");
    return code;
}

/* ---- when all is read ----------------------------------------------------------------------- */

static int compare_functions(const void *a, const void *b)
{
    const uint32_t x = ((const struct weft_store_function *)a)->key;
    const uint32_t y = ((const struct weft_store_function *)b)->key;
    return (x > y) - (x < y);
}

uint32_t weft_store_function_of_key(const struct weft_store *store, uint32_t key)
{
    if (store->id_of_key.n > 0)
        return key < store->id_of_key.n ? store->id_of_key.items[key] : WEFT_ID_NONE;
    size_t low = 0;
    size_t high = store->functions.n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (store->functions.items[mid].key < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low < store->functions.n && store->functions.items[low].key == key ? (uint32_t)low
                                                                              : WEFT_ID_NONE;
}

static enum weft_code functions_sort(struct weft_store *store, struct weft_err *err)
{
    if (store->functions.n > 0)
        qsort(store->functions.items, store->functions.n, sizeof *store->functions.items,
              compare_functions);
    for (size_t i = 1; i < store->functions.n; i++)
        if (store->functions.items[i].key == store->functions.items[i - 1].key)
            return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                             "expected one function of key %" PRIu32 ", found two",
                             store->functions.items[i].key);
    return WEFT_OK;
}

/* A table instead of a search, if keys are not much greater than their number. */
static enum weft_code functions_index(struct weft_store *store, struct weft_err *err)
{
    const size_t n = store->functions.n;
    const size_t n_keys = n ? (size_t)store->functions.items[n - 1].key + 1 : 0;
    if (n_keys > 16 * n + 4096)
        return WEFT_OK;
    if (!weft_vec_reserve(&store->id_of_key.items, &store->id_of_key.cap, n_keys,
                          sizeof *store->id_of_key.items))
        return weft_no_memory(err, "the index of blocks");
    for (size_t key = 0, id = 0; key < n_keys; key++) {
        const bool is_known = store->functions.items[id].key == key;
        store->id_of_key.items[key] = is_known ? (uint32_t)id : WEFT_ID_NONE;
        id += is_known;
    }
    store->id_of_key.n = n_keys;
    return WEFT_OK;
}

/* Puts the cut frames, by depth, before the calls that cross borders. */
static enum weft_code crossing_join(struct store_thread *thread, struct weft_err *err)
{
    const size_t n_cut = thread->cut.n;
    const size_t n_all = thread->crossing.n + n_cut;
    if (n_cut == 0)
        return WEFT_OK;
    if (!weft_vec_reserve(&thread->crossing.items, &thread->crossing.cap, n_all,
                          sizeof *thread->crossing.items) ||
        !weft_vec_reserve(&thread->below.items, &thread->below.cap, n_all,
                          sizeof *thread->below.items))
        return weft_no_memory(err, "the index of blocks");
    memmove(thread->crossing.items + n_cut, thread->crossing.items,
            thread->crossing.n * sizeof *thread->crossing.items);
    memmove(thread->below.items + n_cut, thread->below.items,
            thread->below.n * sizeof *thread->below.items);
    for (size_t depth = 0; depth < n_cut; depth++) {
        thread->crossing.items[depth] = thread->cut.items[n_cut - 1 - depth];
        thread->crossing.items[depth].depth = (uint32_t)depth;
        thread->crossing.items[depth].flags |= WEFT_CALL_CUT_START;
        thread->below.items[depth] = depth ? (uint32_t)depth - 1 : WEFT_ID_NONE;
    }
    thread->crossing.n = thread->below.n = n_all;
    return WEFT_OK;
}

static enum weft_code crossing_resolve(const struct weft_store *store, struct store_thread *thread,
                                       struct weft_err *err)
{
    const uint32_t n_cut = (uint32_t)thread->cut.n;
    for (size_t i = 0; i < thread->crossing.n; i++) {
        struct weft_open_call *call = &thread->crossing.items[i];
        const uint32_t key = call->function_id;
        call->function_id = weft_store_function_of_key(store, key);
        if (call->function_id == WEFT_ID_NONE)
            return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                             "expected a function of the table, found key %" PRIu32, key);
        if (call->end_ns == UINT64_MAX) {
            call->end_ns = thread->info.last_ns;
            call->flags |= WEFT_CALL_CUT_END;
        }
        if (i < n_cut)
            continue;
        call->depth += n_cut;
        uint32_t *below = &thread->below.items[i];
        if (*below != WEFT_ID_NONE)
            *below += n_cut;
        else if (call->depth > 0)
            *below = call->depth - 1; /* a cut frame: their index is their depth */
    }
    return WEFT_OK;
}

static enum weft_code blocks_resolve(struct store_thread *thread, struct weft_err *err)
{
    const uint32_t n_cut = (uint32_t)thread->cut.n;
    for (size_t i = 0; i < thread->blocks.n; i++) {
        struct store_block *block = &thread->blocks.items[i];
        struct weft_block_info *info = &block->info;
        const uint32_t n_cut_open = n_cut - block->n_cut_before;
        info->n_open = block->n_carried + n_cut_open;
        if (block->top != WEFT_ID_NONE)
            block->top += n_cut;
        else if (n_cut_open > 0)
            block->top = n_cut_open - 1;
        block->first_left += n_cut;
        for (uint32_t j = 0; j < block->n_left; j++) {
            const struct weft_open_call *call = &thread->crossing.items[block->first_left + j];
            if (call->end_ns - call->start_ns > info->longest_call_ns)
                info->longest_call_ns = call->end_ns - call->start_ns;
        }
        const int64_t max_depth = info->n_rows ? (int64_t)block->max_level + n_cut : 0;
        if (max_depth < 0 || max_depth > (int64_t)info->n_open + info->n_rows)
            return weft_fail(err, WEFT_E_MALFORMED, block->off,
                             "expected depths below %" PRIu64 ", found %" PRId64,
                             (uint64_t)info->n_open + info->n_rows, max_depth);
        info->max_depth = (uint32_t)max_depth;
        if (info->n_open > info->max_depth)
            info->max_depth = info->n_open - 1;
        if (info->max_depth > thread->info.max_depth)
            thread->info.max_depth = info->max_depth;
    }
    return WEFT_OK;
}

enum weft_code weft_store_finish(struct weft_store *store, struct weft_err *err)
{
    struct weft_store_meta *meta = &store->meta;
    enum weft_code code = functions_sort(store, err);
    WEFT_THEN(code, functions_index(store, err));
    weft_store_sort_objects(store);
    for (size_t i = 0; i < store->threads.n && code == WEFT_OK; i++) {
        struct store_thread *thread = &store->threads.items[i];
        code = crossing_join(thread, err);
        WEFT_THEN(code, crossing_resolve(store, thread, err));
        WEFT_THEN(code, blocks_resolve(thread, err));
        if (code == WEFT_OK) /* last: without an index, calls end by what is known of calls */
            code = weft_store_finish_events(store, thread, err);
        thread->info.cut_calls = thread->cut.n;
        thread->info.n_blocks = thread->blocks.n;
        if (thread->groups.n != weft_contexts_n_groups(thread->blocks.n, 0))
            thread->groups.n = 0; /* of other blocks */
        if (thread->levels.n != weft_store_n_levels(thread->blocks.n))
            thread->levels.n = 0;
        meta->calls += thread->info.calls;
        meta->cut_calls += thread->info.cut_calls;
        if (thread->info.last_ns > meta->duration_ns)
            meta->duration_ns = thread->info.last_ns;
    }
    for (size_t i = 0; i < store->notes.n && code == WEFT_OK; i++) {
        struct weft_note *note = &store->notes.items[i];
        if (note->thread_id != WEFT_ID_NONE && note->thread_id >= store->threads.n)
            note->thread_id = WEFT_ID_NONE; /* its thread was lost */
    }
    meta->n_threads = (uint32_t)store->threads.n;
    meta->n_functions = (uint32_t)store->functions.n;
    meta->n_notes = store->notes.n;
    meta->bytes_out = store->file.n_bytes;
    return code;
}
