/* SPDX-License-Identifier: MIT
 *
 * A thread has a stream for each library that wrote of it: they are merged by time, in runs of one
 * stream as long as no other has an earlier record.
 */
#include "ingest/recording/deliver.h"

#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>

enum weft_code rec_flush_calls(struct rec_delivery *delivery)
{
    struct weft_sink *sink = delivery->convert->kernel.sink;
    const size_t n_calls = delivery->n_calls;
    delivery->n_calls = 0;
    return n_calls ? sink->ops->calls(sink, delivery->thread_id, delivery->calls, n_calls,
                                      delivery->err)
                   : WEFT_OK;
}

enum weft_code rec_flush_events(struct rec_delivery *delivery)
{
    struct weft_sink *sink = delivery->convert->kernel.sink;
    const size_t n_events = delivery->n_events;
    delivery->n_events = 0;
    return n_events ? sink->ops->events(sink, delivery->thread_id, delivery->events, n_events,
                                        delivery->err)
                    : WEFT_OK;
}

/* ---- records ----------------------------------------------------------------------------------
 */

uint32_t rec_function_key(struct rec_delivery *delivery, uint64_t address)
{
    const uint32_t image = delivery->source->image;
    const uint64_t mixed = (address ^ image) * UINT64_C(0x9e3779b97f4a7c15);
    const size_t slot = mixed >> (64 - REC_CACHE_BITS);
    if (delivery->cache[slot].address != address || delivery->cache[slot].image != image) {
        delivery->cache[slot].address = address;
        delivery->cache[slot].image = image;
        delivery->cache[slot].key =
            rec_place_id(&delivery->convert->names.functions, image, address);
    }
    return delivery->cache[slot].key;
}

static uint64_t end_since_zero(const struct rec_convert *convert, const struct rec_source *source)
{
    const uint64_t end_ns = rec_image_end(&convert->spaces, source->stream->pid, source->image);
    return end_ns == UINT64_MAX ? UINT64_MAX : kernel_time_since(end_ns, convert->zero_ns);
}

static void next_image(const struct rec_convert *convert, struct rec_source *source,
                       uint64_t time_ns)
{
    while (time_ns >= source->image_end_ns) {
        source->image = rec_image_next(&convert->spaces, source->stream->pid, source->image);
        source->image_end_ns = end_since_zero(convert, source);
    }
}

static enum weft_code look_for_loss(struct rec_delivery *delivery, const struct rec_record *record,
                                    uint64_t time_ns)
{
    struct rec_source *source = delivery->source;
    const uint64_t n_missed = source->cursor.n_lost_units + source->cursor.n_bad_units;
    if (n_missed == source->n_missed && !rec_is_loss(record))
        return WEFT_OK;
    source->n_missed = n_missed;
    return rec_records_missing(delivery, time_ns);
}

static enum weft_code deliver_record(struct rec_delivery *delivery, const struct rec_record *record)
{
    struct rec_source *source = delivery->source;
    const uint64_t time_ns = rec_time(delivery->convert, &source->clock_at, record->ticks);
    if (time_ns >= source->image_end_ns)
        next_image(delivery->convert, source, time_ns);
    if (delivery->thread->last_ns < time_ns)
        delivery->thread->last_ns = time_ns;
    WEFT_TRY(source->is_lossy ? look_for_loss(delivery, record, time_ns) : WEFT_OK);
    if (record->kind == WEFT_UNIT_OP)
        return rec_deliver_op(delivery, record, time_ns);
    return rec_put_call(delivery,
                        record->kind == WEFT_UNIT_ENTER ? WEFT_CALL_ENTER : WEFT_CALL_EXIT, time_ns,
                        rec_function_key(delivery, record->address));
}

/* Until the record in front is later than `limit`, or there is none. Events show what is in the
 * piece: they are flushed before it is left. */
static enum weft_code run_source(struct rec_delivery *delivery, uint64_t limit)
{
    struct rec_source *source = delivery->source;
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && source->has_next && source->ticks <= limit) {
        const struct rec_record record = rec_cursor_take(&source->cursor, source->ticks);
        code = deliver_record(delivery, &record);
        if (code == WEFT_OK && source->cursor.at >= source->cursor.n_units)
            code = rec_flush_events(delivery);
        source->has_next = rec_cursor_peek(&source->cursor, &source->ticks);
    }
    return code;
}

/* ---- streams ----------------------------------------------------------------------------------
 */

struct sources {
    struct rec_source *items;
    size_t n, cap;
};

static bool source_open(struct rec_delivery *delivery, struct rec_source *source)
{
    const struct rec_convert *convert = delivery->convert;
    const uint64_t start_ns =
        rec_clock_ns(&convert->clocks, &source->clock_at, source->stream->start_ticks);
    source->image = rec_image_at(&convert->spaces, source->stream->pid, start_ns);
    source->image_end_ns = end_since_zero(convert, source);
    source->is_lossy = source->stream->is_lossy;
    rec_cursor_init(&source->cursor, &convert->pieces, &convert->rings, source->stream);
    source->has_next = rec_cursor_peek(&source->cursor, &source->ticks);
    return !source->cursor.has_failed;
}

/* Place of the source that is next, and the time until which no other is. */
static size_t choose(const struct sources *sources, uint64_t *limit)
{
    size_t best = SIZE_MAX;
    *limit = UINT64_MAX;
    for (size_t k = 0; k < sources->n; k++) {
        const struct rec_source *source = &sources->items[k];
        if (!source->has_next)
            continue;
        if (best == SIZE_MAX) {
            best = k;
        } else if (source->ticks < sources->items[best].ticks) {
            *limit = sources->items[best].ticks;
            best = k;
        } else if (source->ticks < *limit) {
            *limit = source->ticks;
        }
    }
    return best;
}

static bool open_all(struct rec_delivery *delivery, struct sources *sources)
{
    const struct rec_stream *streams = delivery->convert->rings.items;
    for (uint32_t k = delivery->thread->first; k != REC_NONE; k = streams[k].next) {
        struct rec_source *source = WEFT_VEC_PUSH(sources);
        if (!source)
            return false;
        source->stream = &streams[k];
    }
    for (size_t k = 0; k < sources->n; k++)
        if (!source_open(delivery, &sources->items[k]))
            return false;
    return true;
}

/* What is missing is summed up for the thread. */
static bool close_all(struct rec_delivery *delivery, struct sources *sources)
{
    bool is_good = true;
    for (size_t k = 0; k < sources->n; k++) {
        struct rec_cursor *cursor = &sources->items[k].cursor;
        if (cursor->n_lost_units + cursor->n_bad_units && !delivery->lost.at_off)
            delivery->lost.at_off = cursor->lost_off;
        delivery->lost.n_records += cursor->n_lost_units;
        delivery->lost.n_bad += cursor->n_bad_units;
        is_good &= !cursor->has_failed;
        rec_cursor_fini(cursor);
        WEFT_VEC_FINI(&sources->items[k].open);
        WEFT_VEC_FINI(&sources->items[k].held);
    }
    WEFT_VEC_FINI(sources);
    return is_good;
}

static enum weft_code deliver_streams(struct rec_delivery *delivery)
{
    struct sources sources = { 0 };
    enum weft_code code =
        open_all(delivery, &sources) ? WEFT_OK : weft_no_memory(delivery->err, "rings");
    uint64_t limit;
    size_t at;
    while (code == WEFT_OK && (at = choose(&sources, &limit)) != SIZE_MAX) {
        delivery->source = &sources.items[at];
        delivery->pid = delivery->source->stream->pid;
        code = run_source(delivery, limit);
    }
    if (code == WEFT_OK && delivery->result.is_open)
        code = rec_result_end(delivery);
    WEFT_THEN(code, rec_flush_calls(delivery));
    WEFT_THEN(code, rec_flush_events(delivery));
    if (!close_all(delivery, &sources) && code == WEFT_OK)
        code = weft_no_memory(delivery->err, "rings");
    return code;
}

/* ---- a thread ---------------------------------------------------------------------------------
 */

static enum weft_code note(const struct rec_delivery *delivery, enum weft_note_kind kind,
                           uint64_t count, const char *detail)
{
    struct weft_sink *sink = delivery->convert->kernel.sink;
    const struct weft_note note = { .kind = kind,
                                    .count = count,
                                    .thread_id = delivery->thread_id,
                                    .at_off = delivery->lost.at_off,
                                    .detail = weft_str_of(detail) };
    return count ? sink->ops->note(sink, &note, delivery->err) : WEFT_OK;
}

uint64_t rec_life_end(const struct rec_convert *convert, const struct kernel_thread *known,
                      uint32_t pid, uint64_t last_ns)
{
    const struct rec_process *process = rec_process_of(&convert->spaces, pid);
    uint64_t end_ns = convert->end_ns;
    if (known->is_leaving || known->is_ended || known->next != WEFT_ID_NONE)
        return last_ns;
    if (process && process->end_ns && process->end_ns < end_ns)
        end_ns = process->end_ns;
    /* Another program took the place of the one whose thread it was. */
    if (process && known->tid != pid && process->start_ns < end_ns &&
        kernel_time_since(process->start_ns, convert->zero_ns) > last_ns)
        end_ns = process->start_ns;
    return weft_max_u64(last_ns, kernel_time_since(end_ns, convert->zero_ns));
}

static uint64_t life_end(const struct rec_convert *convert, const struct rec_thread *thread)
{
    const struct kernel_thread *known = &convert->kernel.threads.items[thread->thread];
    const uint64_t last_ns = weft_max_u64(thread->last_ns, known->last_ns);
    return thread->ended_libraries ? last_ns : rec_life_end(convert, known, thread->pid, last_ns);
}

static enum weft_code end_thread(struct rec_delivery *delivery)
{
    struct rec_convert *convert = delivery->convert;
    struct rec_thread *thread = delivery->thread;
    struct weft_sink *sink = convert->kernel.sink;
    thread->last_ns = life_end(convert, thread);
    if (delivery->marks.n) /* further events may come of it */
        return rec_marks_leave(delivery);
    thread->is_ended = true;
    return sink->ops->thread_end(sink, delivery->thread_id, thread->last_ns, delivery->err);
}

static void delivery_free(struct rec_delivery *delivery)
{
    if (!delivery)
        return;
    for (size_t k = 0; k < delivery->marks.n; k++)
        weft_json_fini(&delivery->marks.items[k].payload);
    WEFT_VEC_FINI(&delivery->marks);
    weft_json_fini(&delivery->result.text);
    weft_strtab_free(delivery->types);
    free(delivery);
}

enum weft_code rec_deliver_thread(struct rec_convert *convert, struct rec_thread *thread,
                                  struct weft_err *err)
{
    struct rec_delivery *delivery = calloc(1, sizeof *delivery);
    if (!delivery)
        return weft_no_memory(err, "rings");
    delivery->convert = convert;
    delivery->thread = thread;
    delivery->err = err;
    delivery->thread_id = convert->kernel.threads.items[thread->thread].thread_id;
    delivery->types = weft_strtab_new();
    for (unsigned kind = 0; kind < WEFT_WAIT_KINDS; kind++) /* before a first one */
        delivery->wait_keys[kind] = rec_known_of_op(WEFT_OP_WAIT_END, kind);
    for (size_t k = 0; k < 1 << REC_CACHE_BITS; k++)
        delivery->cache[k].image = REC_NO_IMAGE - 1; /* none */
    enum weft_code code =
        delivery->types ? deliver_streams(delivery) : weft_no_memory(err, "rings");
    WEFT_THEN(code,
              note(delivery, WEFT_NOTE_LOST_RECORDS, delivery->lost.n_records,
                   "records that found no room in a ring, and units of rings that are not in the "
                   "recording"));
    WEFT_THEN(code, note(delivery, WEFT_NOTE_BAD_RECORD, delivery->lost.n_bad, "units of rings"));
    WEFT_THEN(code, note(delivery, WEFT_NOTE_EXIT_IGNORED, delivery->n_strays,
                         "of calls whose entries are missing"));
    WEFT_THEN(code, end_thread(delivery));
    weft_progress_add(rec_progress_of(convert), 1);
    delivery_free(delivery);
    return code;
}
