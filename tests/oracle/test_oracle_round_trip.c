/* SPDX-License-Identifier: MIT
 *
 * Random traces through an export and the importer of its format: calls, their nesting, flags and
 * arguments, names and threads are as before. Both sides are compared by what the CSV export says
 * of each thread, which test_oracle_export compares with the trace itself.
 */
#include "ingest/chrome/chrome.h"
#include "ingest/csv/csv.h"
#include "random_calls.h"
#include "render/export/export.h"
#include "store/writer.h"
#include "tap.h"

#include <stdlib.h>

enum { SEEDS = 1000, SEEDS_A_LINE = 100, MAX_THREADS = 4, N_NAMES = 7, MOST_EVENTS = 300 };

static const struct {
    const char *name, *module;
} names[N_NAMES] = {
    { "main", "" },
    { "read,\"x\" \\y", "lib.so" },
    { "new\nline\r\t\x01", "m,n" },
    { "caf\xc3\xa9 ;", "\"" },
    { "bad\xff", "mod;ule" },
    { " \"quoted\" ", "lib.so" },
    { "main", "other" }, /* and a seventh has no name */
};

static const char *const thread_names[] = { "worker;1", "worker;1", "", "a,\"b\"\n" };

static const char *const texts[] = {
    "{\"a\":1}",
    "{ \"k\": [1, {\"x\": null}], \"s\": \"a\\\"b,\\n\" }",
    "5, \"hello\", {1}",
    "[1,2]",
    "\"text\"",
    "bytes \xff\xfe",
    "{}",
    "{\"weft\":true}",
    "line 1\nline 2",
};

static char what[1200];

struct sides {
    const char *before, *after; /* files */
    enum weft_export_format format;
    bool has_generations;
};

/* ---- a trace --------------------------------------------------------------------------------- */

static enum weft_code put_events(struct weft_sink *sink, uint32_t id, uint64_t time_ns,
                                 bool has_entry, uint64_t *state, struct weft_err *err)
{
    const char *text = texts[tap_random(state) % (sizeof texts / sizeof *texts)];
    struct weft_event event = { .time_ns = time_ns,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .cpu = -1,
                                .kind = WEFT_EVENT_CALL_ARGS,
                                .payload = weft_str_of(text) };
    if (!has_entry || tap_random(state) % 4 == 0) {
        event.kind = WEFT_EVENT_INSTANT;
        event.name = WEFT_STR("point");
    }
    return sink->ops->events(sink, id, &event, 1, err);
}

static enum weft_code put_thread(struct weft_sink *sink, uint32_t id, uint64_t *state,
                                 struct weft_err *err)
{
    static struct weft_call_event calls[MOST_EVENTS];
    static uint32_t stack[MOST_EVENTS];
    const size_t n_calls = tap_random(state) % (tap_random(state) % 8 ? 40 : MOST_EVENTS);
    struct random_calls random = { .state = tap_random(state),
                                   .n_functions = 1 + (uint32_t)(tap_random(state) % N_NAMES),
                                   .enter_percent = 30 + (unsigned)(tap_random(state) % 40),
                                   .has_marked_exits = tap_random(state) % 2,
                                   .odd_percent = (unsigned)(tap_random(state) % 3) * 15 };
    random_calls_fill(&random, calls, n_calls, stack);
    enum weft_code code = WEFT_OK;
    const uint64_t args_percent = tap_random(state) % 3 * 20;
    bool has_entry = false;
    if (id == 0) { /* so that time 0 stays where it is */
        const struct weft_call_event first[] = { { .time_ns = 0, .kind = WEFT_CALL_ENTER },
                                                 { .time_ns = 0, .kind = WEFT_CALL_EXIT } };
        code = sink->ops->calls(sink, id, first, 2, err);
    }
    for (size_t k = 0; k < n_calls && code == WEFT_OK; k++) {
        has_entry = has_entry || calls[k].kind == WEFT_CALL_ENTER;
        if (calls[k].kind != WEFT_CALL_ARG || has_entry)
            code = sink->ops->calls(sink, id, &calls[k], 1, err);
        if (code == WEFT_OK && calls[k].kind == WEFT_CALL_ENTER &&
            tap_random(state) % 100 < args_percent)
            code = put_events(sink, id, calls[k].time_ns, has_entry, state, err);
    }
    const uint64_t last_ns = tap_random(state) % 2 ? 0 : UINT64_C(1) << 45;
    return code == WEFT_OK ? sink->ops->thread_end(sink, id, last_ns, err) : code;
}

static enum weft_code put_trace(const struct sides *sides, struct weft_sink *sink, uint64_t *state,
                                struct weft_err *err)
{
    const struct weft_sink_begin begin = { .format = WEFT_STR("random") };
    const uint32_t n_threads = 1 + (uint32_t)(tap_random(state) % MAX_THREADS);
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    for (uint32_t k = 0; k + 1 < N_NAMES && code == WEFT_OK; k++) {
        const struct weft_function_info info = { .key = k * 7,
                                                 .name = weft_str_of(names[k].name),
                                                 .module = weft_str_of(names[k].module) };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t k = 0; k < n_threads && code == WEFT_OK; k++) {
        const bool is_reused = sides->has_generations && k % 2;
        const struct weft_thread_info info = { .tid = 100 + k - is_reused,
                                               .pid = k == 3 ? 9 : 8,
                                               .generation = is_reused,
                                               .name = weft_str_of(thread_names[k]) };
        uint32_t id;
        code = sink->ops->thread(sink, &info, &id, err);
    }
    for (uint32_t k = 0; k < n_threads && code == WEFT_OK; k++)
        code = put_thread(sink, k, state, err);
    return code;
}

static bool write_random(const struct sides *sides, uint64_t seed, struct weft_err *err)
{
    uint64_t state = seed;
    struct weft_writer *writer;
    const struct weft_writer_opts opts = { .source_name = "random",
                                           .block_rows = 1 + (uint32_t)(tap_random(&state) % 40) };
    if (weft_writer_open(sides->before, &opts, &writer, err) != WEFT_OK)
        return false;
    if (put_trace(sides, weft_writer_sink(writer), &state, err) == WEFT_OK)
        return weft_writer_commit(writer, NULL, err) == WEFT_OK;
    weft_writer_abort(writer);
    return false;
}

/* ---- there and back -------------------------------------------------------------------------- */

/* The export of a trace, or of one thread of it; the caller frees. */
static char *export_text(const struct weft_trace *trace, enum weft_export_format format,
                         const uint32_t *thread_id, size_t *n_bytes, struct weft_err *err)
{
    struct weft_output *out;
    struct weft_export_totals totals;
    const struct weft_export_opts opts = { .trace = trace,
                                           .name = "random",
                                           .window = WEFT_WINDOW_ALL,
                                           .format = format,
                                           .thread_ids = thread_id,
                                           .n_thread_ids = thread_id ? 1 : 0 };
    char *text = NULL;
    if (weft_output_to_memory(&out, err) != WEFT_OK)
        return NULL;
    enum weft_code code = weft_export_write(&opts, out, &totals, err);
    struct weft_str held = weft_output_held(out);
    if (code == WEFT_OK && (text = malloc(held.n_bytes + 1)) != NULL) {
        memcpy(text, held.bytes, held.n_bytes);
        text[ *n_bytes = held.n_bytes] = '\0';
    }
    if (weft_output_close(out, err) == WEFT_OK)
        return text;
    free(text);
    return NULL;
}

static bool import_text(const struct sides *sides, const char *text, size_t n_bytes,
                        struct weft_err *err)
{
    const struct weft_mapped file = { .bytes = (const uint8_t *)text, .n_bytes = n_bytes };
    const struct weft_writer_opts opts = { .source_name = "again" };
    struct weft_writer *writer;
    if (weft_writer_open(sides->after, &opts, &writer, err) != WEFT_OK)
        return false;
    struct weft_sink *sink = weft_writer_sink(writer);
    enum weft_code code = sides->format == WEFT_EXPORT_CSV
                              ? weft_csv_import(&file, NULL, sink, NULL, err)
                              : weft_chrome_import(&file, NULL, sink, NULL, err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, err) == WEFT_OK;
    weft_writer_abort(writer);
    return false;
}

static bool is_same_thread(const struct weft_thread_info *a, const struct weft_thread_info *b)
{
    return a->tid == b->tid && a->pid == b->pid && a->generation == b->generation;
}

/* The thread of the second trace that is `info`; WEFT_ID_NONE if none is. */
static uint32_t find_thread(const struct weft_trace *trace, const struct weft_thread_info *info)
{
    for (uint32_t k = 0; k < weft_trace_n_threads(trace); k++)
        if (is_same_thread(&weft_trace_thread(trace, k)->info, info))
            return k;
    return WEFT_ID_NONE;
}

static bool same_texts(const char *before, const char *after, uint64_t tid)
{
    size_t at = 0;
    while (before[at] && before[at] == after[at])
        at++;
    if (before[at] == after[at])
        return true;
    while (at > 0 && before[at - 1] != '\n')
        at--;
    (void)snprintf(what, sizeof what, "tid %" PRIu64 ": want \"%.400s\", got \"%.400s\"", tid,
                   before + at, after + at);
    return false;
}

/* A thread without calls has no line in CSV: it need not come back from there. */
static bool same_thread(const struct weft_trace *before, const struct weft_trace *after,
                        uint32_t thread, struct weft_err *err)
{
    size_t n_bytes;
    const struct weft_thread_info *info = &weft_trace_thread(before, thread)->info;
    char *want = export_text(before, WEFT_EXPORT_CSV, &thread, &n_bytes, err);
    uint32_t again = find_thread(after, info);
    char *got =
        again == WEFT_ID_NONE ? NULL : export_text(after, WEFT_EXPORT_CSV, &again, &n_bytes, err);
    bool has_calls = want && strchr(want, '\n')[1] != '\0';
    bool is_same = want && (got ? same_texts(want, got, info->tid) : !has_calls);
    if (!is_same && !what[0])
        (void)snprintf(what, sizeof what, "tid %" PRIu64 " is missing", info->tid);
    free(want);
    free(got);
    return is_same;
}

static bool same_traces(const struct sides *sides, const struct weft_trace *before,
                        struct weft_err *err)
{
    size_t n_bytes;
    struct weft_trace *after = NULL;
    char *text = export_text(before, sides->format, NULL, &n_bytes, err);
    bool is_same = text && import_text(sides, text, n_bytes, err) &&
                   weft_trace_open(sides->after, &after, err) == WEFT_OK;
    for (uint32_t k = 0; is_same && k < weft_trace_n_threads(before); k++)
        is_same = same_thread(before, after, k, err);
    weft_trace_close(after);
    free(text);
    return is_same;
}

static bool round_trip(const struct sides *sides, uint64_t seed)
{
    struct weft_err err = { 0 };
    struct weft_trace *before = NULL;
    what[0] = '\0';
    bool is_same = write_random(sides, seed, &err) &&
                   weft_trace_open(sides->before, &before, &err) == WEFT_OK &&
                   same_traces(sides, before, &err);
    weft_trace_close(before);
    if (err.code != WEFT_OK)
        weft_err_print(&err, what, sizeof what);
    return is_same;
}

static void test_format(const struct sides *sides, const char *name)
{
    const uint64_t first = tap_seed(1);
    for (uint64_t seed = first; seed < first + SEEDS; seed += SEEDS_A_LINE) {
        uint64_t failed_seed = 0;
        for (uint64_t k = 0; k < SEEDS_A_LINE && !failed_seed; k++)
            if (!round_trip(sides, seed + k))
                failed_seed = seed + k;
        tap_ok(!failed_seed, "%s: %d random traces from seed %" PRIu64 " on", name, SEEDS_A_LINE,
               seed);
        if (failed_seed)
            tap_note("seed %" PRIu64 ": %s", failed_seed, what);
    }
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    char before[512], after[512];
    (void)snprintf(before, sizeof before, "%s/round_trip.weft", root ? root : ".");
    (void)snprintf(after, sizeof after, "%s/round_trip_again.weft", root ? root : ".");
    const struct sides csv = { before, after, WEFT_EXPORT_CSV, true };
    const struct sides chrome = { before, after, WEFT_EXPORT_CHROME, false };
    test_format(&csv, "CSV");
    test_format(&chrome, "JSON");
    (void)remove(before);
    (void)remove(after);
    return tap_done();
}
