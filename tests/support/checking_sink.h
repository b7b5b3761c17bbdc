/* SPDX-License-Identifier: MIT
 *
 * A sink that keeps nothing and aborts when an importer breaks the rules of schema/sink.h: for fuzz
 * targets.
 */
#ifndef WEFT_TESTS_CHECKING_SINK_H
#define WEFT_TESTS_CHECKING_SINK_H

#include "schema/sink.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { CHECK_MOST_THREADS = 1 << 16 };

/* Times beyond this many ns cannot come from a log that is believed. */
#define CHECK_MOST_NS (UINT64_C(1) << 63)

struct check_sink {
    struct weft_sink sink;
    bool has_begun;
    uint32_t n_threads;
    uint8_t is_ended[CHECK_MOST_THREADS];
    uint64_t n_calls, n_events, n_payload_bytes;
    uint32_t last_function_key;
    bool has_function;
    uint64_t checksum; /* makes every delivered byte be read */
};

static struct check_sink *check_of(struct weft_sink *sink)
{
    return (struct check_sink *)sink; /* the sink is its first member */
}

static void check(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_str(struct check_sink *self, struct weft_str text)
{
    for (size_t k = 0; k < text.n_bytes; k++)
        self->checksum = self->checksum * 31 + (uint8_t)text.bytes[k];
}

static enum weft_code check_begin(struct weft_sink *sink, const struct weft_sink_begin *begin,
                                  struct weft_err *err)
{
    (void)err;
    check(!check_of(sink)->has_begun && begin->format.n_bytes);
    check_of(sink)->has_begun = true;
    check_str(check_of(sink), begin->details);
    return WEFT_OK;
}

static enum weft_code check_clock(struct weft_sink *sink, const struct weft_clock *clock,
                                  struct weft_err *err)
{
    (void)err;
    check(check_of(sink)->has_begun && clock->frequency_hz != 0);
    return WEFT_OK;
}

static enum weft_code check_function(struct weft_sink *sink, const struct weft_function_info *info,
                                     struct weft_err *err)
{
    struct check_sink *self = check_of(sink);
    (void)err;
    check(self->has_begun && (!self->has_function || info->key > self->last_function_key));
    self->has_function = true;
    self->last_function_key = info->key;
    check_str(self, info->name);
    return WEFT_OK;
}

static enum weft_code check_thread(struct weft_sink *sink, const struct weft_thread_info *info,
                                   uint32_t *thread_id, struct weft_err *err)
{
    struct check_sink *self = check_of(sink);
    check(self->has_begun);
    check_str(self, info->name);
    if (self->n_threads == CHECK_MOST_THREADS)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "too many threads");
    *thread_id = self->n_threads++;
    return WEFT_OK;
}

static enum weft_code check_calls(struct weft_sink *sink, uint32_t thread_id,
                                  const struct weft_call_event *events, size_t n_events,
                                  struct weft_err *err)
{
    struct check_sink *self = check_of(sink);
    (void)err;
    check(thread_id < self->n_threads && !self->is_ended[thread_id] && n_events > 0);
    for (size_t k = 0; k < n_events; k++) {
        check(events[k].kind <= WEFT_CALL_MARKED_EXIT);
        check(events[k].kind == WEFT_CALL_MARKED_EXIT || events[k].flags == 0);
        check(events[k].kind == WEFT_CALL_ARG || events[k].time_ns <= CHECK_MOST_NS);
        self->checksum += events[k].time_ns ^ events[k].function_key;
    }
    self->n_calls += n_events;
    return WEFT_OK;
}

static enum weft_code check_events(struct weft_sink *sink, uint32_t thread_id,
                                   const struct weft_event *events, size_t n_events,
                                   struct weft_err *err)
{
    struct check_sink *self = check_of(sink);
    (void)err;
    check(thread_id < self->n_threads && !self->is_ended[thread_id] && n_events > 0);
    for (size_t k = 0; k < n_events; k++) {
        check(events[k].kind < WEFT_EVENT_KINDS && events[k].time_ns <= CHECK_MOST_NS);
        check_str(self, events[k].name);
        check_str(self, events[k].payload);
        self->n_payload_bytes += events[k].payload.n_bytes;
    }
    self->n_events += n_events;
    return WEFT_OK;
}

static enum weft_code check_thread_end(struct weft_sink *sink, uint32_t thread_id, uint64_t last_ns,
                                       struct weft_err *err)
{
    struct check_sink *self = check_of(sink);
    (void)err;
    check(thread_id < self->n_threads && !self->is_ended[thread_id] && last_ns <= CHECK_MOST_NS);
    self->is_ended[thread_id] = 1;
    return WEFT_OK;
}

static enum weft_code check_note(struct weft_sink *sink, const struct weft_note *note,
                                 struct weft_err *err)
{
    struct check_sink *self = check_of(sink);
    (void)err;
    check(self->has_begun && note->kind < WEFT_NOTE_KINDS);
    check(note->thread_id == WEFT_ID_NONE || note->thread_id < self->n_threads);
    check_str(self, note->detail);
    return WEFT_OK;
}

static enum weft_code check_object(struct weft_sink *sink, const struct weft_object_info *info,
                                   struct weft_err *err)
{
    struct check_sink *self = check_of(sink);
    (void)err;
    check(self->has_begun);
    check_str(self, info->name);
    return WEFT_OK;
}

static enum weft_code check_process(struct weft_sink *sink,
                                    const struct weft_ledger_process *process, struct weft_err *err)
{
    struct check_sink *self = (struct check_sink *)sink;
    (void)err;
    check(self->has_begun && process->state < WEFT_LEDGER_STATES);
    return WEFT_OK;
}

static enum weft_code check_library(struct weft_sink *sink,
                                    const struct weft_library_function *function,
                                    struct weft_err *err)
{
    const struct check_sink *self = (const struct check_sink *)sink;
    (void)err;
    check(self->has_begun && function->name.n_bytes > 0 && function->module.n_bytes > 0);
    return WEFT_OK;
}

static const struct weft_sink_ops check_ops = {
    .begin = check_begin,
    .clock = check_clock,
    .function = check_function,
    .thread = check_thread,
    .calls = check_calls,
    .events = check_events,
    .thread_end = check_thread_end,
    .note = check_note,
    .object = check_object,
    .library = check_library,
    .process = check_process,
};

/* The caller frees; NULL without memory. */
static struct check_sink *check_sink_new(void)
{
    struct check_sink *self = calloc(1, sizeof *self);
    if (self)
        self->sink.ops = &check_ops;
    return self;
}

/* As new, for another import. */
__attribute__((unused)) static void check_sink_reset(struct check_sink *self)
{
    memset(self->is_ended, 0, self->n_threads);
    self->has_begun = self->has_function = false;
    self->n_threads = self->last_function_key = 0;
    self->n_calls = self->n_events = self->n_payload_bytes = self->checksum = 0;
}

/* After a successful import: every thread has ended. */
__attribute__((unused)) static void check_complete(const struct check_sink *self)
{
    check(self->has_begun);
    for (uint32_t k = 0; k < self->n_threads; k++)
        check(self->is_ended[k]);
}

#endif
