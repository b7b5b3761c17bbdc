/* SPDX-License-Identifier: MIT
 *
 * Loads a block of events that are no calls. Blocks that share a chunk are decoded together; a
 * buffer holds the chunk, so that those of many threads are decoded once.
 */
#include "base/vec.h"
#include "store/event_cache.h"
#include "store/reader.h"
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>

struct weft_event_buf {
    struct weft_column_decoder *decoder; /* NULL: nothing was decoded here yet */
    struct event_chunk *chunk;           /* that was asked for last; or NULL */
    size_t last_run;                     /* the block in it that was asked for last */
};

/* A load in work. */
struct event_load {
    struct weft_store *store;
    enum store_stream stream;
    struct store_event_block *block;
    struct weft_event_buf *buf;
    struct event_chunk *to;             /* the buffer's */
    struct weft_event_head all;         /* events and kinds of the chunk */
    const struct weft_event_head *head; /* of the run in work */
    struct weft_event_columns columns;
    struct weft_cursor packed; /* columns as stored */
    struct weft_cursor raw[WEFT_EVENT_COLUMNS];
    uint64_t n_strings;
    uint64_t checksum; /* of the chunk */

    /* What the columns have come to, and whether something in them is out of range. */
    uint64_t time_ns, first_ns, last_ns, row;
    uint64_t previous[WEFT_EVENT_KINDS];
    uint32_t counts[WEFT_EVENT_KINDS];
    bool is_broken;
    bool is_in_order;
};

struct weft_event_buf *weft_event_buf_new(void)
{
    return calloc(1, sizeof(struct weft_event_buf));
}

void weft_event_buf_free(struct weft_event_buf *buf)
{
    if (!buf)
        return;
    weft_column_decoder_free(buf->decoder);
    weft_event_chunk_drop(buf->chunk);
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

/* Is this the kind of chunk in which the stream's blocks are? */
static bool is_chunk_of(enum store_stream stream, uint32_t id)
{
    if (stream == STORE_ARRIVALS)
        return id == WEFT_CHUNK_ARRIVALS;
    return id == WEFT_CHUNK_EVENTS || id == WEFT_CHUNK_SHARED_EVENTS;
}

/* Does the buffer hold the chunk, which was right when it was decoded? */
static bool is_held(const struct event_load *load)
{
    const struct event_chunk *held = load->buf->chunk;
    return held && held->store == load->store && held->off == load->block->off &&
           held->checksum == load->checksum;
}

static uint64_t checksum_of(const struct event_load *load)
{
    return weft_load_u64(load->store->file.bytes + load->block->off +
                         offsetof(struct weft_disk_chunk, checksum));
}

/* Finds the chunk; the checksum is compared the first time only. */
static enum weft_code chunk_find(struct event_load *load, struct weft_chunk *chunk,
                                 struct weft_err *err)
{
    const struct weft_mapped *file = &load->store->file;
    const struct store_event_block *block = load->block;
    enum weft_code code = weft_chunk_parse(file->bytes, file->n_bytes, block->off, chunk, err);
    if (code != WEFT_OK)
        return code;
    if (!is_chunk_of(load->stream, chunk->id) || chunk->codec != WEFT_CODEC_RAW ||
        chunk->chunk_bytes != block->info.n_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, block->off,
                         "expected the chunk that the index names, found another");
    load->checksum = checksum_of(load);
    if (!atomic_load_explicit(&load->block->is_valid, memory_order_acquire) && !is_held(load))
        code = weft_chunk_verify(file->bytes, chunk, err);
    return code;
}

/* Reads the summaries, and the column table. */
static enum weft_code heads_parse(struct event_load *load, const struct weft_chunk *chunk,
                                  struct weft_err *err)
{
    struct event_chunk *to = load->to;
    struct weft_event_head *all = &load->all;
    load->packed = weft_cur_init(chunk->stored, chunk->stored_bytes,
                                 chunk->off + sizeof(struct weft_disk_chunk));
    const uint64_t n_runs = chunk->id == WEFT_CHUNK_EVENTS
                                ? 1
                                : weft_cur_varint_max(&load->packed, WEFT_FORMAT_MAX_BLOCK_EVENTS);
    to->runs.n = 0;
    for (uint64_t i = 0; i < n_runs; i++) {
        struct event_run *run = WEFT_VEC_PUSH(&to->runs);
        if (!run)
            return no_memory(load, err);
        const uint8_t *start = load->packed.at;
        WEFT_TRY(weft_event_head_parse(&load->packed, &run->head, err));
        run->head_checksum = weft_checksum(start, (size_t)(load->packed.at - start));
        run->first = all->n_events;
        all->n_events += run->head.n_events;
        all->kinds |= run->head.kinds;
        if (all->n_events > WEFT_FORMAT_MAX_BLOCK_EVENTS)
            break;
    }
    if (all->n_events == 0 || all->n_events > WEFT_FORMAT_MAX_BLOCK_EVENTS)
        return weft_fail(err, WEFT_E_MALFORMED, chunk->off,
                         "expected blocks of 1 to %d events, found %" PRIu32,
                         WEFT_FORMAT_MAX_BLOCK_EVENTS, all->n_events);
    return weft_event_columns_parse(&load->packed, all, &load->columns, err);
}

/* Decompresses the columns end to end. */
static enum weft_code columns_unpack(struct event_load *load, struct weft_err *err)
{
    size_t n_raw = 1;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++)
        n_raw += load->columns.items[i].raw_bytes;
    if (!weft_vec_reserve(&load->to->raw, &load->to->cap_raw, n_raw, 1))
        return no_memory(load, err);
    uint8_t *raw = load->to->raw;
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

/* Columns that are omitted have no bytes. */
static inline bool has(const struct event_load *load, enum weft_event_column column)
{
    return load->columns.items[column].raw_bytes > 0;
}

static enum weft_code strings_read(struct event_load *load, struct weft_err *err)
{
    struct weft_cursor in = load->raw[WEFT_EVENT_COLUMN_STRINGS];
    struct event_chunk *to = load->to;
    const size_t n_most = (size_t)load->all.n_events * 2 + 1;
    const size_t n_fit = weft_cur_left(&in) / 2 + 1;
    if (!weft_vec_reserve(&to->strings, &to->cap_strings, n_fit < n_most ? n_fit : n_most,
                          sizeof *to->strings))
        return no_memory(load, err);
    size_t n_strings = 0;
    to->strings[n_strings++] = WEFT_STR("");
    while (weft_cur_left(&in) > 0 && !in.fault) {
        const size_t n_bytes = (size_t)weft_cur_varint_max(&in, WEFT_FORMAT_MAX_NAME_BYTES);
        const uint8_t *bytes = weft_cur_take(&in, n_bytes);
        if (!bytes || n_bytes == 0 || n_strings == n_most)
            return broken(load, err, "strings");
        to->strings[n_strings++] =
            (struct weft_str){ .bytes = (const char *)bytes, .n_bytes = n_bytes };
    }
    load->n_strings = n_strings;
    return WEFT_OK;
}

/* Kinds, and all other fields as if their columns were omitted. */
static void kinds_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_event *events = load->to->events;
    const uint8_t *kinds = load->raw[WEFT_EVENT_COLUMN_KIND].at;
    const unsigned only = (unsigned)__builtin_ctz(load->all.kinds);
    /* Copied: to make one for each event costs as much as to read it. */
    const struct weft_event none = {
        .time_ns = load->head->base_ns,
        .next_thread_id = WEFT_ID_NONE,
        .object_id = WEFT_ID_NONE,
        .stack_id = WEFT_ID_NONE,
        .cpu = -1,
        .name = WEFT_STR(""),
        .category = WEFT_STR(""),
        .payload = WEFT_STR(""),
    };
    for (uint32_t i = first; i < end; i++) {
        const unsigned kind = has(load, WEFT_EVENT_COLUMN_KIND) ? kinds[i] : only;
        load->is_broken |= kind >= WEFT_EVENT_KINDS;
        load->counts[kind % WEFT_EVENT_KINDS]++;
        events[i] = none;
        events[i].kind = (enum weft_event_kind)(kind % WEFT_EVENT_KINDS);
    }
}

static void times_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_event *events = load->to->events;
    struct weft_cursor *times = &load->raw[WEFT_EVENT_COLUMN_TIME];
    struct weft_cursor *durations = &load->raw[WEFT_EVENT_COLUMN_DURATION];
    const bool has_times = has(load, WEFT_EVENT_COLUMN_TIME);
    const bool has_durations = has(load, WEFT_EVENT_COLUMN_DURATION);
    uint64_t time_ns = load->time_ns;
    load->is_in_order &= !has_durations;
    for (uint32_t i = first; i < end; i++) {
        const uint64_t step = has_times ? take(times) : 0;
        time_ns += unzigzag(step);
        load->is_in_order &= !(step & 1);
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
        struct weft_event *event = &load->to->events[i];
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
            load->is_broken |= code > load->head->last_row - load->row;
            load->row = event->value = load->is_broken ? load->row : load->row + code;
            break;
        }
    }
}

static void names_read(struct event_load *load, uint32_t first, uint32_t end)
{
    struct weft_cursor *names = &load->raw[WEFT_EVENT_COLUMN_NAME];
    struct weft_cursor *categories = &load->raw[WEFT_EVENT_COLUMN_CATEGORY];
    const struct weft_str *strings = load->to->strings;
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_NAME); i++) {
        const uint64_t index = take(names);
        load->is_broken |= index >= load->n_strings;
        load->to->events[i].name = strings[index < load->n_strings ? index : 0];
    }
    for (uint32_t i = first; i < end && has(load, WEFT_EVENT_COLUMN_CATEGORY); i++) {
        const uint64_t index = take(categories);
        load->is_broken |= index >= load->n_strings;
        load->to->events[i].category = strings[index < load->n_strings ? index : 0];
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
        load->to->events[i].payload = (struct weft_str){
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
    struct weft_event *events = load->to->events;
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
    struct weft_event *events = load->to->events;
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

/* The summary of a run must be that of its events. */
static enum weft_code run_check(const struct event_load *load, const struct event_run *run,
                                struct weft_err *err)
{
    const struct weft_event_head *head = &run->head;
    const struct weft_event *events = &load->to->events[run->first];
    if (load->is_broken)
        return broken(load, err, "values in range");
    if (memcmp(load->counts, head->counts, sizeof head->counts) != 0)
        return broken(load, err, "the kinds of the summary");
    if (events->time_ns != head->base_ns || load->first_ns != head->first_ns ||
        load->last_ns != head->last_ns)
        return broken(load, err, "the times of the summary");
    if (load->row != head->last_row)
        return broken(load, err, "the calls of the summary");
    for (uint32_t i = 1; i < head->n_events && load->stream == STORE_ARRIVALS; i++)
        if (events[i].time_ns < events[i - 1].time_ns)
            return broken(load, err, "arrivals in order of time");
    return WEFT_OK;
}

/* Rows of calls must lie in the thread; where blocks were lost, those of lost calls are named so.
 */
static enum weft_code rows_check(struct event_load *load, const struct event_run *run,
                                 struct weft_err *err)
{
    const struct weft_event_head *head = &run->head;
    if (head->counts[WEFT_EVENT_CALL_ARGS] == 0)
        return WEFT_OK;
    if (load->stream == STORE_ARRIVALS || head->thread_id >= load->store->threads.n)
        return broken(load, err, "calls of the thread");
    const uint64_t n_calls = load->store->threads.items[head->thread_id].info.calls;
    if (head->last_row < n_calls)
        return WEFT_OK;
    if (!load->store->meta.is_recovered)
        return broken(load, err, "calls of the thread");
    for (uint32_t i = 0; i < head->n_events; i++) {
        struct weft_event *event = &load->to->events[run->first + i];
        if (event->kind == WEFT_EVENT_CALL_ARGS && event->value >= n_calls)
            event->value = UINT64_MAX;
    }
    return WEFT_OK;
}

/* A slice of all columns at a time: its events stay in the cache. */
static enum weft_code run_read(struct event_load *load, struct event_run *run, struct weft_err *err)
{
    enum { SLICE = 256 };
    const uint32_t run_end = run->first + run->head.n_events;
    load->head = &run->head;
    load->time_ns = run->head.base_ns;
    load->first_ns = UINT64_MAX;
    load->last_ns = 0;
    load->is_in_order = true;
    load->row = run->head.first_row;
    memset(load->previous, 0, sizeof load->previous);
    memset(load->counts, 0, sizeof load->counts);
    for (uint32_t first = run->first; first < run_end; first += SLICE) {
        const uint32_t end = run_end - first < SLICE ? run_end : first + SLICE;
        kinds_read(load, first, end);
        times_read(load, first, end);
        values_read(load, first, end);
        names_read(load, first, end);
        payloads_read(load, first, end);
        ids_read(load, first, end);
        cpus_read(load, first, end);
    }
    run->is_in_order = load->is_in_order;
    const enum weft_code code = run_check(load, run, err);
    return code == WEFT_OK ? rows_check(load, run, err) : code;
}

/* Every column must be used up. */
static enum weft_code columns_check(struct event_load *load, struct weft_err *err)
{
    load->raw[WEFT_EVENT_COLUMN_KIND].at = load->raw[WEFT_EVENT_COLUMN_KIND].end; /* not a cursor */
    load->raw[WEFT_EVENT_COLUMN_STRINGS].at = load->raw[WEFT_EVENT_COLUMN_STRINGS].end;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++)
        if (load->raw[i].fault || weft_cur_left(&load->raw[i]) > 0)
            return weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                             "expected %" PRIu32 " values in column %d, found others",
                             load->all.n_events, i);
    return WEFT_OK;
}

static enum weft_code columns_read(struct event_load *load, struct weft_err *err)
{
    struct event_chunk *to = load->to;
    if (!weft_vec_reserve(&to->events, &to->cap_events, load->all.n_events, sizeof *to->events))
        return no_memory(load, err);
    enum weft_code code = strings_read(load, err);
    for (size_t i = 0; i < to->runs.n && code == WEFT_OK; i++)
        code = run_read(load, &to->runs.items[i], err);
    return code == WEFT_OK ? columns_check(load, err) : code;
}

/* ---- the door ------------------------------------------------------------------------------- */

/* Decodes the chunk into the room that the buffer has. */
static enum weft_code chunk_decode(struct event_load *load, const struct weft_chunk *chunk,
                                   struct weft_err *err)
{
    struct event_cache *cache = &load->store->event_cache;
    struct event_chunk *to = weft_event_cache_room(cache, load->buf->chunk);
    load->buf->chunk = load->to = to;
    if (!load->buf->decoder)
        load->buf->decoder = weft_column_decoder_new();
    if (!to || !load->buf->decoder)
        return no_memory(load, err);
    enum weft_code code = heads_parse(load, chunk, err);
    WEFT_THEN(code, columns_unpack(load, err));
    WEFT_THEN(code, columns_read(load, err));
    if (code != WEFT_OK)
        return code;
    to->store = load->store;
    to->off = load->block->off;
    to->checksum = load->checksum;
    weft_event_cache_keep(cache, to);
    return WEFT_OK;
}

/* The chunk, decoded: the buffer holds it, or another one does or did, or it is decoded now. */
static enum weft_code chunk_load(struct event_load *load, struct weft_err *err)
{
    struct weft_event_buf *buf = load->buf;
    struct weft_chunk chunk;
    enum weft_code code = chunk_find(load, &chunk, err);
    if (code != WEFT_OK || is_held(load))
        return code;
    struct event_chunk *known =
        weft_event_cache_find(&load->store->event_cache, load->block->off, load->checksum);
    if (!known)
        return chunk_decode(load, &chunk, err);
    weft_event_chunk_drop(buf->chunk);
    buf->chunk = known;
    return WEFT_OK;
}

/* Nothing is left to be found or compared: most questions are for the block of the last one. */
static bool is_at_hand(struct event_load *load)
{
    if (!load->buf->chunk || load->buf->chunk->off != load->block->off ||
        !atomic_load_explicit(&load->block->is_valid, memory_order_acquire))
        return false;
    load->checksum = checksum_of(load);
    return is_held(load);
}

/* The run of a row's block; its summary must be that of the index. NULL if there is none. It is
 * where it was the last time; or, for a reader of thread after thread, next to the one before. */
static const struct event_run *run_find(const struct event_load *load, uint32_t row)
{
    struct weft_event_buf *buf = load->buf;
    const struct event_chunk *chunk = buf->chunk;
    const size_t known = atomic_load_explicit(&load->block->run, memory_order_relaxed);
    size_t at = known > 0 ? known : buf->last_run;
    at = at < chunk->runs.n ? at : 0;
    for (size_t i = 0; i < chunk->runs.n; i++) {
        const struct event_run *run = &chunk->runs.items[at];
        if (run->head.thread_id == row && run->head_checksum == load->block->head_checksum) {
            buf->last_run = at;
            if (at != known)
                atomic_store_explicit(&load->block->run, (uint32_t)at, memory_order_relaxed);
            return run;
        }
        at = at + 1 < chunk->runs.n ? at + 1 : 0;
    }
    return NULL;
}

static enum weft_code block_load(struct event_load *load, uint32_t row, uint64_t block,
                                 const struct weft_event **events, size_t *n_events,
                                 struct weft_err *err)
{
    enum weft_code code = is_at_hand(load) ? WEFT_OK : chunk_load(load, err);
    const struct event_run *run = code == WEFT_OK ? run_find(load, row) : NULL;
    if (code == WEFT_OK && !run)
        code = weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                         "expected what the index contains for this block, found another summary");
    if (code != WEFT_OK) {
        (void)weft_in_file(err, load->store->path);
        (void)weft_within(err, "block %" PRIu64 " of events of thread %" PRIu32, block, row);
        return code;
    }
    atomic_store_explicit(&load->block->is_valid, true, memory_order_release);
    *events = &load->buf->chunk->events[run->first];
    *n_events = run->head.n_events;
    return WEFT_OK;
}

enum weft_code weft_store_load_events(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                      struct weft_event_buf *buf, const struct weft_event **events,
                                      size_t *n_events, struct weft_err *err)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].event_blocks.n);
    struct event_load load = { .store = store,
                               .stream = STORE_EVENTS,
                               .block = &store->threads.items[thread_id].event_blocks.items[block],
                               .buf = buf };
    return block_load(&load, thread_id, block, events, n_events, err);
}

enum weft_code weft_store_load_arrivals(struct weft_store *store, uint32_t row, uint64_t block,
                                        struct weft_event_buf *buf,
                                        const struct weft_event **events, size_t *n_events,
                                        struct weft_err *err)
{
    assert(row < store->arrivals.n && block < store->arrivals.items[row].n);
    struct event_load load = { .store = store,
                               .stream = STORE_ARRIVALS,
                               .block = &store->arrivals.items[row].items[block],
                               .buf = buf };
    return block_load(&load, row, block, events, n_events, err);
}

bool weft_event_buf_is_in_order(const struct weft_event_buf *buf)
{
    return buf->chunk->runs.items[buf->last_run].is_in_order;
}

void weft_store_keep_events(struct weft_store *store, uint64_t most_bytes)
{
    weft_event_cache_begin(&store->event_cache, most_bytes);
}

void weft_store_drop_events(struct weft_store *store)
{
    weft_event_cache_end(&store->event_cache);
}
