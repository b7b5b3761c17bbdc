/* SPDX-License-Identifier: MIT
 *
 * Loads a block of events that are no calls.
 */
#include "base/vec.h"
#include "store/event_block.h"
#include "store/reader.h"
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>

/* Arrays that grow to the largest block seen. */
struct weft_event_buf {
    struct weft_column_decoder *decoder;
    uint8_t *raw; /* decompressed columns */
    struct weft_event *events;
    struct weft_str *strings; /* the first is empty */
    size_t cap_raw, cap_events, cap_strings;
};

/* A load in work. */
struct event_load {
    struct weft_store *store;
    const struct store_thread *thread;
    struct store_event_block *block;
    struct weft_event_buf *buf;
    struct weft_event_head head;
    struct weft_event_columns columns;
    struct weft_cursor packed; /* columns as stored */
    struct weft_cursor raw[WEFT_EVENT_COLUMNS];
    uint64_t n_strings;

    /* What the columns have come to, and whether something in them is out of range. */
    uint64_t time_ns, first_ns, last_ns, row;
    uint64_t previous[WEFT_EVENT_KINDS];
    uint32_t counts[WEFT_EVENT_KINDS];
    bool is_broken;
};

struct weft_event_buf *weft_event_buf_new(void)
{
    struct weft_event_buf *buf = calloc(1, sizeof *buf);
    if (!buf)
        return NULL;
    buf->decoder = weft_column_decoder_new();
    if (buf->decoder)
        return buf;
    free(buf);
    return NULL;
}

void weft_event_buf_free(struct weft_event_buf *buf)
{
    if (!buf)
        return;
    weft_column_decoder_free(buf->decoder);
    free(buf->raw);
    free(buf->events);
    free(buf->strings);
    free(buf);
}

static enum weft_code no_memory(const struct event_load *load, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, load->block->off, "a block of %" PRIu32 " events",
                     load->block->info.n_events);
}

static enum weft_code broken(const struct event_load *load, struct weft_err *err, const char *what)
{
    return weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                     "expected %s within the block of events, found others", what);
}

/* ---- the chunk ------------------------------------------------------------------------------ */

/* Finds the chunk, its summary, which must be that of the index, and its column table; the
 * checksum is compared the first time only. */
static enum weft_code head_find(struct event_load *load, struct weft_err *err)
{
    const struct weft_mapped *file = &load->store->file;
    const struct store_event_block *block = load->block;
    struct weft_chunk chunk;
    enum weft_code code = weft_chunk_parse(file->bytes, file->n_bytes, block->off, &chunk, err);
    if (code != WEFT_OK)
        return code;
    if (chunk.id != WEFT_CHUNK_EVENTS || chunk.codec != WEFT_CODEC_RAW ||
        chunk.chunk_bytes != block->info.n_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, block->off,
                         "expected the chunk that the index names, found another");
    if (!atomic_load_explicit(&load->block->is_valid, memory_order_acquire))
        code = weft_chunk_verify(file->bytes, &chunk, err);
    if (code != WEFT_OK)
        return code;
    load->packed = weft_cur_init(chunk.stored, chunk.stored_bytes,
                                 block->off + sizeof(struct weft_disk_chunk));
    code = weft_event_head_parse(&load->packed, &load->head, err);
    if (code != WEFT_OK)
        return code;
    const size_t head_bytes = (size_t)(load->packed.at - load->packed.start);
    if (weft_checksum(chunk.stored, head_bytes) != block->head_checksum)
        return weft_fail(err, WEFT_E_MALFORMED, block->off,
                         "expected what the index says of this block, found another summary");
    return weft_event_columns_parse(&load->packed, &load->head, &load->columns, err);
}

/* Decompresses the columns end to end. */
static enum weft_code columns_unpack(struct event_load *load, struct weft_err *err)
{
    size_t n_raw = 1;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++)
        n_raw += load->columns.items[i].raw_bytes;
    if (!weft_vec_reserve(&load->buf->raw, &load->buf->cap_raw, n_raw, 1))
        return no_memory(load, err);
    uint8_t *raw = load->buf->raw;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++) {
        const struct weft_block_column_entry *column = &load->columns.items[i];
        const uint64_t at_off = weft_cur_offset(&load->packed);
        load->raw[i] = weft_cur_init(raw, column->raw_bytes, at_off);
        if (column->raw_bytes == 0)
            continue;
        const uint8_t *stored = weft_cur_take(&load->packed, column->stored_bytes);
        if (!stored)
            return weft_fail(err, WEFT_E_MALFORMED, at_off,
                             "expected column %d of %" PRIu32 " bytes, %zu left", i,
                             column->stored_bytes, weft_cur_left(&load->packed));
        const enum weft_code code =
            weft_column_decode(load->buf->decoder, column->codec, stored, column->stored_bytes, raw,
                               column->raw_bytes, at_off, err);
        if (code != WEFT_OK) {
            (void)weft_within(err, "column %d", i);
            return code;
        }
        raw += column->raw_bytes;
    }
    if (weft_cur_left(&load->packed) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(&load->packed),
                         "expected the end of the block, %zu bytes left",
                         weft_cur_left(&load->packed));
    return WEFT_OK;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Next value of a column that is there. */
static inline uint64_t take(struct weft_cursor *column)
{
    if (column->at < column->end && *column->at < 0x80)
        return *column->at++;
    return weft_cur_varint(column);
}

static inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* Columns that are left out have no bytes. */
static inline bool has(const struct event_load *load, enum weft_event_column column)
{
    return load->columns.items[column].raw_bytes > 0;
}

static enum weft_code strings_read(struct event_load *load, struct weft_err *err)
{
    struct weft_cursor in = load->raw[WEFT_EVENT_COLUMN_STRINGS];
    struct weft_event_buf *buf = load->buf;
    const size_t n_most = (size_t)load->head.n_events * 2 + 1;
    const size_t n_fit = weft_cur_left(&in) / 2 + 1;
    if (!weft_vec_reserve(&buf->strings, &buf->cap_strings, n_fit < n_most ? n_fit : n_most,
                          sizeof *buf->strings))
        return no_memory(load, err);
    size_t n_strings = 0;
    buf->strings[n_strings++] = WEFT_STR("");
    while (weft_cur_left(&in) > 0 && !in.fault) {
        const size_t n_bytes = (size_t)weft_cur_varint_max(&in, WEFT_FORMAT_MAX_NAME_BYTES);
        const uint8_t *bytes = weft_cur_take(&in, n_bytes);
        if (!bytes || n_bytes == 0 || n_strings == n_most)
            return broken(load, err, "strings");
        buf->strings[n_strings++] =
            (struct weft_str){ .bytes = (const char *)bytes, .n_bytes = n_bytes };
    }
    load->n_strings = n_strings;
    return WEFT_OK;
}

/* Kinds, and all other fields as if their columns were left out. */
static void kinds_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_event *events = load->buf->events;
    const uint8_t *kinds = load->raw[WEFT_EVENT_COLUMN_KIND].at;
    const unsigned only = (unsigned)__builtin_ctz(load->head.kinds);
    for (uint32_t i = first; i < end; i++) {
        const unsigned kind = has(load, WEFT_EVENT_COLUMN_KIND) ? kinds[i] : only;
        load->is_broken |= kind >= WEFT_EVENT_KINDS;
        load->counts[kind % WEFT_EVENT_KINDS]++;
        events[i] = (struct weft_event){
            .time_ns = load->head.base_ns,
            .next_thread_id = WEFT_ID_NONE,
            .object_id = WEFT_ID_NONE,
            .stack_id = WEFT_ID_NONE,
            .cpu = -1,
            .kind = (enum weft_event_kind)(kind % WEFT_EVENT_KINDS),
            .name = WEFT_STR(""),
            .category = WEFT_STR(""),
            .payload = WEFT_STR(""),
        };
    }
}

static void times_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_event *events = load->buf->events;
    struct weft_cursor *times = &load->raw[WEFT_EVENT_COLUMN_TIME];
    struct weft_cursor *durations = &load->raw[WEFT_EVENT_COLUMN_DURATION];
    const bool has_times = has(load, WEFT_EVENT_COLUMN_TIME);
    const bool has_durations = has(load, WEFT_EVENT_COLUMN_DURATION);
    uint64_t time_ns = load->time_ns;
    for (uint32_t i = first; i < end; i++) {
        time_ns += has_times ? unzigzag(take(times)) : 0;
        const uint64_t duration_ns = has_durations ? take(durations) : 0;
        load->is_broken |= time_ns > WEFT_FORMAT_MAX_NS || duration_ns > WEFT_FORMAT_MAX_NS;
        const uint64_t end_ns = time_ns + duration_ns; /* unless broken, this does not overflow */
        load->first_ns = time_ns < load->first_ns ? time_ns : load->first_ns;
        load->last_ns = end_ns > load->last_ns ? end_ns : load->last_ns;
        events[i].time_ns = time_ns;
        events[i].duration_ns = duration_ns;
    }
    load->time_ns = time_ns;
}

static void values_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_cursor *values = &load->raw[WEFT_EVENT_COLUMN_VALUE];
    const bool has_values = has(load, WEFT_EVENT_COLUMN_VALUE);
    for (uint32_t i = first; i < end; i++) {
        struct weft_event *event = &load->buf->events[i];
        const uint64_t code = has_values ? take(values) : 0;
        switch (weft_event_value_code(event->kind)) {
        case WEFT_VALUE_SIGNED:
            event->value = unzigzag(code);
            break;
        case WEFT_VALUE_RUNNING:
            event->value = load->previous[event->kind] += unzigzag(code);
            break;
        case WEFT_VALUE_REVERSED:
            event->value = __builtin_bswap64(code);
            break;
        case WEFT_VALUE_ROW:
            load->is_broken |= code > load->head.last_row - load->row;
            load->row = event->value = load->is_broken ? load->row : load->row + code;
            break;
        }
    }
}

static void names_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_cursor *names = &load->raw[WEFT_EVENT_COLUMN_NAME];
    struct weft_cursor *categories = &load->raw[WEFT_EVENT_COLUMN_CATEGORY];
    const struct weft_str *strings = load->buf->strings;
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_NAME); i++) {
        const uint64_t index = take(names);
        load->is_broken |= index >= load->n_strings;
        load->buf->events[i].name = strings[index < load->n_strings ? index : 0];
    }
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_CATEGORY); i++) {
        const uint64_t index = take(categories);
        load->is_broken |= index >= load->n_strings;
        load->buf->events[i].category = strings[index < load->n_strings ? index : 0];
    }
}

static void payloads_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_cursor *lengths = &load->raw[WEFT_EVENT_COLUMN_LENGTH];
    struct weft_cursor *bytes = &load->raw[WEFT_EVENT_COLUMN_PAYLOAD];
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_LENGTH); i++) {
        const uint64_t n_bytes = take(lengths);
        load->is_broken |= n_bytes > weft_cur_left(bytes);
        if (n_bytes == 0 || load->is_broken)
            continue;
        load->buf->events[i].payload = (struct weft_str){
            .bytes = (const char *)weft_cur_take(bytes, (size_t)n_bytes),
            .n_bytes = (size_t)n_bytes,
        };
    }
}

/* Next id, which is stored as id + 1. */
static uint32_t id_take(struct event_load *load, enum weft_event_column column)
{
    const uint64_t code = take(&load->raw[column]);
    load->is_broken |= code > UINT32_MAX;
    return (uint32_t)code - 1;
}

static void ids_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_event *events = load->buf->events;
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_THREAD); i++) {
        const uint32_t id = id_take(load, WEFT_EVENT_COLUMN_THREAD);
        const bool is_known = id == WEFT_ID_NONE || id < load->store->threads.n;
        load->is_broken |= !is_known && !load->store->meta.is_recovered;
        events[i].next_thread_id = is_known ? id : WEFT_ID_NONE; /* its description was lost */
    }
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_OBJECT); i++)
        events[i].object_id = id_take(load, WEFT_EVENT_COLUMN_OBJECT);
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_STACK); i++)
        events[i].stack_id = id_take(load, WEFT_EVENT_COLUMN_STACK);
}

static void cpus_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_event *events = load->buf->events;
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_CPU); i++) {
        const int64_t code = (int64_t)unzigzag(take(&load->raw[WEFT_EVENT_COLUMN_CPU]));
        const bool fits = code > INT32_MIN && code <= (int64_t)INT32_MAX + 1;
        load->is_broken |= !fits;
        events[i].cpu = fits ? (int32_t)(code - 1) : -1;
    }
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_STATE); i++) {
        const uint64_t state = take(&load->raw[WEFT_EVENT_COLUMN_STATE]);
        load->is_broken |= state > UINT32_MAX;
        events[i].prev_state = (uint32_t)state;
    }
}

/* ---- a block -------------------------------------------------------------------------------- */

/* Every column must be used up, and the summary be that of the events. */
static enum weft_code columns_check(struct event_load *load, struct weft_err *err)
{
    const struct weft_event_head *head = &load->head;
    load->raw[WEFT_EVENT_COLUMN_KIND].at = load->raw[WEFT_EVENT_COLUMN_KIND].end; /* not a cursor */
    load->raw[WEFT_EVENT_COLUMN_STRINGS].at = load->raw[WEFT_EVENT_COLUMN_STRINGS].end;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++)
        if (load->raw[i].fault || weft_cur_left(&load->raw[i]) > 0)
            return weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                             "expected %" PRIu32 " values in column %d, found others",
                             head->n_events, i);
    if (load->is_broken)
        return broken(load, err, "values in range");
    if (memcmp(load->counts, head->counts, sizeof head->counts) != 0)
        return broken(load, err, "the kinds of the summary");
    if (load->buf->events[0].time_ns != head->base_ns || load->first_ns != head->first_ns ||
        load->last_ns != head->last_ns)
        return broken(load, err, "the times of the summary");
    if (load->row != head->last_row)
        return broken(load, err, "the calls of the summary");
    return WEFT_OK;
}

/* Rows of calls must lie in the thread; where blocks were lost, those of lost calls are named so.
 */
static enum weft_code rows_check(struct event_load *load, struct weft_err *err)
{
    const uint64_t n_calls = load->thread->info.calls;
    if (load->head.counts[WEFT_EVENT_CALL_ARGS] == 0 || load->head.last_row < n_calls)
        return WEFT_OK;
    if (!load->store->meta.is_recovered)
        return broken(load, err, "calls of the thread");
    for (uint32_t i = 0; i < load->head.n_events; i++) {
        struct weft_event *event = &load->buf->events[i];
        if (event->kind == WEFT_EVENT_CALL_ARGS && event->value >= n_calls)
            event->value = UINT64_MAX;
    }
    return WEFT_OK;
}

/* A slice of all columns at a time: its events stay in the cache. */
static enum weft_code columns_read(struct event_load *load, struct weft_err *err)
{
    enum { SLICE = 256 };
    struct weft_event_buf *buf = load->buf;
    const uint32_t n_events = load->head.n_events;
    if (!weft_vec_reserve(&buf->events, &buf->cap_events, n_events, sizeof *buf->events))
        return no_memory(load, err);
    enum weft_code code = strings_read(load, err);
    if (code != WEFT_OK)
        return code;
    load->time_ns = load->head.base_ns;
    load->first_ns = UINT64_MAX;
    load->row = load->head.first_row;
    for (uint32_t first = 0; first < n_events; first += SLICE) {
        const uint32_t end = n_events - first < SLICE ? n_events : first + SLICE;
        kinds_read(load, first, end);
        times_read(load, first, end);
        values_read(load, first, end);
        names_read(load, first, end);
        payloads_read(load, first, end);
        ids_read(load, first, end);
        cpus_read(load, first, end);
    }
    code = columns_check(load, err);
    return code == WEFT_OK ? rows_check(load, err) : code;
}

/* ---- the door ------------------------------------------------------------------------------- */

enum weft_code weft_store_load_events(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                      struct weft_event_buf *buf, const struct weft_event **events,
                                      size_t *n_events, struct weft_err *err)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].event_blocks.n);
    const struct store_thread *thread = &store->threads.items[thread_id];
    struct event_load load = {
        .store = store, .thread = thread, .block = &thread->event_blocks.items[block], .buf = buf
    };
    enum weft_code code = head_find(&load, err);
    if (code == WEFT_OK)
        code = columns_unpack(&load, err);
    if (code == WEFT_OK)
        code = columns_read(&load, err);
    if (code != WEFT_OK) {
        (void)weft_in_file(err, store->path);
        (void)weft_within(err, "block %" PRIu64 " of events of thread %" PRIu32, block, thread_id);
        return code;
    }
    atomic_store_explicit(&load.block->is_valid, true, memory_order_release);
    *events = buf->events;
    *n_events = load.head.n_events;
    return WEFT_OK;
}
