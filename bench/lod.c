/* SPDX-License-Identifier: MIT
 *
 * Screens of a timeline: random intervals at random zooms, the threads with most calls in rows of
 * 1,920 pixels: how much processor time a screen takes, by zoom.
 *
 * usage: lod TRACE [SCREENS [ROWS]]     (default: 10,000 screens of 64 rows)
 */
#include "model/lod.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 1920, DECADES = 8 };

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

/* Ids of threads, those with most calls first. */
static uint32_t *rank_threads(const struct weft_trace *trace, size_t n)
{
    uint64_t *keys = calloc(n + 1, sizeof *keys);
    uint32_t *ids = calloc(n + 1, sizeof *ids);
    for (uint32_t id = 0; keys && id < n; id++)
        keys[id] = ~weft_trace_thread(trace, id)->calls << 20 | id;
    if (keys)
        qsort(keys, n, sizeof *keys, by_value);
    for (size_t i = 0; keys && ids && i < n; i++)
        ids[i] = (uint32_t)(keys[i] & 0xfffff);
    free(keys);
    return ids;
}

struct times {
    uint64_t *taken_ns;
    size_t n;
    uint64_t items;
};

static void print_times(const char *name, struct times *times)
{
    if (times->n == 0)
        return;
    qsort(times->taken_ns, times->n, sizeof *times->taken_ns, by_value);
    printf("%-22s %6zu screens, %7.0f items: p50 %7.2f ms, p99 %7.2f ms, max %7.2f ms\n", name,
           times->n, (double)times->items / (double)times->n,
           (double)times->taken_ns[times->n / 2] / 1e6,
           (double)times->taken_ns[times->n * 99 / 100] / 1e6,
           (double)times->taken_ns[times->n - 1] / 1e6);
}

int main(int argc, char **argv)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    if (argc < 2 || weft_trace_open(argv[1], &trace, &err)) {
        (void)fprintf(stderr, "usage: lod TRACE [SCREENS [ROWS]]\n%s\n", err.text);
        return 2;
    }
    size_t n_screens = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
    size_t n_rows = argc > 3 ? strtoull(argv[3], NULL, 10) : 64;
    if (n_rows > weft_trace_n_threads(trace))
        n_rows = weft_trace_n_threads(trace);
    uint32_t *ids = rank_threads(trace, weft_trace_n_threads(trace));
    struct weft_lod_reader *reader = weft_lod_reader_new(trace);
    struct times all = { calloc(n_screens + 1, sizeof(uint64_t)), 0, 0 };
    struct times decades[DECADES + 2] = { { 0 } };
    uint64_t duration_ns = weft_trace_meta(trace)->duration_ns;
    for (int i = 0; i < DECADES + 2; i++)
        decades[i].taken_ns = calloc(n_screens + 1, sizeof(uint64_t));
    for (size_t i = 0; reader && i < n_screens; i++) {
        /* From the whole trace down to a microsecond, all zooms alike. */
        double zoom = (double)(next() >> 11) / (double)(UINT64_C(1) << 53);
        double span = exp(log(1000) + zoom * (log((double)duration_ns) - log(1000)));
        uint64_t span_ns = (uint64_t)span, from_ns = next() % (duration_ns - span_ns + 1);
        int decade = (int)log10((double)duration_ns / span);
        struct times *times = &decades[decade > DECADES ? DECADES : decade];
        uint64_t begin_ns = cpu_ns(), n_items = 0;
        for (size_t row = 0; row < n_rows; row++) {
            struct weft_lod lod;
            if (weft_lod(reader, ids[row], from_ns, from_ns + span_ns, WIDTH, &lod, &err)) {
                (void)fprintf(stderr, "%s\n", err.text);
                return 1;
            }
            n_items += lod.n_items;
        }
        uint64_t taken_ns = cpu_ns() - begin_ns;
        all.taken_ns[all.n++] = times->taken_ns[times->n++] = taken_ns;
        all.items += n_items;
        times->items += n_items;
    }
    for (int i = 0; i <= DECADES; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "1/%.0f of the trace", pow(10, i));
        print_times(name, &decades[i]);
        free(decades[i].taken_ns);
    }
    free(decades[DECADES + 1].taken_ns);
    print_times("all", &all);
    free(all.taken_ns);
    free(ids);
    weft_lod_reader_free(reader);
    weft_trace_close(trace);
    return 0;
}
