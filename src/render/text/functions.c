/* SPDX-License-Identifier: MIT
 *
 * The table of functions: sorted, filtered, cut to a limit that is stated.
 */
#include "schema/functions.h"

#include "render/human.h"
#include "render/text/render.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdlib.h>

/* Rows chosen, in the order in which they are shown. */
struct listing {
    const struct weft_view *view;
    const struct weft_functions_table *table;
    const struct weft_functions_view *opts;
    struct ranked *rows;
    uint32_t *order; /* their places in the table */
    size_t n_rows;   /* after the filter */
    size_t n_shown;  /* after the limit */
};

/* Functions of one name stand together, at the rank of their best. */
struct ranked {
    const struct weft_function_row *row;
    const struct weft_function *function;
    uint64_t key, group_key;
};

static uint64_t sort_key(const struct weft_function_row *row, enum weft_functions_sort sort)
{
    switch (sort) {
    case WEFT_SORT_SELF:
        return row->self_ns;
    case WEFT_SORT_INCLUSIVE:
        return row->inclusive_ns;
    case WEFT_SORT_COUNT:
        return row->count;
    case WEFT_SORT_MEAN:
        return row->mean_ns;
    case WEFT_SORT_MAX:
        return row->max_ns;
    case WEFT_SORT_P50:
        return row->p50_ns;
    case WEFT_SORT_P99:
        return row->p99_ns;
    case WEFT_SORT_P999:
        return row->p999_ns;
    case WEFT_SORT_THREADS:
        return row->n_threads;
    case WEFT_SORT_NAME:
        break;
    }
    return 0;
}

static int compare_u64_down(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

/* Best group first; groups of one rank by name, their members by key, then by id. */
static int compare_ranked(const void *a_ptr, const void *b_ptr)
{
    const struct ranked *a = a_ptr, *b = b_ptr;
    int order = compare_u64_down(a->group_key, b->group_key);
    if (order == 0 && a->function->group_id != b->function->group_id) {
        order = weft_str_compare(a->function->name, b->function->name);
        if (order == 0)
            order = a->function->group_id < b->function->group_id ? -1 : 1;
    }
    if (order == 0)
        order = compare_u64_down(a->key, b->key);
    if (order == 0)
        order = a->row->function_id < b->row->function_id ? -1 : 1;
    return order;
}

static int compare_ids(const void *a_ptr, const void *b_ptr)
{
    uint32_t a = *(const uint32_t *)a_ptr, b = *(const uint32_t *)b_ptr;
    return a < b ? -1 : a > b;
}

static bool is_wanted(const struct weft_functions_view *opts, uint32_t function_id)
{
    return !opts->function_ids || bsearch(&function_id, opts->function_ids, opts->n_function_ids,
                                          sizeof function_id, compare_ids);
}

/* Gives every row the best key of its group. */
static bool rank_groups(struct listing *listing, size_t n_groups)
{
    uint64_t *best = calloc(n_groups + 1, sizeof *best);
    if (!best)
        return false;
    for (size_t i = 0; i < listing->n_rows; i++) {
        struct ranked *ranked = &listing->rows[i];
        if (ranked->key > best[ranked->function->group_id])
            best[ranked->function->group_id] = ranked->key;
    }
    for (size_t i = 0; i < listing->n_rows; i++)
        listing->rows[i].group_key = best[listing->rows[i].function->group_id];
    free(best);
    return true;
}

static bool collect(struct listing *listing)
{
    const struct weft_functions_table *table = listing->table;
    listing->rows = calloc(table->n_rows + 1, sizeof *listing->rows);
    listing->order = calloc(table->n_rows + 1, sizeof *listing->order);
    if (!listing->rows || !listing->order)
        return false;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct weft_function_row *row = &table->rows[i];
        if (is_wanted(listing->opts, row->function_id))
            listing->rows[listing->n_rows++] = (struct ranked){
                .row = row,
                .function = weft_trace_function(listing->view->trace, row->function_id),
                .key = sort_key(row, listing->opts->sort),
            };
    }
    if (!rank_groups(listing, weft_trace_n_functions(listing->view->trace)))
        return false;
    qsort(listing->rows, listing->n_rows, sizeof *listing->rows, compare_ranked);
    for (size_t i = 0; i < listing->n_rows; i++)
        listing->order[i] = (uint32_t)(listing->rows[i].row - table->rows);
    uint64_t limit = listing->opts->limit;
    listing->n_shown = limit && limit < listing->n_rows ? (size_t)limit : listing->n_rows;
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_why_empty(const struct listing *listing)
{
    struct weft_output *out = listing->view->out;
    if (listing->table->n_rows == 0)
        weft_output_text(out, listing->view->has_filter
                                  ? "no function: these threads hold no calls\n"
                                  : "no function: the trace holds no calls\n");
    else
        weft_output_printf(out, "no function of %zu has a name that matches '%s'\n",
                           listing->table->n_rows,
                           listing->opts->pattern ? listing->opts->pattern : "");
}

/* Calls that the times leave out, in words. */
static void print_left_out(const struct listing *listing)
{
    struct weft_output *out = listing->view->out;
    uint64_t n_open = 0, n_cut = 0;
    for (size_t i = 0; i < listing->n_rows; i++) {
        n_open += listing->rows[i].row->open_count;
        n_cut += listing->rows[i].row->cut_count;
    }
    if (n_open > 0)
        weft_output_printf(out, "calls still open at the end, counted but not timed: %s\n",
                           weft_human_count(n_open).text);
    if (n_cut > 0)
        weft_output_printf(out, "calls entered before the trace, neither counted nor timed: %s\n",
                           weft_human_count(n_cut).text);
}

static void print_text(const struct listing *listing, const struct weft_table *table)
{
    struct weft_output *out = listing->view->out;
    weft_view_headline(listing->view, weft_human_plural(listing->table->n_rows, "function").text);
    weft_output_text(out, "\n");
    if (listing->n_rows == 0) {
        print_why_empty(listing);
        return;
    }
    weft_table_text(table, &listing->view->style, out);
    weft_output_text(out, "\n");
    weft_output_printf(out, "%zu of %zu functions shown; %s calls in all\n", listing->n_shown,
                       listing->table->n_rows, weft_human_count(listing->table->calls).text);
    print_left_out(listing);
}

static void print_json(const struct listing *listing, struct weft_table *table)
{
    struct weft_json *json = weft_view_json(listing->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "calls", listing->table->calls);
    weft_json_u64(json, "functions_found", listing->table->n_rows);
    weft_json_u64(json, "functions_matching", listing->n_rows);
    weft_table_json(table, "functions", json);
    weft_json_end_object(json);
    weft_view_json_end(listing->view, json);
}

void weft_render_functions(const struct weft_view *view, const struct weft_functions_table *table,
                           const struct weft_functions_view *opts)
{
    struct listing listing = { .view = view, .table = table, .opts = opts };
    if (!collect(&listing)) {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu functions",
                        table->n_rows);
        weft_output_fail(view->out, &err);
        free(listing.rows);
        free(listing.order);
        return;
    }
    struct weft_table rows = { .type = &weft_functions_type,
                               .rows = table->rows,
                               .n_rows = listing.n_shown,
                               .order = listing.order,
                               .in = weft_view_context(view, table),
                               .context = &listing };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&listing, &rows);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&rows, view->out);
    else
        print_text(&listing, &rows);
    free(listing.rows);
    free(listing.order);
}
