/* SPDX-License-Identifier: MIT
 *
 * What appeared, vanished, or changed its rate between two traces or two windows.
 */
#include "render/human.h"
#include "render/text/render.h"
#include "render/text/tables.h"
#include "schema/shapes.h"

/* One list: of clusters, or of shapes. */
struct listing {
    const struct weft_view *view;
    const struct weft_shape_changes *changes;
    const struct weft_shapes_change_view *opts;
    const struct weft_shape_change *rows;
    size_t n_rows, n_shown;
};

static const char *kind_name(unsigned kind)
{
    static const char *const names[] = {
        [WEFT_SHAPE_NEW] = "new", [WEFT_SHAPE_GONE] = "gone", [WEFT_SHAPE_RATE] = "rate"
    };
    return names[kind];
}

#define ROW struct weft_shape_change

static WEFT_GET(get_kind)
{
    weft_field_read(field, context, row, cell);
    cell->is_bad = ((const ROW *)row)->kind == WEFT_SHAPE_NEW;
}

enum { OF_SHAPE, OF_CLUSTER, SIDE_A = 0, SIDE_B = 2, SIDE_THAT_HAS_IT = 4 };

/* A shape, or its cluster, on a side. */
static WEFT_GET(get_id)
{
    const struct weft_shapes_change_view *opts = context->of;
    const ROW *change = row;
    const unsigned side =
        field->arg & SIDE_THAT_HAS_IT ? change->kind == WEFT_SHAPE_GONE : field->arg / 2;
    const uint32_t id = change->shape_ids[side];
    cell->is_null = id == WEFT_ID_NONE;
    if (!cell->is_null)
        cell->number = field->arg & OF_CLUSTER ? opts->tables[side]->shapes[id].cluster_id : id;
}

/* Of the trace that has it. */
static WEFT_GET(get_in_trace)
{
    const struct weft_shapes_change_view *opts = context->of;
    struct weft_table_context of_side = *context;
    of_side.trace = opts->traces[((const ROW *)row)->kind == WEFT_SHAPE_GONE ? 1 : 0];
    weft_field_read(field, &of_side, row, cell);
}

/* Ids are what --cluster and --diff of a side take; text has those of B for what is gone. */
static const struct weft_field fields[] = {
    WEFT_FIELD("kind", "", TEXT, kind, "new, gone or rate", .as = WEFT_AS_NAME, .name = kind_name,
               .get = get_kind),
    WEFT_FIELD("count_a", "calls", COUNT, count[0], "calls in A"),
    WEFT_FIELD("count_b", "in B", COUNT, count[1], "calls in B"),
    WEFT_FIELD("times_rate", "x rate", RATIO, times_rate, "rate of A by that of B"),
    WEFT_FIELD("total_ns_a", "total", NS, sum_ns[0], "time in A"),
    WEFT_FIELD("total_ns_b", "in B", NS, sum_ns[1], "time in B"),
    WEFT_FIELD("time_ns", "changed", NS, time_ns, "time that A has more, or less"),
    WEFT_FIELD("surprise", "bits", RATIO, surprise, "rarity in bits"),
    WEFT_FIELD("score", NULL, RATIO, score, "the rank: bits by time"),
    WEFT_GETTER(NULL, "shape", ID, get_id, "the shape", .arg = SIDE_THAT_HAS_IT | OF_SHAPE),
    WEFT_GETTER(NULL, "cluster", ID, get_id, "its cluster", .arg = SIDE_THAT_HAS_IT | OF_CLUSTER),
    WEFT_GETTER("shape_a", NULL, ID, get_id, "the shape in A", .arg = SIDE_A | OF_SHAPE),
    WEFT_GETTER("cluster_a", NULL, ID, get_id, "its cluster", .arg = SIDE_A | OF_CLUSTER),
    WEFT_FIELD("shapes_a", NULL, COUNT, n_shapes[0], "shapes in A"),
    WEFT_GETTER("shape_b", NULL, ID, get_id, "the shape in B", .arg = SIDE_B | OF_SHAPE),
    WEFT_GETTER("cluster_b", NULL, ID, get_id, "its cluster", .arg = SIDE_B | OF_CLUSTER),
    WEFT_FIELD("shapes_b", NULL, COUNT, n_shapes[1], "shapes in B"),
    WEFT_FIELD("slowest_ns", "slowest at", AT, slowest.start_ns, "start of the slowest call"),
    WEFT_FIELD("slowest_tid", "tid", ID, slowest.thread_id, "its thread", .as = WEFT_AS_TID,
               .get = get_in_trace),
    WEFT_DURATION("slowest_duration_ns", "for", slowest.start_ns, slowest.end_ns, "its duration"),
    WEFT_FIELD("function", "function", TEXT, function_id, "the function", .as = WEFT_AS_FUNCTION,
               .get = get_in_trace),
};

const struct weft_table_type weft_shapes_changes_type =
    WEFT_TABLE_TYPE("shapes_changes", "shapes that appeared, vanished or changed", fields, ROW);

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
    return (struct weft_table){ .type = &weft_shapes_changes_type,
                                .rows = listing->rows,
                                .n_rows = listing->n_shown,
                                .in = weft_view_context(listing->view, listing->opts) };
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
        weft_output_printf(out, "%s more: --limit 0\n",
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
