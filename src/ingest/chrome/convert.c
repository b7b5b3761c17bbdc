/* SPDX-License-Identifier: MIT
 *
 * Events that are no calls: read again from the text, and delivered to the sink one by one.
 */
#include "base/vec.h"
#include "ingest/chrome/trace.h"

#include <stdlib.h>

enum { NUMBER_BYTES = 64 };

enum weft_code chrome_read_again(const struct chrome_trace *trace, uint64_t off,
                                 struct chrome_event *event, struct weft_err *err)
{
    struct weft_json_reader reader = trace->reader;
    reader.at = reader.begin + off;
    if (*reader.at == '{' && chrome_event_read(&reader, event))
        return WEFT_OK;
    return weft_fail(err, WEFT_E_IO, off, "the file changed while it was read");
}

static bool is_string(const struct weft_json_value *value)
{
    return value && value->type == WEFT_JSON_STRING;
}

/* Room for both names first: a view must not move when the second is added. */
static bool convert_names(struct chrome_converter *converter, const struct chrome_event *source,
                          struct weft_event *event)
{
    const struct weft_json_value *name = chrome_field(source, CHROME_NAME);
    const struct weft_json_value *category = chrome_field(source, CHROME_CAT);
    struct chrome_text *text = &converter->text;
    text->n = 0;
    size_t n_bytes =
        (is_string(name) ? name->n_bytes : 0) + (is_string(category) ? category->n_bytes : 0);
    return weft_vec_reserve(&text->items, &text->cap, n_bytes, 1) &&
           (!is_string(name) || chrome_plain(name, text, &event->name)) &&
           (!is_string(category) || chrome_plain(category, text, &event->category));
}

static bool append(struct chrome_text *text, const char *bytes, size_t n_bytes)
{
    if (!weft_vec_reserve(&text->items, &text->cap, text->n + n_bytes, 1))
        return false;
    if (n_bytes)
        memcpy(text->items + text->n, bytes, n_bytes);
    text->n += n_bytes;
    return true;
}

/* Begins an object with the members of args, or with args as one if they are no object. */
static bool begin_payload(struct chrome_text *text, struct weft_str args, bool is_marked)
{
    if (args.n_bytes == 0)
        return append(text, "{", 1);
    if (*args.bytes == '{')
        return append(text, args.bytes, args.n_bytes - !is_marked);
    return append(text, "{\"args\":", 8) && append(text, args.bytes, args.n_bytes);
}

enum weft_code chrome_payload(struct chrome_converter *converter, const struct chrome_event *source,
                              struct weft_str *payload, struct weft_err *err)
{
    struct chrome_text *text = &converter->payload;
    struct chrome_marks marks;
    *payload = chrome_args(source);
    bool is_marked = converter->trace->is_weft && chrome_marks_take(payload, &marks);
    if (!chrome_has_details(source) && !(is_marked && payload->n_bytes))
        return WEFT_OK;
    text->n = 0;
    if (!begin_payload(text, *payload, is_marked))
        return weft_no_memory(err, "the names of an event");
    size_t n_before = text->n;
    if (!chrome_stacks_put_details(converter->stacks, source, text) || !append(text, "}", 1))
        return weft_no_memory(err, "the names of an event");
    if (is_marked || text->n > n_before + 1)
        *payload = (struct weft_str){ .bytes = text->items, .n_bytes = text->n };
    return WEFT_OK;
}

enum weft_code chrome_convert(struct chrome_converter *converter, const struct chrome_event *source,
                              uint64_t time_ns, char phase, struct weft_event *event,
                              struct weft_err *err)
{
    struct chrome_id id;
    (void)chrome_event_id(source, phase == CHROME_PHASE_BOUND, &id);
    *event = (struct weft_event){ .time_ns = time_ns,
                                  .value = id.number,
                                  .next_thread_id = WEFT_ID_NONE,
                                  .object_id = WEFT_ID_NONE,
                                  .stack_id = WEFT_ID_NONE,
                                  .cpu = -1,
                                  .kind = WEFT_EVENT_INSTANT };
    if (!convert_names(converter, source, event))
        return weft_no_memory(err, "the names of an event");
    return chrome_payload(converter, source, &event->payload, err);
}

static enum weft_code send(struct chrome_converter *converter, uint32_t thread_id,
                           const struct weft_event *event, struct weft_err *err)
{
    struct weft_sink *sink = converter->trace->sink;
    return sink->ops->events(sink, thread_id, event, 1, err);
}

/* ---- counters ------------------------------------------------------------------------------- */

static bool number_of(const struct weft_json_value *value, double *number)
{
    char text[NUMBER_BYTES];
    char *end;
    if (value->type > WEFT_JSON_NUMBER || value->n_bytes == 0 || value->n_bytes >= sizeof text)
        return false;
    memcpy(text, value->bytes, value->n_bytes);
    text[value->n_bytes] = '\0';
    *number = strtod(text, &end);
    return end == text + value->n_bytes;
}

/* "name.series", or "name[id].series". */
static bool name_series(struct chrome_text *text, const struct chrome_event *source,
                        const struct weft_json_value *series, struct weft_str *name)
{
    const struct weft_json_value *id = chrome_field(source, CHROME_ID);
    const struct weft_json_value *base = chrome_field(source, CHROME_NAME);
    struct weft_str plain;
    size_t n_most =
        (is_string(base) ? base->n_bytes : 0) + (id ? id->n_bytes : 0) + series->n_bytes + 3;
    text->n = 0;
    if (!weft_vec_reserve(&text->items, &text->cap, n_most * 2, 1))
        return false;
    char *begin = text->items;
    /* Every part is appended where it belongs: with escapes it already lies there. */
    const struct weft_json_value *const parts[] = { base, id, series };
    const char *const before[] = { "", "[", id ? "]." : "." };
    for (size_t k = 0; k < 3; k++) {
        if (!parts[k] || (k == 0 && !is_string(base)))
            continue;
        if (!append(text, before[k], strlen(before[k])) || !chrome_plain(parts[k], text, &plain))
            return false;
        if (!parts[k]->has_escapes && !append(text, plain.bytes, plain.n_bytes))
            return false;
    }
    *name = (struct weft_str){ .bytes = begin, .n_bytes = text->n };
    return true;
}

static void bad_series(struct chrome_converter *converter, const char *at)
{
    chrome_remark(converter->remarks, CHROME_BAD_COUNTER, 1, chrome_offset(converter->trace, at));
}

static enum weft_code send_series(struct chrome_converter *converter, uint32_t thread_id,
                                  const struct chrome_event *source,
                                  const struct weft_json_value *key,
                                  const struct weft_json_value *value, struct weft_event *event,
                                  struct weft_err *err)
{
    double number;
    if (!number_of(value, &number)) {
        bad_series(converter, value->bytes);
        return WEFT_OK;
    }
    if (!name_series(&converter->text, source, key, &event->name))
        return weft_no_memory(err, "the names of an event");
    event->value = weft_counter_value(number);
    return send(converter, thread_id, event, err);
}

static enum weft_code send_counters(struct chrome_converter *converter, uint32_t thread_id,
                                    const struct chrome_event *source, struct weft_event *event,
                                    struct weft_err *err)
{
    const struct weft_json_value *args = chrome_field(source, CHROME_ARGS);
    if (!args || args->type != WEFT_JSON_OBJECT) {
        bad_series(converter, source->begin);
        return WEFT_OK;
    }
    struct weft_json_reader reader = weft_json_reader_of(args->bytes, args->n_bytes);
    event->kind = WEFT_EVENT_COUNTER;
    event->payload = event->category = (struct weft_str){ 0 };
    struct weft_json_value category = { 0 };
    if (is_string(chrome_field(source, CHROME_CAT)))
        category = *chrome_field(source, CHROME_CAT);
    if (!category.has_escapes) /* else its plain form lies where the name is made */
        event->category = (struct weft_str){ .bytes = category.bytes, .n_bytes = category.n_bytes };
    reader.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value key;
        struct weft_json_value value;
        bool is_end;
        if (!weft_json_member(&reader, is_first, &key, &is_end) || is_end ||
            !weft_json_value(&reader, &value))
            return WEFT_OK;
        WEFT_TRY(send_series(converter, thread_id, source, &key, &value, event, err));
    }
}

/* ---- samples, arrows ------------------------------------------------------------------------ */

static enum weft_code send_sample(struct chrome_converter *converter, uint32_t thread_id,
                                  const struct chrome_event *source, struct weft_event *event,
                                  struct weft_err *err)
{
    const struct weft_json_value *weight = chrome_field(source, CHROME_WEIGHT);
    size_t begin = converter->text.n;
    event->kind = WEFT_EVENT_SAMPLE;
    if (!weight || !chrome_whole_number(weight, &event->value))
        event->value = 1;
    /* Folding may move the text: names that lie in it are made again. */
    if (!chrome_stacks_fold(converter->stacks, source, &converter->text))
        return weft_no_memory(err, "the names of an event");
    size_t n_folded = converter->text.n - begin;
    if (n_folded) {
        converter->text.n = begin;
        struct weft_event names = { 0 };
        struct chrome_text kept = converter->text;
        converter->text = (struct chrome_text){ 0 };
        bool is_good = convert_names(converter, source, &names);
        struct chrome_text made = converter->text;
        converter->text = kept;
        event->category = names.category.n_bytes ? names.category : names.name;
        event->name = (struct weft_str){ .bytes = kept.items + begin, .n_bytes = n_folded };
        enum weft_code code = is_good ? send(converter, thread_id, event, err)
                                      : weft_no_memory(err, "the names of an event");
        free(made.items);
        return code;
    }
    return send(converter, thread_id, event, err);
}

static bool is_true(const struct chrome_event *event, enum chrome_field field)
{
    const struct weft_json_value *value = chrome_field(event, field);
    return value && value->type == WEFT_JSON_TRUE;
}

static enum weft_event_kind bound_kind(const struct chrome_event *source)
{
    bool is_in = is_true(source, CHROME_FLOW_IN);
    bool is_out = is_true(source, CHROME_FLOW_OUT);
    return is_in && is_out ? WEFT_EVENT_FLOW_STEP
           : is_in         ? WEFT_EVENT_FLOW_END
                           : WEFT_EVENT_FLOW_BEGIN;
}

/* ---- by phase ------------------------------------------------------------------------------- */

/* Phases of the format; of others the whole event is kept as it is. */
static bool is_known(char phase)
{
    return phase == CHROME_PHASE_BOUND || strchr("beSFnTpiIPNODMRcvVstf", phase) != NULL;
}

enum weft_code chrome_convert_and_send(struct chrome_converter *converter, uint32_t thread_id,
                                       const struct chrome_record *record, struct weft_err *err)
{
    struct chrome_event source;
    struct weft_event event;
    const struct chrome_trace *trace = converter->trace;
    uint64_t time_ns = record->time > trace->first ? record->time - trace->first : 0;
    enum weft_code code = chrome_read_again(trace, record->off, &source, err);
    WEFT_THEN(code, chrome_convert(converter, &source, time_ns, record->phase, &event, err));
    if (code != WEFT_OK)
        return code;
    switch (record->phase) {
    case 'C':
        return send_counters(converter, thread_id, &source, &event, err);
    case 'P':
        return send_sample(converter, thread_id, &source, &event, err);
    case CHROME_PHASE_BOUND:
        event.kind = bound_kind(&source);
        event.name = event.category = event.payload =
            (struct weft_str){ 0 }; /* the call has them */
        break;
    case 's':
        event.kind = WEFT_EVENT_FLOW_BEGIN;
        break;
    case 't':
        event.kind = WEFT_EVENT_FLOW_STEP;
        break;
    case 'f':
        event.kind = WEFT_EVENT_FLOW_END;
        break;
    default:
        event.prev_state = (uint8_t)record->phase;
        if (!is_known(record->phase))
            event.payload = (struct weft_str){ .bytes = source.begin,
                                               .n_bytes = (size_t)(source.end - source.begin) };
        break;
    }
    return send(converter, thread_id, &event, err);
}
