/* SPDX-License-Identifier: MIT
 *
 * A sink that writes down all it is told, as text: one text for what belongs to the whole trace,
 * one a thread. Tests compare texts.
 *
 *     begin xray-fdr: version 5, 1 buffers, 1.000 GHz        E 7 @100     entry of function 7
 *     clock 1000000000 zero 5000 monotonic 12000             X 7 @120     exit
 *     thread 0 tid 42 pid 1                                  T 7 @120     tail exit
 *     function 7 work [prog] 0x21e10                         M 7 @120     exit with flags
 *                                                            A 99         argument
 *     note truncated 12 thread 0 at 0x50                     C cpu 3 cpu 3 @100
 *                                                            I custom event 0 cpu 3 @110 "ab"
 *                                                            call_args  [] 0 @100 5, "text"
 *                                                            switch @100 cpu 1 next -1 state 0
 */
#ifndef WEFT_TESTS_RECORDING_SINK_H
#define WEFT_TESTS_RECORDING_SINK_H

#include "schema/sink.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rec_text {
    char *bytes; /* ends with NUL once anything was added */
    size_t n_bytes, cap;
};

struct rec_sink {
    struct weft_sink sink;
    struct rec_text trace;
    struct rec_text *threads;
    uint32_t n_threads;
    bool *is_ended;
    uint64_t n_order_errors; /* calls after thread_end, or of unknown threads */
    uint64_t fail_after;     /* fail the call with this number (1 is the first); 0: never */
    uint64_t n_told;
};

__attribute__((format(printf, 2, 3), unused)) static void rec_add(struct rec_text *text,
                                                                  const char *format, ...)
{
    for (int round = 0; round < 2; round++) {
        va_list args;
        va_start(args, format);
        size_t room = text->cap - text->n_bytes;
        int n_new = vsnprintf(text->bytes ? text->bytes + text->n_bytes : NULL, room, format, args);
        va_end(args);
        if (n_new < 0)
            abort();
        if ((size_t)n_new < room) {
            text->n_bytes += (size_t)n_new;
            return;
        }
        text->cap = (text->cap + (size_t)n_new + 1) * 2;
        text->bytes = realloc(text->bytes, text->cap);
        if (!text->bytes)
            abort();
    }
}

__attribute__((unused)) static const char *rec_str(const struct rec_text *text)
{
    return text->bytes ? text->bytes : "";
}

static struct rec_sink *rec_of(struct weft_sink *sink)
{
    return (struct rec_sink *)sink; /* the sink is its first member */
}

static enum weft_code rec_step(struct weft_sink *sink, struct weft_err *err)
{
    struct rec_sink *rec = rec_of(sink);
    if (rec->fail_after && ++rec->n_told >= rec->fail_after)
        return weft_fail(err, WEFT_E_IO, WEFT_NO_OFFSET, "the sink is full");
    return WEFT_OK;
}

#define REC_STR(text) (int)(text).n_bytes, (text).n_bytes ? (text).bytes : ""

static enum weft_code rec_begin(struct weft_sink *sink, const struct weft_sink_begin *begin,
                                struct weft_err *err)
{
    rec_add(&rec_of(sink)->trace, "begin %.*s: %.*s\n", REC_STR(begin->format),
            REC_STR(begin->details));
    return rec_step(sink, err);
}

static enum weft_code rec_clock(struct weft_sink *sink, const struct weft_clock *clock,
                                struct weft_err *err)
{
    struct rec_text *text = &rec_of(sink)->trace;
    rec_add(text, "clock %" PRIu64 " zero %" PRIu64, clock->frequency_hz, clock->zero_ticks);
    if (clock->has_monotonic)
        rec_add(text, " monotonic %" PRIu64, clock->monotonic_ns);
    if (clock->has_realtime)
        rec_add(text, " realtime %" PRIu64, clock->realtime_ns);
    rec_add(text, "\n");
    return rec_step(sink, err);
}

static enum weft_code rec_function(struct weft_sink *sink, const struct weft_function_info *info,
                                   struct weft_err *err)
{
    rec_add(&rec_of(sink)->trace, "function %" PRIu32 " %.*s [%.*s] 0x%" PRIx64 "\n", info->key,
            REC_STR(info->name), REC_STR(info->module), info->address);
    return rec_step(sink, err);
}

static enum weft_code rec_thread(struct weft_sink *sink, const struct weft_thread_info *info,
                                 uint32_t *thread_id, struct weft_err *err)
{
    struct rec_sink *rec = rec_of(sink);
    *thread_id = rec->n_threads++;
    rec->threads = realloc(rec->threads, rec->n_threads * sizeof *rec->threads);
    rec->is_ended = realloc(rec->is_ended, rec->n_threads * sizeof *rec->is_ended);
    if (!rec->threads || !rec->is_ended)
        abort();
    rec->threads[*thread_id] = (struct rec_text){ 0 };
    rec->is_ended[*thread_id] = false;
    rec_add(&rec->trace, "thread %" PRIu32 " tid %" PRIu64 " pid %" PRIu64, *thread_id, info->tid,
            info->pid);
    if (info->generation)
        rec_add(&rec->trace, " generation %" PRIu32, info->generation);
    if (info->name.n_bytes)
        rec_add(&rec->trace, " name %.*s", REC_STR(info->name));
    if (info->is_foreign)
        rec_add(&rec->trace, " foreign");
    rec_add(&rec->trace, "\n");
    return rec_step(sink, err);
}

static struct rec_text *rec_thread_text(struct rec_sink *rec, uint32_t thread_id)
{
    if (thread_id < rec->n_threads && !rec->is_ended[thread_id])
        return &rec->threads[thread_id];
    rec->n_order_errors++;
    return &rec->trace;
}

static enum weft_code rec_calls(struct weft_sink *sink, uint32_t thread_id,
                                const struct weft_call_event *events, size_t n_events,
                                struct weft_err *err)
{
    struct rec_text *text = rec_thread_text(rec_of(sink), thread_id);
    for (size_t k = 0; k < n_events; k++) {
        if (events[k].kind == WEFT_CALL_ARG)
            rec_add(text, "A %" PRIu64 "\n", events[k].value);
        else
            rec_add(text, "%c %" PRIu32 " @%" PRIu64 "\n", "EXTAM"[events[k].kind % 5],
                    events[k].function_key, events[k].time_ns);
    }
    return rec_step(sink, err);
}

/* Events beyond those of XRay logs, with all that they say. */
static void rec_other_event(struct rec_text *text, const struct weft_event *event)
{
    rec_add(text, "%s", weft_event_kind_name(event->kind));
    if (event->kind == WEFT_EVENT_SWITCH) {
        rec_add(text, " @%" PRIu64 " cpu %" PRId32 " next %" PRId32 " state %" PRIu32,
                event->time_ns, event->cpu, (int32_t)event->next_thread_id, event->prev_state);
        if (event->value)
            rec_add(text, " ran %" PRIu64, event->value);
        rec_add(text, "\n");
        return;
    }
    rec_add(text, " %.*s [%.*s] %" PRIu64, REC_STR(event->name), REC_STR(event->category),
            event->value);
    if (event->kind == WEFT_EVENT_SAMPLE && event->prev_state)
        rec_add(text, event->prev_state == WEFT_SAMPLE_IN_USER ? " in user" : " in kernel");
    else if (event->prev_state)
        rec_add(text, " '%c'", (char)event->prev_state);
    if (event->duration_ns)
        rec_add(text, " +%" PRIu64, event->duration_ns);
    rec_add(text, " @%" PRIu64 " %.*s\n", event->time_ns, REC_STR(event->payload));
}

static enum weft_code rec_events(struct weft_sink *sink, uint32_t thread_id,
                                 const struct weft_event *events, size_t n_events,
                                 struct weft_err *err)
{
    struct rec_text *text = rec_thread_text(rec_of(sink), thread_id);
    for (size_t k = 0; k < n_events; k++) {
        const bool is_instant = events[k].kind == WEFT_EVENT_INSTANT && events[k].prev_state == 0;
        const bool is_counter = events[k].kind == WEFT_EVENT_COUNTER;
        if (!is_instant && !is_counter) {
            rec_other_event(text, &events[k]);
            continue;
        }
        rec_add(text, "%c %.*s ", is_counter ? 'C' : 'I', REC_STR(events[k].name));
        if (is_counter)
            rec_add(text, "%.17g", weft_counter_double(events[k].value));
        else
            rec_add(text, "%" PRIu64, events[k].value);
        rec_add(text, " cpu %" PRId32 " @%" PRIu64, events[k].cpu, events[k].time_ns);
        if (events[k].kind == WEFT_EVENT_INSTANT) {
            rec_add(text, " \"");
            for (size_t at = 0; at < events[k].payload.n_bytes; at++)
                rec_add(text, "%02x", (uint8_t)events[k].payload.bytes[at]);
            rec_add(text, "\"");
        }
        rec_add(text, "\n");
    }
    return rec_step(sink, err);
}

static enum weft_code rec_thread_end(struct weft_sink *sink, uint32_t thread_id, uint64_t last_ns,
                                     struct weft_err *err)
{
    struct rec_sink *rec = rec_of(sink);
    rec_add(rec_thread_text(rec, thread_id), "end @%" PRIu64 "\n", last_ns);
    if (thread_id < rec->n_threads)
        rec->is_ended[thread_id] = true;
    return rec_step(sink, err);
}

static enum weft_code rec_note(struct weft_sink *sink, const struct weft_note *note,
                               struct weft_err *err)
{
    struct rec_text *text = &rec_of(sink)->trace;
    rec_add(text, "note %s %" PRIu64, weft_note_name(note->kind), note->count);
    if (note->thread_id != WEFT_ID_NONE)
        rec_add(text, " thread %" PRIu32, note->thread_id);
    if (note->at_off != WEFT_NO_OFFSET)
        rec_add(text, " at 0x%" PRIx64, note->at_off);
    if (note->detail.n_bytes)
        rec_add(text, " (%.*s)", REC_STR(note->detail));
    rec_add(text, "\n");
    return rec_step(sink, err);
}

static enum weft_code rec_object(struct weft_sink *sink, const struct weft_object_info *info,
                                 struct weft_err *err)
{
    rec_add(&rec_of(sink)->trace, "object 0x%" PRIx64 " pid %" PRIu64 " %.*s\n", info->address,
            info->pid, REC_STR(info->name));
    return rec_step(sink, err);
}

static enum weft_code rec_process(struct weft_sink *sink, const struct weft_ledger_process *process,
                                  struct weft_err *err)
{
    rec_add(&rec_of(sink)->trace, "process %" PRIu64 " %.*s: %s, %s\n", process->pid,
            REC_STR(process->name), weft_ledger_state_name(process->state),
            weft_ledger_why_name(process->why));
    return rec_step(sink, err);
}

static const struct weft_sink_ops rec_ops = { .begin = rec_begin,
                                              .clock = rec_clock,
                                              .function = rec_function,
                                              .thread = rec_thread,
                                              .calls = rec_calls,
                                              .events = rec_events,
                                              .thread_end = rec_thread_end,
                                              .note = rec_note,
                                              .object = rec_object,
                                              .process = rec_process };

__attribute__((unused)) static void rec_init(struct rec_sink *rec)
{
    memset(rec, 0, sizeof *rec);
    rec->sink.ops = &rec_ops;
}

__attribute__((unused)) static void rec_fini(struct rec_sink *rec)
{
    for (uint32_t k = 0; k < rec->n_threads; k++)
        free(rec->threads[k].bytes);
    free(rec->threads);
    free(rec->is_ended);
    free(rec->trace.bytes);
}

/* All texts in one, thread by thread; the caller frees. */
__attribute__((unused)) static char *rec_whole(const struct rec_sink *rec)
{
    struct rec_text whole = { 0 };
    rec_add(&whole, "%s", rec_str(&rec->trace));
    for (uint32_t k = 0; k < rec->n_threads; k++)
        rec_add(&whole, "-- %" PRIu32 "\n%s", k, rec_str(&rec->threads[k]));
    return whole.bytes;
}

#endif
