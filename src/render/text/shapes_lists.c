/* SPDX-License-Identifier: MIT
 *
 * Lists of shapes: the gallery, those near one, spikes, drops, and what is rare.
 */
#include "analysis/shapes/metric.h"
#include "analysis/shapes/rare.h"
#include "analysis/shapes/verify.h"
#include "render/human.h"
#include "render/text/shapes.h"
#include "render/text/tables.h"

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
    struct weft_table table =
        weft_shapes_rows(page, &weft_shapes_type, page->table->shapes, page->n_shown);
    table.order = page->rows;
    table.more = shape_more;
    render_list(
        page, &table, "shape_list",
        page->table->n_shapes == 0
            ? "no shape: no call starts and ends in the range"
            : "no shape is of such a function, calls such a function and has as many calls");
    if (is_text(page))
        weft_shapes_print_more(page, "shapes");
}

/* ---- near a shape ---------------------------------------------------------------------------- */

struct near_row {
    uint32_t id, distance;
    struct weft_shape shape;
};

#define ROW struct near_row

static WEFT_GET(get_distance)
{
    const uint32_t halves = ((const ROW *)row)->distance;
    const struct weft_human text = weft_shapes_distance_text(halves);
    cell->real = halves / 2.0;
    if (field->unit == WEFT_UNIT_TEXT)
        cell->text = weft_arena_copy(context->arena, weft_str_of(text.text));
}

static const struct weft_field near_fields[] = {
    WEFT_GETTER(NULL, "distance", TEXT, get_distance, "distance to the shape asked for"),
    WEFT_GETTER("distance", NULL, RATIO, get_distance, "distance to the shape asked for"),
    WEFT_FIELD("id", "shape", ID, id, "number of the shape"),
    WEFT_SHAPE_FIELDS(shape., offsetof(ROW, shape)),
};

const struct weft_table_type weft_shapes_near_type =
    WEFT_TABLE_TYPE("shapes_near", "shapes near one", near_fields, ROW);

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
    struct near_row *rows = WEFT_ARENA_NEW(page->arena, page->n_shown, struct near_row);
    for (size_t i = 0; rows && i < page->n_shown; i++) {
        const struct weft_shape_near *near = &page->opts->near[i];
        rows[i] =
            (struct near_row){ near->shape, near->distance, page->table->shapes[near->shape] };
    }
    struct weft_table table =
        weft_shapes_rows(page, &weft_shapes_near_type, rows, rows ? page->n_shown : 0);
    table.more = near_more;
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

struct weft_table weft_shapes_spikes_table(const struct weft_shapes_page *page)
{
    return weft_shapes_rows(page, &weft_shape_spikes_type, page->table->spikes,
                            page->table->n_spikes);
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

struct weft_table weft_shapes_drops_table(const struct weft_shapes_page *page)
{
    return weft_shapes_rows(page, &weft_shape_drops_type, page->table->drops, page->table->n_drops);
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

#undef ROW
#define ROW struct weft_shape_rare

static const char *reason(const struct weft_shape_rare *rare)
{
    if (rare->is_once)
        return "seen once";
    if (rare->is_one_thread)
        return rare->is_slow ? "one thread, slow" : "one thread";
    return "slow";
}

static WEFT_GET(get_reason)
{
    cell->text = weft_str_of(reason(row));
}

enum of_shape { SHAPE_COUNT, SHAPE_OTHERS, SHAPE_CLUSTER, SHAPE_FUNCTION };

/* Of the shape that is rare. */
static WEFT_GET(get_of_shape)
{
    const struct weft_shapes_table *table = context->of;
    const ROW *rare = row;
    const struct weft_shape *shape = &table->shapes[rare->shape_id];
    const uint64_t numbers[] = { [SHAPE_COUNT] = shape->count,
                                 [SHAPE_OTHERS] = rare->typical_ns,
                                 [SHAPE_CLUSTER] = shape->cluster_id };
    if (field->arg == SHAPE_FUNCTION)
        cell->text = context->function(context->trace, shape->function_id)->name;
    else
        cell->number = numbers[field->arg];
    cell->is_null = field->arg == SHAPE_OTHERS && shape->count < 2;
}

#define OF_SHAPE(key, head, unit, what, doc)                                                       \
    WEFT_GETTER(key, head, unit, get_of_shape, doc, .arg = what)

static const struct weft_field rare_fields[] = {
    WEFT_SHAPE_OCCURRENCE(at),
    WEFT_GETTER(NULL, "because", TEXT, get_reason, "why it is rare"),
    WEFT_FIELD("once", NULL, BOOL, is_once, "the only call of its shape"),
    WEFT_FIELD("one_thread", NULL, BOOL, is_one_thread, "its shape is on one thread alone"),
    WEFT_FIELD("slow", NULL, BOOL, is_slow, "far longer than others of its shape"),
    WEFT_FIELD("deepest", NULL, BOOL, is_deepest, "no listed callee has most of its time"),
    WEFT_FIELD("surprise", "bits", RATIO, surprise, "rarity in bits"),
    WEFT_FIELD("surprising_ns", "of", NS, time_ns, "the time that is rare"),
    WEFT_FIELD("score", NULL, RATIO, score, "the rank: bits by time"),
    OF_SHAPE("count", "calls", COUNT, SHAPE_COUNT, "calls of its shape"),
    WEFT_FIELD("function_calls", "of function", COUNT, function_calls, "calls of its function"),
    OF_SHAPE("others_mean_ns", "others' mean", NS, SHAPE_OTHERS, "mean of the others"),
    WEFT_FIELD("shape", "shape", ID, shape_id, "its shape"),
    OF_SHAPE("cluster", "cluster", ID, SHAPE_CLUSTER, "its cluster"),
    OF_SHAPE("function", "function", TEXT, SHAPE_FUNCTION, "its function"),
};

const struct weft_table_type weft_shapes_rare_type =
    WEFT_TABLE_TYPE("shapes_rare", "rare calls, most surprising time first", rare_fields, ROW);

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
    struct weft_table table =
        weft_shapes_rows(page, &weft_shapes_rare_type, page->opts->rare, page->n_shown);
    table.order = page->rows;
    render_list(page, &table, "rare",
                "nothing rare: no shape occurs once or on one thread alone, and no call takes far "
                "longer than others of its shape");
    if (!is_text(page) || page->n_rows == 0)
        return;
    weft_output_printf(out, "\n%zu of %zu shown, most surprising time first", page->n_shown,
                       page->n_rows);
    weft_output_printf(out, "; %zu rare callers omitted\n", page->opts->n_rare - page->n_rows);
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

#undef ROW
#define ROW struct weft_shape_verdict

static WEFT_GET(get_promise)
{
    cell->text =
        weft_str_of(field->arg ? promises[context->place].about : promises[context->place].name);
}

static const struct weft_field promise_fields[] = {
    WEFT_GETTER("name", "check", TEXT, get_promise, "what is checked"),
    WEFT_FIELD("checked", "checked", COUNT, n_checked, "cases checked"),
    WEFT_FIELD("wrong", "wrong", COUNT, n_wrong, "of them wrong", .is_bad = true),
    WEFT_FIELD("first_a", "first", ID, ids[0], "the first wrong one",
               .given = WEFT_MEMBER(ROW, n_wrong)),
    WEFT_FIELD("first_b", "with", ID, ids[1], "and the other one of it",
               .given = WEFT_MEMBER(ROW, n_wrong)),
    WEFT_GETTER("about", "holds when", TEXT, get_promise, "when it holds", .arg = 1),
};

const struct weft_table_type weft_shapes_checks_type =
    WEFT_TABLE_TYPE("shapes_checks", "checks of the answer itself", promise_fields, ROW);

void weft_shapes_render_verify(struct weft_shapes_page *page)
{
    const struct weft_table table =
        weft_shapes_rows(page, &weft_shapes_checks_type, page->opts->verdicts, WEFT_PROMISES);
    render_list(page, &table, "checks", "");
}
