/* SPDX-License-Identifier: MIT
 *
 * RegTime on the terminal: how far each thread was compressed, what was folded or raised to get
 * there, and on request every row.
 */
#include "analysis/regtime/regtime.h"

#include "base/arena.h"
#include "render/human.h"
#include "render/strip.h"
#include "render/text/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP_COLUMNS = 32, STRIP_LEAST = 16, STRIP_MOST = 64 };

struct regtime {
    const struct weft_view *view;
    const struct weft_regtime_table *table;
    const struct weft_regtime_view *opts;
    struct weft_arena *arena;          /* text of cells */
    size_t n_strip;                    /* columns of the strip; 0: none */
    size_t thread;                     /* whose segments are rendered */
    const struct weft_column *columns; /* of the threads' table */
};

static double ratio_of(uint64_t before, uint64_t after)
{
    return after ? (double)before / (double)after : 0;
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static const struct weft_model_thread *thread_info(const struct regtime *regtime, size_t thread)
{
    return weft_trace_thread(regtime->view->trace, regtime->table->threads[thread].thread_id);
}

static uint64_t count_outliers(const struct weft_regtime_thread *thread)
{
    uint64_t n_outliers = 0;
    for (size_t i = 0; i < thread->n_rows_all; i++)
        n_outliers += (thread->rows[i].flags & WEFT_REGTIME_OUTLIER) != 0;
    return n_outliers;
}

/* ---- segments: the rows of one thread ----------------------------------------------------------
 */

static const char *const kind_names[] = {
    [WEFT_REGTIME_CALL] = "call", [WEFT_REGTIME_EXPRESSION] = "expression",
    [WEFT_REGTIME_NODE] = "node", [WEFT_REGTIME_OTHER] = "other",
    [WEFT_REGTIME_GAP] = "gap",   [WEFT_REGTIME_SLIVER] = "sliver",
};

enum { SEGMENT_INDENT_MAX = 40 };

/* What a row is, for people: its name, or what it stands for. */
static struct weft_str describe(const struct regtime *regtime, const struct weft_regtime_row *row)
{
    struct weft_human count = weft_human_count(row->count);
    char text[64] = "";
    struct weft_str name = weft_str_of(text);
    switch (row->kind) {
    case WEFT_REGTIME_CALL:
    case WEFT_REGTIME_NODE:
        name = weft_trace_function(regtime->view->trace, row->function_id)->name;
        break;
    case WEFT_REGTIME_EXPRESSION:
        snprintf(text, sizeof text, "[run of %s call%s]", count.text, row->count == 1 ? "" : "s");
        break;
    case WEFT_REGTIME_OTHER:
        snprintf(text, sizeof text, "other (%" PRIu32 ")", row->n_folded);
        break;
    case WEFT_REGTIME_GAP:
        snprintf(text, sizeof text, "(no call)");
        break;
    case WEFT_REGTIME_SLIVER:
        snprintf(text, sizeof text, "(%s short call%s)", count.text, row->count == 1 ? "" : "s");
        break;
    }
    if (name.bytes == text)
        name.n_bytes = strlen(text);
    return weft_arena_copy(regtime->arena, name);
}

/* The description under its callers, and the marks of the row behind it. */
static struct weft_str describe_in_tree(const struct regtime *regtime,
                                        const struct weft_regtime_row *row)
{
    struct weft_str name = describe(regtime, row);
    bool is_inside = row->kind == WEFT_REGTIME_NODE || row->kind == WEFT_REGTIME_OTHER;
    uint32_t level = row->level + is_inside;
    level = level < SEGMENT_INDENT_MAX ? level : SEGMENT_INDENT_MAX;
    const char *marks[] = { row->flags & WEFT_REGTIME_CUT_START ? " (open at the start)" : "",
                            row->flags & WEFT_REGTIME_CUT_END ? " (open at the end)" : "",
                            row->flags & WEFT_REGTIME_REPAIRED ? " (exit missing)" : "",
                            row->flags & WEFT_REGTIME_OUTLIER ? " !" : "" };
    return weft_arena_printf(regtime->arena, "%*s%.*s%s%s%s%s", (int)level * 2, "",
                             (int)name.n_bytes, name.bytes ? name.bytes : "", marks[0], marks[1],
                             marks[2], marks[3]);
}

static const struct weft_column segment_columns[] = {
    { "tid", NULL, WEFT_CELL_ID },         { "kind", NULL, WEFT_CELL_TEXT },
    { "depth", NULL, WEFT_CELL_ID },       { "parent", NULL, WEFT_CELL_ID },
    { "function", NULL, WEFT_CELL_TEXT },  { "function_id", NULL, WEFT_CELL_ID },
    { "start_ns", "start", WEFT_CELL_AT }, { "end_ns", NULL, WEFT_CELL_AT },
    { NULL, "time", WEFT_CELL_NS },        { "count", "calls", WEFT_CELL_COUNT },
    { "records", NULL, WEFT_CELL_COUNT },  { "sum_ns", "sum", WEFT_CELL_NS },
    { "self_ns", "self", WEFT_CELL_NS },   { "min_ns", NULL, WEFT_CELL_NS },
    { "max_ns", "max", WEFT_CELL_NS },     { "n_folded", NULL, WEFT_CELL_COUNT },
    { "cut_start", NULL, WEFT_CELL_BOOL }, { "cut_end", NULL, WEFT_CELL_BOOL },
    { "repaired", NULL, WEFT_CELL_BOOL },  { "outlier", NULL, WEFT_CELL_BOOL },
    { NULL, "what", WEFT_CELL_TEXT },
};

static void segment_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct regtime *regtime = context;
    const struct weft_regtime_row *row = &regtime->table->threads[regtime->thread].rows[index];
    bool has_function = row->function_id != WEFT_ID_NONE;
    bool is_gap = row->kind == WEFT_REGTIME_GAP;
    cells[0].number = thread_info(regtime, regtime->thread)->info.tid;
    cells[1].text = weft_str_of(kind_names[row->kind]);
    cells[2].number = row->level;
    cells[3] = (struct weft_cell){ .number = row->parent, .is_null = row->parent == WEFT_ID_NONE };
    cells[4].is_null = cells[5].is_null = !has_function;
    if (has_function) {
        const struct weft_function *function =
            weft_trace_function(regtime->view->trace, row->function_id);
        cells[4].text = function->name;
        cells[5].number = function->key;
    }
    const uint64_t numbers[] = { row->start_ns, row->end_ns,  row->end_ns - row->start_ns,
                                 row->count,    row->records, row->sum_ns,
                                 row->self_ns,  row->min_ns,  row->max_ns,
                                 row->n_folded };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cells[6 + i] = (struct weft_cell){ .number = numbers[i], .is_null = is_gap && i > 2 };
    cells[16].number = row->flags & WEFT_REGTIME_CUT_START;
    cells[17].number = row->flags & WEFT_REGTIME_CUT_END;
    cells[18].number = row->flags & WEFT_REGTIME_REPAIRED;
    cells[19].number = row->flags & WEFT_REGTIME_OUTLIER;
    if (regtime->view->format == WEFT_FORMAT_TEXT && !weft_output_has_failed(regtime->view->out)) {
        cells[20].text = describe_in_tree(regtime, row);
        cells[20].is_bad = row->flags & WEFT_REGTIME_OUTLIER;
    }
}

static struct weft_table segments_table(const struct regtime *regtime)
{
    return (struct weft_table){
        .columns = segment_columns,
        .n_columns = sizeof segment_columns / sizeof *segment_columns,
        .n_rows = regtime->table->threads[regtime->thread].n_rows_all,
        .row = segment_row,
        .context = regtime,
    };
}

/* ---- threads -----------------------------------------------------------------------------------
 */

static const struct weft_column thread_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "pid", NULL, WEFT_CELL_ID },
    { "name", "name", WEFT_CELL_TEXT },
    { "calls_before", "calls", WEFT_CELL_COUNT },
    { "cut_before", NULL, WEFT_CELL_COUNT },
    { "rows_after", "rows", WEFT_CELL_COUNT },
    { "ratio", "ratio", WEFT_CELL_RATIO },
    { "records_before", "records", WEFT_CELL_COUNT },
    { "records_after", "after", WEFT_CELL_COUNT },
    { "notable", "notable", WEFT_CELL_COUNT },
    { "expressions", "runs", WEFT_CELL_COUNT },
    { "nodes", NULL, WEFT_CELL_COUNT },
    { "others", NULL, WEFT_CELL_COUNT },
    { "gaps", "gaps", WEFT_CELL_COUNT },
    { "outliers", NULL, WEFT_CELL_COUNT },
    { "sliver_calls", "slivers", WEFT_CELL_COUNT },
    { "sliver_ns", NULL, WEFT_CELL_NS },
    { "folded_nodes", NULL, WEFT_CELL_COUNT },
    { "folded_calls", NULL, WEFT_CELL_COUNT },
    { "folded_ns", NULL, WEFT_CELL_NS },
    { "expression_ns", NULL, WEFT_CELL_NS },
    { "other_share", "in other", WEFT_CELL_SHARE },
    { "negligible_nodes", NULL, WEFT_CELL_COUNT },
    { "negligible_ns", NULL, WEFT_CELL_NS },
    { "memory_rows", NULL, WEFT_CELL_COUNT },
    { "factor", "factor", WEFT_CELL_RATIO },
    { "start_ns", NULL, WEFT_CELL_AT },
    { "end_ns", NULL, WEFT_CELL_AT },
    { "duration_threshold_ns", NULL, WEFT_CELL_NS },
    { "gap_threshold_ns", NULL, WEFT_CELL_NS },
    { "span_threshold_ns", NULL, WEFT_CELL_NS },
    { NULL, "time", WEFT_CELL_TEXT },
};

enum { N_THREAD_COLUMNS = sizeof thread_columns / sizeof *thread_columns, NAME_COLUMN = 2 };

static void fill_counts(const struct weft_regtime_thread *thread, struct weft_cell *cells)
{
    const uint64_t numbers[] = {
        thread->n_notable,    thread->n_expressions,  thread->n_nodes,      thread->n_others,
        thread->n_gaps,       count_outliers(thread), thread->sliver_calls, thread->sliver_ns,
        thread->folded_nodes, thread->folded_calls,   thread->folded_ns,    thread->expression_ns
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cells[i].number = numbers[i];
}

static void thread_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct regtime *regtime = context;
    const struct weft_regtime_thread *thread = &regtime->table->threads[index];
    const struct weft_model_thread *info = thread_info(regtime, index);
    cells[0].number = info->info.tid;
    cells[1] = (struct weft_cell){ .number = info->info.pid, .is_null = info->info.pid == 0 };
    cells[2].text = info->info.name;
    cells[3].number = thread->calls_before;
    cells[4].number = thread->cut_before;
    cells[5].number = thread->rows_after;
    cells[6] = (struct weft_cell){ .real = ratio_of(thread->calls_before, thread->rows_after),
                                   .is_null = thread->rows_after == 0 };
    cells[7].number = thread->records_before;
    cells[8].number = thread->records_after;
    fill_counts(thread, cells + 9);
    cells[21].real = share_of(thread->folded_ns, thread->expression_ns);
    cells[22].number = thread->negligible_nodes;
    cells[23].number = thread->negligible_ns;
    cells[24] =
        (struct weft_cell){ .number = thread->memory_rows, .is_null = thread->memory_rows == 0 };
    cells[25] = (struct weft_cell){ .real = thread->factor, .is_bad = thread->factor > 1 };
    cells[26].number = thread->start_ns;
    cells[27].number = thread->end_ns;
    cells[28].number = thread->duration_ns;
    cells[29].number = thread->gap_ns;
    cells[30].number = thread->span_ns;
    if (regtime->n_strip > 0)
        cells[31].text =
            weft_strip(regtime->arena, thread, weft_trace_meta(regtime->view->trace)->duration_ns,
                       regtime->n_strip);
}

static void thread_segments(const void *context, size_t index, struct weft_json *json)
{
    struct regtime regtime = *(const struct regtime *)context;
    regtime.thread = index;
    struct weft_table segments = segments_table(&regtime);
    weft_table_json(&segments, "segments", json);
}

/* A thread without a name is shown by its tid: a column of such names would only repeat it. */
static bool has_names(const struct regtime *regtime)
{
    for (size_t i = 0; i < regtime->table->n_threads; i++) {
        char unnamed[32];
        const struct weft_model_thread *info = thread_info(regtime, i);
        snprintf(unnamed, sizeof unnamed, "T%" PRIu64, info->info.tid);
        if (!weft_str_equal(info->info.name, weft_str_of(unnamed)))
            return true;
    }
    return false;
}

/* Columns left beside the numbers; a terminal too narrow for both gets no strip. */
static size_t strip_columns(const struct regtime *regtime, const struct weft_table *threads)
{
    size_t n_columns = regtime->view->style.n_columns, n_taken = weft_table_columns(threads) + 2;
    if (n_columns == 0)
        return STRIP_COLUMNS;
    if (n_columns < n_taken + STRIP_LEAST)
        return 0;
    return n_columns - n_taken < STRIP_MOST ? n_columns - n_taken : STRIP_MOST;
}

static struct weft_table threads_table(const struct regtime *regtime)
{
    return (struct weft_table){ .columns = regtime->columns,
                                .n_columns = N_THREAD_COLUMNS - (regtime->n_strip == 0),
                                .n_rows = regtime->table->n_threads,
                                .row = thread_row,
                                .context = regtime,
                                .more = thread_segments };
}

/* ---- text
 * ---------------------------------------------------------------------------------------- */

static void print_threshold(const struct regtime *regtime, const char *what, double fraction,
                            uint64_t absolute_ns)
{
    struct weft_output *out = regtime->view->out;
    if (absolute_ns)
        weft_output_printf(out, "%s %s", what, weft_human_ns(absolute_ns).text);
    else
        weft_output_printf(out, "%s %.3g %%", what, fraction * 100);
}

static void print_settings(const struct regtime *regtime)
{
    const struct weft_regtime_opts *settings = regtime->opts->settings;
    struct weft_output *out = regtime->view->out;
    weft_output_printf(out, "preset %s: ", regtime->opts->preset);
    print_threshold(regtime, "calls longer than", settings->duration_fraction,
                    settings->duration_ns);
    print_threshold(regtime, ", gaps", settings->gap_fraction, settings->gap_ns);
    print_threshold(regtime, ", runs up to", settings->span_fraction, settings->span_ns);
    if (!settings->duration_ns || !settings->gap_ns || !settings->span_ns)
        weft_output_text(out, " (shares are of the thread's time)");
    if (settings->glyphs > 0)
        weft_output_printf(out, "; at most %" PRIu32 " rows a thread", settings->glyphs);
    if (settings->negligible_fraction > 0)
        weft_output_printf(out, "; nodes below %.3g %% folded",
                           settings->negligible_fraction * 100);
    if (regtime->opts->window)
        weft_output_printf(out, "; from %s to %s alone",
                           weft_human_at(regtime->opts->window->from_ns).text,
                           weft_human_at(regtime->opts->window->to_ns).text);
    weft_output_text(out, "\n\n");
}

/* Bytes of all rows, as JSON: what the compressed trace takes up. */
static uint64_t bytes_after(const struct regtime *regtime)
{
    struct weft_output *held;
    struct weft_json *json;
    struct regtime counted = *regtime;
    struct weft_view view = *regtime->view;
    struct weft_err err = { 0 };
    uint64_t n_bytes = 0;
    if (weft_output_to_nothing(&held, &err) != WEFT_OK) {
        weft_output_fail(regtime->view->out, &err);
        return 0;
    }
    view.format = WEFT_FORMAT_JSON;
    view.out = held;
    counted.view = &view;
    if (weft_json_open(held, &json, &err) == WEFT_OK) {
        weft_json_begin_array(json, NULL);
        for (counted.thread = 0; counted.thread < regtime->table->n_threads; counted.thread++) {
            struct weft_table segments = segments_table(&counted);
            weft_table_json(&segments, NULL, json);
        }
        weft_json_end_array(json);
        n_bytes = weft_output_offset(held);
        weft_json_close(json);
    }
    const enum weft_code code = weft_output_close(held, &err);
    if (code != WEFT_OK || err.code != WEFT_OK)
        weft_output_fail(regtime->view->out, &err);
    return n_bytes;
}

static void print_left_out(const struct regtime *regtime)
{
    const struct weft_regtime_table *table = regtime->table;
    struct weft_output *out = regtime->view->out;
    uint64_t sliver_calls = 0, sliver_ns = 0, folded_calls = 0, folded_nodes = 0;
    for (size_t i = 0; i < table->n_threads; i++) {
        sliver_calls += table->threads[i].sliver_calls;
        sliver_ns += table->threads[i].sliver_ns;
        folded_calls += table->threads[i].folded_calls;
        folded_nodes += table->threads[i].folded_nodes;
    }
    weft_output_printf(out, "left out: %s calls (%s) in slivers; ",
                       weft_human_count(sliver_calls).text, weft_human_ns(sliver_ns).text);
    weft_output_printf(out,
                       "%s nodes with %s calls folded into \"other\", %s of the time in runs\n",
                       weft_human_count(folded_nodes).text, weft_human_count(folded_calls).text,
                       weft_human_share(share_of(table->folded_ns, table->expression_ns)).text);
    if (table->n_raised > 0)
        weft_output_printf(out,
                           "thresholds raised to fit the row budget in %" PRIu64
                           " of %zu threads (column factor)\n",
                           table->n_raised, table->n_threads);
    else
        weft_output_text(out, "no threshold was raised: every notable call has its own row\n");
}

static void print_memory(const struct regtime *regtime)
{
    const struct weft_regtime_table *table = regtime->table;
    uint32_t rows = 0;
    for (size_t i = 0; i < table->n_threads && rows == 0; i++)
        rows = table->threads[i].memory_rows;
    if (rows > 0)
        weft_output_printf(regtime->view->out,
                           "memory allowed %" PRIu32 " rows a thread, fewer than %" PRIu64
                           " of %zu threads would have: more was folded; give more with --mem\n",
                           rows, table->n_memory, table->n_threads);
}

static void print_totals(const struct regtime *regtime)
{
    const struct weft_regtime_table *table = regtime->table;
    const struct weft_store_meta *meta = weft_trace_meta(regtime->view->trace);
    struct weft_output *out = regtime->view->out;
    weft_output_printf(out, "%zu threads: %s calls -> %s rows, ", table->n_threads,
                       weft_human_count(table->calls_before).text,
                       weft_human_count(table->rows_after).text);
    weft_output_printf(
        out, "ratio %s; %s records -> %s, ratio %s (leaf call 1, other 2)\n",
        weft_human_ratio(ratio_of(table->calls_before, table->rows_after)).text,
        weft_human_count(table->records_before).text, weft_human_count(table->records_after).text,
        weft_human_ratio(ratio_of(table->records_before, table->records_after)).text);
    if (!regtime->view->has_filter && meta->bytes_in > 0) {
        uint64_t n_bytes = bytes_after(regtime);
        weft_output_printf(out, "size: %s imported -> %s of rows as JSON, ratio %s\n",
                           weft_human_bytes(meta->bytes_in).text, weft_human_bytes(n_bytes).text,
                           weft_human_ratio(ratio_of(meta->bytes_in, n_bytes)).text);
    }
    print_left_out(regtime);
    print_memory(regtime);
    if (regtime->n_strip > 0) {
        weft_view_dim(regtime->view, WEFT_STRIP_LEGEND);
        weft_output_text(out, "\n");
    }
}

static void print_segments(struct regtime *regtime)
{
    struct weft_output *out = regtime->view->out;
    for (size_t i = 0; i < regtime->table->n_threads; i++) {
        const struct weft_regtime_thread *thread = &regtime->table->threads[i];
        const struct weft_model_thread *info = thread_info(regtime, i);
        regtime->thread = i;
        struct weft_table segments = segments_table(regtime);
        weft_output_text(out, i > 0 ? "\n" : "");
        weft_output_printf(out, "thread %" PRIu64 " %.*s: calls %s, rows %s\n", info->info.tid,
                           (int)info->info.name.n_bytes, info->info.name.bytes,
                           weft_human_count(thread->calls_before).text,
                           weft_human_count(thread->rows_after).text);
        weft_table_text(&segments, &regtime->view->style, out);
        weft_arena_reset(regtime->arena);
    }
    weft_output_text(out, "\n");
}

static void print_text(struct regtime *regtime)
{
    if (regtime->table->n_threads == 0) {
        weft_output_text(regtime->view->out, "no thread: the trace holds none\n");
        return;
    }
    print_settings(regtime);
    if (regtime->opts->with_segments)
        print_segments(regtime);
    struct weft_column columns[N_THREAD_COLUMNS];
    memcpy(columns, thread_columns, sizeof columns);
    columns[NAME_COLUMN].head = has_names(regtime) ? columns[NAME_COLUMN].head : NULL;
    regtime->columns = columns;
    struct weft_table threads = threads_table(regtime);
    regtime->n_strip = strip_columns(regtime, &threads);
    threads.n_columns += regtime->n_strip > 0;
    weft_table_text(&threads, &regtime->view->style, regtime->view->out);
    weft_output_text(regtime->view->out, "\n");
    print_totals(regtime);
}

/* ---- JSON, CSV
 * ----------------------------------------------------------------------------------- */

static void json_threshold(struct weft_json *json, const char *key_fraction, double fraction,
                           const char *key_ns, uint64_t absolute_ns)
{
    weft_json_real(json, key_fraction, fraction);
    weft_json_u64(json, key_ns, absolute_ns);
}

void weft_render_regtime_settings(struct weft_json *json, const struct weft_regtime_view *opts)
{
    const struct weft_regtime_opts *settings = opts->settings;
    weft_json_text(json, "preset", opts->preset);
    json_threshold(json, "duration_fraction", settings->duration_fraction, "duration_ns",
                   settings->duration_ns);
    json_threshold(json, "gap_fraction", settings->gap_fraction, "gap_ns", settings->gap_ns);
    json_threshold(json, "span_fraction", settings->span_fraction, "span_ns", settings->span_ns);
    weft_json_u64(json, "glyphs", settings->glyphs);
    weft_json_real(json, "negligible_fraction", settings->negligible_fraction);
    weft_json_real(json, "outlier_factor", settings->outlier_factor);
    weft_json_u64(json, "outlier_min_ns", settings->outlier_min_ns);
    if (opts->window) {
        weft_json_u64(json, "from_ns", opts->window->from_ns);
        weft_json_u64(json, "to_ns", opts->window->to_ns);
    }
}

static void json_totals(const struct regtime *regtime, uint64_t segment_bytes,
                        struct weft_json *json)
{
    const struct weft_regtime_table *table = regtime->table;
    weft_json_new_line(json);
    weft_json_begin_object(json, "totals");
    weft_json_u64(json, "calls_before", table->calls_before);
    weft_json_u64(json, "rows_after", table->rows_after);
    weft_json_real(json, "ratio", ratio_of(table->calls_before, table->rows_after));
    weft_json_u64(json, "records_before", table->records_before);
    weft_json_u64(json, "records_after", table->records_after);
    weft_json_real(json, "records_ratio", ratio_of(table->records_before, table->records_after));
    weft_json_u64(json, "folded_ns", table->folded_ns);
    weft_json_u64(json, "expression_ns", table->expression_ns);
    weft_json_real(json, "other_share", share_of(table->folded_ns, table->expression_ns));
    weft_json_u64(json, "raised_threads", table->n_raised);
    if (regtime->view->has_filter)
        weft_json_null(json, "bytes_before");
    else
        weft_json_u64(json, "bytes_before", weft_trace_meta(regtime->view->trace)->bytes_in);
    weft_json_u64(json, "bytes_after", segment_bytes);
    weft_json_end_object(json);
}

static void print_json(const struct regtime *regtime)
{
    struct weft_json *json = weft_view_json(regtime->view);
    struct weft_table threads = threads_table(regtime);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_begin_object(json, "settings");
    weft_render_regtime_settings(json, regtime->opts);
    weft_json_end_object(json);
    uint64_t begin_off = weft_output_offset(regtime->view->out);
    weft_table_json(&threads, "threads", json);
    json_totals(regtime, weft_output_offset(regtime->view->out) - begin_off, json);
    weft_json_end_object(json);
    weft_view_json_end(regtime->view, json);
}

/* One table for all threads: one head, then the rows of each. */
static void print_csv_segments(struct regtime *regtime)
{
    for (size_t i = 0; i < regtime->table->n_threads; i++) {
        regtime->thread = i;
        struct weft_table segments = segments_table(regtime);
        segments.without_head = i > 0;
        weft_table_csv(&segments, regtime->view->out);
    }
}

static void print_csv(struct regtime *regtime)
{
    struct weft_table threads = threads_table(regtime);
    if (regtime->opts->with_segments)
        print_csv_segments(regtime);
    else
        weft_table_csv(&threads, regtime->view->out);
}

void weft_render_regtime(const struct weft_view *view, const struct weft_regtime_table *table,
                         const struct weft_regtime_view *opts)
{
    struct regtime regtime = { .view = view,
                               .table = table,
                               .opts = opts,
                               .arena = weft_arena_new(0),
                               .columns = thread_columns };
    if (!regtime.arena) {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory to print the threads");
        weft_output_fail(view->out, &err);
    } else if (view->format == WEFT_FORMAT_JSON) {
        print_json(&regtime);
    } else if (view->format == WEFT_FORMAT_CSV) {
        print_csv(&regtime);
    } else {
        print_text(&regtime);
    }
    weft_output_release(view->out, regtime.arena);
}
