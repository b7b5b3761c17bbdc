/* SPDX-License-Identifier: MIT
 *
 * The list of calls and gaps that are unusual for their function or for their thread.
 */
#include "analysis/calls/calls.h"
#include "render/human.h"
#include "render/text/render.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct listing {
    const struct weft_view *view;
    const struct weft_outliers_table *table;
    const struct weft_outliers_view *opts;
};

static struct weft_str function_name(const struct listing *listing, uint32_t function_id)
{
    return weft_trace_function(listing->view->trace, function_id)->name;
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
    struct weft_output *out = weft_view_line(listing->view);
    weft_output_text(out, settings->no_calls  ? "no gap "
                          : settings->no_gaps ? "no call "
                                              : "no call or gap ");
    if (listing->opts->pattern)
        weft_output_printf(out, "of a function that matches '%s' ", listing->opts->pattern);
    if (settings->min_duration_ns > 0)
        weft_output_printf(out, "is longer than %s", weft_human_ns(settings->min_duration_ns).text);
    else
        weft_output_printf(out,
                           "takes at least %s times its function's median and %s, or is long for "
                           "its thread",
                           weft_human_ratio(settings->outlier_factor).text,
                           weft_human_ns(settings->outlier_min_ns).text);
    weft_view_line_end(listing->view, out, 0);
}

static void print_summary(const struct listing *listing)
{
    const struct weft_outliers_table *table = listing->table;
    const struct weft_outliers_opts *settings = listing->opts->settings;
    weft_output_text(listing->view->out, "\n");
    struct weft_output *out = weft_view_line(listing->view);
    weft_output_printf(out, "%zu of %s shown, most unusual first: ", table->n_rows,
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
    weft_output_printf(out, ", %s gaps", weft_human_count(table->n_gaps).text);
    weft_view_line_end(listing->view, out, 0);
}

static void print_text(const struct listing *listing, const struct weft_table *table)
{
    weft_view_headline(listing->view, weft_human_plural(listing->table->n_found, "outlier").text);
    weft_output_text(listing->view->out, "\n");
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
    const struct listing listing = { .view = view, .table = table, .opts = opts };
    struct weft_table rows = { .type = &weft_outliers_type,
                               .rows = table->rows,
                               .n_rows = table->n_rows,
                               .in = weft_view_context(view, table),
                               .context = &listing,
                               .more = view->has_ids ? json_context_and_ids : json_context };
    rows.in.known = opts->settings->min_duration_ns == 0 ? WEFT_OUTLIERS_LONG : 0;
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&listing, &rows);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&rows, view->out);
    else
        print_text(&listing, &rows);
}
