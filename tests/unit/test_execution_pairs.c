/* SPDX-License-Identifier: MIT
 *
 * Executions are paired in one pass: what is held is what is open, however many there are.
 */
#include "analysis/executions/executions.h"
#include "analysis/executions/pairs.h"
#include "analysis/executions/queue.h"
#include "query/rules.h"
#include "store/writer.h"
#include "tap.h"

#include <stdio.h>

enum { MANY = 200000, OPEN = 20, FEW = 4096, THREADS = 4, LITTLE_BYTES = 4 << 20 };

static struct weft_execution_point point_of(uint64_t at_ns, uint64_t key, bool is_end)
{
    return (struct weft_execution_point){ .at_ns = at_ns, .key = key, .is_end = is_end };
}

/* Each has a key of its own, of which some are open at a time. */
static void pairs_of_keys(void)
{
    struct weft_execution_pairs pairs = { 0 };
    struct weft_executions_found found = { 0 };
    struct weft_err err = { 0 };
    uint64_t n_found = 0;
    bool is_ok = true;
    for (uint64_t i = 0; i < MANY + OPEN && is_ok; i++) {
        struct weft_execution_point points[2] = { point_of(2 * i, i, false),
                                                  point_of(2 * i + 1, i - OPEN, true) };
        is_ok = weft_execution_pairs_take(&pairs, points, i < OPEN ? 1 : 2, false, &found, &err) ==
                WEFT_OK;
        n_found += found.n;
        found.n = 0;
    }
    tap_ok(is_ok && n_found == MANY, "%d executions, each with a key of its own", MANY);
    tap_eq_u64(pairs.n_open, OPEN, "those that are open are left");
    tap_ok(pairs.pending.cap <= FEW && pairs.tops.cap <= FEW, "few places: %zu open, %zu keys",
           pairs.pending.cap, pairs.tops.cap);
    is_ok = weft_execution_pairs_finish(&pairs, 3 * MANY, &found, &err) == WEFT_OK;
    tap_ok(is_ok && found.n == OPEN && found.items[0].row.flags == WEFT_EXECUTION_UNFINISHED,
           "they end unfinished");
    weft_execution_pairs_fini(&pairs);
    weft_executions_found_fini(&found);
}

/* Ends that lie ahead wait for their time. */
static void queue(void)
{
    static const uint64_t want[] = { 1, 2, 2, 3, 5, 9, 9 };
    static const struct {
        uint64_t at_ns;
        unsigned list;
        bool is_ahead;
    } put[] = { { 2, WEFT_POINTS_OF_EVENTS, false }, { 9, WEFT_POINTS_OF_EVENTS, true },
                { 3, WEFT_POINTS_OF_EVENTS, false }, { 5, WEFT_POINTS_OF_EVENTS, true },
                { 1, WEFT_POINTS_OF_EVENTS, false }, { 2, WEFT_POINTS_OF_CALLS, false },
                { 9, WEFT_POINTS_OF_CALLS, false } };
    struct weft_execution_queue points = { 0 };
    struct weft_execution_point point;
    bool is_ok = true;
    uint64_t sequence = 0;
    for (size_t i = 0; i < 7; i++) {
        const struct weft_execution_point made = point_of(put[i].at_ns, 0, false);
        is_ok &= weft_execution_queue_put(&points, put[i].list, &made, put[i].is_ahead);
    }
    for (size_t i = 0; i < 5; i++)
        is_ok &= weft_execution_queue_take(&points, 9, &point) && point.at_ns == want[i];
    tap_ok(is_ok && !weft_execution_queue_take(&points, 9, &point), "points in order of time");
    for (size_t i = 5; i < 7; i++) {
        is_ok &= weft_execution_queue_take(&points, 10, &point) && point.at_ns == want[i];
        is_ok &= i == 5 || point.sequence > sequence;
        sequence = point.sequence;
    }
    tap_ok(is_ok && weft_execution_queue_n(&points) == 0, "of one ns, calls before events");
    weft_execution_queue_fini(&points);
}

/* ---- a trace --------------------------------------------------------------------------------- */

/* Calls of one function on each thread. */
static enum weft_code put_calls(struct weft_sink *sink, uint32_t thread, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint64_t i = 0; i < MANY / THREADS && code == WEFT_OK; i++) {
        const uint64_t at_ns = 1000 * i + 10 * thread;
        const struct weft_call_event calls[] = {
            { .time_ns = at_ns, .function_key = 1, .kind = WEFT_CALL_ENTER },
            { .time_ns = at_ns + 500, .function_key = 1, .kind = WEFT_CALL_EXIT },
        };
        code = sink->ops->calls(sink, thread, calls, 2, err);
    }
    return code;
}

static enum weft_code write_trace(const char *path, struct weft_err *err)
{
    const struct weft_writer_opts opts = { .source_name = "executions", .block_rows = 8192 };
    const struct weft_sink_begin begin = { .format = WEFT_STR("executions") };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    const struct weft_function_info function = { .key = 1, .name = WEFT_STR("handle") };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (code == WEFT_OK)
        code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    if (code == WEFT_OK)
        code = sink->ops->function(sink, &function, err);
    for (uint32_t i = 0; i < THREADS && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = 11 + i, .pid = 11 };
        uint32_t id;
        code = sink->ops->thread(sink, &info, &id, err);
        if (code == WEFT_OK)
            code = put_calls(sink, i, err);
        if (code == WEFT_OK)
            code = sink->ops->thread_end(sink, i, 1000 * MANY, err);
    }
    return code == WEFT_OK ? weft_writer_commit(writer, NULL, err) : code;
}

static enum weft_code count(void *context, const struct weft_execution_row *row,
                            struct weft_err *err)
{
    uint64_t *sums = context;
    (void)err;
    sums[0]++;
    sums[1] += row->end_ns - row->start_ns;
    return WEFT_OK;
}

static enum weft_code stream(const struct weft_trace *trace, const char *text, uint64_t sums[2],
                             struct weft_err *err)
{
    const struct weft_run run = { .pool = weft_pool_new(2), .memory_bytes = LITTLE_BYTES };
    struct weft_rules *rules = NULL;
    enum weft_code code = weft_rules_parse(weft_str_of(text), &rules, err);
    const struct weft_executions_opts opts = { .rules = rules };
    sums[0] = sums[1] = 0;
    if (code == WEFT_OK)
        code = weft_executions_stream(trace, NULL, &opts, &run, count, sums, err);
    weft_rules_free(rules);
    weft_pool_free(run.pool);
    return code;
}

static void streams(const char *path)
{
    static const char *const texts[] = {
        "execution e is call:handle",
        "execution e begin enter:handle end exit:handle",
        "execution e begin enter:handle end exit:handle match tid within trace",
    };
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    uint64_t sums[2];
    if (write_trace(path, &err) != WEFT_OK || weft_trace_open(path, &trace, &err) != WEFT_OK) {
        tap_note("%s", err.text);
        abort();
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        tap_ok(stream(trace, texts[i], sums, &err) == WEFT_OK && sums[0] == MANY &&
                   sums[1] == UINT64_C(500) * MANY,
               "%d through 4 MiB: %s", MANY, texts[i]);
    tap_ok(stream(trace, "execution e begin enter:handle end exit:nothing", sums, &err) ==
                   WEFT_E_LIMIT &&
               strstr(err.text, "open at the same time"),
           "none of them ends: %s", err.text);
    weft_trace_close(trace);
    (void)remove(path);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    char path[512];
    (void)snprintf(path, sizeof path, "%s/test_execution_pairs.weft", root ? root : ".");
    pairs_of_keys();
    queue();
    streams(path);
    return tap_done();
}
