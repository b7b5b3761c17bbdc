/* SPDX-License-Identifier: MIT
 *
 * The index of blocks of events.
 */
#include "base/vec.h"
#include "store/event_block.h"
#include "store/store.h"

#include <inttypes.h>

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "the index of blocks of events");
}

/* Does the block follow what the thread has so far? Where blocks were lost there may be gaps. */
static enum weft_code head_check(const struct store_thread *thread,
                                 const struct weft_event_head *head, bool has_gaps, uint64_t at_off,
                                 struct weft_err *err)
{
    const uint64_t next = thread->next_event_block;
    if (has_gaps ? head->block < next : head->block != next)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected block %" PRIu64 " of events, found block %" PRIu64, next,
                         head->block);
    if (head->counts[WEFT_EVENT_CALL_ARGS] > 0 && head->first_row < thread->last_args_row)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected arguments of call %" PRIu64 " or later, found %" PRIu64,
                         thread->last_args_row, head->first_row);
    return WEFT_OK;
}

enum weft_code weft_store_add_event_block(struct weft_store *store, const struct weft_chunk *chunk,
                                          struct weft_cursor in, bool has_gaps,
                                          struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(&in);
    struct weft_event_head head;
    enum weft_code code = weft_event_head_parse(&in, &head, err);
    if (code != WEFT_OK)
        return code;
    if (head.thread_id >= store->threads.n)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected one of %zu threads, found events of thread %" PRIu32,
                         store->threads.n, head.thread_id);
    struct store_thread *thread = &store->threads.items[head.thread_id];
    code = head_check(thread, &head, has_gaps, at_off, err);
    if (code != WEFT_OK)
        return code;
    struct store_event_block *block = WEFT_VEC_PUSH(&thread->event_blocks);
    if (!block)
        return no_memory(err);
    block->info = (struct weft_event_block_info){
        .first_ns = head.first_ns,
        .last_ns = head.last_ns,
        .n_bytes = chunk->chunk_bytes,
        .n_events = head.n_events,
        .kinds = head.kinds,
    };
    block->off = chunk->off;
    block->head_checksum = weft_checksum(in.start, (size_t)(in.at - in.start));
    thread->next_event_block = head.block + 1;
    if (head.counts[WEFT_EVENT_CALL_ARGS] > 0)
        thread->last_args_row = head.last_row;
    thread->info.events += head.n_events;
    for (int kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        store->meta.events_of_kind[kind] += head.counts[kind];
    return WEFT_OK;
}

/* One entry: place of the chunk and a copy of its summary. */
static enum weft_code entry_parse(struct weft_store *store, struct weft_cursor *in,
                                  size_t thread_id, uint64_t *previous_off, struct weft_err *err)
{
    const struct store_thread *thread = &store->threads.items[thread_id];
    const uint64_t at_off = weft_cur_offset(in);
    struct weft_chunk chunk = { 0 };
    struct weft_cursor head;
    enum weft_code code = weft_store_parse_place(store, in, previous_off, &chunk, &head, err);
    if (code != WEFT_OK)
        return code;
    const size_t n_before = thread->event_blocks.n;
    code = weft_store_add_event_block(store, &chunk, head, false, err);
    if (code == WEFT_OK && thread->event_blocks.n != n_before + 1)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected events of thread %zu, found those of another", thread_id);
    return code;
}

static enum weft_code index_parse(struct weft_store *store, struct weft_cursor *in,
                                  struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_threads = weft_cur_varint(in);
    uint64_t thread_id = 0;
    if (in->fault || n_threads > store->threads.n)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected events of at most %zu threads, found %" PRIu64, store->threads.n,
                         n_threads);
    for (uint64_t i = 0; i < n_threads; i++, thread_id++) {
        const uint64_t thread_off = weft_cur_offset(in);
        thread_id += weft_cur_varint_max(in, UINT32_MAX);
        const uint64_t n_blocks = weft_cur_varint(in);
        if (in->fault || thread_id >= store->threads.n)
            return weft_fail(err, WEFT_E_MALFORMED, thread_off,
                             "expected one of %zu threads, found thread %" PRIu64, store->threads.n,
                             thread_id);
        uint64_t previous_off = 0;
        for (uint64_t j = 0; j < n_blocks; j++) {
            const enum weft_code code =
                entry_parse(store, in, (size_t)thread_id, &previous_off, err);
            if (code != WEFT_OK) {
                (void)weft_within(err, "thread %" PRIu64, thread_id);
                return code;
            }
        }
    }
    if (weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected the end of the index, %zu bytes left", weft_cur_left(in));
    return WEFT_OK;
}

enum weft_code weft_store_parse_event_index(struct weft_store *store,
                                            const struct weft_chunk *chunk, struct weft_err *err)
{
    struct weft_bytes room = { 0 };
    struct weft_cursor content;
    enum weft_code code = weft_chunk_open(chunk, store->decoder, &room, &content, err);
    if (code == WEFT_OK)
        code = index_parse(store, &content, err);
    weft_bytes_fini(&room);
    if (code != WEFT_OK)
        (void)weft_within(err, "index of events");
    return code;
}

enum weft_code weft_store_finish_events(struct weft_store *store, struct store_thread *thread,
                                        struct weft_err *err)
{
    struct weft_store_thread *info = &thread->info;
    info->n_event_blocks = thread->event_blocks.n;
    store->meta.events += info->events;
    if (info->n_event_blocks == 0)
        return WEFT_OK;
    uint64_t first_ns = UINT64_MAX;
    uint64_t last_ns = 0;
    for (size_t i = 0; i < thread->event_blocks.n; i++) {
        const struct weft_event_block_info *block = &thread->event_blocks.items[i].info;
        first_ns = block->first_ns < first_ns ? block->first_ns : first_ns;
        last_ns = block->last_ns > last_ns ? block->last_ns : last_ns;
    }
    if (thread->blocks.n == 0 || first_ns < info->first_ns)
        info->first_ns = first_ns;
    if (last_ns <= info->last_ns)
        return WEFT_OK;
    if (store->has_index)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected events up to %" PRIu64 " ns in the thread, found one at %" PRIu64
                         " ns",
                         info->last_ns, last_ns);
    info->last_ns = last_ns;
    return WEFT_OK;
}
