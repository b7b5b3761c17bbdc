/* SPDX-License-Identifier: MIT
 *
 * A .weft file as plain arrays, read through store/reader.h: what tests compare. Calls are numbered
 * from the cut frames on, in pre-order.
 */
#ifndef WEFT_TESTS_PLAIN_TRACE_H
#define WEFT_TESTS_PLAIN_TRACE_H

#include "store/reader.h"
#include "tap.h"

enum { PLAIN_MOST_ARGS = 16 };

struct plain_call {
    uint64_t start_ns, end_ns;
    uint32_t key, depth, flags;
    bool is_cut; /* entered before the trace */
    unsigned n_args;
    uint64_t args[PLAIN_MOST_ARGS];
};

struct plain_thread {
    struct weft_store_thread info;
    struct plain_call *calls;
    size_t n_calls, n_cut;
    struct weft_event *events; /* strings are copies; CALL_ARGS: value is a row */
    size_t n_events;
};

struct plain_trace {
    struct weft_store *store; /* open: strings of threads and notes are views into it */
    struct plain_thread *threads;
    uint32_t n_threads;
};

static inline uint32_t plain_key(const struct weft_store *store, uint32_t function_id)
{
    return weft_store_function_get(store, function_id)->key;
}

static inline struct weft_str plain_copy(struct weft_str text)
{
    char *bytes = malloc(text.n_bytes + 1);
    if (text.n_bytes)
        memcpy(bytes, text.bytes, text.n_bytes);
    return (struct weft_str){ bytes, text.n_bytes };
}

static inline void plain_load_events(struct weft_store *store, uint32_t id,
                                     struct plain_thread *thread)
{
    struct weft_event_buf *buf = weft_event_buf_new();
    thread->events = calloc((size_t)thread->info.events + 1, sizeof *thread->events);
    for (uint64_t block = 0; block < thread->info.n_event_blocks; block++) {
        const struct weft_event *events;
        size_t n_events;
        if (weft_store_load_events(store, id, block, buf, &events, &n_events, NULL) != WEFT_OK)
            abort();
        for (size_t i = 0; i < n_events; i++) {
            struct weft_event *event = &thread->events[thread->n_events++];
            *event = events[i];
            event->name = plain_copy(event->name);
            event->category = plain_copy(event->category);
            event->payload = plain_copy(event->payload);
        }
    }
    weft_event_buf_free(buf);
}

static inline void plain_load_calls(struct weft_store *store, uint32_t id,
                                    struct plain_thread *thread)
{
    struct weft_block_buf *buf = weft_block_buf_new();
    const struct weft_open_call *cut = weft_store_cut_calls(store, id, &thread->n_cut);
    thread->calls = calloc((size_t)thread->info.calls + thread->n_cut + 1, sizeof *thread->calls);
    for (size_t i = 0; i < thread->n_cut; i++)
        thread->calls[thread->n_calls++] =
            (struct plain_call){ .start_ns = cut[i].start_ns,
                                 .end_ns = cut[i].end_ns,
                                 .key = plain_key(store, cut[i].function_id),
                                 .depth = cut[i].depth,
                                 .flags = cut[i].flags,
                                 .is_cut = true };
    for (uint64_t block = 0; block < thread->info.n_blocks; block++) {
        struct weft_calls calls;
        if (weft_store_load(store, id, block, buf, &calls, NULL) != WEFT_OK)
            abort();
        struct plain_call *rows = &thread->calls[thread->n_calls];
        for (size_t i = 0; i < calls.n_rows; i++, thread->n_calls++)
            rows[i] = (struct plain_call){ .start_ns = calls.start_ns[i],
                                           .end_ns = calls.end_ns[i],
                                           .key = plain_key(store, calls.function_id[i]),
                                           .depth = calls.depth[i],
                                           .flags = calls.flags ? calls.flags[i] : 0 };
        for (size_t i = 0; i < calls.n_args; i++) {
            struct plain_call *row = &rows[calls.arg_row[i]];
            row->args[row->n_args++] = calls.arg_value[i];
        }
    }
    weft_block_buf_free(buf);
}

/* Aborts if the file cannot be read; free with plain_trace_close. */
__attribute__((unused)) static struct plain_trace plain_trace_open(const char *path)
{
    struct plain_trace trace = { 0 };
    struct weft_err err = { 0 };
    if (weft_store_open(path, &trace.store, &err) != WEFT_OK) {
        tap_note("%s: %s", path, err.text);
        abort();
    }
    trace.n_threads = weft_store_meta_get(trace.store)->n_threads;
    trace.threads = calloc((size_t)trace.n_threads + 1, sizeof *trace.threads);
    for (uint32_t id = 0; id < trace.n_threads; id++) {
        trace.threads[id].info = *weft_store_thread_get(trace.store, id);
        plain_load_calls(trace.store, id, &trace.threads[id]);
        plain_load_events(trace.store, id, &trace.threads[id]);
    }
    return trace;
}

static inline void plain_thread_free(struct plain_thread *thread)
{
    for (size_t i = 0; i < thread->n_events; i++) {
        free((void *)(uintptr_t)thread->events[i].name.bytes);
        free((void *)(uintptr_t)thread->events[i].category.bytes);
        free((void *)(uintptr_t)thread->events[i].payload.bytes);
    }
    free(thread->events);
    free(thread->calls);
}

__attribute__((unused)) static void plain_trace_close(struct plain_trace *trace)
{
    for (uint32_t id = 0; id < trace->n_threads; id++)
        plain_thread_free(&trace->threads[id]);
    free(trace->threads);
    weft_store_close(trace->store);
}

/* The count of a note on a thread (or WEFT_ID_NONE), of one kind, with this detail. */
__attribute__((unused)) static uint64_t plain_note(const struct plain_trace *trace,
                                                   enum weft_note_kind kind, uint32_t thread_id,
                                                   const char *detail)
{
    for (size_t i = 0; i < weft_store_meta_get(trace->store)->n_notes; i++) {
        const struct weft_note *note = weft_store_note_get(trace->store, i);
        if (note->kind == kind && note->thread_id == thread_id &&
            (!detail || weft_str_equal(note->detail, weft_str_of(detail))))
            return note->count;
    }
    return 0;
}

/* ---- comparing: NULL if they are the same, else what differs --------------------------------- */

static inline const char *plain_differ(const char *what, uint64_t at, uint64_t got, uint64_t want)
{
    static char text[256];
    (void)snprintf(text, sizeof text, "%s at %" PRIu64 ": got %" PRIu64 ", want %" PRIu64, what, at,
                   got, want);
    return text;
}

#define PLAIN_SAME(member, at)                                                                     \
    do {                                                                                           \
        if (got->member != want->member)                                                           \
            return plain_differ(#member, at, (uint64_t)got->member, (uint64_t)want->member);       \
    } while (0)

static inline const char *plain_calls_differ(const struct plain_thread *got_thread,
                                             const struct plain_thread *want_thread)
{
    if (got_thread->n_calls != want_thread->n_calls)
        return plain_differ("calls", 0, got_thread->n_calls, want_thread->n_calls);
    for (size_t i = 0; i < got_thread->n_calls; i++) {
        const struct plain_call *got = &got_thread->calls[i], *want = &want_thread->calls[i];
        PLAIN_SAME(key, i);
        PLAIN_SAME(start_ns, i);
        PLAIN_SAME(end_ns, i);
        PLAIN_SAME(depth, i);
        PLAIN_SAME(flags, i);
        PLAIN_SAME(is_cut, i);
        PLAIN_SAME(n_args, i);
        for (unsigned j = 0; j < got->n_args; j++)
            PLAIN_SAME(args[j], i);
    }
    return NULL;
}

static inline const char *plain_events_differ(const struct plain_thread *got_thread,
                                              const struct plain_thread *want_thread)
{
    if (got_thread->n_events != want_thread->n_events)
        return plain_differ("events", 0, got_thread->n_events, want_thread->n_events);
    for (size_t i = 0; i < got_thread->n_events; i++) {
        const struct weft_event *got = &got_thread->events[i], *want = &want_thread->events[i];
        PLAIN_SAME(kind, i);
        PLAIN_SAME(time_ns, i);
        PLAIN_SAME(duration_ns, i);
        PLAIN_SAME(value, i);
        PLAIN_SAME(next_thread_id, i);
        PLAIN_SAME(object_id, i);
        PLAIN_SAME(stack_id, i);
        PLAIN_SAME(cpu, i);
        PLAIN_SAME(prev_state, i);
        if (!weft_str_equal(got->name, want->name) ||
            !weft_str_equal(got->category, want->category) ||
            !weft_str_equal(got->payload, want->payload))
            return plain_differ("text of event", i, 0, 0);
    }
    return NULL;
}

__attribute__((unused)) static const char *plain_threads_differ(const struct plain_thread *got,
                                                                const struct plain_thread *want)
{
    PLAIN_SAME(info.info.tid, 0);
    PLAIN_SAME(info.info.pid, 0);
    PLAIN_SAME(info.info.host_id, 0);
    PLAIN_SAME(info.last_ns, 0);
    if (!weft_str_equal(got->info.info.name, want->info.info.name))
        return "thread names";
    const char *differs = plain_calls_differ(got, want);
    return differs ? differs : plain_events_differ(got, want);
}

#endif
