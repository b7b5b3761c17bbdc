/* SPDX-License-Identifier: MIT
 *
 * Measures decoding alone: XRay logs into a sink that only adds up.
 *
 * usage: xray_decode RUNS LOG...   (prints one JSON object a log: best and median ns of CPU
 * time an event; processor time, so that a busy machine does not count)
 */
#include "ingest/xray/xray.h"
#include "measure.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_RUNS = 99 };

struct adding_sink {
    struct weft_sink sink;
    uint32_t n_threads;
    _Atomic uint64_t n_events;
    _Atomic uint64_t sum; /* so that no event can be left out */
};

static enum weft_code add_begin(struct weft_sink *sink, const struct weft_sink_begin *begin,
                                struct weft_err *err)
{
    (void)sink, (void)begin, (void)err;
    return WEFT_OK;
}

static enum weft_code add_clock(struct weft_sink *sink, const struct weft_clock *clock,
                                struct weft_err *err)
{
    (void)sink, (void)clock, (void)err;
    return WEFT_OK;
}

static enum weft_code add_function(struct weft_sink *sink, const struct weft_function_info *info,
                                   struct weft_err *err)
{
    (void)sink, (void)info, (void)err;
    return WEFT_OK;
}

static enum weft_code add_thread(struct weft_sink *sink, const struct weft_thread_info *info,
                                 uint32_t *thread_id, struct weft_err *err)
{
    (void)info, (void)err;
    *thread_id = ((struct adding_sink *)sink)->n_threads++;
    return WEFT_OK;
}

static enum weft_code add_calls(struct weft_sink *sink, uint32_t thread_id,
                                const struct weft_call_event *events, size_t n_events,
                                struct weft_err *err)
{
    struct adding_sink *self = (struct adding_sink *)sink;
    uint64_t sum = thread_id;
    (void)err;
    for (size_t k = 0; k < n_events; k++)
        sum += events[k].time_ns ^ events[k].function_key;
    atomic_fetch_add_explicit(&self->sum, sum, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->n_events, n_events, memory_order_relaxed);
    return WEFT_OK;
}

static enum weft_code add_events(struct weft_sink *sink, uint32_t thread_id,
                                 const struct weft_event *events, size_t n_events,
                                 struct weft_err *err)
{
    (void)sink, (void)thread_id, (void)events, (void)n_events, (void)err;
    return WEFT_OK;
}

static enum weft_code add_thread_end(struct weft_sink *sink, uint32_t thread_id, uint64_t last_ns,
                                     struct weft_err *err)
{
    (void)sink, (void)thread_id, (void)last_ns, (void)err;
    return WEFT_OK;
}

static enum weft_code add_note(struct weft_sink *sink, const struct weft_note *note,
                               struct weft_err *err)
{
    (void)sink, (void)note, (void)err;
    return WEFT_OK;
}

static const struct weft_sink_ops add_ops = { .begin = add_begin,
                                              .clock = add_clock,
                                              .function = add_function,
                                              .thread = add_thread,
                                              .calls = add_calls,
                                              .events = add_events,
                                              .thread_end = add_thread_end,
                                              .note = add_note };

static enum weft_code measure(const char *path, unsigned n_runs, struct weft_err *err)
{
    struct weft_mapped log;
    enum weft_code code = weft_mapped_open(path, &log, err);
    uint64_t times_ns[MOST_RUNS];
    uint64_t n_events = 0;
    for (unsigned run = 0; code == WEFT_OK && run <= n_runs; run++) {
        struct adding_sink sink = { .sink.ops = &add_ops };
        uint64_t begin_ns = bench_cpu_ns();
        code = weft_xray_import(&log, NULL, &sink.sink, NULL, err);
        if (run) /* the first warms up */
            times_ns[run - 1] = bench_cpu_ns() - begin_ns;
        n_events = atomic_load(&sink.n_events);
    }
    weft_mapped_close(&log);
    if (code != WEFT_OK)
        return weft_in_file(err, path);
    qsort(times_ns, n_runs, sizeof *times_ns, bench_by_value);
    double per_event = n_events ? 1.0 / (double)n_events : 0;
    printf("{\"log\":\"%s\",\"events\":%" PRIu64 ",\"best_ns\":%.2f,\"median_ns\":%.2f}\n", path,
           n_events, (double)times_ns[0] * per_event, (double)times_ns[n_runs / 2] * per_event);
    return WEFT_OK;
}

int main(int argc, char **argv)
{
    unsigned long n_runs = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (n_runs < 1 || n_runs > MOST_RUNS) {
        (void)fprintf(stderr, "usage: xray_decode RUNS LOG...\n");
        return 2;
    }
    for (int k = 2; k < argc; k++) {
        struct weft_err err = { 0 };
        if (measure(argv[k], (unsigned)n_runs, &err) != WEFT_OK) {
            char text[1024];
            weft_err_print(&err, text, sizeof text);
            (void)fprintf(stderr, "xray_decode: %s\n", text);
            return 1;
        }
    }
    return 0;
}
