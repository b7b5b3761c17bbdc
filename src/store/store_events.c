/* SPDX-License-Identifier: MIT
 *
 * The index of blocks of events.
 */
#include "base/vec.h"
#include "store/event_block.h"
#include "store/store.h"

#include <inttypes.h>

/* Does the block follow what the row has so far? Where blocks were lost there may be gaps. */
static enum weft_code head_check(const struct store_event_blocks *blocks,
                                 const struct store_thread *thread,
                                 const struct weft_event_head *head, bool has_gaps, uint64_t at_off,
                                 struct weft_err *err)
{
    if (has_gaps ? head->block < blocks->next : head->block != blocks->next)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected block %" PRIu64 " of events, found block %" PRIu64, blocks->next,
                         head->block);
    if (!thread && head->counts[WEFT_EVENT_CALL_ARGS] > 0)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected no arguments of calls among arrivals");
    if (!thread && blocks->n > 0 && head->first_ns < blocks->items[blocks->n - 1].info.last_ns)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected arrivals from %" PRIu64 " ns on, found some at %" PRIu64,
                         blocks->items[blocks->n - 1].info.last_ns, head->first_ns);
    if (thread && head->counts[WEFT_EVENT_CALL_ARGS] > 0 && head->first_row < thread->last_args_row)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected arguments of call %" PRIu64 " or later, found %" PRIu64,
                         thread->last_args_row, head->first_row);
    return WEFT_OK;
}

/* Where the blocks of a row are; NULL without memory, or for a row that there is not. */
static struct store_event_blocks *blocks_of(struct weft_store *store, enum store_stream stream,
                                            uint32_t row)
{
    if (stream == STORE_EVENTS)
        return &store->threads.items[row].event_blocks;
    while (store->arrivals.n <= row)
        if (!WEFT_VEC_PUSH(&store->arrivals))
            return NULL;
    return &store->arrivals.items[row];
}

/* Adds a block of events whose summary is at `in`. Changes nothing when it fails. `has_gaps`:
 * blocks before it may have been lost. */
static enum weft_code add_event_block(struct weft_store *store, enum store_stream stream,
                                      const struct weft_chunk *chunk, struct weft_cursor *in,
                                      bool has_gaps, struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint8_t *start = in->at;
    const size_t n_rows = store->threads.n + (stream == STORE_ARRIVALS) * store->processors.n;
    struct weft_event_head head;
    WEFT_TRY(weft_event_head_parse(in, &head, err));
    if (head.thread_id >= n_rows)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected one of %zu threads, found events of thread %" PRIu32, n_rows,
                         head.thread_id);
    struct store_event_blocks *blocks = blocks_of(store, stream, head.thread_id);
    if (!blocks)
        return weft_no_memory(err, "the index of blocks of events");
    struct store_thread *thread =
        stream == STORE_EVENTS ? &store->threads.items[head.thread_id] : NULL;
    WEFT_TRY(head_check(blocks, thread, &head, has_gaps, at_off, err));
    struct store_event_block *block = WEFT_VEC_PUSH(blocks);
    if (!block)
        return weft_no_memory(err, "the index of blocks of events");
    block->info = (struct weft_event_block_info){
        .first_ns = head.first_ns,
        .last_ns = head.last_ns,
        .n_bytes = chunk->chunk_bytes,
        .n_events = head.n_events,
        .kinds = head.kinds,
    };
    block->off = chunk->off;
    block->head_checksum = weft_checksum(start, (size_t)(in->at - start));
    blocks->next = head.block + 1;
    if (!thread)
        return WEFT_OK;
    if (head.counts[WEFT_EVENT_CALL_ARGS] > 0)
        thread->last_args_row = head.last_row;
    block->info.last_row = thread->last_args_row;
    thread->info.events += head.n_events;
    for (int kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        store->meta.events_of_kind[kind] += head.counts[kind];
    return WEFT_OK;
}

enum weft_code weft_store_add_event_chunk(struct weft_store *store, const struct weft_chunk *chunk,
                                          uint64_t *n_lost, struct weft_err *err)
{
    struct weft_cursor in = weft_cur_init(chunk->stored, chunk->stored_bytes,
                                          chunk->off + sizeof(struct weft_disk_chunk));
    const uint64_t n_runs =
        chunk->id == WEFT_CHUNK_EVENTS ? 1 : weft_cur_varint_max(&in, WEFT_FORMAT_MAX_BLOCK_EVENTS);
    const enum store_stream stream =
        chunk->id == WEFT_CHUNK_ARRIVALS ? STORE_ARRIVALS : STORE_EVENTS;
    *n_lost = 0;
    for (uint64_t i = 0; i < n_runs; i++) {
        struct weft_cursor run = in;
        struct weft_event_head head;
        enum weft_code code = weft_event_head_parse(&in, &head, NULL);
        if (code != WEFT_OK)
            return weft_fail(err, WEFT_E_MALFORMED, chunk->off, "expected blocks of events");
        code = add_event_block(store, stream, chunk, &run, true, NULL);
        if (code == WEFT_E_NOMEM)
            return weft_no_memory(err, "the index of blocks of events");
        *n_lost += code != WEFT_OK;
    }
    return WEFT_OK;
}

/* One entry: place of the chunk and a copy of its summary. */
static enum weft_code entry_parse(struct weft_store *store, enum store_stream stream,
                                  struct weft_cursor *in, size_t row, uint64_t *previous_off,
                                  struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    struct weft_chunk chunk = { 0 };
    struct weft_cursor head;
    WEFT_TRY(weft_store_parse_place(store, in, previous_off, &chunk, &head, err));
    struct store_event_blocks *blocks = blocks_of(store, stream, (uint32_t)row);
    if (!blocks)
        return weft_no_memory(err, "the index of blocks of events");
    const size_t n_before = blocks->n;
    enum weft_code code = add_event_block(store, stream, &chunk, &head, false, err);
    if (code == WEFT_OK && blocks_of(store, stream, (uint32_t)row)->n != n_before + 1)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected events of thread %zu, found those of another", row);
    return code;
}

static enum weft_code row_parse(struct weft_store *store, enum store_stream stream,
                                struct weft_cursor *in, size_t row, struct weft_err *err)
{
    const uint64_t n_blocks = weft_cur_varint(in);
    uint64_t previous_off = 0;
    enum weft_code code = WEFT_OK;
    for (uint64_t i = 0; i < n_blocks && code == WEFT_OK; i++)
        code = entry_parse(store, stream, in, row, &previous_off, err);
    if (code != WEFT_OK)
        (void)weft_within(err, "thread %zu", row);
    return code;
}

static enum weft_code index_parse(struct weft_store *store, enum store_stream stream,
                                  struct weft_cursor *in, struct weft_err *err)
{
    const size_t n_rows = store->threads.n + (stream == STORE_ARRIVALS) * store->processors.n;
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_with = weft_cur_varint(in);
    uint64_t row = 0;
    if (in->fault || n_with > n_rows)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected events of at most %zu threads, found %" PRIu64, n_rows, n_with);
    for (uint64_t i = 0; i < n_with; i++, row++) {
        const uint64_t row_off = weft_cur_offset(in);
        row += weft_cur_varint_max(in, UINT32_MAX);
        if (in->fault || row >= n_rows)
            return weft_fail(err, WEFT_E_MALFORMED, row_off,
                             "expected one of %zu threads, found thread %" PRIu64, n_rows, row);
        WEFT_TRY(row_parse(store, stream, in, (size_t)row, err));
    }
    if (weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected the end of the index, %zu bytes left", weft_cur_left(in));
    return WEFT_OK;
}

static enum weft_code processors_parse(struct weft_store *store, struct weft_cursor *in,
                                       struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_processors = weft_cur_varint_max(in, WEFT_FORMAT_MAX_PROCESSORS);
    bool is_broken = in->fault || n_processors > weft_cur_left(in) / 2 || store->processors.n > 0;
    for (uint64_t i = 0; i < n_processors && !is_broken; i++) {
        const uint64_t host_id = weft_cur_varint_max(in, UINT32_MAX);
        const int64_t cpu = weft_cur_svarint(in);
        is_broken = in->fault || cpu < 0 || cpu > INT32_MAX;
        struct store_processor *processor = WEFT_VEC_PUSH(&store->processors);
        if (!processor)
            return weft_no_memory(err, "the index of blocks of events");
        *processor = (struct store_processor){ .host_id = (uint32_t)host_id, .cpu = (int32_t)cpu };
    }
    if (is_broken)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected CPUs that fit %zu bytes, found %" PRIu64, weft_cur_left(in),
                         n_processors);
    return WEFT_OK;
}

enum weft_code weft_store_parse_event_index(struct weft_store *store,
                                            const struct weft_chunk *chunk, struct weft_err *err)
{
    const bool is_arrivals = chunk->id == WEFT_CHUNK_ARRIVAL_INDEX;
    struct weft_bytes room = { 0 };
    struct weft_cursor content;
    enum weft_code code = weft_chunk_open(chunk, store->decoder, &room, &content, err);
    if (code == WEFT_OK && is_arrivals)
        code = processors_parse(store, &content, err);
    WEFT_THEN(code, index_parse(store, is_arrivals ? STORE_ARRIVALS : STORE_EVENTS, &content, err));
    weft_bytes_fini(&room);
    if (code != WEFT_OK)
        (void)weft_within(err, is_arrivals ? "index of arrivals" : "index of events");
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
