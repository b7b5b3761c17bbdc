/* SPDX-License-Identifier: MIT
 *
 * Measures the store's blocks of events that are no calls: bytes an event, ns of processor time an
 * event to write a file and to load it. The table in docs/performance-store.md comes from here.
 *
 * usage: store_events FILE [EVENTS]   (FILE is overwritten and removed)
 */
#include "measure.h"
#include "store/reader.h"
#include "store/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, STACKS = 500, RUNS = 3, TEXT_BYTES = 200 };

struct source {
    uint64_t state;
    uint64_t time_ns;
    uint64_t n_made;
    char texts[STACKS][TEXT_BYTES];
    char payloads[BATCH][TEXT_BYTES];
};

static void fail(const char *what, const struct weft_err *err)
{
    (void)fprintf(stderr, "store_events: %s: %s\n", what, err ? err->text : "");
    exit(1);
}

static uint64_t next(struct source *source)
{
    source->state = source->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return source->state >> 33;
}

/* Gaps of a few microseconds, some of milliseconds. */
static uint64_t later(struct source *source)
{
    source->time_ns += next(source) % 5000 + (next(source) % 50 ? 0 : next(source) % 3000000);
    return source->time_ns;
}

static void make_counter(struct source *source, struct weft_event *event, size_t at)
{
    (void)at;
    event->kind = WEFT_EVENT_COUNTER;
    event->name = weft_str_of(next(source) % 2 ? "cpu" : "queue length");
    event->value = weft_counter_value((double)(next(source) % 64));
}

static void make_args(struct source *source, struct weft_event *event, size_t at)
{
    char *payload = source->payloads[at];
    const int n_bytes = snprintf(
        payload, TEXT_BYTES, "{\"fd\":%u,\"size\":%u,\"offset\":%" PRIu64 "}",
        (unsigned)(next(source) % 20), 4096u << next(source) % 4, next(source) % 100000 * 4096);
    event->kind = WEFT_EVENT_CALL_ARGS;
    event->payload = (struct weft_str){ payload, (size_t)n_bytes };
}

static void make_switch(struct source *source, struct weft_event *event, size_t at)
{
    (void)at;
    event->kind = WEFT_EVENT_SWITCH;
    event->next_thread_id = (uint32_t)(next(source) % 40);
    event->cpu = (int32_t)(next(source) % 16);
    event->prev_state = next(source) % 3 ? 0 : 1;
}

static void make_sample(struct source *source, struct weft_event *event, size_t at)
{
    (void)at;
    event->kind = WEFT_EVENT_SAMPLE;
    event->name = weft_str_of(source->texts[next(source) % STACKS]);
    event->value = 1;
}

static void make_span(struct source *source, struct weft_event *event, size_t at)
{
    static const char *const names[] = { "fetch", "parse", "layout", "paint", "composite" };
    (void)at;
    event->kind = WEFT_EVENT_SPAN;
    event->name = weft_str_of(names[next(source) % 5]);
    event->category = WEFT_STR("renderer");
    event->duration_ns = next(source) % 100000;
    event->value = source->n_made;
}

static const struct mix {
    const char *name;
    void (*make)(struct source *source, struct weft_event *event, size_t at);
} mixes[] = {
    { "counter", make_counter },          { "arguments of calls, 35 bytes", make_args },
    { "scheduling switch", make_switch }, { "sample, folded stack", make_sample },
    { "asynchronous span", make_span },
};

static void texts_make(struct source *source)
{
    for (int i = 0; i < STACKS; i++) {
        size_t n = 0;
        for (int depth = 0; depth < 12; depth++)
            n += (size_t)snprintf(source->texts[i] + n, TEXT_BYTES - n, "%sfunction_%u",
                                  depth ? ";" : "",
                                  (unsigned)(next(source) % (unsigned)(depth + 2)));
    }
}

/* Writes `n_events`; gives the time spent in the sink. */
static uint64_t file_write(const char *path, const struct mix *mix, struct source *source,
                           uint64_t n_events, uint64_t *n_bytes)
{
    struct weft_err err = { 0 };
    struct weft_writer *writer;
    struct weft_writer_totals totals;
    uint64_t spent_ns = 0;
    if (weft_writer_open(path, &(struct weft_writer_opts){ 0 }, &writer, &err) != WEFT_OK)
        fail("open", &err);
    struct weft_sink *sink = weft_writer_sink(writer);
    if (sink->ops->begin(sink, &(struct weft_sink_begin){ .format = WEFT_STR("bench") }, &err))
        fail("begin", &err);
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t thread_id;
        if (sink->ops->thread(sink, &(struct weft_thread_info){ .tid = i }, &thread_id, &err))
            fail("thread", &err);
    }
    const struct weft_call_event call = { .time_ns = 0 };
    if (sink->ops->calls(sink, 0, &call, 1, &err))
        fail("calls", &err);
    for (uint64_t done = 0; done < n_events; done += BATCH) {
        struct weft_event events[BATCH];
        for (size_t i = 0; i < BATCH; i++, source->n_made++) {
            events[i] = (struct weft_event){ .time_ns = later(source),
                                             .next_thread_id = WEFT_ID_NONE,
                                             .object_id = WEFT_ID_NONE,
                                             .stack_id = WEFT_ID_NONE,
                                             .cpu = -1 };
            mix->make(source, &events[i], i);
        }
        const uint64_t begin_ns = bench_cpu_ns();
        if (sink->ops->events(sink, 0, events, BATCH, &err))
            fail("events", &err);
        spent_ns += bench_cpu_ns() - begin_ns;
    }
    const uint64_t begin_ns = bench_cpu_ns();
    if (weft_writer_commit(writer, &totals, &err))
        fail("commit", &err);
    *n_bytes = totals.bytes_out;
    return spent_ns + bench_cpu_ns() - begin_ns;
}

/* Loads all blocks, the first time with their checksums; gives the time. */
static uint64_t file_load(struct weft_store *store, struct weft_event_buf *buf)
{
    struct weft_err err = { 0 };
    uint64_t sum = 0;
    const uint64_t begin_ns = bench_cpu_ns();
    for (uint64_t i = 0; i < weft_store_thread_get(store, 0)->n_event_blocks; i++) {
        const struct weft_event *events;
        size_t n_events;
        if (weft_store_load_events(store, 0, i, buf, &events, &n_events, &err))
            fail("load", &err);
        sum += events[n_events - 1].time_ns;
    }
    const uint64_t spent_ns = bench_cpu_ns() - begin_ns;
    if (sum == 1)
        fail("impossible", NULL);
    return spent_ns;
}

static void mix_measure(const char *path, const struct mix *mix, struct source *source,
                        uint64_t n_events)
{
    uint64_t n_bytes = 0;
    uint64_t write_ns = UINT64_MAX;
    uint64_t first_ns = UINT64_MAX;
    uint64_t load_ns = UINT64_MAX;
    for (int run = 0; run < RUNS; run++) {
        const uint64_t spent_ns = file_write(path, mix, source, n_events, &n_bytes);
        write_ns = spent_ns < write_ns ? spent_ns : write_ns;
        struct weft_store *store = NULL;
        struct weft_err err = { 0 };
        struct weft_event_buf *buf = weft_event_buf_new();
        if (!buf || weft_store_open(path, &store, &err))
            fail("open", &err);
        const uint64_t checked_ns = file_load(store, buf);
        const uint64_t again_ns = file_load(store, buf);
        first_ns = checked_ns < first_ns ? checked_ns : first_ns;
        load_ns = again_ns < load_ns ? again_ns : load_ns;
        weft_event_buf_free(buf);
        weft_store_close(store);
    }
    const double n = (double)n_events;
    printf("| %s | %.2f B | %.1f ns | %.1f ns | %.1f ns |\n", mix->name, (double)n_bytes / n,
           (double)write_ns / n, (double)first_ns / n, (double)load_ns / n);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        fail("usage: store_events FILE [EVENTS]", NULL);
    const uint64_t n_events = (argc > 2 ? strtoull(argv[2], NULL, 10) : 2000000) / BATCH * BATCH;
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        fail("memory", NULL);
    source->state = 1;
    texts_make(source);
    printf("| events | bytes an event | write | load, first | load, again |\n");
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++)
        mix_measure(argv[1], &mixes[i], source, n_events);
    free(source);
    (void)remove(argv[1]);
    return 0;
}
