/* SPDX-License-Identifier: MIT
 *
 * States of threads: processor time of writing a kernel trace, of decoding all states, and of one
 * answer with nothing kept.
 *
 * usage: states make FILE EVENTS     writes a made-up trace of 4 processors and 64 threads
 *        states TRACE [QUESTIONS]    measures (default: 1,000 questions)
 */
#include "model/states/states.h"

#include "measure.h"
#include "store/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CPUS = 4, THREADS = 64, NO_CACHE = 1 };

static uint64_t random_state = 1;

static uint64_t next(void)
{
    return bench_random(&random_state);
}

static struct weft_event event_of(uint64_t time_ns, enum weft_event_kind kind, int32_t cpu)
{
    static const char *const names[] = { "read", "futex", "write", "epoll_wait" };
    struct weft_event event = { .time_ns = time_ns,
                                .kind = kind,
                                .cpu = cpu,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .name = WEFT_STR(""),
                                .category = WEFT_STR(""),
                                .payload = WEFT_STR("") };
    if (kind == WEFT_EVENT_SYSCALL_ENTER || kind == WEFT_EVENT_SYSCALL_EXIT)
        event.name = weft_str_of(names[next() % 4]);
    if (kind == WEFT_EVENT_IRQ_ENTER || kind == WEFT_EVENT_IRQ_EXIT)
        event.name = WEFT_STR("softirq");
    return event;
}

/* A thread of its processor calls the system, wakes others, is interrupted, and leaves. */
static enum weft_code trace_fill(struct weft_sink *sink, uint64_t n_events, struct weft_err *err)
{
    uint32_t on[CPUS] = { 0, 1, 2, 3 };
    uint64_t time_ns = 0;
    enum weft_code code = WEFT_OK;
    for (uint64_t i = 0; i < n_events && code == WEFT_OK; i++) {
        static const uint8_t kinds[] = { WEFT_EVENT_SYSCALL_ENTER, WEFT_EVENT_SYSCALL_EXIT,
                                         WEFT_EVENT_IRQ_ENTER,     WEFT_EVENT_IRQ_EXIT,
                                         WEFT_EVENT_WAKING,        WEFT_EVENT_SWITCH };
        const uint32_t cpu = (uint32_t)(next() % CPUS);
        time_ns += next() % 2000;
        struct weft_event event =
            event_of(time_ns, (enum weft_event_kind)kinds[next() % sizeof kinds], (int32_t)cpu);
        if (event.kind == WEFT_EVENT_WAKING || event.kind == WEFT_EVENT_SWITCH)
            event.next_thread_id = (uint32_t)(next() % (THREADS / CPUS)) * CPUS + cpu;
        event.prev_state = event.kind == WEFT_EVENT_SWITCH ? (uint32_t)(next() % 2) : 0;
        code = sink->ops->events(sink, on[cpu], &event, 1, err);
        if (event.kind == WEFT_EVENT_SWITCH)
            on[cpu] = event.next_thread_id;
    }
    return code;
}

static int make(const char *path, uint64_t n_events)
{
    struct weft_writer *writer = NULL;
    struct weft_writer_totals totals = { 0 };
    struct weft_err err = { 0 };
    const struct weft_writer_opts opts = { 0 };
    const struct weft_sink_begin begin = { .format = WEFT_STR("made up") };
    const uint64_t begin_ns = bench_cpu_ns();
    enum weft_code code = weft_writer_open(path, &opts, &writer, &err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (sink)
        code = sink->ops->begin(sink, &begin, &err);
    for (uint32_t i = 0; i < THREADS && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = i < CPUS ? 0 : i, .generation = i };
        uint32_t thread_id;
        code = sink->ops->thread(sink, &info, &thread_id, &err);
    }
    if (code == WEFT_OK)
        code = trace_fill(sink, n_events, &err);
    if (code == WEFT_OK)
        code = weft_writer_commit(writer, &totals, &err);
    if (code != WEFT_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("written: %.1f ns, %.2f bytes an event\n",
           (double)(bench_cpu_ns() - begin_ns) / (double)n_events,
           (double)totals.bytes_out / (double)n_events);
    return 0;
}

static enum weft_code all_decode(const struct weft_trace *trace, uint64_t *n_states,
                                 struct weft_err *err)
{
    struct weft_history *history;
    enum weft_code code = weft_history_open(trace, 0, &history, err);
    for (uint32_t i = 0; i < weft_trace_n_threads(trace) && code == WEFT_OK; i++) {
        const struct weft_state *state = NULL;
        struct weft_states *states;
        code = weft_states_open(history, i, 0, UINT64_MAX, &states, err);
        do {
            if (code == WEFT_OK)
                code = weft_states_next(states, &state, err);
            *n_states += code == WEFT_OK && state;
        } while (code == WEFT_OK && state);
        weft_states_close(states);
    }
    weft_history_close(history);
    return code;
}

static enum weft_code questions_ask(const struct weft_trace *trace, struct bench_times *times,
                                    struct weft_err *err)
{
    struct weft_history *history;
    enum weft_code code = weft_history_open(trace, NO_CACHE, &history, err);
    for (size_t i = 0; i < times->cap && code == WEFT_OK; i++) {
        const uint32_t thread_id = (uint32_t)(next() % weft_trace_n_threads(trace));
        const uint64_t t_ns = next() % (weft_trace_meta(trace)->duration_ns + 1);
        struct weft_state state;
        const uint64_t begin_ns = bench_cpu_ns();
        code = weft_history_before(history, thread_id, t_ns, &state, err);
        (void)bench_times_add(times, begin_ns);
    }
    weft_history_close(history);
    return code;
}

int main(int argc, char **argv)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        return make(argv[2], strtoull(argv[3], NULL, 10));
    if (argc < 2 || weft_trace_open(argv[1], &trace, &err)) {
        (void)fprintf(stderr, "usage: states TRACE [QUESTIONS]\n%s\n", err.text);
        return 2;
    }
    struct bench_times times = bench_times_new(argc > 2 ? strtoull(argv[2], NULL, 10) : 1000);
    uint64_t n_states = 0;
    const uint64_t begin_ns = bench_cpu_ns();
    enum weft_code code = all_decode(trace, &n_states, &err);
    const uint64_t all_ns = bench_cpu_ns() - begin_ns;
    if (code == WEFT_OK)
        code = questions_ask(trace, &times, &err);
    if (code != WEFT_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const uint64_t n_events = weft_trace_meta(trace)->events;
    printf("%" PRIu64 " events, %" PRIu64 " states: %.1f ns an event; one answer, nothing kept: ",
           n_events, n_states, (double)all_ns / (double)n_events);
    bench_times_print(&times);
    bench_times_free(&times);
    weft_trace_close(trace);
    return 0;
}
