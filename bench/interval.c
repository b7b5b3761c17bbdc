/* SPDX-License-Identifier: MIT
 *
 * Random intervals of one thread: how much processor time an answer takes.
 *
 * usage: interval TRACE [QUERIES [TID]]     (default: 10,000 queries, the thread with most calls)
 */
#include "model/interval/interval.h"

#include "measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEPT_BYTES = 64 << 20 };

static uint32_t choose_thread(const struct weft_trace *trace, const char *tid)
{
    uint32_t best = 0;
    for (uint32_t id = 0; id < weft_trace_n_threads(trace); id++) {
        const struct weft_model_thread *thread = weft_trace_thread(trace, id);
        if (tid ? thread->info.tid == strtoull(tid, NULL, 10)
                : thread->calls > weft_trace_thread(trace, best)->calls)
            best = id;
    }
    return best;
}

int main(int argc, char **argv)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    if (argc < 2 || weft_trace_open(argv[1], &trace, &err)) {
        (void)fprintf(stderr, "usage: interval TRACE [QUERIES [TID]]\n%s\n", err.text);
        return 2;
    }
    size_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
    uint32_t id = choose_thread(trace, argc > 3 ? argv[3] : NULL);
    const struct weft_model_thread *thread = weft_trace_thread(trace, id);
    struct weft_interval_reader *reader = weft_interval_reader_new(trace);
    struct bench_times times = bench_times_new(n);
    uint64_t n_contexts = 0, state = 1;
    if (reader)
        weft_interval_reader_keep(reader, KEPT_BYTES);
    for (size_t i = 0; reader && i < n; i++) {
        const uint64_t a = bench_random(&state) % (thread->last_ns + 1);
        const uint64_t b = bench_random(&state) % (thread->last_ns + 1);
        struct weft_interval interval;
        const uint64_t begin_ns = bench_cpu_ns();
        if (weft_interval_cct(reader, id, a < b ? a : b, a < b ? b : a, &interval, &err)) {
            (void)fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        (void)bench_times_add(&times, begin_ns);
        n_contexts += interval.n_contexts;
    }
    printf("%" PRIu64 " calls, %zu intervals, %.0f contexts each: ", thread->calls, n,
           (double)n_contexts / (double)n);
    bench_times_print(&times);
    bench_times_free(&times);
    weft_interval_reader_free(reader);
    weft_trace_close(trace);
    return 0;
}
