/* SPDX-License-Identifier: MIT
 *
 * RegTime on the terminal: how far each thread was compressed, what was folded or raised to get
 * there, and on request every row.
 */
#include "analysis/regtime/regtime.h"

#include "render/human.h"
#include "render/strip.h"
#include "render/text/render.h"
#include "render/text/tables.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP_COLUMNS = 32, STRIP_NARROW = 28, STRIP_MOST = 64 };

struct regtime {
    const struct weft_view *view;
    const struct weft_regtime_table *table;
    const struct weft_regtime_view *opts;
    size_t n_strip; /* columns of the strip; 0: none */
};

static double ratio_of(uint64_t before, uint64_t after)
{
    return after ? (double)before / (double)after : 0;
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

static struct weft_table segments_table(const struct regtime *regtime, size_t index)
{
    const struct weft_regtime_thread *thread = &regtime->table->threads[index];
    return (struct weft_table){ .type = &weft_regtime_segments_type,
                                .rows = thread->rows,
                                .n_rows = thread->n_rows_all,
                                .in = weft_view_context(regtime->view, thread) };
}

/* ---- threads -----------------------------------------------------------------------------------
 */

#define ROW struct weft_regtime_thread

static WEFT_GET(get_pid)
{
    cell->number = context->thread(context->trace, ((const ROW *)row)->thread_id)->pid;
    cell->is_null = cell->number == 0;
}

static WEFT_GET(get_ratio)
{
    const ROW *thread = row;
    cell->real = ratio_of(thread->calls_before, thread->rows_after);
    cell->is_null = thread->rows_after == 0;
}

static WEFT_GET(get_outliers)
{
    cell->number = count_outliers(row);
}

static WEFT_GET(get_folded)
{
    const ROW *thread = row;
    cell->real = weft_share_of(thread->folded_ns, thread->expression_ns);
}

static WEFT_GET(get_factor)
{
    weft_field_read(field, context, row, cell);
    cell->is_bad = cell->real > 1;
}

static WEFT_GET(get_strip)
{
    const struct regtime *regtime = context->of;
    cell->text = weft_strip(context->arena, row, weft_trace_meta(context->trace)->duration_ns,
                            regtime->n_strip);
}

static const struct weft_field thread_fields[] = {
    WEFT_FIELD("tid", "tid", ID, thread_id, "tid of the thread", .as = WEFT_AS_TID),
    WEFT_GETTER("pid", NULL, ID, get_pid, "its process"),
    WEFT_FIELD("name", "name", TEXT, thread_id, "its name", .as = WEFT_AS_THREAD),
    WEFT_FIELD("calls_before", "calls", COUNT, calls_before, "calls of the thread"),
    WEFT_FIELD("cut_before", NULL, COUNT, cut_before, "calls entered before the trace"),
    WEFT_FIELD("rows_after", "rows", COUNT, rows_after, "rows that they became"),
    WEFT_GETTER("ratio", "ratio", RATIO, get_ratio, "calls by rows"),
    WEFT_FIELD("records_before", "records", COUNT, records_before,
               "records of the calls: a leaf call 1, another one 2", .is_detail = true),
    WEFT_FIELD("records_after", "after", COUNT, records_after, "records of the rows",
               .is_detail = true),
    WEFT_FIELD("notable", "notable", COUNT, n_notable, "notable calls", .is_detail = true),
    WEFT_FIELD("expressions", "runs", COUNT, n_expressions, "runs of short calls"),
    WEFT_FIELD("nodes", NULL, COUNT, n_nodes, "nodes in them"),
    WEFT_FIELD("others", NULL, COUNT, n_others, "rows of aggregated nodes"),
    WEFT_FIELD("gaps", "gaps", COUNT, n_gaps, "gaps without a call", .is_detail = true),
    WEFT_GETTER("outliers", NULL, COUNT, get_outliers, "rows with an unusual call"),
    WEFT_FIELD("sliver_calls", "short", COUNT, sliver_calls, "calls too short for a row",
               .is_detail = true),
    WEFT_FIELD("sliver_ns", NULL, NS, sliver_ns, "their time"),
    WEFT_FIELD("folded_nodes", NULL, COUNT, folded_nodes, "nodes aggregated"),
    WEFT_FIELD("folded_calls", NULL, COUNT, folded_calls, "calls aggregated"),
    WEFT_FIELD("folded_ns", NULL, NS, folded_ns, "their self time"),
    WEFT_FIELD("expression_ns", NULL, NS, expression_ns, "self time of all calls in runs"),
    WEFT_GETTER("other_share", "aggregated", SHARE, get_folded, "share of it that is aggregated",
                .is_detail = true),
    WEFT_FIELD("negligible_nodes", NULL, COUNT, negligible_nodes, "nodes below --negligible"),
    WEFT_FIELD("negligible_ns", NULL, NS, negligible_ns, "their time"),
    WEFT_FIELD("memory_rows", NULL, COUNT, memory_rows, "rows that memory allowed, if too few",
               .zero_is_unknown = true),
    WEFT_FIELD("factor", "factor", RATIO, factor, "by which thresholds were raised",
               .get = get_factor, .is_detail = true),
    WEFT_FIELD("start_ns", NULL, AT, start_ns, "start of the first call"),
    WEFT_FIELD("end_ns", NULL, AT, end_ns, "end of the last call"),
    WEFT_FIELD("duration_threshold_ns", NULL, NS, duration_ns, "calls are notable above this"),
    WEFT_FIELD("gap_threshold_ns", NULL, NS, gap_ns, "gaps are notable above this"),
    WEFT_FIELD("span_threshold_ns", NULL, NS, span_ns, "runs are no longer than this"),
    WEFT_GETTER(NULL, "time", TEXT, get_strip, "the thread over the time of the trace"),
};

const struct weft_table_type weft_regtime_threads_type =
    WEFT_TABLE_TYPE("regtime", "threads and how far they were compressed", thread_fields, ROW);

enum { STRIP_COLUMN = sizeof thread_fields / sizeof *thread_fields - 1, NAME_COLUMN = 2 };

static void thread_segments(const void *context, size_t index, struct weft_json *json)
{
    const struct weft_table segments = segments_table(context, index);
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

/* Columns left beside the numbers; where they are few, details give way to the strip. */
static size_t strip_columns(const struct regtime *regtime, const struct weft_table *threads)
{
    size_t n_columns = regtime->view->style.n_columns, n_taken = weft_table_columns(threads) + 2;
    if (n_columns == 0)
        return STRIP_COLUMNS;
    if (n_columns < n_taken + STRIP_NARROW)
        return STRIP_NARROW;
    return n_columns - n_taken < STRIP_MOST ? n_columns - n_taken : STRIP_MOST;
}

static struct weft_table threads_table(const struct regtime *regtime)
{
    return (struct weft_table){ .type = &weft_regtime_threads_type,
                                .rows = regtime->table->threads,
                                .n_rows = regtime->table->n_threads,
                                .omitted = UINT64_C(1) << STRIP_COLUMN,
                                .in = weft_view_context(regtime->view, regtime),
                                .context = regtime,
                                .more = thread_segments };
}

/* ---- text
 * ---------------------------------------------------------------------------------------- */

static void print_threshold(struct weft_output *out, const char *what, double fraction,
                            uint64_t absolute_ns)
{
    if (absolute_ns)
        weft_output_printf(out, "%s %s", what, weft_human_ns(absolute_ns).text);
    else
        weft_output_printf(out, "%s %.3g %%", what, fraction * 100);
}

static void print_settings(const struct regtime *regtime)
{
    const struct weft_regtime_opts *settings = regtime->opts->settings;
    struct weft_output *out = weft_view_line(regtime->view);
    weft_output_printf(out, "preset %s: ", regtime->opts->preset);
    print_threshold(out, "calls longer than", settings->duration_fraction, settings->duration_ns);
    print_threshold(out, ", gaps", settings->gap_fraction, settings->gap_ns);
    print_threshold(out, ", runs up to", settings->span_fraction, settings->span_ns);
    if (!settings->duration_ns || !settings->gap_ns || !settings->span_ns)
        weft_output_text(out, " (% of the thread's time)");
    if (settings->glyphs > 0)
        weft_output_printf(out, "; at most %" PRIu32 " rows a thread", settings->glyphs);
    if (settings->negligible_fraction > 0)
        weft_output_printf(out, "; nodes below %.3g %% aggregated",
                           settings->negligible_fraction * 100);
    if (regtime->opts->window)
        weft_output_printf(out, "; only %s to %s",
                           weft_human_at(regtime->opts->window->from_ns).text,
                           weft_human_at(regtime->opts->window->to_ns).text);
    weft_view_line_end(regtime->view, out, 0);
    weft_output_text(regtime->view->out, "\n");
}

/* Bytes of all rows, as JSON: what the compressed trace takes up. */
static uint64_t bytes_after(const struct regtime *regtime)
{
    struct weft_output *held;
    struct weft_json *json;
    struct weft_err err = { 0 };
    uint64_t n_bytes = 0;
    if (weft_output_to_nothing(&held, &err) != WEFT_OK) {
        weft_output_fail(regtime->view->out, &err);
        return 0;
    }
    if (weft_json_open(held, &json, &err) == WEFT_OK) {
        weft_json_begin_array(json, NULL);
        for (size_t i = 0; i < regtime->table->n_threads; i++) {
            const struct weft_table segments = segments_table(regtime, i);
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
    struct weft_output *out = weft_view_line(regtime->view);
    uint64_t sliver_calls = 0, sliver_ns = 0, folded_calls = 0, folded_nodes = 0;
    for (size_t i = 0; i < table->n_threads; i++) {
        sliver_calls += table->threads[i].sliver_calls;
        sliver_ns += table->threads[i].sliver_ns;
        folded_calls += table->threads[i].folded_calls;
        folded_nodes += table->threads[i].folded_nodes;
    }
    weft_output_printf(out, "omitted: %s short calls (%s); ", weft_human_count(sliver_calls).text,
                       weft_human_ns(sliver_ns).text);
    weft_output_printf(
        out, "%s nodes with %s calls aggregated, %s of the time in runs",
        weft_human_count(folded_nodes).text, weft_human_count(folded_calls).text,
        weft_human_share(weft_share_of(table->folded_ns, table->expression_ns)).text);
    weft_view_line_end(regtime->view, out, 0);
    out = regtime->view->out;
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
                           "memory limit: %" PRIu32 " rows a thread, too few for %" PRIu64
                           " of %zu threads; raise it with --mem\n",
                           rows, table->n_memory, table->n_threads);
}

static void print_totals(const struct regtime *regtime)
{
    const struct weft_regtime_table *table = regtime->table;
    const struct weft_store_meta *meta = weft_trace_meta(regtime->view->trace);
    struct weft_output *out = weft_view_line(regtime->view);
    weft_output_printf(out, "%zu threads: %s calls -> %s rows, ", table->n_threads,
                       weft_human_count(table->calls_before).text,
                       weft_human_count(table->rows_after).text);
    weft_output_printf(
        out, "ratio %s; %s records -> %s, ratio %s (leaf call 1, other 2)",
        weft_human_ratio(ratio_of(table->calls_before, table->rows_after)).text,
        weft_human_count(table->records_before).text, weft_human_count(table->records_after).text,
        weft_human_ratio(ratio_of(table->records_before, table->records_after)).text);
    weft_view_line_end(regtime->view, out, 0);
    out = regtime->view->out;
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

static void print_segments(const struct regtime *regtime)
{
    struct weft_output *out = regtime->view->out;
    for (size_t i = 0; i < regtime->table->n_threads; i++) {
        const struct weft_regtime_thread *thread = &regtime->table->threads[i];
        const struct weft_model_thread *info = thread_info(regtime, i);
        const struct weft_table segments = segments_table(regtime, i);
        weft_output_text(out, i > 0 ? "\n" : "");
        weft_output_printf(out, "thread %" PRIu64 " %.*s: calls %s, rows %s\n", info->info.tid,
                           (int)info->info.name.n_bytes, info->info.name.bytes,
                           weft_human_count(thread->calls_before).text,
                           weft_human_count(thread->rows_after).text);
        weft_table_text(&segments, &regtime->view->style, out);
    }
    weft_output_text(out, "\n");
}

static void print_text(struct regtime *regtime)
{
    weft_view_headline(regtime->view, weft_human_plural(regtime->table->calls_before, "call").text);
    if (regtime->table->n_threads == 0) {
        weft_output_text(regtime->view->out, "no threads in this trace\n");
        return;
    }
    print_settings(regtime);
    if (regtime->opts->with_segments)
        print_segments(regtime);
    struct weft_table threads = threads_table(regtime);
    threads.omitted |= has_names(regtime) ? 0 : UINT64_C(1) << NAME_COLUMN;
    regtime->n_strip = strip_columns(regtime, &threads);
    threads.omitted &= ~((uint64_t)(regtime->n_strip > 0) << STRIP_COLUMN);
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
    weft_json_real(json, "other_share", weft_share_of(table->folded_ns, table->expression_ns));
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
static void print_csv_segments(const struct regtime *regtime)
{
    for (size_t i = 0; i < regtime->table->n_threads; i++) {
        struct weft_table segments = segments_table(regtime, i);
        segments.without_head = i > 0;
        weft_table_csv(&segments, regtime->view->out);
    }
}

static void print_csv(const struct regtime *regtime)
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
    struct regtime regtime = { .view = view, .table = table, .opts = opts };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&regtime);
    else if (view->format == WEFT_FORMAT_CSV)
        print_csv(&regtime);
    else
        print_text(&regtime);
}
