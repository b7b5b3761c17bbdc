/* SPDX-License-Identifier: MIT
 *
 * Lists of shapes: the gallery, those near one, spikes, drops, and what is rare.
 */
#include "analysis/shapes/metric.h"
#include "analysis/shapes/rare.h"
#include "analysis/shapes/verify.h"
#include "render/human.h"
#include "render/text/shapes.h"

#include <inttypes.h>
#include <stdlib.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* One list: as CSV, as JSON under `key`, or as text, where `empty` is what is said instead of no
 * rows. */
static void render_list(const struct weft_shapes_page *page, const struct weft_table *table,
                        const char *key, const char *empty)
{
    if (page->view->format == WEFT_FORMAT_CSV) {
        weft_table_csv(table, page->view->out);
    } else if (page->view->format == WEFT_FORMAT_JSON) {
        struct weft_json *json = weft_view_json(page->view);
        if (!json)
            return;
        weft_json_begin_object(json, NULL);
        weft_shapes_json_head(page, json);
        weft_table_json(table, key, json);
        weft_json_end_object(json);
        weft_view_json_end(page->view, json);
    } else if (table->n_rows == 0) {
        weft_output_printf(page->view->out, "%s\n", empty);
    } else {
        weft_table_text(table, &page->view->style, page->view->out);
    }
}

static bool is_text(const struct weft_shapes_page *page)
{
    return page->view->format == WEFT_FORMAT_TEXT;
}

/* ---- the gallery ----------------------------------------------------------------------------- */

/* What a shape is: of every list of shapes. */
#define SHAPE_COLUMNS                                                                              \
    { "id", "shape", WEFT_CELL_ID }, { "cluster", "cluster", WEFT_CELL_ID },                       \
        { "count", "calls", WEFT_CELL_COUNT }, { "total_ns", "total", WEFT_CELL_NS },              \
        { "mean_ns", "mean", WEFT_CELL_NS }, { "stddev_ns", "std dev", WEFT_CELL_NS },             \
        { "min_ns", "min", WEFT_CELL_NS }, { "max_ns", "max", WEFT_CELL_NS },                      \
        { "threads", "threads", WEFT_CELL_COUNT }, { "depth", "depth", WEFT_CELL_COUNT },          \
        { "callees", "callees", WEFT_CELL_COUNT }, { "first_ns", "first seen", WEFT_CELL_AT },     \
        { "first_tid", NULL, WEFT_CELL_ID }, { "slowest_ns", "slowest at", WEFT_CELL_AT },         \
        { "slowest_tid", NULL, WEFT_CELL_ID }, { "function", "function", WEFT_CELL_TEXT },         \
    {                                                                                              \
        "function_id", NULL, WEFT_CELL_ID                                                          \
    }

static const struct weft_column shape_columns[] = { SHAPE_COLUMNS };

static void shape_cells(const struct weft_shapes_page *page, uint32_t id, struct weft_cell *cells)
{
    const struct weft_shape *shape = &page->table->shapes[id];
    const struct weft_function *function = weft_shapes_function(page, shape->function_id);
    const uint64_t numbers[] = { id,
                                 shape->cluster_id,
                                 shape->count,
                                 shape->sum_ns,
                                 weft_shapes_mean(shape->sum_ns, shape->count),
                                 weft_shapes_shape_deviation(shape),
                                 shape->min_ns,
                                 shape->max_ns,
                                 shape->n_threads,
                                 shape->depth,
                                 shape->n_children,
                                 shape->first.start_ns,
                                 weft_shapes_tid(page, shape->first.thread_id),
                                 shape->slowest.start_ns,
                                 weft_shapes_tid(page, shape->slowest.thread_id) };
    for (size_t i = 0; i < N_OF(numbers); i++)
        cells[i].number = numbers[i];
    cells[N_OF(numbers)].text = function->name;
    cells[N_OF(numbers) + 1].number = function->key;
}

static void shape_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct weft_shapes_page *page = context;
    shape_cells(page, page->rows[row], cells);
}

/* The callees: their shapes, and how often each is repeated. */
static void shape_json(const struct weft_shapes_page *page, uint32_t id, struct weft_json *json)
{
    const struct weft_shape *shape = &page->table->shapes[id];
    weft_json_begin_array(json, "children");
    for (uint32_t i = 0; i < shape->n_children; i++) {
        const struct weft_shape_repeat *repeat = &shape->repeats[i];
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "id", shape->children[i]);
        weft_json_u64(json, "min", repeat->min);
        weft_json_u64(json, "max", repeat->max);
        weft_json_real(json, "mean", shape->count ? (double)repeat->sum / (double)shape->count : 0);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void shape_more(const void *context, size_t row, struct weft_json *json)
{
    const struct weft_shapes_page *page = context;
    shape_json(page, page->rows[row], json);
}

static uint64_t sort_key(const struct weft_shape *shape, enum weft_shapes_sort sort)
{
    switch (sort) {
    case WEFT_SHAPES_BY_COUNT:
        return shape->count;
    case WEFT_SHAPES_BY_MEAN:
        return weft_shapes_mean(shape->sum_ns, shape->count);
    case WEFT_SHAPES_BY_MAX:
        return shape->max_ns;
    case WEFT_SHAPES_BY_THREADS:
        return shape->n_threads;
    case WEFT_SHAPES_BY_FIRST:
        return UINT64_MAX - shape->first.start_ns;
    case WEFT_SHAPES_BY_DEPTH:
        return shape->depth;
    case WEFT_SHAPES_BY_ID:
        return 0;
    case WEFT_SHAPES_BY_TIME:
    case WEFT_SHAPES_BY_P50:
    case WEFT_SHAPES_BY_P99:
    case WEFT_SHAPES_BY_SHAPES:
    case WEFT_SHAPES_BY_SURPRISE:
        break;
    }
    return shape->sum_ns;
}

static int compare_shapes(const void *a_ptr, const void *b_ptr, void *context)
{
    const struct weft_shapes_page *page = context;
    const uint32_t a = *(const uint32_t *)a_ptr, b = *(const uint32_t *)b_ptr;
    const uint64_t key_a = sort_key(&page->table->shapes[a], page->opts->sort);
    const uint64_t key_b = sort_key(&page->table->shapes[b], page->opts->sort);
    if (key_a != key_b)
        return key_a > key_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

void weft_shapes_render_list(struct weft_shapes_page *page)
{
    if (!weft_shapes_take_rows(page, page->table->n_shapes))
        return;
    size_t n_kept = 0;
    for (uint32_t id = 0; id < page->table->n_shapes; id++)
        if (weft_shapes_is_wanted(page, id) &&
            page->table->shapes[id].count >= page->opts->settings->min_count)
            page->rows[n_kept++] = id;
    page->n_rows = n_kept;
    qsort_r(page->rows, page->n_rows, sizeof *page->rows, compare_shapes, page);
    weft_shapes_apply_limit(page);
    const struct weft_table table = { .columns = shape_columns,
                                      .n_columns = N_OF(shape_columns),
                                      .n_rows = page->n_shown,
                                      .row = shape_row,
                                      .context = page,
                                      .more = shape_more };
    render_list(
        page, &table, "shape_list",
        page->table->n_shapes == 0
            ? "no shape: no call begins and ends in it"
            : "no shape is of such a function, calls such a function and has as many calls");
    if (is_text(page))
        weft_shapes_print_more(page, "shapes");
}

/* ---- near a shape ---------------------------------------------------------------------------- */

static const struct weft_column near_columns[] = { { NULL, "distance", WEFT_CELL_TEXT },
                                                   { "distance", NULL, WEFT_CELL_RATIO },
                                                   SHAPE_COLUMNS };

static void near_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct weft_shapes_page *page = context;
    const struct weft_shape_near *near = &page->opts->near[row];
    struct weft_human text = weft_shapes_distance_text(near->distance);
    cells[0].text = weft_arena_copy(page->arena, weft_str_of(text.text));
    cells[1].real = near->distance / 2.0;
    shape_cells(page, near->shape, cells + 2);
}

static void near_more(const void *context, size_t row, struct weft_json *json)
{
    const struct weft_shapes_page *page = context;
    shape_json(page, page->opts->near[row].shape, json);
}

void weft_shapes_render_near(struct weft_shapes_page *page)
{
    const struct weft_shape *shape = &page->table->shapes[page->opts->id];
    struct weft_output *out = page->view->out;
    page->n_rows = page->opts->n_near;
    weft_shapes_apply_limit(page);
    const struct weft_table table = { .columns = near_columns,
                                      .n_columns = N_OF(near_columns),
                                      .n_rows = page->n_shown,
                                      .row = near_row,
                                      .context = page,
                                      .more = near_more };
    if (is_text(page)) {
        struct weft_str name = weft_shapes_name(page, page->opts->id);
        weft_output_printf(out, "%s of %zu shapes within %s of shape %" PRIu32 ", %.*s of cluster ",
                           weft_human_count(page->n_rows).text, page->table->n_shapes,
                           weft_shapes_distance_text(page->opts->bound_halves).text, page->opts->id,
                           (int)name.n_bytes, name.bytes);
        weft_output_printf(out, "%" PRIu32 " (%s calls)\n", shape->cluster_id,
                           weft_human_count(shape->count).text);
        if (page->n_rows == 0)
            return;
        weft_output_text(out, "\n");
    }
    render_list(page, &table, "near", "");
    if (is_text(page))
        weft_shapes_print_more(page, "shapes");
}

/* ---- spikes and drops ------------------------------------------------------------------------ */

static const struct weft_column spike_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "start_ns", "start", WEFT_CELL_AT },
    { "duration_ns", "time", WEFT_CELL_NS },
    { "median_ns", "median", WEFT_CELL_NS },
    { "times_median", "x median", WEFT_CELL_RATIO },
    { "cluster", "cluster", WEFT_CELL_ID },
    { "shape", "shape", WEFT_CELL_ID },
    { "function", "function", WEFT_CELL_TEXT },
};

static void spike_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct weft_shapes_page *page = context;
    const struct weft_shape_spike *spike = &page->table->spikes[row];
    const struct weft_shape_cluster *cluster = &page->table->clusters[spike->cluster_id];
    weft_shapes_occurrence_cells(page, &spike->at, cells);
    cells += WEFT_SHAPES_OCCURRENCE_CELLS;
    cells[0].number = cluster->times.p50_ns;
    cells[1].real = spike->times_median;
    cells[2].number = spike->cluster_id;
    cells[3].number = spike->at.shape_id;
    cells[4].text = weft_shapes_function(page, cluster->function_id)->name;
}

struct weft_table weft_shapes_spikes_table(const struct weft_shapes_page *page)
{
    return (struct weft_table){ .columns = spike_columns,
                                .n_columns = N_OF(spike_columns),
                                .n_rows = page->table->n_spikes,
                                .row = spike_row,
                                .context = page };
}

/* "25 of 38 shown, most unusual first: ", or "no spike: ". */
static void print_found(const struct weft_shapes_page *page, size_t n_shown, uint64_t n_found,
                        const char *order, const char *none)
{
    if (n_shown == 0)
        weft_output_printf(page->view->out, "%s: ", none);
    else
        weft_output_printf(page->view->out, "\n%zu of %s shown, %s: ", n_shown,
                           weft_human_count(n_found).text, order);
}

void weft_shapes_render_spikes(struct weft_shapes_page *page)
{
    const struct weft_table table = weft_shapes_spikes_table(page);
    if (!is_text(page) || table.n_rows > 0)
        render_list(page, &table, "spikes", "");
    if (!is_text(page))
        return;
    print_found(page, table.n_rows, page->table->spikes_found, "most unusual first", "no spike");
    weft_output_printf(page->view->out,
                       "calls longer than %s times their cluster's median, and than its p99.9\n",
                       weft_human_ratio(page->opts->settings->spike_factor).text);
}

static const struct weft_column drop_columns[] = {
    { "from_ns", "from", WEFT_CELL_AT },        { "to_ns", "to", WEFT_CELL_AT },
    { "duration_ns", "time", WEFT_CELL_NS },    { "count", "calls", WEFT_CELL_COUNT },
    { "expected", "usual", WEFT_CELL_RATIO },   { "cluster", "cluster", WEFT_CELL_ID },
    { "function", "function", WEFT_CELL_TEXT },
};

static void drop_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct weft_shapes_page *page = context;
    const struct weft_shape_drop *drop = &page->table->drops[row];
    const struct weft_shape_cluster *cluster = &page->table->clusters[drop->cluster_id];
    cells[0].number = drop->from_ns;
    cells[1].number = drop->to_ns;
    cells[2].number = drop->to_ns - drop->from_ns;
    cells[3].number = drop->count;
    cells[4].real = drop->expected;
    cells[5].number = drop->cluster_id;
    cells[6].text = weft_shapes_function(page, cluster->function_id)->name;
}

struct weft_table weft_shapes_drops_table(const struct weft_shapes_page *page)
{
    return (struct weft_table){ .columns = drop_columns,
                                .n_columns = N_OF(drop_columns),
                                .n_rows = page->table->n_drops,
                                .row = drop_row,
                                .context = page };
}

void weft_shapes_render_drops(struct weft_shapes_page *page)
{
    const struct weft_table table = weft_shapes_drops_table(page);
    if (!is_text(page) || table.n_rows > 0)
        render_list(page, &table, "drops", "");
    if (!is_text(page))
        return;
    print_found(page, table.n_rows, page->table->drops_found, "greatest loss first", "no drop");
    weft_output_printf(page->view->out, "stretches at less than %s of the cluster's usual rate\n",
                       weft_human_share(page->opts->settings->drop_fraction).text);
}

/* ---- rare ------------------------------------------------------------------------------------ */

static const struct weft_column rare_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "start_ns", "start", WEFT_CELL_AT },
    { "duration_ns", "time", WEFT_CELL_NS },
    { NULL, "because", WEFT_CELL_TEXT },
    { "once", NULL, WEFT_CELL_BOOL },
    { "one_thread", NULL, WEFT_CELL_BOOL },
    { "slow", NULL, WEFT_CELL_BOOL },
    { "deepest", NULL, WEFT_CELL_BOOL },
    { "surprise", "bits", WEFT_CELL_RATIO },
    { "surprising_ns", "of", WEFT_CELL_NS },
    { "score", NULL, WEFT_CELL_RATIO },
    { "count", "calls", WEFT_CELL_COUNT },
    { "function_calls", "of function", WEFT_CELL_COUNT },
    { "others_mean_ns", "others' mean", WEFT_CELL_NS },
    { "shape", "shape", WEFT_CELL_ID },
    { "cluster", "cluster", WEFT_CELL_ID },
    { "function", "function", WEFT_CELL_TEXT },
};

static const char *reason(const struct weft_shape_rare *rare)
{
    if (rare->is_once)
        return "seen once";
    if (rare->is_one_thread)
        return rare->is_slow ? "one thread, slow" : "one thread";
    return "slow";
}

static void rare_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct weft_shapes_page *page = context;
    const struct weft_shape_rare *rare = &page->opts->rare[page->rows[row]];
    const struct weft_shape *shape = &page->table->shapes[rare->shape_id];
    weft_shapes_occurrence_cells(page, &rare->at, cells);
    cells += WEFT_SHAPES_OCCURRENCE_CELLS;
    cells[0].text = weft_str_of(reason(rare));
    cells[1].number = rare->is_once;
    cells[2].number = rare->is_one_thread;
    cells[3].number = rare->is_slow;
    cells[4].number = rare->is_deepest;
    cells[5].real = rare->surprise;
    cells[6].number = rare->time_ns;
    cells[7].real = rare->score;
    cells[8].number = shape->count;
    cells[9].number = rare->function_calls;
    cells[10] = (struct weft_cell){ .number = rare->typical_ns, .is_null = shape->count < 2 };
    cells[11].number = rare->shape_id;
    cells[12].number = shape->cluster_id;
    cells[13].text = weft_shapes_name(page, rare->shape_id);
}

/* Text shows the deepest alone: what makes a call rare makes its callers rare. */
static bool choose_rare(struct weft_shapes_page *page)
{
    size_t n_kept = 0;
    if (!weft_shapes_take_rows(page, page->opts->n_rare))
        return false;
    for (uint32_t i = 0; i < page->n_rows; i++)
        if (!is_text(page) || page->opts->rare[i].is_deepest)
            page->rows[n_kept++] = i;
    page->n_rows = n_kept;
    weft_shapes_apply_limit(page);
    return true;
}

void weft_shapes_render_rare(struct weft_shapes_page *page)
{
    struct weft_output *out = page->view->out;
    if (!choose_rare(page))
        return;
    const struct weft_table table = { .columns = rare_columns,
                                      .n_columns = N_OF(rare_columns),
                                      .n_rows = page->n_shown,
                                      .row = rare_row,
                                      .context = page };
    render_list(page, &table, "rare",
                "nothing rare: no shape occurs once or on one thread alone, and no call takes far "
                "longer than others of its shape");
    if (!is_text(page) || page->n_rows == 0)
        return;
    weft_output_printf(out, "\n%zu of %zu shown, most surprising time first", page->n_shown,
                       page->n_rows);
    weft_output_printf(out, "; %zu callers left out that are rare for what they call\n",
                       page->opts->n_rare - page->n_rows);
}

/* ---- verification ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *about;
} promises[] = {
    [WEFT_PROMISE_ORDER] = { "order", "shapes stand in canonical order, none twice" },
    [WEFT_PROMISE_METRIC] = { "metric",
                              "distances are symmetric and keep the triangle inequality" },
    [WEFT_PROMISE_CLUSTERS] = { "clusters",
                                "shapes of a cluster are near each other, none part of another" },
    [WEFT_PROMISE_RIBBONS] = { "ribbons",
                               "clusters of a ribbon are not part of each other: they never "
                               "overlap" },
    [WEFT_PROMISE_COUNTS] = { "counts", "shapes, clusters and threads count the same calls" },
};

static const struct weft_column promise_columns[] = {
    { "name", "check", WEFT_CELL_TEXT },   { "checked", "checked", WEFT_CELL_COUNT },
    { "wrong", "wrong", WEFT_CELL_COUNT }, { "first_a", "first", WEFT_CELL_ID },
    { "first_b", "with", WEFT_CELL_ID },   { "about", "holds when", WEFT_CELL_TEXT },
};

static void promise_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct weft_shapes_page *page = context;
    const struct weft_shape_verdict *verdict = &page->opts->verdicts[row];
    const bool is_kept = verdict->n_wrong == 0;
    cells[0].text = weft_str_of(promises[row].name);
    cells[1].number = verdict->n_checked;
    cells[2] = (struct weft_cell){ .number = verdict->n_wrong, .is_bad = !is_kept };
    cells[3] = (struct weft_cell){ .number = verdict->ids[0], .is_null = is_kept };
    cells[4] = (struct weft_cell){ .number = verdict->ids[1], .is_null = is_kept };
    cells[5].text = weft_str_of(promises[row].about);
}

void weft_shapes_render_verify(struct weft_shapes_page *page)
{
    const struct weft_table table = { .columns = promise_columns,
                                      .n_columns = N_OF(promise_columns),
                                      .n_rows = WEFT_PROMISES,
                                      .row = promise_row,
                                      .context = page };
    render_list(page, &table, "checks", "");
}
