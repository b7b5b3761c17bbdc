/* SPDX-License-Identifier: MIT
 *
 * The list of calls and gaps that are unusual for their function or for their thread.
 */
#include "analysis/calls/calls.h"
#include "base/arena.h"
#include "render/human.h"
#include "render/text/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct listing {
    const struct weft_view *view;
    const struct weft_outliers_table *table;
    const struct weft_outliers_view *opts;
    struct weft_arena *arena; /* text of cells */
};

static struct weft_str function_name(const struct listing *listing, uint32_t function_id)
{
    return weft_trace_function(listing->view->trace, function_id)->name;
}

/* "main > run > flush": the callers, outermost first. */
static struct weft_str callers(const struct listing *listing, const struct weft_outlier_row *row)
{
    char more[80] = "";
    size_t n_bytes = sizeof more;
    if (row->n_context < row->depth)
        (void)snprintf(more, sizeof more, " > ... (%s callers omitted)",
                       weft_human_count(row->depth - row->n_context).text);
    for (uint32_t i = 0; i < row->n_context; i++)
        n_bytes += function_name(listing, row->context[i]).n_bytes + 3;
    char *text = weft_arena_alloc(listing->arena, n_bytes, 1);
    size_t at = 0;
    for (uint32_t i = 0; text && i < row->n_context; i++) {
        struct weft_str name = function_name(listing, row->context[i]);
        if (i == WEFT_OUTLIER_OUTER) {
            memcpy(text + at, more, strlen(more));
            at += strlen(more);
        }
        memcpy(text + at, i > 0 ? " > " : "", i > 0 ? 3 : 0);
        at += i > 0 ? 3 : 0;
        memcpy(text + at, name.bytes, name.n_bytes);
        at += name.n_bytes;
    }
    return (struct weft_str){ .bytes = text, .n_bytes = text ? at : 0 };
}

/* For whom it is unusual. When every call of a length was asked for, being long says nothing. */
static const char *reason(const struct listing *listing, const struct weft_outlier_row *row)
{
    bool is_long = row->is_long && listing->opts->settings->min_duration_ns == 0;
    if (row->kind == WEFT_OUTLIER_GAP)
        return "gap";
    if (row->is_own)
        return is_long ? "function, thread" : "function";
    return is_long ? "thread" : "-";
}

static const struct weft_column columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "kind", NULL, WEFT_CELL_TEXT },
    { "thread", NULL, WEFT_CELL_TEXT },
    { "start_ns", "start", WEFT_CELL_AT },
    { "end_ns", NULL, WEFT_CELL_AT },
    { "duration_ns", "time", WEFT_CELL_NS },
    { "self_ns", "self", WEFT_CELL_NS },
    { "median_ns", "median", WEFT_CELL_NS },
    { "times_median", "x median", WEFT_CELL_RATIO },
    { "thread_share", "of thread", WEFT_CELL_SHARE },
    { "score", NULL, WEFT_CELL_RATIO },
    { NULL, "unusual for", WEFT_CELL_TEXT },
    { "depth", NULL, WEFT_CELL_ID },
    { "function", "function", WEFT_CELL_TEXT },
    { "function_id", NULL, WEFT_CELL_ID },
    { "own", NULL, WEFT_CELL_BOOL },
    { "long", NULL, WEFT_CELL_BOOL },
    { "deepest", NULL, WEFT_CELL_BOOL },
    { "cut_start", NULL, WEFT_CELL_BOOL },
    { "cut_end", NULL, WEFT_CELL_BOOL },
    { "repaired", NULL, WEFT_CELL_BOOL },
    { NULL, "called from", WEFT_CELL_TEXT },
};

static void fill_flags(const struct weft_outlier_row *row, struct weft_cell *cells)
{
    const uint64_t flags[] = { row->is_own,
                               row->is_long,
                               row->is_deepest,
                               row->flags & WEFT_CALL_CUT_START,
                               row->flags & WEFT_CALL_CUT_END,
                               row->flags & WEFT_CALL_REPAIRED };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        cells[i].number = flags[i];
}

static void fill_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct listing *listing = context;
    const struct weft_outlier_row *row = &listing->table->rows[index];
    const struct weft_model_thread *thread =
        weft_trace_thread(listing->view->trace, row->thread_id);
    bool is_gap = row->kind == WEFT_OUTLIER_GAP;
    bool has_function = row->function_id != WEFT_ID_NONE;
    cells[0].number = thread->info.tid;
    cells[1].text = is_gap ? WEFT_STR("gap") : WEFT_STR("call");
    cells[2].text = thread->info.name;
    cells[3].number = row->start_ns;
    cells[4].number = row->end_ns;
    cells[5].number = row->end_ns - row->start_ns;
    cells[6] = (struct weft_cell){ .number = row->self_ns, .is_null = is_gap };
    /* Of a function none of whose calls is whole, no median is known. */
    bool has_median = row->median_ns > 0 || listing->view->format != WEFT_FORMAT_TEXT;
    cells[7] = (struct weft_cell){ .number = row->median_ns, .is_null = !has_median };
    cells[8] = (struct weft_cell){ .real = row->times_median, .is_null = !has_median };
    cells[9].real = row->thread_share;
    cells[10].real = row->score;
    cells[11].text = weft_str_of(reason(listing, row));
    cells[12].number = row->depth;
    cells[13].is_null = cells[14].is_null = !has_function;
    if (has_function) {
        cells[13].text = function_name(listing, row->function_id);
        cells[14].number = weft_trace_function(listing->view->trace, row->function_id)->key;
    }
    fill_flags(row, cells + 15);
    if (listing->view->format == WEFT_FORMAT_TEXT)
        cells[21].text = callers(listing, row);
}

static void json_context(const void *context, size_t index, struct weft_json *json)
{
    const struct listing *listing = context;
    const struct weft_outlier_row *row = &listing->table->rows[index];
    weft_json_begin_array(json, "context");
    for (uint32_t i = 0; i < row->n_context; i++)
        weft_json_str(json, NULL, function_name(listing, row->context[i]));
    weft_json_end_array(json);
    if (row->n_context < row->depth) { /* behind the outermost ones */
        weft_json_u64(json, "context_outermost", WEFT_OUTLIER_OUTER);
        weft_json_u64(json, "context_omitted", row->depth - row->n_context);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_why_empty(const struct listing *listing)
{
    const struct weft_outliers_opts *settings = listing->opts->settings;
    struct weft_output *out = listing->view->out;
    weft_output_text(out, settings->no_calls  ? "no gap "
                          : settings->no_gaps ? "no call "
                                              : "no call or gap ");
    if (listing->opts->pattern)
        weft_output_printf(out, "of a function that matches '%s' ", listing->opts->pattern);
    if (settings->min_duration_ns > 0)
        weft_output_printf(out, "is longer than %s\n",
                           weft_human_ns(settings->min_duration_ns).text);
    else
        weft_output_printf(out,
                           "takes %s times its function's median and %s at least, or stands out in "
                           "its thread\n",
                           weft_human_ratio(settings->outlier_factor).text,
                           weft_human_ns(settings->outlier_min_ns).text);
}

static void print_summary(const struct listing *listing)
{
    const struct weft_outliers_table *table = listing->table;
    const struct weft_outliers_opts *settings = listing->opts->settings;
    struct weft_output *out = listing->view->out;
    weft_output_printf(out, "\n%zu of %s shown, most unusual first: ", table->n_rows,
                       weft_human_count(table->n_found).text);
    weft_output_printf(out, "%s unusual for their function (%s times its median, at least %s), ",
                       weft_human_count(table->n_own).text,
                       weft_human_ratio(settings->outlier_factor).text,
                       weft_human_ns(settings->outlier_min_ns).text);
    weft_output_printf(out, "%s ", weft_human_count(table->n_long).text);
    if (settings->min_duration_ns > 0)
        weft_output_printf(out, "calls longer than %s",
                           weft_human_ns(settings->min_duration_ns).text);
    else
        weft_output_text(out, "long for their thread");
    weft_output_printf(out, ", %s gaps\n", weft_human_count(table->n_gaps).text);
}

static void print_text(const struct listing *listing, const struct weft_table *table)
{
    if (table->n_rows == 0) {
        print_why_empty(listing);
        return;
    }
    weft_table_text(table, &listing->view->style, listing->view->out);
    print_summary(listing);
}

static void json_context_and_ids(const void *context, size_t row, struct weft_json *json)
{
    const struct listing *listing = context;
    const struct weft_outlier_row *outlier = &listing->table->rows[row];
    json_context(context, row, json);
    weft_json_u64(json, "thread_id", outlier->thread_id);
    if (outlier->function_id == WEFT_ID_NONE)
        weft_json_null(json, "fn");
    else
        weft_json_u64(json, "fn", outlier->function_id);
    weft_json_begin_array(json, "context_fn");
    for (uint32_t i = 0; i < outlier->n_context; i++)
        weft_json_u64(json, NULL, outlier->context[i]);
    weft_json_end_array(json);
}

static void print_json(const struct listing *listing, const struct weft_table *table)
{
    const struct weft_outliers_opts *settings = listing->opts->settings;
    struct weft_json *json = weft_view_json(listing->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_begin_object(json, "settings");
    weft_json_real(json, "outlier_factor", settings->outlier_factor);
    weft_json_u64(json, "outlier_min_ns", settings->outlier_min_ns);
    weft_json_real(json, "duration_fraction", settings->duration_fraction);
    weft_json_real(json, "gap_fraction", settings->gap_fraction);
    weft_json_u64(json, "min_duration_ns", settings->min_duration_ns);
    weft_json_end_object(json);
    weft_json_u64(json, "found", listing->table->n_found);
    weft_json_u64(json, "own", listing->table->n_own);
    weft_json_u64(json, "long", listing->table->n_long);
    weft_json_u64(json, "gaps", listing->table->n_gaps);
    weft_table_json(table, "outliers", json);
    weft_json_end_object(json);
    weft_view_json_end(listing->view, json);
}

void weft_render_outliers(const struct weft_view *view, const struct weft_outliers_table *table,
                          const struct weft_outliers_view *opts)
{
    struct listing listing = {
        .view = view, .table = table, .opts = opts, .arena = weft_arena_new(0)
    };
    struct weft_table rows = { .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns,
                               .n_rows = table->n_rows,
                               .row = fill_row,
                               .context = &listing,
                               .more = view->has_ids ? json_context_and_ids : json_context };
    if (!listing.arena) {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu outliers",
                        table->n_rows);
        weft_output_fail(view->out, &err);
    } else if (view->format == WEFT_FORMAT_JSON) {
        print_json(&listing, &rows);
    } else if (view->format == WEFT_FORMAT_CSV) {
        weft_table_csv(&rows, view->out);
    } else {
        print_text(&listing, &rows);
    }
    weft_output_release(view->out, listing.arena);
}
