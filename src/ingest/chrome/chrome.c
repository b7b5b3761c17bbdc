/* SPDX-License-Identifier: MIT
 *
 * The importer's frame: sniffing, announcing functions and threads, notes, and the order of the
 * phases (collect.c reads and sorts, deliver.c delivers). Threads are announced by the time of
 * their first event, so that ids do not depend on the order in the file.
 */
#include "ingest/chrome/chrome.h"

#include "base/vec.h"
#include "ingest/chrome/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- sniffing ------------------------------------------------------------------------------- */

static bool is_one_of(const struct weft_json_value *key, const char *const *names)
{
    for (; *names; names++)
        if (key->n_bytes == strlen(*names) && memcmp(key->bytes, *names, key->n_bytes) == 0)
            return true;
    return false;
}

/* True if the object at the reader has one of the names as a key, as far as its text goes. */
static bool has_member(struct weft_json_reader *reader, const char *const *names)
{
    reader->at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value key;
        struct weft_json_value value;
        bool is_end;
        if (!weft_json_member(reader, is_first, &key, &is_end) || is_end)
            return false;
        if (is_one_of(&key, names))
            return true;
        if (!weft_json_value(reader, &value))
            return false;
    }
}

bool weft_chrome_sniff(const uint8_t *bytes, size_t n_bytes)
{
    static const char *const around[] = { "traceEvents", "displayTimeUnit", "systemTraceEvents",
                                          "stackFrames", "schemaVersion",   NULL };
    static const char *const inside[] = { "ph", NULL };
    struct weft_json_reader reader = weft_json_reader_of(bytes, n_bytes);
    if (n_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        reader.at += 3;
    if (weft_json_peek(&reader) == '{')
        return has_member(&reader, around);
    if (!weft_json_take(&reader, '[') || weft_json_peek(&reader) != '{')
        return false;
    return has_member(&reader, inside);
}

/* ---- announcements -------------------------------------------------------------------------- */

static enum weft_code announce_trace(struct chrome_trace *trace, struct weft_err *err)
{
    char details[96];
    int n = snprintf(details, sizeof details, "%s, %" PRIu64 " events",
                     trace->is_object ? "object" : "array", trace->n_events);
    const struct weft_sink_begin begin = {
        .format = WEFT_STR("chrome-json"),
        .details = { .bytes = details, .n_bytes = n > 0 ? (size_t)n : 0 },
        .is_parallel = true,
    };
    uint64_t zero_ns = trace->first > CHROME_BIAS_NS ? trace->first - CHROME_BIAS_NS : 0;
    const struct weft_clock clock = { .frequency_hz = UINT64_C(1000000000),
                                      .zero_ticks = zero_ns,
                                      .has_monotonic = trace->is_monotonic,
                                      .monotonic_ns = trace->is_monotonic ? zero_ns : 0 };
    enum weft_code code = trace->sink->ops->begin(trace->sink, &begin, err);
    return code == WEFT_OK ? trace->sink->ops->clock(trace->sink, &clock, err) : code;
}

static enum weft_code announce_functions(struct chrome_trace *trace, struct weft_err *err)
{
    uint32_t n_functions = weft_map_count(trace->functions);
    trace->name_of_key = calloc((size_t)n_functions + 1, sizeof *trace->name_of_key);
    enum weft_code code = trace->name_of_key ? WEFT_OK : weft_no_memory(err, "a trace");
    for (uint32_t key = 0; code == WEFT_OK && key < n_functions; key++) {
        trace->name_of_key[key] = (uint32_t)(weft_map_key(trace->functions, key) >> 32);
        const struct weft_function_info info = { .key = key,
                                                 .name = chrome_function_name(trace, key),
                                                 .module = chrome_function_category(trace, key) };
        code = trace->sink->ops->function(trace->sink, &info, err);
    }
    return code;
}

/* For qsort, which hands on no context: the pointers themselves are sorted. */
static int compare_threads(const void *a, const void *b)
{
    const struct chrome_thread *left = *(const struct chrome_thread *const *)a;
    const struct chrome_thread *right = *(const struct chrome_thread *const *)b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    return (left > right) - (left < right);
}

/* Threads that have events, by their first one. */
static enum weft_code order_threads(struct chrome_trace *trace, struct weft_err *err)
{
    const struct chrome_thread **sorted = calloc(trace->threads.n + 1, sizeof(void *));
    trace->order = calloc(trace->threads.n + 1, sizeof *trace->order);
    if (!sorted || !trace->order) {
        free(sorted);
        return weft_no_memory(err, "a trace");
    }
    for (size_t k = 0; k < trace->threads.n; k++)
        if (trace->threads.items[k].first != UINT64_MAX)
            sorted[trace->n_ordered++] = &trace->threads.items[k];
    qsort(sorted, trace->n_ordered, sizeof *sorted, compare_threads);
    for (uint32_t k = 0; k < trace->n_ordered; k++)
        trace->order[k] = (uint32_t)(sorted[k] - trace->threads.items);
    free(sorted);
    return WEFT_OK;
}

static enum weft_code announce_threads(struct chrome_trace *trace, struct weft_err *err)
{
    enum weft_code code = order_threads(trace, err);
    for (uint32_t k = 0; code == WEFT_OK && k < trace->n_ordered; k++) {
        struct chrome_thread *thread = &trace->threads.items[trace->order[k]];
        struct weft_thread_info info = { .tid = thread->tid, .pid = thread->pid };
        uint32_t name = thread->name != WEFT_ID_NONE ? thread->name : thread->label;
        if (name != WEFT_ID_NONE)
            info.name = weft_strtab_get(trace->texts, name);
        code = trace->sink->ops->thread(trace->sink, &info, &thread->thread_id, err);
    }
    return code;
}

/* ---- notes ---------------------------------------------------------------------------------- */

static enum weft_code put_note(struct chrome_trace *trace, enum weft_note_kind kind, uint64_t count,
                               uint64_t at_off, const char *detail, struct weft_err *err)
{
    const struct weft_note note = { .kind = kind,
                                    .count = count,
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = at_off,
                                    .detail = weft_str_of(detail) };
    return trace->sink->ops->note(trace->sink, &note, err);
}

static enum weft_code put_remarks(struct chrome_trace *trace, struct weft_err *err)
{
    static const struct {
        enum weft_note_kind kind;
        const char *detail;
    } notes[CHROME_REMARKS] = {
        [CHROME_BAD_EVENT] = { WEFT_NOTE_BAD_RECORD, "" },
        [CHROME_END_DETAILS] = { WEFT_NOTE_NOT_KEPT,
                                 "thread clock or stack of an end behind that of an inner call" },
        [CHROME_SYSTEM_TRACE] = { WEFT_NOTE_NOT_KEPT, "systemTraceEvents" },
        [CHROME_BAD_COUNTER] = { WEFT_NOTE_NOT_KEPT, "value of a counter that is no number" },
        [CHROME_LOST_METADATA] = { WEFT_NOTE_NOT_KEPT, "metadata of a process without events" },
        [CHROME_ASYNC_OPEN] = { WEFT_NOTE_OPEN_AT_END, "asynchronous span" },
        [CHROME_ASYNC_END] = { WEFT_NOTE_EXIT_IGNORED, "end of an asynchronous span" },
    };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < CHROME_REMARKS; k++)
        if (trace->remarks[k].count)
            code = put_note(trace, notes[k].kind, trace->remarks[k].count, trace->remarks[k].at_off,
                            notes[k].detail, err);
    return code;
}

static enum weft_code put_mistake(struct chrome_trace *trace, struct weft_err *err)
{
    char detail[128];
    if (!trace->mistake)
        return WEFT_OK;
    (void)snprintf(detail, sizeof detail, "expected %s", trace->mistake);
    return put_note(trace, WEFT_NOTE_TRUNCATED, trace->file->n_bytes - trace->valid_off,
                    trace->mistake_off, detail, err);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* A text without events, or without a readable one, is no trace. */
static enum weft_code check_events(const struct chrome_trace *trace, struct weft_err *err)
{
    if (trace->first != UINT64_MAX)
        return WEFT_OK;
    if (!trace->mistake)
        return weft_fail(err, WEFT_E_MALFORMED, trace->remarks[CHROME_BAD_EVENT].at_off,
                         "expected trace events, found none");
    if (trace->mistake_off == trace->file->n_bytes)
        return weft_fail(err, WEFT_E_TRUNCATED, trace->mistake_off,
                         "expected %s, found the end of the file", trace->mistake);
    return weft_fail(err, WEFT_E_MALFORMED, trace->mistake_off, "expected %s, found byte 0x%02x",
                     trace->mistake, trace->file->bytes[trace->mistake_off]);
}

static enum weft_code import(struct chrome_trace *trace, struct weft_err *err)
{
    enum weft_code code = chrome_collect(trace, err);
    WEFT_THEN(code, check_events(trace, err));
    WEFT_THEN(code, announce_trace(trace, err));
    WEFT_THEN(code, announce_functions(trace, err));
    WEFT_THEN(code, announce_threads(trace, err));
    if (code != WEFT_OK)
        return code;
    weft_progress_start(chrome_progress(trace), "storing", "events", trace->n_events);
    code = chrome_deliver(trace, err);
    WEFT_THEN(code, put_remarks(trace, err));
    return code == WEFT_OK ? put_mistake(trace, err) : code;
}

static bool make_tables(struct chrome_trace *trace, const struct weft_chrome_opts *opts)
{
    trace->sorter = weft_sorter_new(opts ? opts->sort_limit_bytes : 0);
    trace->functions = weft_map_new();
    trace->names = weft_strtab_new();
    trace->categories = weft_strtab_new();
    trace->processes = weft_map_new();
    trace->tids = weft_map_new();
    trace->thread_of_pair = weft_map_new();
    trace->texts = weft_strtab_new();
    return trace->sorter && trace->functions && trace->names && trace->categories &&
           trace->processes && trace->tids && trace->thread_of_pair && trace->texts;
}

static void free_tables(struct chrome_trace *trace)
{
    weft_sorter_free(trace->sorter);
    weft_map_free(trace->functions);
    weft_strtab_free(trace->names);
    weft_strtab_free(trace->categories);
    WEFT_VEC_FINI(&trace->function_of_name);
    free(trace->name_of_key);
    weft_map_free(trace->processes);
    weft_map_free(trace->tids);
    weft_map_free(trace->thread_of_pair);
    weft_strtab_free(trace->texts);
    WEFT_VEC_FINI(&trace->threads);
    free(trace->order);
    WEFT_VEC_FINI(&trace->scratch);
    free(trace);
}

enum weft_code weft_chrome_import(const struct weft_mapped *file,
                                  const struct weft_chrome_opts *opts, struct weft_sink *sink,
                                  const struct weft_run *run, struct weft_err *err)
{
    struct chrome_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return weft_no_memory(err, "a trace");
    trace->file = file;
    trace->sink = sink;
    trace->run = run;
    trace->first = UINT64_MAX;
    trace->reader = weft_json_reader_of(file->bytes, (size_t)file->n_bytes);
    weft_progress_start(chrome_progress(trace), "reading", "bytes", file->n_bytes);
    enum weft_code code =
        make_tables(trace, opts) ? import(trace, err) : weft_no_memory(err, "a trace");
    free_tables(trace);
    return code;
}
