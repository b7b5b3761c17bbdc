/* SPDX-License-Identifier: MIT
 *
 * Screens of a timeline: random intervals at random zooms, the threads with most calls in rows of
 * 1,920 pixels: how much processor time a screen takes, by zoom.
 *
 * usage: lod TRACE [SCREENS [ROWS]]     (default: 10,000 screens of 64 rows)
 */
#include "model/calls/lod.h"

#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 1920, DECADES = 8 };

/* Ids of threads, those with most calls first. */
static uint32_t *rank_threads(const struct weft_trace *trace, size_t n)
{
    uint64_t *keys = calloc(n + 1, sizeof *keys);
    uint32_t *ids = calloc(n + 1, sizeof *ids);
    for (uint32_t id = 0; keys && id < n; id++)
        keys[id] = ~weft_trace_thread(trace, id)->calls << 20 | id;
    if (keys)
        qsort(keys, n, sizeof *keys, bench_by_value);
    for (size_t i = 0; keys && ids && i < n; i++)
        ids[i] = (uint32_t)(keys[i] & 0xfffff);
    free(keys);
    return ids;
}

/* Screens of one range of zooms. */
struct screens {
    struct bench_times times;
    uint64_t n_items;
};

static void print_screens(const char *name, struct screens *screens)
{
    const size_t n = screens->times.n;
    if (n == 0)
        return;
    printf("%-22s %6zu screens, %7.0f items: ", name, n, (double)screens->n_items / (double)n);
    bench_times_print(&screens->times);
}

/* A part of the trace: from the whole down to a microsecond, all zooms alike. */
static uint64_t random_span(uint64_t *state, uint64_t duration_ns)
{
    const double zoom = (double)(bench_random(state) >> 11) / (double)(UINT64_C(1) << 53);
    return (uint64_t)exp(log(1000) + zoom * (log((double)duration_ns) - log(1000)));
}

/* One screen of the threads; items on it. */
static enum weft_code draw(struct weft_lod_reader *reader, const uint32_t *ids, size_t n_rows,
                           uint64_t from_ns, uint64_t to_ns, uint64_t *n_items,
                           struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    *n_items = 0;
    for (size_t row = 0; row < n_rows && code == WEFT_OK; row++) {
        struct weft_lod lod;
        code = weft_lod(reader, ids[row], from_ns, to_ns, WIDTH, &lod, err);
        *n_items += code == WEFT_OK ? lod.n_items : 0;
    }
    return code;
}

static enum weft_code draw_all(struct weft_lod_reader *reader, const uint32_t *ids, size_t n_rows,
                               uint64_t duration_ns, struct screens *all, struct screens *decades,
                               struct weft_err *err)
{
    uint64_t state = 1;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < all->times.cap && code == WEFT_OK; i++) {
        const uint64_t span_ns = random_span(&state, duration_ns);
        const uint64_t from_ns = bench_random(&state) % (duration_ns - span_ns + 1);
        const int decade = (int)log10((double)duration_ns / (double)span_ns);
        struct screens *screens = &decades[decade > DECADES ? DECADES : decade];
        const uint64_t begin_ns = bench_cpu_ns();
        uint64_t n_items;
        code = draw(reader, ids, n_rows, from_ns, from_ns + span_ns, &n_items, err);
        const uint64_t taken_ns = bench_times_add(&all->times, begin_ns);
        screens->times.items[screens->times.n++] = taken_ns;
        screens->n_items += n_items;
        all->n_items += n_items;
    }
    return code;
}

int main(int argc, char **argv)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    if (argc < 2 || weft_trace_open(argv[1], &trace, &err)) {
        (void)fprintf(stderr, "usage: lod TRACE [SCREENS [ROWS]]\n%s\n", err.text);
        return 2;
    }
    const size_t n_screens = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
    size_t n_rows = argc > 3 ? strtoull(argv[3], NULL, 10) : 64;
    if (n_rows > weft_trace_n_threads(trace))
        n_rows = weft_trace_n_threads(trace);
    uint32_t *ids = rank_threads(trace, weft_trace_n_threads(trace));
    struct weft_lod_reader *reader = weft_lod_reader_new(trace);
    struct screens all = { .times = bench_times_new(n_screens) };
    struct screens decades[DECADES + 1] = { 0 };
    for (int i = 0; i <= DECADES; i++)
        decades[i].times = bench_times_new(n_screens);
    if (!ids || !reader ||
        draw_all(reader, ids, n_rows, weft_trace_meta(trace)->duration_ns, &all, decades, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int i = 0; i <= DECADES; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "1/%.0f of the trace", pow(10, i));
        print_screens(name, &decades[i]);
        bench_times_free(&decades[i].times);
    }
    print_screens("all", &all);
    bench_times_free(&all.times);
    free(ids);
    weft_lod_reader_free(reader);
    weft_trace_close(trace);
    return 0;
}
