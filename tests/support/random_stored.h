/* SPDX-License-Identifier: MIT
 *
 * Random traces in a file: calls that mostly balance, with arguments, events of all kinds between
 * them, notes of an importer, in blocks so small that calls cross their borders.
 */
#ifndef WEFT_TESTS_RANDOM_STORED_H
#define WEFT_TESTS_RANDOM_STORED_H

#include "random_calls.h"
#include "random_events.h"
#include "store/writer.h"

struct random_stored {
    uint64_t seed;
    const char *bytes; /* random_stored_bytes */
    size_t most_calls; /* of a thread */
    uint32_t first_function;
    bool has_events;
    bool has_no_calls; /* events alone */
    uint32_t kinds;    /* of events; 0: all */
    struct weft_clock clock;
    const char *source;
};

enum { STORED_MOST_THREADS = 4, STORED_MOST_EVENTS = 400 };

static inline enum weft_code stored_thread(const struct random_stored *stored, uint64_t *state,
                                           struct weft_sink *sink, uint32_t id, uint32_t n_threads,
                                           struct weft_err *err)
{
    static struct weft_call_event calls[STORED_MOST_EVENTS];
    static uint32_t stack[STORED_MOST_EVENTS];
    const size_t n_calls = tap_random(state) % (stored->most_calls + 1);
    struct random_calls random = { .state = tap_random(state),
                                   .n_functions = 1 + (uint32_t)(tap_random(state) % 6),
                                   .enter_percent = 20 + (unsigned)(tap_random(state) % 60),
                                   .odd_percent = (unsigned)(tap_random(state) % 3) * 15 };
    struct random_events events = { .state = tap_random(state),
                                    .n_threads = n_threads,
                                    .kinds = stored->kinds,
                                    .most_bytes = 20,
                                    .bytes = stored->bytes,
                                    .n_bytes = strlen(stored->bytes) };
    random_calls_fill(&random, calls, n_calls, stack);
    enum weft_code code = WEFT_OK;
    for (size_t at = 0; at < n_calls && code == WEFT_OK;) {
        const size_t left = n_calls - at;
        const size_t most = 1 + tap_random(state) % 9;
        const size_t n = left < most ? left : most;
        if (!stored->has_no_calls)
            code = sink->ops->calls(sink, id, calls + at, n, err);
        at += n;
        for (size_t k = tap_random(state) % 4; k > 0 && stored->has_events && code == WEFT_OK;
             k--) {
            struct weft_event event = random_event(&events);
            if (event.kind != WEFT_EVENT_SPAN)
                event.duration_ns = 0;
            event.duration_ns %= 10000;
            code = sink->ops->events(sink, id, &event, 1, err);
        }
    }
    const uint64_t last_ns = tap_random(state) % 3 ? 0 : UINT64_C(1) << 41;
    return code == WEFT_OK ? sink->ops->thread_end(sink, id, last_ns, err) : code;
}

static inline enum weft_code stored_deliver(const struct random_stored *stored, uint64_t *state,
                                            struct weft_sink *sink, struct weft_err *err)
{
    const uint32_t n_threads = 1 + (uint32_t)(tap_random(state) % STORED_MOST_THREADS);
    const struct weft_sink_begin begin = { .format = WEFT_STR("random"),
                                           .details = WEFT_STR("for tests"),
                                           .is_parallel = true };
    const struct weft_note notes[] = {
        { .kind = WEFT_NOTE_BAD_RECORD, .count = 3, .thread_id = WEFT_ID_NONE, .at_off = 77 },
        { .kind = WEFT_NOTE_MISSING_EXIT, .count = 5, .thread_id = 0, .at_off = 99 },
        { .kind = WEFT_NOTE_LOST_RECORDS,
          .count = 2,
          .thread_id = 0,
          .at_off = WEFT_NO_OFFSET,
          .detail = WEFT_STR("by the ring") },
    };
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &stored->clock, err);
    for (uint32_t k = 0; k < 5 && code == WEFT_OK; k++) { /* key 35 stays unannounced */
        static const char *const names[] = { "main", "read", "", "lock", "f()" };
        const struct weft_function_info info = { .key = k * 7,
                                                 .name = weft_str_of(names[k]),
                                                 .module = WEFT_STR("app"),
                                                 .address = k * 16 };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++) {
        const struct weft_thread_info info = {
            .tid = 100 + id / 2, .pid = 100, .generation = id % 2, .name = WEFT_STR("worker")
        };
        uint32_t given;
        code = sink->ops->thread(sink, &info, &given, err);
    }
    for (size_t k = 0; k < sizeof notes / sizeof *notes && code == WEFT_OK; k++)
        code = sink->ops->note(sink, &notes[k], err);
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++)
        code = stored_thread(stored, state, sink, id, n_threads, err);
    return code;
}

/* Text that repeats; the caller frees it. */
__attribute__((unused)) static char *random_stored_bytes(void)
{
    enum { N_BYTES = 4096 };
    char *bytes = calloc(N_BYTES, 1);
    for (size_t i = 0; bytes && i + 1 < N_BYTES; i++)
        bytes[i] = (char)('a' + i * i / 7 % 26);
    return bytes;
}

/* Writes the trace of a seed; gives its block size. */
__attribute__((unused)) static uint32_t random_stored_write(const struct random_stored *stored,
                                                            const char *path)
{
    uint64_t state = stored->seed;
    const uint32_t block_rows = 1 + (uint32_t)(tap_random(&state) % 40);
    const struct weft_writer_opts opts = { .source_name =
                                               stored->source ? stored->source : "random",
                                           .bytes_in = 1000 + stored->seed,
                                           .block_rows = block_rows };
    struct weft_writer *writer;
    struct weft_err err = { 0 };
    if (weft_writer_open(path, &opts, &writer, &err) != WEFT_OK ||
        stored_deliver(stored, &state, weft_writer_sink(writer), &err) != WEFT_OK ||
        weft_writer_commit(writer, NULL, &err) != WEFT_OK) {
        tap_note("cannot write %s: %s", path, err.text);
        abort();
    }
    return block_rows;
}

#endif
