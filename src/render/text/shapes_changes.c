/* SPDX-License-Identifier: MIT
 *
 * What appeared, vanished, or changed its rate between two traces or two windows.
 */
#include "render/human.h"
#include "render/text/render.h"
#include "schema/shapes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* One list: of clusters, or of shapes. */
struct listing {
    const struct weft_view *view;
    const struct weft_shape_changes *changes;
    const struct weft_shapes_change_view *opts;
    const struct weft_shape_change *rows;
    size_t n_rows, n_shown;
};

static const char *const kinds[] = {
    [WEFT_SHAPE_NEW] = "new", [WEFT_SHAPE_GONE] = "gone", [WEFT_SHAPE_RATE] = "rate"
};

/* Ids are what --cluster and --diff of a side take; text has those of B for what is gone. */
static const struct weft_column columns[] = {
    { "kind", "", WEFT_CELL_TEXT },
    { "count_a", "calls", WEFT_CELL_COUNT },
    { "count_b", "in B", WEFT_CELL_COUNT },
    { "times_rate", "x rate", WEFT_CELL_RATIO },
    { "total_ns_a", "total", WEFT_CELL_NS },
    { "total_ns_b", "in B", WEFT_CELL_NS },
    { "time_ns", "changed", WEFT_CELL_NS },
    { "surprise", "bits", WEFT_CELL_RATIO },
    { "score", NULL, WEFT_CELL_RATIO },
    { NULL, "shape", WEFT_CELL_ID },
    { NULL, "cluster", WEFT_CELL_ID },
    { "shape_a", NULL, WEFT_CELL_ID },
    { "cluster_a", NULL, WEFT_CELL_ID },
    { "shapes_a", NULL, WEFT_CELL_COUNT },
    { "shape_b", NULL, WEFT_CELL_ID },
    { "cluster_b", NULL, WEFT_CELL_ID },
    { "shapes_b", NULL, WEFT_CELL_COUNT },
    { "slowest_ns", "slowest at", WEFT_CELL_AT },
    { "slowest_tid", "tid", WEFT_CELL_ID },
    { "slowest_duration_ns", "for", WEFT_CELL_NS },
    { "function", "function", WEFT_CELL_TEXT },
};

static void side_cells(const struct listing *listing, const struct weft_shape_change *change,
                       size_t side, struct weft_cell *cells)
{
    const uint32_t id = change->shape_ids[side];
    const bool is_null = id == WEFT_ID_NONE;
    const uint64_t cluster = is_null ? 0 : listing->opts->tables[side]->shapes[id].cluster_id;
    cells[0] = (struct weft_cell){ .number = id, .is_null = is_null };
    cells[1] = (struct weft_cell){ .number = cluster, .is_null = is_null };
    cells[2].number = change->n_shapes[side];
}

static void fill_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct listing *listing = context;
    const struct weft_shape_change *change = &listing->rows[row];
    const struct weft_trace *trace = listing->opts->traces[change->kind == WEFT_SHAPE_GONE ? 1 : 0];
    cells[0] = (struct weft_cell){ .text = weft_str_of(kinds[change->kind]),
                                   .is_bad = change->kind == WEFT_SHAPE_NEW };
    cells[1].number = change->count[0];
    cells[2].number = change->count[1];
    cells[3] =
        (struct weft_cell){ .real = change->times_rate, .is_null = !isfinite(change->times_rate) };
    cells[4].number = change->sum_ns[0];
    cells[5].number = change->sum_ns[1];
    cells[6].number = change->time_ns;
    cells[7].real = change->surprise;
    cells[8].real = change->score;
    side_cells(listing, change, 0, cells + 11);
    side_cells(listing, change, 1, cells + 14);
    memcpy(cells + 9, cells + (change->kind == WEFT_SHAPE_GONE ? 14 : 11), 2 * sizeof *cells);
    cells[17].number = change->slowest.start_ns;
    cells[18].number = weft_trace_thread(trace, change->slowest.thread_id)->info.tid;
    cells[19].number = change->slowest.end_ns - change->slowest.start_ns;
    cells[20].text = weft_trace_function(trace, change->function_id)->name;
}

static struct listing list_of(const struct weft_view *view,
                              const struct weft_shape_changes *changes,
                              const struct weft_shapes_change_view *opts, bool is_of_clusters)
{
    const size_t n_rows = is_of_clusters ? changes->n_clusters : changes->n_shapes;
    const bool is_cut = opts->limit > 0 && opts->limit < n_rows;
    return (struct listing){ .view = view,
                             .changes = changes,
                             .opts = opts,
                             .rows = is_of_clusters ? changes->clusters : changes->shapes,
                             .n_rows = n_rows,
                             .n_shown = is_cut ? (size_t)opts->limit : n_rows };
}

static struct weft_table table_of(const struct listing *listing)
{
    return (struct weft_table){ .columns = columns,
                                .n_columns = N_OF(columns),
                                .n_rows = listing->n_shown,
                                .row = fill_row,
                                .context = listing };
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_side(const struct weft_view *view, const char *what, const char *name,
                       const struct weft_shapes_table *table)
{
    weft_output_printf(view->out, "%s  %s: %s from %s, %s calls, ", what, name,
                       weft_human_ns(table->to_ns - table->from_ns).text,
                       weft_human_at(table->from_ns).text, weft_human_count(table->calls).text);
    weft_output_printf(view->out, "%s shapes\n",
                       weft_human_count(table->n_shapes - table->n_trivial_shapes).text);
}

static void print_list(const struct listing *listing, const char *what, size_t n_common,
                       size_t n_all)
{
    const struct weft_table table = table_of(listing);
    struct weft_output *out = listing->view->out;
    weft_output_text(out, "\n");
    weft_view_bold(listing->view, what);
    weft_output_printf(out, ": %s of %s are in both", weft_human_count(n_common).text,
                       weft_human_count(n_all).text);
    weft_output_printf(out, "; %s are new in A, gone, or of another rate\n",
                       weft_human_count(listing->n_rows).text);
    if (listing->n_rows == 0)
        return;
    weft_table_text(&table, &listing->view->style, out);
    if (listing->n_shown < listing->n_rows)
        weft_output_printf(out, "%s more; --limit 0 shows all\n",
                           weft_human_count(listing->n_rows - listing->n_shown).text);
}

static void print_text(const struct weft_view *view, const struct weft_shape_changes *changes,
                       const struct weft_shapes_change_view *opts)
{
    const struct listing clusters = list_of(view, changes, opts, true);
    const struct listing shapes = list_of(view, changes, opts, false);
    print_side(view, "A", opts->names[0], opts->tables[0]);
    print_side(view, "B", opts->names[1], opts->tables[1]);
    print_list(&clusters, "clusters", changes->n_common_clusters, changes->n_all_clusters);
    print_list(&shapes, "shapes", changes->n_common_shapes, changes->n_all_shapes);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_side(const struct weft_shapes_change_view *opts, size_t side,
                      struct weft_json *json)
{
    const struct weft_shapes_table *table = opts->tables[side];
    weft_json_begin_object(json, side == 0 ? "a" : "b");
    weft_json_text(json, "name", opts->names[side]);
    weft_json_u64(json, "from_ns", table->from_ns);
    weft_json_u64(json, "to_ns", table->to_ns);
    weft_json_u64(json, "calls", table->calls);
    weft_json_u64(json, "shapes", table->n_shapes - table->n_trivial_shapes);
    weft_json_u64(json, "clusters", table->n_clusters - table->n_trivial_clusters);
    weft_json_end_object(json);
}

static void print_json(const struct weft_view *view, const struct weft_shape_changes *changes,
                       const struct weft_shapes_change_view *opts)
{
    const struct listing clusters = list_of(view, changes, opts, true);
    const struct listing shapes = list_of(view, changes, opts, false);
    const struct weft_table cluster_rows = table_of(&clusters), shape_rows = table_of(&shapes);
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    json_side(opts, 0, json);
    json_side(opts, 1, json);
    weft_json_u64(json, "shapes", changes->n_all_shapes);
    weft_json_u64(json, "shapes_in_both", changes->n_common_shapes);
    weft_json_u64(json, "clusters", changes->n_all_clusters);
    weft_json_u64(json, "clusters_in_both", changes->n_common_clusters);
    weft_table_json(&cluster_rows, "cluster_changes", json);
    weft_table_json(&shape_rows, "shape_changes", json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

void weft_render_shapes_changes(const struct weft_view *view,
                                const struct weft_shape_changes *changes,
                                const struct weft_shapes_change_view *opts)
{
    const struct listing clusters = list_of(view, changes, opts, true);
    const struct weft_table rows = table_of(&clusters);
    if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&rows, view->out);
    else if (view->format == WEFT_FORMAT_JSON)
        print_json(view, changes, opts);
    else
        print_text(view, changes, opts);
}
