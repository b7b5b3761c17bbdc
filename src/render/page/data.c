/* SPDX-License-Identifier: MIT
 *
 * The data of the report page (docs/page-data.md): columns instead of objects where there are many
 * rows, and differences instead of values where neighbours are alike, because both compress well.
 */
#include "base/arena.h"
#include "render/columns/pack.h"
#include "render/json/json.h"
#include "render/page/answers.h"
#include "render/page/page.h"
#include "render/page/shapes.h"
#include "render/text/notes.h"
#include "schema/activity.h"
#include "schema/functions.h"
#include "schema/outliers.h"
#include "schema/regtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 3, NOTES_BYTES = 8000 /* of the page, that follow the shapes */ };

/* A generator and what its rows refer to. */
struct data {
    const struct weft_page *page;
    struct weft_json *json;
    const struct weft_note_sums *notes;
    int64_t *below_ns; /* by row of the thread at hand */
};

int64_t weft_page_function(const struct weft_page *page, uint32_t function_id)
{
    const struct weft_functions_table *table = page->functions;
    if (function_id >= table->n_functions || table->row_of_function[function_id] == WEFT_ID_NONE)
        return -1;
    return table->row_of_function[function_id];
}

/* ---- trace, notes, settings ------------------------------------------------------------------ */

static void put_trace(const struct data *data)
{
    const struct weft_store_meta *meta = weft_trace_meta(data->page->trace);
    struct weft_json *json = data->json;
    weft_json_begin_object(json, "trace");
    weft_json_text(json, "name", data->page->name);
    weft_json_str(json, "format", meta->format);
    weft_json_str(json, "details", meta->details);
    weft_json_u64(json, "duration_ns", meta->duration_ns);
    weft_json_u64(json, "threads", meta->n_threads);
    weft_json_u64(json, "calls", meta->calls);
    weft_json_u64(json, "cut_calls", meta->cut_calls);
    weft_json_u64(json, "functions", meta->n_functions);
    weft_json_u64(json, "bytes_in", meta->bytes_in);
    weft_json_u64(json, "bytes_out", meta->bytes_out);
    if (meta->clock.has_realtime)
        weft_json_u64(json, "realtime_ns", meta->clock.realtime_ns);
    else
        weft_json_null(json, "realtime_ns");
    weft_json_end_object(json);
}

/* As a note of what was lost, which the page shows where it lists them. */
static void put_missing(struct weft_json *json, const struct weft_missing_part *part)
{
    char text[WEFT_ERR_FILE_BYTES + WEFT_ERR_TEXT_BYTES + WEFT_ERR_PLACE_BYTES], reason[640];
    weft_err_print(&part->reason, reason, sizeof reason);
    (void)snprintf(text, sizeof text, "%s: %s", weft_missing_name(part->kind), reason);
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "kind", "missing_part");
    weft_json_text(json, "class", weft_note_class_name(WEFT_NOTE_CLASS_LOST));
    weft_json_u64(json, "count", 1);
    weft_json_text(json, "text", "part of this page that is missing");
    weft_json_text(json, "detail", text);
    weft_json_null(json, "tid");
    weft_json_end_object(json);
}

/* After all else: parts may fail while they are written. */
static void put_notes(const struct data *data)
{
    struct weft_json *json = data->json;
    weft_json_begin_array(json, "notes");
    for (size_t i = 0; data->page->missing && i < data->page->missing->n; i++)
        put_missing(json, &data->page->missing->parts[i]);
    for (size_t i = 0; i < data->notes->n_rows; i++) {
        const struct weft_note_sum *note = &data->notes->rows[i];
        weft_json_begin_object(json, NULL);
        weft_json_text(json, "kind", weft_note_name(note->kind));
        weft_json_text(json, "class", weft_note_class_name(note->class));
        weft_json_u64(json, "count", note->count);
        weft_json_text(json, "text", weft_note_text(note->kind));
        weft_json_str(json, "detail", note->detail);
        if (note->thread_id == WEFT_ID_NONE)
            weft_json_null(json, "tid");
        else
            weft_json_u64(json, "tid",
                          weft_trace_thread(data->page->trace, note->thread_id)->info.tid);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void put_settings(const struct data *data)
{
    weft_json_begin_object(data->json, "settings");
    weft_render_regtime_settings(data->json, data->page->settings);
    weft_json_u64(data->json, "pause_threshold_ns", data->page->activity->threshold_ns);
    weft_json_end_object(data->json);
}

/* ---- functions ------------------------------------------------------------------------------- */

typedef uint64_t (*function_value)(const struct data *data, const struct weft_function_row *row);

#define FUNCTION_VALUE(member)                                                                     \
    static uint64_t function_##member(const struct data *data,                                     \
                                      const struct weft_function_row *row)                         \
    {                                                                                              \
        (void)data;                                                                                \
        return row->member;                                                                        \
    }

FUNCTION_VALUE(count)
FUNCTION_VALUE(inclusive_ns)
FUNCTION_VALUE(self_ns)
FUNCTION_VALUE(min_ns)
FUNCTION_VALUE(mean_ns)
FUNCTION_VALUE(max_ns)
FUNCTION_VALUE(p50_ns)
FUNCTION_VALUE(p90_ns)
FUNCTION_VALUE(p99_ns)
FUNCTION_VALUE(p999_ns)
FUNCTION_VALUE(n_threads)
FUNCTION_VALUE(open_count)
FUNCTION_VALUE(open_ns)
FUNCTION_VALUE(cut_count)
FUNCTION_VALUE(cut_ns)

static uint64_t function_id(const struct data *data, const struct weft_function_row *row)
{
    (void)data;
    return row->function_id;
}

static uint64_t function_group(const struct data *data, const struct weft_function_row *row)
{
    return weft_trace_function(data->page->trace, row->function_id)->group_id;
}

static uint64_t function_is_wait(const struct data *data, const struct weft_function_row *row)
{
    const struct weft_activity_table *activity = data->page->activity;
    return row->function_id < activity->n_functions && activity->is_wait_function[row->function_id];
}

static void put_function_names(const struct data *data)
{
    const struct weft_functions_table *table = data->page->functions;
    weft_json_begin_array(data->json, "name");
    for (size_t i = 0; i < table->n_rows; i++)
        weft_json_str(data->json, NULL,
                      weft_trace_function(data->page->trace, table->rows[i].function_id)->name);
    weft_json_end_array(data->json);
    weft_json_begin_array(data->json, "module");
    for (size_t i = 0; i < table->n_rows; i++)
        weft_json_str(data->json, NULL,
                      weft_trace_function(data->page->trace, table->rows[i].function_id)->module);
    weft_json_end_array(data->json);
}

static void put_functions(const struct data *data)
{
    static const struct {
        const char *key;
        function_value value;
    } columns[] = {
        { "id", function_id },
        { "group", function_group },
        { "count", function_count },
        { "inclusive_ns", function_inclusive_ns },
        { "self_ns", function_self_ns },
        { "min_ns", function_min_ns },
        { "mean_ns", function_mean_ns },
        { "max_ns", function_max_ns },
        { "p50_ns", function_p50_ns },
        { "p90_ns", function_p90_ns },
        { "p99_ns", function_p99_ns },
        { "p999_ns", function_p999_ns },
        { "threads", function_n_threads },
        { "open_count", function_open_count },
        { "open_ns", function_open_ns },
        { "cut_count", function_cut_count },
        { "cut_ns", function_cut_ns },
        { "is_wait", function_is_wait },
    };
    const struct weft_functions_table *table = data->page->functions;
    weft_json_begin_object(data->json, "functions");
    put_function_names(data);
    for (size_t column = 0; column < sizeof columns / sizeof *columns; column++) {
        weft_json_begin_array(data->json, columns[column].key);
        for (size_t i = 0; i < table->n_rows; i++)
            weft_json_u64(data->json, NULL, columns[column].value(data, &table->rows[i]));
        weft_json_end_array(data->json);
    }
    weft_json_end_object(data->json);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Below: what the children of each row take of its time. */
struct rows {
    const struct weft_regtime_row *rows;
    const int64_t *below_ns;
};

typedef int64_t (*row_value)(const struct data *data, const struct rows *all, size_t index);

static int64_t length_of(const struct weft_regtime_row *row)
{
    return (int64_t)(row->end_ns - row->start_ns);
}

static int64_t row_kind(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return all->rows[index].kind;
}

static int64_t row_level(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return all->rows[index].level;
}

static int64_t row_parent(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    uint32_t parent = all->rows[index].parent;
    return parent == WEFT_ID_NONE ? 0 : (int64_t)index - parent;
}

static int64_t row_function(const struct data *data, const struct rows *all, size_t index)
{
    return weft_page_function(data->page, all->rows[index].function_id);
}

static int64_t row_flags(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return all->rows[index].flags;
}

static int64_t row_start(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return (int64_t)(all->rows[index].start_ns - (index > 0 ? all->rows[index - 1].start_ns : 0));
}

static int64_t row_length(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return length_of(&all->rows[index]);
}

static int64_t row_count(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return (int64_t)all->rows[index].count;
}

static int64_t row_sum(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return (int64_t)all->rows[index].sum_ns - length_of(&all->rows[index]);
}

/* What the children leave is self time: so this is 0 as a rule, and costs nothing. */
static int64_t row_self(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    const struct weft_regtime_row *row = &all->rows[index];
    int64_t rest_ns = row->kind == WEFT_REGTIME_EXPRESSION
                          ? all->below_ns[index]
                          : (int64_t)row->sum_ns - all->below_ns[index];
    return rest_ns - (int64_t)row->self_ns;
}

/* The whole part of the mean: of a single call, its duration. */
static int64_t mean_of(const struct weft_regtime_row *row)
{
    return (int64_t)(row->sum_ns / (row->count > 0 ? row->count : 1));
}

static int64_t row_min(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return mean_of(&all->rows[index]) - (int64_t)all->rows[index].min_ns;
}

static int64_t row_max(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return (int64_t)all->rows[index].max_ns - mean_of(&all->rows[index]);
}

static int64_t row_folded(const struct data *data, const struct rows *all, size_t index)
{
    (void)data;
    return all->rows[index].n_folded;
}

/* Rows stand behind their parents, so one pass from the end adds up all levels. */
static void sum_below(const struct weft_regtime_thread *thread, int64_t *below_ns)
{
    memset(below_ns, 0, thread->n_rows_all * sizeof *below_ns);
    for (size_t i = thread->n_rows_all; i-- > 0;) {
        const struct weft_regtime_row *row = &thread->rows[i];
        if (row->parent == WEFT_ID_NONE || row->kind == WEFT_REGTIME_GAP)
            continue;
        below_ns[row->parent] +=
            row->kind == WEFT_REGTIME_EXPRESSION ? below_ns[i] : (int64_t)row->sum_ns;
    }
}

/* Rows of all threads, one behind the other: a column is alike in all of them. */
static void put_rows(const struct data *data)
{
    static const struct {
        const char *key;
        row_value value;
    } columns[] = {
        { "k", row_kind },   { "l", row_level }, { "p", row_parent }, { "f", row_function },
        { "x", row_flags },  { "s", row_start }, { "t", row_length }, { "n", row_count },
        { "u", row_sum },    { "w", row_self },  { "a", row_min },    { "b", row_max },
        { "o", row_folded },
    };
    const struct weft_regtime_table *table = data->page->regtime;
    weft_json_begin_object(data->json, "rows");
    for (size_t column = 0; column < sizeof columns / sizeof *columns; column++) {
        weft_json_begin_array(data->json, columns[column].key);
        for (size_t t = 0; t < table->n_threads; t++) {
            const struct weft_regtime_thread *thread = &table->threads[t];
            const struct rows rows = { .rows = thread->rows, .below_ns = data->below_ns };
            if (columns[column].value == row_self)
                sum_below(thread, data->below_ns);
            for (size_t i = 0; i < thread->n_rows_all; i++)
                weft_json_i64(data->json, NULL, columns[column].value(data, &rows, i));
        }
        weft_json_end_array(data->json);
    }
    weft_json_end_object(data->json);
}

static void put_pauses(const struct data *data, const struct weft_activity_thread *thread)
{
    struct weft_json *json = data->json;
    weft_json_begin_object(json, "pauses");
    weft_json_begin_array(json, "k");
    for (size_t i = 0; i < thread->n_pauses; i++)
        weft_json_u64(json, NULL, thread->pauses[i].kind);
    weft_json_end_array(json);
    weft_json_begin_array(json, "f");
    for (size_t i = 0; i < thread->n_pauses; i++)
        weft_json_i64(json, NULL, weft_page_function(data->page, thread->pauses[i].function_id));
    weft_json_end_array(json);
    weft_json_begin_array(json, "s");
    for (size_t i = 0; i < thread->n_pauses; i++)
        weft_json_u64(json, NULL,
                      thread->pauses[i].start_ns - (i > 0 ? thread->pauses[i - 1].start_ns : 0));
    weft_json_end_array(json);
    weft_json_begin_array(json, "t");
    for (size_t i = 0; i < thread->n_pauses; i++)
        weft_json_u64(json, NULL, thread->pauses[i].end_ns - thread->pauses[i].start_ns);
    weft_json_end_array(json);
    weft_json_end_object(json);
}

static void put_thread_identity(const struct data *data, const struct weft_model_thread *thread)
{
    struct weft_json *json = data->json;
    weft_json_u64(json, "tid", thread->info.tid);
    weft_json_u64(json, "pid", thread->info.pid);
    weft_json_str(json, "name", thread->info.name);
    weft_json_u64(json, "calls", thread->calls);
    weft_json_u64(json, "cut_calls", thread->cut_calls);
    weft_json_u64(json, "first_ns", thread->first_ns);
    weft_json_u64(json, "last_ns", thread->last_ns);
}

static void put_thread_regtime(struct weft_json *json, const struct weft_regtime_thread *thread)
{
    weft_json_u64(json, "start_ns", thread->start_ns);
    weft_json_u64(json, "end_ns", thread->end_ns);
    weft_json_u64(json, "d_ns", thread->duration_ns);
    weft_json_u64(json, "g_ns", thread->gap_ns);
    weft_json_u64(json, "f_ns", thread->span_ns);
    weft_json_real(json, "factor", thread->factor);
    weft_json_u64(json, "rows_after", thread->rows_after);
    weft_json_u64(json, "records_before", thread->records_before);
    weft_json_u64(json, "records_after", thread->records_after);
    weft_json_u64(json, "n_notable", thread->n_notable);
    weft_json_u64(json, "n_expressions", thread->n_expressions);
    weft_json_u64(json, "n_nodes", thread->n_nodes);
    weft_json_u64(json, "n_others", thread->n_others);
    weft_json_u64(json, "n_gaps", thread->n_gaps);
    weft_json_u64(json, "sliver_calls", thread->sliver_calls);
    weft_json_u64(json, "sliver_ns", thread->sliver_ns);
    weft_json_u64(json, "folded_nodes", thread->folded_nodes);
    weft_json_u64(json, "folded_calls", thread->folded_calls);
    weft_json_u64(json, "folded_ns", thread->folded_ns);
    weft_json_u64(json, "expression_ns", thread->expression_ns);
}

static void put_thread_activity(struct weft_json *json, const struct weft_activity_thread *thread)
{
    weft_json_u64(json, "wait_ns", thread->wait_ns);
    weft_json_u64(json, "still_ns", thread->still_ns);
    weft_json_u64(json, "idle_ns", thread->idle_ns);
    weft_json_u64(json, "running_ns", thread->running_ns);
    weft_json_u64(json, "n_pauses", thread->n_pauses_all);
}

static void put_threads(const struct data *data)
{
    const struct weft_page *page = data->page;
    weft_json_begin_array(data->json, "threads");
    for (size_t i = 0; i < page->regtime->n_threads; i++) {
        const struct weft_regtime_thread *thread = &page->regtime->threads[i];
        weft_json_new_line(data->json);
        weft_json_begin_object(data->json, NULL);
        put_thread_identity(data, weft_trace_thread(page->trace, thread->thread_id));
        put_thread_regtime(data->json, thread);
        put_thread_activity(data->json, &page->activity->threads[i]);
        weft_json_u64(data->json, "n_rows", thread->n_rows_all);
        put_pauses(data, &page->activity->threads[i]);
        weft_json_end_object(data->json);
    }
    weft_json_end_array(data->json);
    put_rows(data);
}

/* ---- outliers and totals --------------------------------------------------------------------- */

/* The table is sorted by id. */
uint64_t weft_page_thread(const struct weft_page *page, uint32_t thread_id)
{
    const struct weft_regtime_table *table = page->regtime;
    if (!table)
        return thread_id;
    size_t low = 0, high = table->n_threads;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->threads[middle].thread_id < thread_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put_outlier(const struct data *data, const struct weft_outlier_row *row)
{
    struct weft_json *json = data->json;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "kind", row->kind);
    weft_json_u64(json, "thread", weft_page_thread(data->page, row->thread_id));
    weft_json_i64(json, "f", weft_page_function(data->page, row->function_id));
    weft_json_u64(json, "depth", row->depth);
    weft_json_u64(json, "s", row->start_ns);
    weft_json_u64(json, "t", row->end_ns - row->start_ns);
    weft_json_u64(json, "self", row->self_ns);
    weft_json_u64(json, "median", row->median_ns);
    weft_json_real(json, "times", row->times_median);
    weft_json_real(json, "share", row->thread_share);
    weft_json_real(json, "score", row->score);
    weft_json_u64(json, "flags", row->flags);
    weft_json_u64(json, "own", row->is_own);
    weft_json_u64(json, "long", row->is_long);
    weft_json_u64(json, "deepest", row->is_deepest);
    weft_json_begin_array(json, "context");
    for (uint32_t i = 0; i < row->n_context; i++)
        weft_json_i64(json, NULL, weft_page_function(data->page, row->context[i]));
    weft_json_end_array(json);
    weft_json_end_object(json);
}

static void put_outliers(const struct data *data)
{
    const struct weft_outliers_table *table = data->page->outliers;
    weft_json_begin_object(data->json, "outliers");
    weft_json_u64(data->json, "found", table->n_found);
    weft_json_u64(data->json, "own", table->n_own);
    weft_json_u64(data->json, "long", table->n_long);
    weft_json_u64(data->json, "gaps", table->n_gaps);
    weft_json_begin_array(data->json, "rows");
    for (size_t i = 0; i < table->n_rows; i++)
        put_outlier(data, &table->rows[i]);
    weft_json_end_array(data->json);
    weft_json_end_object(data->json);
}

static void put_totals(const struct data *data)
{
    const struct weft_regtime_table *table = data->page->regtime;
    struct weft_json *json = data->json;
    weft_json_begin_object(json, "totals");
    weft_json_u64(json, "calls_before", table->calls_before);
    weft_json_u64(json, "rows_after", table->rows_after);
    weft_json_u64(json, "records_before", table->records_before);
    weft_json_u64(json, "records_after", table->records_after);
    weft_json_u64(json, "folded_ns", table->folded_ns);
    weft_json_u64(json, "expression_ns", table->expression_ns);
    weft_json_u64(json, "raised", table->n_raised);
    weft_json_end_object(json);
}

/* Bytes of the page beside the shapes. */
static enum weft_code count_used(const struct weft_page *page, const struct weft_output *out,
                                 enum weft_pack_effort effort, uint64_t *n_bytes,
                                 struct weft_err *err)
{
    WEFT_TRY(weft_packed_bytes(weft_output_held(out), effort, page->pool, n_bytes, err));
    *n_bytes += NOTES_BYTES + page->taken_bytes;
    *n_bytes += page->answers ? weft_page_answers_bytes(page->answers) : 0;
    return WEFT_OK;
}

/* Drops answers until there is room for all else; `*used` is less then. */
static void drop_answers(const struct weft_page *page, uint64_t least_bytes, uint64_t *used)
{
    enum weft_missing_kind kind;
    uint64_t before = page->answers ? weft_page_answers_bytes(page->answers) : 0;
    while (*used + least_bytes > WEFT_PAGE_BYTES && page->answers && page->missing &&
           weft_page_drop_answer(page->answers, &kind)) {
        const uint64_t after = weft_page_answers_bytes(page->answers);
        struct weft_err why = { 0 };
        const enum weft_code code =
            weft_fail(&why, WEFT_E_LIMIT, WEFT_NO_OFFSET, "a page has at most %d MB",
                      WEFT_PAGE_BYTES / 1000000);
        (void)weft_missing_add(page->missing, kind, code, &why);
        *used -= before - after;
        before = after;
    }
}

/* What the shapes may take: what a page has left beside all else. That is measured with little
 * effort, which gives more bytes than there will be; unless that is too much. */
static enum weft_code room_for_shapes(const struct weft_page *page, const struct weft_output *out,
                                      uint64_t *n_bytes, struct weft_err *err)
{
    const uint64_t least_bytes = page->shapes ? weft_page_shapes_least(page) : 0;
    uint64_t used = 0;
    *n_bytes = page->shapes_bytes;
    if (*n_bytes > 0 || (!page->shapes && !page->answers))
        return WEFT_OK;
    WEFT_TRY(count_used(page, out, WEFT_PACK_FAST, &used, err));
    if (used + least_bytes > WEFT_PAGE_BYTES) {
        WEFT_TRY(count_used(page, out, WEFT_PACK_SMALL, &used, err));
        drop_answers(page, least_bytes, &used);
    }
    *n_bytes = used < WEFT_PAGE_BYTES ? WEFT_PAGE_BYTES - used : 0;
    if (*n_bytes > WEFT_PAGE_SHAPES_BYTES)
        *n_bytes = WEFT_PAGE_SHAPES_BYTES;
    if (*n_bytes < WEFT_PAGE_SHAPES_LEAST)
        *n_bytes = WEFT_PAGE_SHAPES_LEAST;
    return WEFT_OK;
}

static enum weft_code put_shapes(const struct data *data, const struct weft_output *out,
                                 struct weft_err *err)
{
    struct weft_page page = *data->page;
    WEFT_TRY(room_for_shapes(&page, out, &page.shapes_bytes, err));
    return weft_page_put_shapes(&page, data->json, err);
}

static enum weft_code put_page(const struct data *data, const struct weft_output *out,
                               struct weft_err *err)
{
    weft_json_begin_object(data->json, NULL);
    weft_json_u64(data->json, "v", VERSION);
    weft_json_text(data->json, "generator", "weft " WEFT_VERSION);
    put_trace(data);
    put_settings(data);
    put_functions(data);
    put_threads(data);
    put_outliers(data);
    put_totals(data);
    const enum weft_code code = put_shapes(data, out, err);
    put_notes(data);
    weft_json_end_object(data->json);
    return code;
}

enum weft_code weft_page_data(const struct weft_page *page, struct weft_output *out,
                              struct weft_err *err)
{
    struct weft_note_sums notes;
    struct data data = { .page = page, .notes = &notes };
    struct weft_arena *arena = weft_arena_new(0);
    if (!arena)
        return weft_no_memory(err, "the page's data");
    size_t n_rows = 1;
    for (size_t i = 0; i < page->regtime->n_threads; i++)
        if (page->regtime->threads[i].n_rows_all > n_rows)
            n_rows = page->regtime->threads[i].n_rows_all;
    data.below_ns = WEFT_ARENA_NEW(arena, n_rows, int64_t);
    enum weft_code code = WEFT_OK;
    if (!data.below_ns)
        code = weft_no_memory(err, "the page's data");
    WEFT_THEN(code, weft_note_sums(page->trace, arena, &notes, err));
    WEFT_THEN(code, weft_json_open(out, &data.json, err));
    if (code == WEFT_OK) {
        code = put_page(&data, out, err);
        weft_json_close(data.json);
    }
    weft_output_release(out, arena);
    return code;
}

enum weft_code weft_page_shapes_data(const struct weft_page *page, struct weft_output *out,
                                     struct weft_err *err)
{
    struct weft_json *json;
    WEFT_TRY(weft_json_open(out, &json, err));
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "v", VERSION);
    enum weft_code code = weft_page_put_shapes(page, json, err);
    weft_json_end_object(json);
    weft_json_close(json);
    return code;
}
