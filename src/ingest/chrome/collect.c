/* SPDX-License-Identifier: MIT
 *
 * The first phase: reads the text once and makes records of its events.
 */
#include "base/checked.h"
#include "ingest/chrome/trace.h"

/* Bytes between two reports of progress and looks at cancellation. */
enum { STEP_BYTES = 1 << 22 };

/* ---- records -------------------------------------------------------------------------------- */

static enum weft_code add_record(struct chrome_trace *trace, uint32_t lane,
                                 const struct chrome_record *record, struct weft_err *err)
{
    struct weft_sort_record sorted;
    memcpy(&sorted, record, sizeof sorted);
    return weft_sorter_add(trace->sorter, lane, &sorted, err);
}

static bool is_empty_object(const struct weft_json_value *value)
{
    if (value->type != WEFT_JSON_OBJECT)
        return value->type == WEFT_JSON_NULL;
    size_t k = 1;
    while (value->bytes[k] == ' ' || value->bytes[k] == '\n' || value->bytes[k] == '\t' ||
           value->bytes[k] == '\r')
        k++;
    return value->bytes[k] == '}';
}

struct weft_str chrome_args(const struct chrome_event *event)
{
    const struct weft_json_value *args = chrome_field(event, CHROME_ARGS);
    if (!args || is_empty_object(args))
        return (struct weft_str){ 0 };
    if (args->type == WEFT_JSON_STRING) /* with its quotes */
        return (struct weft_str){ .bytes = args->bytes - 1, .n_bytes = args->n_bytes + 2 };
    return (struct weft_str){ .bytes = args->bytes, .n_bytes = args->n_bytes };
}

/* Where the call's arguments are. When the event says more of the call, or in more bytes than a
 * record counts, it is read again. */
static void add_args(struct chrome_trace *trace, const struct chrome_event *event,
                     struct chrome_record *record)
{
    struct weft_str args = chrome_args(event);
    struct chrome_marks marks;
    record->is_whole = chrome_has_details(event) || args.n_bytes > UINT32_MAX;
    if (trace->is_weft && record->phase == 'X' && chrome_marks_take(&args, &marks)) {
        record->is_whole |= args.n_bytes > 0;
        record->flags = marks.flags;
        if (marks.level != WEFT_NEST_NO_LEVEL && record->end == record->time) {
            record->phase = CHROME_PHASE_EMPTY;
            record->end = marks.level;
        }
    }
    if (record->is_whole) {
        record->off = chrome_offset(trace, event->begin);
        record->has_frame = record->phase != 'X' && record->phase != CHROME_PHASE_EMPTY &&
                            chrome_has_only_frame(event);
        if (record->has_frame)
            record->end = chrome_id_number(chrome_field(event, CHROME_SF));
        return;
    }
    record->n_bytes = (uint32_t)args.n_bytes;
    record->off = args.n_bytes ? chrome_offset(trace, args.bytes) : 0;
}

static enum weft_code bad_event(struct chrome_trace *trace, const char *begin)
{
    chrome_remark(trace->remarks, CHROME_BAD_EVENT, (uint64_t)(trace->reader.at - begin),
                  chrome_offset(trace, begin));
    return WEFT_OK;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static const struct weft_json_value *string_field(const struct chrome_event *event,
                                                  enum chrome_field field)
{
    const struct weft_json_value *value = chrome_field(event, field);
    return value && value->type == WEFT_JSON_STRING && value->n_bytes ? value : NULL;
}

/* The function that is entered; one without a name has the empty one. */
static enum weft_code entered_function(struct chrome_trace *trace, const struct chrome_event *event,
                                       uint32_t *key, struct weft_err *err)
{
    static const struct weft_json_value no_name = { .bytes = "", .type = WEFT_JSON_STRING };
    const struct weft_json_value *name = string_field(event, CHROME_NAME);
    return chrome_function(trace, name ? name : &no_name, string_field(event, CHROME_CAT), key,
                           err);
}

/* An end names what it ends in as many words as it likes. */
static enum weft_code ended_function(struct chrome_trace *trace, const struct chrome_event *event,
                                     struct chrome_record *record, struct weft_err *err)
{
    const struct weft_json_value *name = string_field(event, CHROME_NAME);
    const struct weft_json_value *category = string_field(event, CHROME_CAT);
    record->match = !name ? WEFT_NEST_ANY : category ? WEFT_NEST_KEY : WEFT_NEST_NAME;
    record->key = WEFT_ID_NONE;
    if (!name)
        return WEFT_OK;
    return category ? chrome_function(trace, name, category, &record->key, err)
                    : chrome_function_named(trace, name, &record->key, err);
}

/* The end of a complete event. One without a duration was open when the trace was written: it is
 * like a begin. False if the duration is none. */
static bool end_of(const struct chrome_event *event, const struct weft_decimal_ns *begin,
                   struct chrome_record *record)
{
    struct weft_decimal_ns duration;
    if (!chrome_field(event, CHROME_DUR)) {
        record->phase = 'B';
        return true;
    }
    if (!chrome_event_time(event, CHROME_DUR, &duration) || duration.ns < 0)
        return false;
    record->end = CHROME_BIAS_NS + (uint64_t)weft_decimal_add(*begin, duration).ns;
    return true;
}

static enum weft_code add_call(struct chrome_trace *trace, const struct chrome_event *event,
                               uint32_t thread, struct chrome_record *record, struct weft_err *err)
{
    WEFT_TRY(record->phase == 'E' ? ended_function(trace, event, record, err)
                                  : entered_function(trace, event, &record->key, err));
    add_args(trace, event, record);
    return add_record(trace, CHROME_LANE_THREADS + thread, record, err);
}

/* ---- other events --------------------------------------------------------------------------- */

static bool is_true(const struct chrome_event *event, enum chrome_field field)
{
    const struct weft_json_value *value = chrome_field(event, field);
    return value && value->type == WEFT_JSON_TRUE;
}

/* "bind_id" makes any event the end of an arrow. */
static enum weft_code add_bound(struct chrome_trace *trace, const struct chrome_event *event,
                                uint32_t thread, uint64_t time, struct weft_err *err)
{
    if (!chrome_field(event, CHROME_BIND_ID) ||
        (!is_true(event, CHROME_FLOW_IN) && !is_true(event, CHROME_FLOW_OUT)))
        return WEFT_OK;
    const struct chrome_record record = { .time = time,
                                          .off = chrome_offset(trace, event->begin),
                                          .phase = CHROME_PHASE_BOUND };
    return add_record(trace, CHROME_LANE_THREADS + thread, &record, err);
}

static enum weft_code name_thread(struct chrome_trace *trace, const struct chrome_event *event,
                                  struct weft_err *err)
{
    uint32_t thread;
    struct weft_json_value name;
    struct weft_str plain;
    const struct weft_json_value *args = chrome_field(event, CHROME_ARGS);
    if (!args || !chrome_member(args, "name", &name) || name.type != WEFT_JSON_STRING)
        return bad_event(trace, event->begin);
    WEFT_TRY(chrome_thread_of(trace, event, &thread, err));
    trace->scratch.n = 0;
    if (!chrome_plain(&name, &trace->scratch, &plain))
        return weft_no_memory(err, "a name");
    return weft_strtab_intern(trace->texts, plain, &trace->threads.items[thread].name, err);
}

static enum weft_code add_metadata(struct chrome_trace *trace, const struct chrome_event *event,
                                   struct weft_err *err)
{
    const struct weft_json_value *name = chrome_field(event, CHROME_NAME);
    if (name && name->n_bytes == 11 && memcmp(name->bytes, "thread_name", 11) == 0)
        return name_thread(trace, event, err);
    struct chrome_record record = { .off = chrome_offset(trace, event->begin), .phase = 'M' };
    enum weft_code code = chrome_process_of(trace, event, &record.key, err);
    return code == WEFT_OK ? add_record(trace, CHROME_LANE_METADATA, &record, err) : code;
}

static bool is_async(char phase)
{
    return phase == 'b' || phase == 'e' || phase == 'S' || phase == 'F';
}

static enum weft_code add_timed(struct chrome_trace *trace, const struct chrome_event *event,
                                const struct weft_decimal_ns *time, char phase,
                                struct weft_err *err)
{
    uint32_t thread;
    struct chrome_record record = { .time = CHROME_BIAS_NS + (uint64_t)time->ns, .phase = phase };
    if (phase == 'X' && !end_of(event, time, &record))
        return bad_event(trace, event->begin);
    enum weft_code code = chrome_thread_of(trace, event, &thread, err);
    if (code != WEFT_OK)
        return code;
    struct chrome_thread *seen = &trace->threads.items[thread];
    seen->first = weft_min_u64(seen->first, record.time);
    seen->last = weft_max_u64(seen->last, record.time);
    trace->first = weft_min_u64(trace->first, record.time);
    trace->last = weft_max_u64(trace->last, weft_max_u64(record.time, record.end));
    trace->has_stacks |= chrome_field(event, CHROME_SF) || chrome_field(event, CHROME_ESF);
    if (record.phase == 'B' || record.phase == 'E' || record.phase == 'X') {
        code = add_call(trace, event, thread, &record, err);
    } else {
        bool is_paired = is_async(phase);
        record.off = chrome_offset(trace, event->begin);
        record.key = thread;
        code = add_record(trace, is_paired ? CHROME_LANE_ASYNC : CHROME_LANE_THREADS + thread,
                          &record, err);
    }
    return code == WEFT_OK ? add_bound(trace, event, thread, record.time, err) : code;
}

static enum weft_code add_event(struct chrome_trace *trace, const struct chrome_event *event,
                                char default_phase, struct weft_err *err)
{
    struct weft_decimal_ns time;
    char phase = chrome_event_phase(event);
    if (!phase && !chrome_field(event, CHROME_PH))
        phase = default_phase;
    if (phase == 'M') {
        trace->n_events++;
        return add_metadata(trace, event, err);
    }
    if (phase < ' ' || !chrome_event_time(event, CHROME_TS, &time))
        return bad_event(trace, event->begin);
    trace->n_events++;
    return add_timed(trace, event, &time, phase, err);
}

/* ---- the document --------------------------------------------------------------------------- */

/* The text is wrong at the reader's place; all before `valid` was read. */
static void mistake(struct chrome_trace *trace, const char *valid)
{
    trace->mistake = trace->reader.expected;
    trace->mistake_off = chrome_offset(trace, trace->reader.at);
    trace->valid_off = chrome_offset(trace, valid);
}

static enum weft_code step(struct chrome_trace *trace, struct weft_err *err)
{
    uint64_t at_off = chrome_offset(trace, trace->reader.at);
    if (at_off - trace->reported_off < STEP_BYTES)
        return WEFT_OK;
    weft_progress_add(chrome_progress(trace), at_off - trace->reported_off);
    weft_mapped_done(trace->file, trace->reported_off, at_off - trace->reported_off);
    trace->reported_off = at_off;
    if (weft_progress_is_cancelled(chrome_progress(trace)))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

/* An element of the array of events. */
static enum weft_code read_element(struct chrome_trace *trace, char default_phase,
                                   struct weft_err *err)
{
    struct weft_json_value value;
    const char *begin = trace->reader.at;
    bool is_event = *begin == '{';
    if (!(is_event ? chrome_event_read(&trace->reader, &trace->event)
                   : weft_json_value(&trace->reader, &value))) {
        mistake(trace, begin);
        return WEFT_OK;
    }
    enum weft_code code =
        is_event ? add_event(trace, &trace->event, default_phase, err) : bad_event(trace, begin);
    return code == WEFT_OK ? step(trace, err) : code;
}

/* The array at the reader's place. It may lack its end, and have a comma too much there, which is
 * what a program leaves that was killed while it wrote; in an object the end of the file is a
 * mistake all the same. */
static enum weft_code read_array(struct chrome_trace *trace, char default_phase,
                                 struct weft_err *err)
{
    struct weft_json_reader *reader = &trace->reader;
    reader->at++;
    for (bool is_first = true;; is_first = false) {
        char letter = weft_json_peek(reader);
        if (!is_first && letter == ',') {
            reader->at++;
            letter = weft_json_peek(reader);
        } else if (!is_first && letter != ']' && reader->at < reader->end) {
            (void)weft_json_fail(reader, "',' or ']'");
            mistake(trace, reader->at);
            return WEFT_OK;
        }
        if (reader->at == reader->end) {
            (void)weft_json_fail(reader, "']' and '}'");
            if (trace->is_object)
                mistake(trace, reader->at);
            return WEFT_OK;
        }
        if (letter == ']') {
            reader->at++;
            return WEFT_OK;
        }
        enum weft_code code = read_element(trace, default_phase, err);
        if (code != WEFT_OK || trace->mistake)
            return code;
    }
}

static bool is_named(const struct weft_json_value *key, const char *name)
{
    return key->n_bytes == strlen(name) && memcmp(key->bytes, name, key->n_bytes) == 0;
}

static void note_metadata(struct chrome_trace *trace, const struct weft_json_value *metadata)
{
    struct weft_json_value domain;
    struct weft_json_value exporter;
    if (chrome_member(metadata, "exporter", &exporter) && exporter.n_bytes >= 5 &&
        memcmp(exporter.bytes, "weft ", 5) == 0)
        trace->is_weft = true;
    if (chrome_member(metadata, "clock-domain", &domain) &&
        is_named(&domain, "LINUX_CLOCK_MONOTONIC"))
        trace->is_monotonic = true;
}

/* A member of the object around the events. */
static enum weft_code read_member(struct chrome_trace *trace, const struct weft_json_value *key,
                                  struct weft_err *err)
{
    struct weft_json_value value;
    bool is_array = weft_json_peek(&trace->reader) == '[';
    const char *begin = trace->reader.at;
    if (is_array && is_named(key, "traceEvents"))
        return read_array(trace, '\0', err);
    if (is_array && is_named(key, "samples"))
        return read_array(trace, 'P', err);
    if (!weft_json_value(&trace->reader, &value)) {
        mistake(trace, begin);
        return WEFT_OK;
    }
    if (is_named(key, "stackFrames") && value.type == WEFT_JSON_OBJECT)
        trace->stack_frames = value;
    else if (is_named(key, "metadata") || is_named(key, "otherData"))
        note_metadata(trace, &value);
    else if (is_named(key, "systemTraceEvents"))
        chrome_remark(trace->remarks, CHROME_SYSTEM_TRACE, 1, chrome_offset(trace, begin));
    return WEFT_OK;
}

static enum weft_code read_object(struct chrome_trace *trace, struct weft_err *err)
{
    trace->is_object = true;
    trace->reader.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value key;
        bool is_end;
        const char *valid = trace->reader.at;
        if (!weft_json_member(&trace->reader, is_first, &key, &is_end)) {
            mistake(trace, valid);
            return WEFT_OK;
        }
        if (is_end)
            return WEFT_OK;
        enum weft_code code = read_member(trace, &key, err);
        if (code != WEFT_OK || trace->mistake)
            return code;
    }
}

enum weft_code chrome_collect(struct chrome_trace *trace, struct weft_err *err)
{
    struct weft_json_reader *reader = &trace->reader;
    if (reader->end - reader->at >= 3 && memcmp(reader->at, "\xef\xbb\xbf", 3) == 0)
        reader->at += 3;
    enum weft_code code = WEFT_OK;
    switch (weft_json_peek(reader)) {
    case '[':
        code = read_array(trace, '\0', err);
        break;
    case '{':
        code = read_object(trace, err);
        break;
    default:
        (void)weft_json_fail(reader, "an array or an object");
        mistake(trace, reader->at);
        return WEFT_OK;
    }
    if (code == WEFT_OK && !trace->mistake && weft_json_peek(reader) != '\0') {
        (void)weft_json_fail(reader, "the end of the file");
        mistake(trace, reader->at);
    }
    return code;
}
