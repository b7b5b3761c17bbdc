/* SPDX-License-Identifier: MIT
 *
 * Random intervals of one thread: how much processor time an answer takes.
 *
 * usage: interval TRACE [QUERIES [TID]]     (default: 10,000 queries, the thread with most calls)
 */
#include "model/interval.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KEPT_BYTES = 64 << 20 };

static uint64_t random_state = 1;

static uint64_t next(void)
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

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
    uint64_t *taken_ns = calloc(n + 1, sizeof *taken_ns);
    uint64_t n_contexts = 0;
    if (reader)
        weft_interval_reader_keep(reader, KEPT_BYTES);
    for (size_t i = 0; reader && taken_ns && i < n; i++) {
        uint64_t a = next() % (thread->last_ns + 1), b = next() % (thread->last_ns + 1);
        struct weft_interval interval;
        uint64_t begin_ns = cpu_ns();
        if (weft_interval_cct(reader, id, a < b ? a : b, a < b ? b : a, &interval, &err)) {
            (void)fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        taken_ns[i] = cpu_ns() - begin_ns;
        n_contexts += interval.n_contexts;
    }
    qsort(taken_ns, n, sizeof *taken_ns, by_value);
    printf("%" PRIu64
           " calls, %zu intervals, %.0f contexts each: p50 %.3f ms, p99 %.3f ms, max %.3f "
           "ms\n",
           thread->calls, n, (double)n_contexts / (double)n, (double)taken_ns[n / 2] / 1e6,
           (double)taken_ns[n * 99 / 100] / 1e6, (double)taken_ns[n - 1] / 1e6);
    free(taken_ns);
    weft_interval_reader_free(reader);
    weft_trace_close(trace);
    return 0;
}
