/* SPDX-License-Identifier: MIT
 *
 * The published tool's recorded results, reproduced by the compatibility helper from traces that
 * the text importer and the store carried. Arguments: the folder of the results, the folder of the
 * unpacked traces.
 */
#include "analysis/regtime/regtime.h"
#include "import/import.h"
#include "model/calls/scan.h"
#include "regtime_compat.h"
#include "tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

enum { PATH_BYTES = 4096, TOOL_MINIMUM = 325 };

struct loaded {
    struct weft_trace *trace;
    struct compat_call *calls;
    size_t n_calls;
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static yajl_val read_json(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1 << 20, 1);
    size_t n = file && text ? fread(text, 1, (1 << 20) - 1, file) : 0;
    if (file)
        (void)fclose(file);
    yajl_val value = n ? yajl_tree_parse(text, NULL, 0) : NULL;
    free(text);
    return value;
}

static yajl_val get(yajl_val object, const char *key)
{
    const char *path[] = { key, NULL };
    return yajl_tree_get(object, path, yajl_t_any);
}

static bool is_number(yajl_val object, const char *key, uint64_t want)
{
    yajl_val value = get(object, key);
    bool is_ok = YAJL_IS_INTEGER(value) && (uint64_t)YAJL_GET_INTEGER(value) == want;
    if (!is_ok)
        tap_note("%s: made %" PRIu64 ", recorded %s", key, want,
                 value && YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value) : "none");
    return is_ok;
}

static bool is_ratio(yajl_val object, const char *key, uint64_t before, uint64_t after)
{
    yajl_val value = get(object, key);
    double want = (double)before / (double)after, got = value ? YAJL_GET_DOUBLE(value) : -1;
    return !(want < got) && !(want > got);
}

static bool is_text(yajl_val value, struct weft_str want)
{
    return YAJL_IS_STRING(value) && weft_str_equal(weft_str_of(value->u.string), want);
}

static double threshold(yajl_val document, const char *key)
{
    yajl_val thresholds = get(document, "thresholds");
    yajl_val value = YAJL_IS_OBJECT(thresholds) ? get(thresholds, key) : NULL;
    return value ? YAJL_GET_DOUBLE(value) : 0;
}

/* ---- a trace --------------------------------------------------------------------------------- */

static enum weft_code import(const char *input, const char *output, struct weft_err *err)
{
    struct weft_pool *pool = weft_pool_new(1);
    struct weft_run run = { .pool = pool };
    struct weft_import_opts opts = { .inputs = &input, .n_inputs = 1, .output = output };
    struct weft_writer_totals totals;
    enum weft_code code = weft_import_run(&opts, &run, &totals, err);
    weft_pool_free(pool);
    return code;
}

static enum weft_code collect(void *context, struct weft_scan *scan, unsigned worker,
                              struct weft_err *err)
{
    (void)worker;
    struct loaded *loaded = context;
    const struct weft_calls *calls = NULL;
    uint64_t zero_ns = weft_trace_meta(scan->trace)->clock.zero_ticks;
    loaded->calls = calloc(scan->thread->calls + 1, sizeof *loaded->calls);
    enum weft_code code = WEFT_OK;
    while (!(code = weft_scan_next(scan, &calls, err)) && calls)
        for (size_t i = 0; i < calls->n_rows; i++)
            loaded->calls[loaded->n_calls++] =
                (struct compat_call){ .start_ns = zero_ns + calls->start_ns[i],
                                      .end_ns = zero_ns + calls->end_ns[i],
                                      .function_id = calls->function_id[i],
                                      .depth = calls->depth[i] };
    return code;
}

static bool load(const char *input, const char *output, struct loaded *loaded)
{
    struct weft_err err = { 0 };
    *loaded = (struct loaded){ 0 };
    enum weft_code code = import(input, output, &err);
    if (!code)
        code = weft_trace_open(output, &loaded->trace, &err);
    struct weft_pool *pool = weft_pool_new(1);
    struct weft_run run = { .pool = pool };
    if (!code)
        code = weft_scan_threads(loaded->trace, NULL, 0, NULL, &run, collect, loaded, &err);
    weft_pool_free(pool);
    if (code)
        tap_note("%s: %s", input, err.text);
    return code == WEFT_OK;
}

static void unload(struct loaded *loaded)
{
    weft_trace_close(loaded->trace);
    free(loaded->calls);
}

/* ---- comparison ------------------------------------------------------------------------------ */

static struct weft_str name_of(const struct loaded *loaded, uint32_t function_id)
{
    return weft_trace_function(loaded->trace, function_id)->name;
}

/* The recorded stack holds the functions from the expression's first depth to the node. */
static bool is_stack(const struct loaded *loaded, const struct compat_result *result, size_t at,
                     yajl_val stack)
{
    for (size_t i = stack->u.array.len; i-- > 0;) {
        if (at == SIZE_MAX ||
            !is_text(stack->u.array.values[i], name_of(loaded, result->nodes[at].function_id)))
            return false;
        at = result->nodes[at].parent;
    }
    return at == SIZE_MAX;
}

static bool is_expression(const struct loaded *loaded, const struct compat_result *result,
                          const struct compat_segment *segment, yajl_val value)
{
    yajl_val merged = get(value, "merged");
    bool is_ok =
        YAJL_IS_TRUE(get(value, "compressed")) &&
        YAJL_IS_TRUE(get(value, "drawn_as_plain_call")) == segment->is_plain_call &&
        is_number(value, "start", segment->start_ns) && is_number(value, "end", segment->end_ns) &&
        is_number(value, "depth", segment->depth) && is_number(value, "calls", segment->calls) &&
        is_number(value, "glyphs", segment->n_nodes) && YAJL_IS_ARRAY(merged) &&
        merged->u.array.len == segment->n_nodes;
    for (size_t i = 0; is_ok && i < segment->n_nodes; i++) {
        const struct compat_node *node = &result->nodes[segment->first_node + i];
        yajl_val recorded = merged->u.array.values[i];
        is_ok = is_number(recorded, "depth", node->depth) &&
                is_number(recorded, "cum_ns", node->sum_ns) &&
                is_number(recorded, "calls", node->calls) &&
                is_stack(loaded, result, segment->first_node + i, get(recorded, "stack"));
    }
    return is_ok;
}

static bool is_segment(const struct loaded *loaded, const struct compat_result *result,
                       const struct compat_segment *segment, yajl_val value)
{
    static const char *const kinds[] = { "call", "enter", "exit" };
    const struct compat_entry *entry = &segment->entry;
    if (segment->is_compressed)
        return is_expression(loaded, result, segment, value);
    return YAJL_IS_FALSE(get(value, "compressed")) &&
           is_text(get(value, "type"), weft_str_of(kinds[entry->kind])) &&
           is_text(get(value, "function"), name_of(loaded, entry->function_id)) &&
           is_number(value, "start", entry->start_ns) && is_number(value, "end", entry->end_ns) &&
           is_number(value, "depth", entry->depth) &&
           is_number(value, "dur_ns", entry->duration_ns);
}

static bool are_counts(const struct compat_result *result, yajl_val document)
{
    yajl_val would = get(document, "tool_would_compress");
    bool is_ok = is_number(document, "calls_kept", result->calls_kept);
    is_ok &= is_number(document, "events_before", result->events_before);
    is_ok &= is_number(document, "events_after", result->events_after);
    is_ok &= is_number(document, "calls_after", result->calls_after);
    is_ok &= is_number(document, "functions", result->n_functions);
    is_ok &= is_number(document, "max_depth", result->max_depth);
    is_ok &= is_number(document, "thread_start", result->start_ns);
    is_ok &= is_number(document, "thread_end", result->end_ns);
    is_ok &= is_number(document, "n_expr", result->n_expressions);
    is_ok &= is_number(document, "n_expr_drawn_as_plain", result->n_plain);
    is_ok &= is_number(document, "n_uncompressed_calls", result->n_uncompressed_calls);
    is_ok &= is_ratio(document, "ratio_events", result->events_before, result->events_after);
    is_ok &= is_ratio(document, "ratio_calls", result->calls_kept, result->calls_after);
    return is_ok && (!would || YAJL_IS_TRUE(would) == (result->events_before > TOOL_MINIMUM));
}

static bool are_dropped(const struct loaded *loaded, const struct compat_result *result,
                        yajl_val document)
{
    yajl_val names = get(document, "dropped_functions");
    size_t n_dropped = 0, n_found = 0;
    for (uint32_t id = 0; id < weft_trace_n_functions(loaded->trace); id++) {
        n_dropped += result->is_dropped[id];
        for (size_t i = 0; result->is_dropped[id] && i < names->u.array.len; i++)
            n_found += is_text(names->u.array.values[i], name_of(loaded, id));
    }
    return n_dropped == names->u.array.len && n_found == n_dropped;
}

static bool is_reproduced(const struct loaded *loaded, yajl_val document)
{
    struct compat_thresholds thresholds = {
        .duration = threshold(document, "CallDurationThresh"),
        .gap = threshold(document, "CallGapThresh"),
        .span = threshold(document, "TotalTimeFractionThresh"),
        .negligible_percent = threshold(document, "negligible_percent"),
    };
    struct compat_result result;
    bool is_ok = compat_run(loaded->calls, loaded->n_calls, weft_trace_n_functions(loaded->trace),
                            &thresholds, &result);
    yajl_val segments = get(document, "segments");
    is_ok = is_ok && are_counts(&result, document) && are_dropped(loaded, &result, document) &&
            YAJL_IS_ARRAY(segments) && segments->u.array.len == result.n_segments;
    for (size_t i = 0; is_ok && i < result.n_segments; i++) {
        is_ok = is_segment(loaded, &result, &result.segments[i], segments->u.array.values[i]);
        if (!is_ok)
            tap_note("segment %zu differs", i);
    }
    compat_free(&result);
    return is_ok;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void path_of(char *out, const char *folder, const char *sub, const char *name,
                    const char *suffix)
{
    (void)snprintf(out, PATH_BYTES, "%s/%s/%s%s", folder, sub, name, suffix);
}

static void test_traces(const char *results, const char *traces, const char *output)
{
    static const char *const variants[] = { "code_defaults", "code_defaults_negligible_1pct",
                                            "paper_thresholds", "paper_thresholds_keep_all" };
    static const char *const names[] = { "trace1_3", "trace1_6", "trace1_8", "trace1_20" };
    char path[PATH_BYTES];
    for (size_t t = 0; t < 4; t++) {
        struct loaded loaded;
        path_of(path, traces, "nonsequitur", names[t], ".txt");
        bool is_loaded = load(path, output, &loaded);
        for (size_t v = 0; v < 4; v++) {
            path_of(path, results, variants[v], names[t], ".json");
            yajl_val document = read_json(path);
            tap_ok(is_loaded && document && is_reproduced(&loaded, document), "%s %s", names[t],
                   variants[v]);
            yajl_tree_free(document);
        }
        unload(&loaded);
    }
}

/* What each malformed input, or one that the tool cannot read, is to weft. */
static const struct verdict {
    const char *name;
    enum { IS_ERROR, IS_REPAIR, IS_FINE } outcome;
} verdicts[] = {
    { "blank_last_line", IS_FINE },   { "empty", IS_ERROR },
    { "mismatched_exit", IS_REPAIR }, { "one_instant", IS_FINE },
    { "space_in_name", IS_FINE },     { "starts_with_exit", IS_REPAIR },
    { "time_goes_back", IS_REPAIR },  { "truncated_open_calls", IS_REPAIR },
};

static bool runs_regtime(const char *path, size_t *n_notes)
{
    struct weft_trace *trace = NULL;
    struct weft_regtime_table *table = NULL;
    struct weft_regtime_opts opts;
    struct weft_pool *pool = weft_pool_new(1);
    struct weft_run run = { .pool = pool };
    bool is_ok = weft_regtime_preset("paper", &opts) && !weft_trace_open(path, &trace, NULL) &&
                 !weft_regtime_run(trace, NULL, &opts, &run, &table, NULL);
    *n_notes = trace ? weft_trace_meta(trace)->n_notes : 0;
    weft_result_free(table);
    weft_trace_close(trace);
    weft_pool_free(pool);
    return is_ok;
}

static void test_odd(const struct verdict *verdict, const char *input, const char *output)
{
    struct weft_err err = { 0 };
    size_t n_notes = 0;
    enum weft_code code = import(input, output, &err);
    if (verdict->outcome == IS_ERROR) {
        tap_ok(code && err.text[0], "%s: an error that says why: %s", verdict->name, err.text);
        return;
    }
    bool runs = !code && runs_regtime(output, &n_notes);
    bool is_repaired = verdict->outcome == IS_REPAIR;
    tap_ok(runs && (n_notes > 0) == is_repaired, "%s: %s", verdict->name,
           is_repaired ? "repaired and counted" : "read as it is");
    if (code)
        tap_note("%s", err.text);
}

static void test_micro(const char *results, const char *name, const char *output)
{
    char input[PATH_BYTES], path[PATH_BYTES];
    path_of(input, results, "micro_inputs", name, ".txt");
    path_of(path, results, "micro", name, ".json");
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (strcmp(verdicts[i].name, name) == 0) {
            test_odd(&verdicts[i], input, output);
            return;
        }
    struct loaded loaded;
    yajl_val document = read_json(path);
    bool is_loaded = load(input, output, &loaded);
    tap_ok(is_loaded && document && is_reproduced(&loaded, document), "micro %s", name);
    yajl_tree_free(document);
    unload(&loaded);
}

static void test_micros(const char *results, const char *output)
{
    char folder[PATH_BYTES];
    struct dirent **entries = NULL;
    (void)snprintf(folder, sizeof folder, "%s/micro_inputs", results);
    int n = scandir(folder, &entries, NULL, alphasort), n_cases = 0;
    for (int i = 0; i < n; i++) {
        char *dot = strstr(entries[i]->d_name, ".txt");
        if (dot) {
            *dot = 0;
            test_micro(results, entries[i]->d_name, output);
            n_cases++;
        }
        free(entries[i]);
    }
    free(entries);
    tap_ok(n_cases == 20, "20 micro cases, found %d", n_cases);
}

int main(int argc, char **argv)
{
    const char *build = getenv("WEFT_BUILD_ROOT");
    char output[PATH_BYTES];
    (void)snprintf(output, sizeof output, "%s/regtime_compat.%ld.weft", build ? build : ".",
                   (long)getpid());
    if (argc != 3) {
        tap_ok(false, "usage: test_regtime_compat RESULTS TRACES");
        return tap_done();
    }
    test_traces(argv[1], argv[2], output);
    test_micros(argv[1], output);
    (void)unlink(output);
    return tap_done();
}
