/* SPDX-License-Identifier: MIT
 *
 * Chrome's trace event format (JSON object form), read by chrome://tracing, Perfetto and many more.
 * One event a line; times are microseconds with three decimals, which is exact.
 */
#include "base/map.h"
#include "render/export/exporter.h"
#include "render/json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NUMBERS_BYTES = 64 };

struct chrome {
    bool has_events;         /* the next event needs a comma */
    struct weft_map *pids;   /* named so far */
    char ids[NUMBERS_BYTES]; /* ,"pid":1,"tid":2,"ts": of the thread */
    size_t n_ids;
};

/* ---- parts of events ------------------------------------------------------------------------- */

static void begin_event(struct weft_exporter *exporter)
{
    struct chrome *chrome = exporter->state;
    weft_output_text(exporter->out, chrome->has_events ? ",\n" : "\n");
    chrome->has_events = true;
}

static void put_member(struct weft_exporter *exporter, const char *key, struct weft_str value)
{
    weft_output_text(exporter->out, key);
    weft_json_quoted(exporter->out, value);
}

static void put_number(struct weft_exporter *exporter, const char *key, uint64_t value)
{
    weft_output_text(exporter->out, key);
    weft_put_number(exporter->out, value);
}

static void put_us(struct weft_exporter *exporter, const char *key, uint64_t value_ns)
{
    char digits[WEFT_PUT_US_BYTES];
    weft_output_text(exporter->out, key);
    weft_output_write(exporter->out, digits, (size_t)(weft_put_us(digits, value_ns) - digits));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void label(struct weft_exporter *exporter, uint32_t function_id)
{
    const struct weft_function *function = weft_trace_function(exporter->trace, function_id);
    struct weft_output *out = exporter->scratch;
    weft_output_text(out, "{\"ph\":\"X\",\"name\":");
    weft_json_quoted(out, function->name);
    if (function->module.n_bytes) {
        weft_output_text(out, ",\"cat\":");
        weft_json_quoted(out, function->module);
    }
}

/* Times do not show how a call of no duration nests with others that begin or end then. */
static bool needs_depth(const struct weft_walk_call *call)
{
    return call->start_ns == call->end_ns;
}

/* The rest of a call that has arguments, flags, or no duration. The importer takes the last member
 * apart again. */
static void put_call_args(struct weft_output *out, const struct weft_walk_call *call)
{
    weft_output_text(out, ",\"args\":{");
    bool has_args = weft_put_json_args(out, call);
    if (call->flags || needs_depth(call)) {
        weft_output_text(out, has_args ? ",\"weft\":{" : "\"weft\":{");
        if (call->flags) {
            weft_output_text(out, "\"flags\":[");
            weft_put_flags(out, call->flags, "\"", ",");
            weft_output_text(out, "]");
        }
        if (needs_depth(call))
            weft_output_printf(out, "%s\"depth\":%" PRIu32, call->flags ? "," : "", call->depth);
        weft_output_text(out, "}");
    }
    weft_output_text(out, "}}");
}

static void enter(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    struct chrome *chrome = exporter->state;
    struct weft_str function = weft_exporter_label(exporter, call->function_id);
    bool is_plain = !call->flags && !call->n_args && !call->n_arg_texts && !needs_depth(call);
    char *to = weft_output_room(exporter->out,
                                function.n_bytes + 2 * NUMBERS_BYTES + 2 * WEFT_PUT_US_BYTES);
    if (!to)
        return;
    to = chrome->has_events ? WEFT_PUT(to, ",\n") : WEFT_PUT(to, "\n");
    chrome->has_events = true;
    to = weft_put_str(to, function);
    to = weft_put_bytes(to, chrome->ids, chrome->n_ids);
    to = weft_put_us(to, call->start_ns);
    to = WEFT_PUT(to, ",\"dur\":");
    to = weft_put_us(to, call->end_ns - call->start_ns);
    if (is_plain)
        *to++ = '}';
    weft_output_filled(exporter->out, to);
    if (!is_plain)
        put_call_args(exporter->out, call);
}

/* ---- other events ---------------------------------------------------------------------------- */

/* {"ph":"i","name":...,"cat":...,"pid":...,"tid":...,"ts":... */
static void begin_named(struct weft_exporter *exporter, char phase, struct weft_str name,
                        struct weft_str category, uint64_t at_ns)
{
    struct chrome *chrome = exporter->state;
    begin_event(exporter);
    weft_output_printf(exporter->out, "{\"ph\":\"%c\"", phase);
    put_member(exporter, ",\"name\":", name);
    if (category.n_bytes)
        put_member(exporter, ",\"cat\":", category);
    weft_output_write(exporter->out, chrome->ids, chrome->n_ids);
    put_us(exporter, "", at_ns);
}

static void begin_other(struct weft_exporter *exporter, const struct weft_event *event, char phase,
                        uint64_t at_ns)
{
    begin_named(exporter, phase, event->name, event->category, at_ns);
}

static void put_id(struct weft_exporter *exporter, uint64_t id)
{
    weft_output_printf(exporter->out, ",\"id\":\"0x%" PRIx64 "\"", id);
}

/* `members` of args besides the payload's, and the end of the event. */
static void end_other(struct weft_exporter *exporter, const struct weft_event *event,
                      struct weft_str members)
{
    struct weft_output *out = exporter->out;
    const struct weft_walk_call payload = { .arg_texts = &event->payload,
                                            .n_arg_texts = event->payload.n_bytes > 0 };
    if (members.n_bytes || payload.n_arg_texts) {
        weft_output_text(out, ",\"args\":{");
        bool has_any = weft_put_json_args(out, &payload);
        weft_output_text(out, has_any && members.n_bytes ? "," : "");
        weft_output_write(out, members.bytes, members.n_bytes);
        weft_output_text(out, "}");
    }
    weft_output_text(out, "}");
}

static void put_span(struct weft_exporter *exporter, const struct weft_event *event)
{
    const struct weft_window *window = &exporter->opts->window;
    begin_other(exporter, event, 'b', weft_window_clip(window, event->time_ns));
    put_id(exporter, event->value);
    end_other(exporter, event, (struct weft_str){ 0 });
    begin_other(exporter, event, 'e',
                weft_window_clip(window, event->time_ns + event->duration_ns));
    put_id(exporter, event->value);
    weft_output_text(exporter->out, "}");
}

/* Instants keep the phase that they had in a trace of this format, unless it belongs to what is no
 * instant. */
static void put_instant(struct weft_exporter *exporter, const struct weft_event *event)
{
    uint32_t state = event->prev_state;
    bool is_phase = (state >= 'a' && state <= 'z') || (state >= 'A' && state <= 'Z') ||
                    state == '(' || state == ')';
    char phase = is_phase && !strchr("XBECPstf", (char)state) ? (char)state : 'i';
    begin_other(exporter, event, phase, event->time_ns);
    if (event->value || strchr("nNODSTFpbe", phase))
        put_id(exporter, event->value);
    if (phase == 'i')
        weft_output_text(exporter->out, ",\"s\":\"t\"");
    end_other(exporter, event, (struct weft_str){ 0 });
}

/* A counter of several series has one event for each, whose name ends in ".series". */
static void put_counter(struct weft_exporter *exporter, const struct weft_event *event)
{
    struct weft_output *out = exporter->out;
    double value = weft_counter_double(event->value);
    struct weft_str name = event->name, series = WEFT_STR("value");
    const char *dot = name.n_bytes ? memrchr(name.bytes, '.', name.n_bytes) : NULL;
    if (dot && dot > name.bytes && dot + 1 < name.bytes + name.n_bytes) {
        series = (struct weft_str){ dot + 1, name.n_bytes - (size_t)(dot + 1 - name.bytes) };
        name.n_bytes = (size_t)(dot - name.bytes);
    }
    begin_named(exporter, 'C', name, event->category, event->time_ns);
    weft_output_text(out, ",\"args\":{");
    weft_json_quoted(out, series);
    /* JSON has no word for what is not finite. */
    weft_output_printf(out, isfinite(value) ? ":%s}}" : ":\"%s\"}}", weft_real_text(value).text);
}

static void put_flow(struct weft_exporter *exporter, const struct weft_event *event)
{
    char phase = event->kind == WEFT_EVENT_FLOW_BEGIN  ? 's'
                 : event->kind == WEFT_EVENT_FLOW_STEP ? 't'
                                                       : 'f';
    begin_other(exporter, event, phase, event->time_ns);
    put_id(exporter, event->value);
    if (phase == 'f')
        weft_output_text(exporter->out, ",\"bp\":\"e\"");
    end_other(exporter, event, (struct weft_str){ 0 });
}

/* ,"stack":["main","run"] of "main;run". */
static void put_stack(struct weft_output *out, struct weft_str folded)
{
    const char *before = ",\"stack\":[";
    for (size_t at = 0; at <= folded.n_bytes; before = ",") {
        const char *from = folded.bytes + at;
        const char *end = memchr(from, ';', folded.n_bytes - at);
        size_t n_bytes = end ? (size_t)(end - from) : folded.n_bytes - at;
        weft_output_text(out, before);
        weft_json_quoted(out, (struct weft_str){ from, n_bytes });
        at += n_bytes + 1;
    }
    weft_output_text(out, "]");
}

/* The name of a sample is its stack; what the sampler was called is its category. */
static void put_sample(struct weft_exporter *exporter, const struct weft_event *event)
{
    char members[48] = "";
    if (event->stack_id != WEFT_ID_NONE)
        snprintf(members, sizeof members, "\"weft\":{\"stack\":%" PRIu32 "}", event->stack_id);
    begin_named(exporter, 'P', event->category, (struct weft_str){ 0 }, event->time_ns);
    put_number(exporter, ",\"weight\":", event->value);
    if (event->name.n_bytes)
        put_stack(exporter->out, event->name);
    end_other(exporter, event, weft_str_of(members));
}

/* Kinds that the format has no phase for: instants that say under "weft" what they are. */
static void put_rest(struct weft_exporter *exporter, const struct weft_event *event)
{
    struct weft_output *out = exporter->scratch;
    weft_output_clear(out);
    weft_output_printf(out, "\"weft\":{\"kind\":\"%s\",\"value\":%" PRIu64,
                       weft_event_kind_name(event->kind), event->value);
    if (event->next_thread_id < weft_trace_n_threads(exporter->trace))
        weft_output_printf(out, ",\"next_tid\":%" PRIu64,
                           weft_trace_thread(exporter->trace, event->next_thread_id)->info.tid);
    if (event->object_id != WEFT_ID_NONE)
        weft_output_printf(out, ",\"object\":%" PRIu32, event->object_id);
    if (event->stack_id != WEFT_ID_NONE)
        weft_output_printf(out, ",\"stack\":%" PRIu32, event->stack_id);
    if (event->prev_state)
        weft_output_printf(out, ",\"state\":%" PRIu32, event->prev_state);
    if (event->duration_ns)
        weft_output_printf(out, ",\"duration_ns\":%" PRIu64, event->duration_ns);
    if (event->cpu >= 0)
        weft_output_printf(out, ",\"cpu\":%" PRId32, event->cpu);
    weft_output_text(out, "}");
    begin_other(exporter, event, 'i', event->time_ns);
    weft_output_text(exporter->out, ",\"s\":\"t\"");
    end_other(exporter, event, weft_output_held(out));
}

static void event(struct weft_exporter *exporter, const struct weft_event *event)
{
    switch (event->kind) {
    case WEFT_EVENT_SPAN:
        put_span(exporter, event);
        break;
    case WEFT_EVENT_INSTANT:
        put_instant(exporter, event);
        break;
    case WEFT_EVENT_COUNTER:
        put_counter(exporter, event);
        break;
    case WEFT_EVENT_FLOW_BEGIN:
    case WEFT_EVENT_FLOW_STEP:
    case WEFT_EVENT_FLOW_END:
        put_flow(exporter, event);
        break;
    case WEFT_EVENT_SAMPLE:
        put_sample(exporter, event);
        break;
    default:
        put_rest(exporter, event);
    }
}

/* ---- threads and the document ---------------------------------------------------------------- */

/* {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{ */
static void begin_metadata(struct weft_exporter *exporter, const char *name)
{
    const struct weft_thread_info *info = &exporter->thread->info;
    begin_event(exporter);
    weft_output_printf(exporter->out,
                       "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
                       ",\"args\":{",
                       name, info->pid, info->tid);
}

/* A trace that came from this format has this metadata among its instants. */
static bool has_metadata(const struct weft_exporter *exporter)
{
    static const char format[] = "chrome";
    struct weft_str source = weft_trace_meta(exporter->trace)->format;
    return source.n_bytes >= sizeof format - 1 &&
           memcmp(source.bytes, format, sizeof format - 1) == 0;
}

static void name_process(struct weft_exporter *exporter)
{
    struct chrome *chrome = exporter->state;
    bool is_new = false;
    if (weft_map_add(chrome->pids, exporter->thread->info.pid, &is_new) == WEFT_MAP_NONE)
        weft_exporter_no_memory(exporter);
    if (!is_new)
        return;
    begin_metadata(exporter, "process_name");
    put_member(exporter, "\"name\":", weft_str_of(exporter->opts->name));
    weft_output_text(exporter->out, "}}");
}

static void thread_begin(struct weft_exporter *exporter)
{
    struct chrome *chrome = exporter->state;
    const struct weft_thread_info *info = &exporter->thread->info;
    const struct weft_store *store = weft_trace_store(exporter->trace);
    int n_bytes =
        snprintf(chrome->ids, sizeof chrome->ids,
                 ",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"ts\":", info->pid, info->tid);
    chrome->n_ids = (size_t)n_bytes;
    if (!has_metadata(exporter))
        name_process(exporter);
    if (weft_store_thread_get(store, exporter->thread_id)->info.name.n_bytes) {
        begin_metadata(exporter, "thread_name");
        put_member(exporter, "\"name\":", info->name);
        weft_output_text(exporter->out, "}}");
    }
    if (has_metadata(exporter))
        return;
    begin_metadata(exporter, "thread_sort_index");
    put_number(exporter, "\"sort_index\":", exporter->thread_id);
    weft_output_text(exporter->out, "}}");
}

static void begin(struct weft_exporter *exporter)
{
    struct chrome *chrome = exporter->state;
    const struct weft_store_meta *meta = weft_trace_meta(exporter->trace);
    chrome->pids = weft_map_new();
    if (!chrome->pids)
        weft_exporter_no_memory(exporter);
    weft_output_text(exporter->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{"
                                    "\"exporter\":\"weft " WEFT_VERSION "\"");
    put_member(exporter, ",\"source\":", meta->source_name);
    put_member(exporter, ",\"source_format\":", meta->format);
    if (meta->clock.has_monotonic)
        put_number(exporter, ",\"monotonic_ns\":", meta->clock.monotonic_ns);
    if (meta->clock.has_realtime)
        put_number(exporter, ",\"realtime_ns\":", meta->clock.realtime_ns);
    weft_output_text(exporter->out, "},\"traceEvents\":[");
}

static void end(struct weft_exporter *exporter)
{
    weft_output_text(exporter->out, "\n]}\n");
}

static void fini(struct weft_exporter *exporter)
{
    struct chrome *chrome = exporter->state;
    weft_map_free(chrome->pids);
}

const struct weft_export_format_ops weft_export_chrome = {
    .state_bytes = sizeof(struct chrome),
    .event_kinds = UINT32_MAX & ~(UINT32_C(1) << WEFT_EVENT_CALL_ARGS),
    .wants_args = true,
    .merges_threads = true,
    .begin = begin,
    .thread_begin = thread_begin,
    .enter = enter,
    .event = event,
    .end = end,
    .fini = fini,
    .label = label,
};
