/* SPDX-License-Identifier: MIT
 *
 * Asynchronous spans: a begin and an end, in any threads, that agree in category (or scope), id
 * and, if the end says one, name. The innermost such begin is meant.
 */
#include "base/vec.h"
#include "ingest/chrome/trace.h"

#include <stdlib.h>
#include <xxhash.h>

/* A begin that waits for its end. */
struct open_span {
    uint64_t time, off;
    uint64_t name; /* hash */
    uint32_t thread;
    uint32_t below; /* the one with the same id that began before, or WEFT_ID_NONE */
    char phase;
    bool is_open;
};

struct pairing {
    struct chrome_trace *trace;
    struct chrome_converter *converter;
    struct weft_map *ids; /* hash of what begin and end agree in */
    struct {
        uint32_t *items; /* by id: the innermost open span */
        size_t n, cap;
    } tops;
    struct {
        struct open_span *items;
        size_t n, cap;
    } spans;
    uint32_t free_span;               /* first of a list along `below` */
    struct chrome_text ended, joined; /* payloads: of an end, and of both */
};

static uint64_t hash_field(const struct chrome_event *event, enum chrome_field field, uint64_t seed)
{
    const struct weft_json_value *value = chrome_field(event, field);
    return value ? XXH3_64bits_withSeed(value->bytes, value->n_bytes, seed) : seed;
}

/* What begin and end agree in. An id is global, unless it is said to be of its process. */
static uint64_t identity(const struct chrome_event *event, char phase)
{
    struct chrome_id id;
    bool has_id = chrome_event_id(event, false, &id);
    uint64_t words[4] = { id.number, has_id, phase == 'S' || phase == 'F', id.is_local };
    uint64_t hash = XXH3_64bits(words, sizeof words);
    if (id.is_local)
        hash = hash_field(event, CHROME_PID, hash);
    return hash_field(event, chrome_field(event, CHROME_SCOPE) ? CHROME_SCOPE : CHROME_CAT, hash);
}

/* The top of the spans with the event's id, or NULL without memory. */
static uint32_t *top_of(struct pairing *pairing, const struct chrome_event *event, char phase)
{
    uint32_t place = weft_map_add(pairing->ids, identity(event, phase), NULL);
    if (place == WEFT_MAP_NONE)
        return NULL;
    if (place == pairing->tops.n) {
        uint32_t *top = WEFT_VEC_PUSH(&pairing->tops);
        if (!top)
            return NULL;
        *top = WEFT_ID_NONE;
    }
    return &pairing->tops.items[place];
}

static enum weft_code open_span(struct pairing *pairing, const struct chrome_record *record,
                                const struct chrome_event *event, struct weft_err *err)
{
    uint32_t *top = top_of(pairing, event, record->phase);
    uint32_t place = pairing->free_span;
    if (!top)
        return weft_no_memory(err, "asynchronous spans");
    if (place != WEFT_ID_NONE)
        pairing->free_span = pairing->spans.items[place].below;
    else if (!WEFT_VEC_PUSH(&pairing->spans))
        return weft_no_memory(err, "asynchronous spans");
    else
        place = (uint32_t)pairing->spans.n - 1;
    pairing->spans.items[place] = (struct open_span){ .time = record->time,
                                                      .off = record->off,
                                                      .name = hash_field(event, CHROME_NAME, 0),
                                                      .thread = record->key,
                                                      .below = *top,
                                                      .phase = record->phase,
                                                      .is_open = true };
    *top = place;
    return WEFT_OK;
}

/* The arguments of begin and end as one object. */
static enum weft_code join_args(struct pairing *pairing, struct weft_str begin, struct weft_str end,
                                struct weft_str *joined, struct weft_err *err)
{
    *joined = begin.n_bytes ? begin : end;
    if (!begin.n_bytes || !end.n_bytes || *begin.bytes != '{' || *end.bytes != '{')
        return WEFT_OK;
    struct chrome_text *text = &pairing->joined;
    if (!weft_vec_reserve(&text->items, &text->cap, begin.n_bytes + end.n_bytes, 1))
        return weft_no_memory(err, "asynchronous spans");
    memcpy(text->items, begin.bytes, begin.n_bytes - 1);
    text->items[begin.n_bytes - 1] = ',';
    memcpy(text->items + begin.n_bytes, end.bytes + 1, end.n_bytes - 1);
    *joined = (struct weft_str){ .bytes = text->items, .n_bytes = begin.n_bytes + end.n_bytes - 1 };
    return WEFT_OK;
}

/* The payload of the end of a span, or nothing if there is none; not in the converter, where the
 * begin's will lie. */
static enum weft_code end_payload(struct pairing *pairing, const struct chrome_event *end,
                                  struct weft_str *payload, struct weft_err *err)
{
    struct chrome_converter *converter = pairing->converter;
    struct chrome_text kept = converter->payload;
    *payload = (struct weft_str){ 0 };
    if (!end)
        return WEFT_OK;
    converter->payload = pairing->ended;
    enum weft_code code = chrome_payload(converter, end, payload, err);
    pairing->ended = converter->payload;
    converter->payload = kept;
    return code;
}

/* Delivers a span; `end` is the event that ended it, on the thread `end_thread`, or NULL. */
static enum weft_code send_span(struct pairing *pairing, const struct open_span *span,
                                uint64_t end_time, const struct chrome_event *end,
                                uint32_t end_thread, struct weft_err *err)
{
    struct chrome_trace *trace = pairing->trace;
    struct chrome_event begin;
    struct weft_event event;
    struct weft_str ended;
    enum weft_code code = end_payload(pairing, end, &ended, err);
    WEFT_THEN(code, chrome_read_again(trace, span->off, &begin, err));
    WEFT_THEN(code, chrome_convert(pairing->converter, &begin, span->time - trace->first,
                                   span->phase, &event, err));
    WEFT_THEN(code, join_args(pairing, event.payload, ended, &event.payload, err));
    if (code != WEFT_OK)
        return code;
    event.kind = WEFT_EVENT_SPAN;
    event.duration_ns = end_time - span->time;
    event.prev_state = (uint8_t)span->phase | (end ? 0 : WEFT_SPAN_OPEN);
    if (end && end_thread != span->thread)
        event.next_thread_id = trace->threads.items[end_thread].thread_id;
    return trace->sink->ops->events(trace->sink, trace->threads.items[span->thread].thread_id,
                                    &event, 1, err);
}

static enum weft_code close_span(struct pairing *pairing, const struct chrome_record *record,
                                 const struct chrome_event *event, struct weft_err *err)
{
    uint32_t *link = top_of(pairing, event, record->phase);
    bool is_named = chrome_field(event, CHROME_NAME) != NULL;
    uint64_t name = hash_field(event, CHROME_NAME, 0);
    if (!link)
        return weft_no_memory(err, "asynchronous spans");
    while (*link != WEFT_ID_NONE && is_named && pairing->spans.items[*link].name != name)
        link = &pairing->spans.items[*link].below;
    if (*link == WEFT_ID_NONE) { /* it began before the trace: kept as a point */
        chrome_remark(pairing->trace->remarks, CHROME_ASYNC_END, 1, record->off);
        uint32_t thread_id = pairing->trace->threads.items[record->key].thread_id;
        return chrome_convert_and_send(pairing->converter, thread_id, record, err);
    }
    uint32_t place = *link;
    struct open_span *span = &pairing->spans.items[place];
    *link = span->below;
    span->below = pairing->free_span;
    span->is_open = false;
    pairing->free_span = place;
    return send_span(pairing, span, record->time, event, record->key, err);
}

static enum weft_code pair(struct pairing *pairing, struct weft_sort_reader *reader,
                           struct weft_err *err)
{
    for (;;) {
        const struct weft_sort_record *records;
        size_t n_records;
        enum weft_code code = weft_sort_reader_next(reader, &records, &n_records, err);
        for (size_t k = 0; code == WEFT_OK && k < n_records; k++) {
            struct chrome_record record = chrome_record_of(&records[k]);
            struct chrome_event event;
            code = chrome_read_again(pairing->trace, record.off, &event, err);
            WEFT_THEN(code, record.phase == 'b' || record.phase == 'S'
                                ? open_span(pairing, &record, &event, err)
                                : close_span(pairing, &record, &event, err));
        }
        if (code != WEFT_OK || n_records == 0)
            return code;
    }
}

/* What is open at the end of the trace lasts until there. */
static enum weft_code close_rest(struct pairing *pairing, struct weft_err *err)
{
    for (size_t k = 0; k < pairing->spans.n; k++) {
        const struct open_span *span = &pairing->spans.items[k];
        if (!span->is_open)
            continue;
        chrome_remark(pairing->trace->remarks, CHROME_ASYNC_OPEN, 1, span->off);
        WEFT_TRY(send_span(pairing, span, pairing->trace->last, NULL, 0, err));
    }
    return WEFT_OK;
}

enum weft_code chrome_deliver_async(struct chrome_trace *trace, struct chrome_converter *converter,
                                    struct weft_err *err)
{
    struct weft_sort_reader *reader = NULL;
    struct pairing pairing = {
        .trace = trace, .converter = converter, .ids = weft_map_new(), .free_span = WEFT_ID_NONE
    };
    enum weft_code code = pairing.ids ? WEFT_OK : weft_no_memory(err, "asynchronous spans");
    WEFT_THEN(code, weft_sort_reader_open(trace->sorter, CHROME_LANE_ASYNC, &reader, err));
    WEFT_THEN(code, pair(&pairing, reader, err));
    WEFT_THEN(code, close_rest(&pairing, err));
    weft_sort_reader_close(reader);
    weft_map_free(pairing.ids);
    WEFT_VEC_FINI(&pairing.tops);
    WEFT_VEC_FINI(&pairing.spans);
    WEFT_VEC_FINI(&pairing.ended);
    WEFT_VEC_FINI(&pairing.joined);
    return code;
}
