/* SPDX-License-Identifier: MIT
 *
 * A small trace in a file, the same every time: three threads, blocks of a few calls, all kinds of
 * repairs, arguments, events of all kinds, notes and one function that nobody announced.
 */
#ifndef WEFT_TESTS_SMALL_TRACE_H
#define WEFT_TESTS_SMALL_TRACE_H

#include "random_calls.h"
#include "random_events.h"
#include "store/writer.h"

enum {
    SMALL_THREADS = 3,
    SMALL_CALL_EVENTS = 120, /* a thread; in parts, with other events in between */
    SMALL_PARTS = 5,
    SMALL_PART_EVENTS = 6,
    SMALL_BLOCK_ROWS = 9,
    SMALL_BLOCK_EVENTS = 11,
};

__attribute__((unused)) static enum weft_code small_trace_thread(struct weft_sink *sink, uint32_t i,
                                                                 struct weft_err *err)
{
    enum { PART_CALLS = SMALL_CALL_EVENTS / SMALL_PARTS };
    static const char text[] = "{\"size\":4096,\"fd\":3,\"size\":4096,\"fd\":4}";
    struct weft_call_event calls[SMALL_CALL_EVENTS];
    uint32_t stack[SMALL_CALL_EVENTS];
    struct random_calls random = {
        .state = 1000 + i, .n_functions = 5, .enter_percent = 52, .odd_percent = 12
    };
    struct random_events random_events = {
        .state = 77 + i, .time_ns = 5, .n_threads = SMALL_THREADS, .most_bytes = 12, .bytes = text
    };
    random_events.n_bytes = sizeof text - 1;
    random_calls_fill(&random, calls, SMALL_CALL_EVENTS, stack);
    enum weft_code code = WEFT_OK;
    for (int part = 0; part < SMALL_PARTS && code == WEFT_OK; part++) {
        struct weft_event events[SMALL_PART_EVENTS];
        for (int j = 0; j < SMALL_PART_EVENTS; j++)
            events[j] = random_event(&random_events);
        events[0].kind = WEFT_EVENT_CALL_ARGS;
        code = sink->ops->calls(sink, i, calls + part * PART_CALLS, PART_CALLS, err);
        if (code == WEFT_OK)
            code = sink->ops->events(sink, i, events, SMALL_PART_EVENTS, err);
    }
    return code == WEFT_OK ? sink->ops->thread_end(sink, i, UINT64_C(1) << 45, err) : code;
}

/* Writes it; WEFT_OK or the first failure. */
__attribute__((unused)) static enum weft_code small_trace_write(const char *path,
                                                                struct weft_err *err)
{
    struct weft_writer *writer;
    const struct weft_writer_opts opts = { .source_name = "small.trace",
                                           .bytes_in = 4711,
                                           .block_rows = SMALL_BLOCK_ROWS,
                                           .block_events = SMALL_BLOCK_EVENTS };
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    if (code != WEFT_OK)
        return code;
    struct weft_sink *sink = weft_writer_sink(writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("small"),
                                           .details = WEFT_STR("version 1") };
    const struct weft_clock clock = { .frequency_hz = 2700000000,
                                      .zero_ticks = 99,
                                      .realtime_ns = UINT64_C(1700000000000000000),
                                      .has_realtime = true };
    code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    static const char *const names[] = { "main", "read_block(int)", "lock", "compress" };
    for (uint32_t i = 0; i < 4 && code == WEFT_OK; i++) { /* key 28 stays unannounced */
        const struct weft_function_info info = { .key = i * 7,
                                                 .name = weft_str_of(names[i]),
                                                 .module = WEFT_STR("small"),
                                                 .address = 0x1000 + i };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t i = 0; i < SMALL_THREADS && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = 500 + i, .pid = 500, .name = WEFT_STR("t") };
        uint32_t thread_id;
        code = sink->ops->thread(sink, &info, &thread_id, err);
    }
    for (uint32_t i = 0; i < SMALL_THREADS && code == WEFT_OK; i++)
        code = small_trace_thread(sink, i, err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, err);
    weft_writer_abort(writer);
    return code;
}

#endif
