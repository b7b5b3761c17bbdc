/* SPDX-License-Identifier: MIT
 *
 * The columns of shapes, clusters, and what breaks their patterns.
 */
#include "schema/shapes_table.h"

#include "base/deviation.h"

static uint64_t mean_of(uint64_t sum_ns, uint64_t count)
{
    return count ? sum_ns / count : 0;
}

WEFT_GET(weft_get_times_mean)
{
    const struct weft_shape_times *times = (const void *)((const char *)row + field->offset);
    cell->number = mean_of(times->sum_ns, times->count);
}

WEFT_GET(weft_get_times_deviation)
{
    const struct weft_shape_times *times = (const void *)((const char *)row + field->offset);
    cell->number =
        (uint64_t)(weft_deviation(times->count, times->sum_ns, times->sum_squares) + 0.5);
}

WEFT_GET(weft_get_shape_mean)
{
    const struct weft_shape *shape = (const void *)((const char *)row + field->offset);
    cell->number = mean_of(shape->sum_ns, shape->count);
}

WEFT_GET(weft_get_shape_deviation)
{
    const struct weft_shape *shape = (const void *)((const char *)row + field->offset);
    cell->number =
        (uint64_t)(weft_deviation(shape->count, shape->sum_ns, shape->sum_squares) + 0.5);
}

/* ---- shapes and clusters --------------------------------------------------------------------- */

#define ROW struct weft_shape

#define PLACE(key_, head_, doc_)                                                                   \
    {                                                                                              \
        .key = (key_), .head = (head_), .unit = WEFT_UNIT_ID, .as = WEFT_AS_PLACE, .doc = (doc_)   \
    }
#define ITSELF

static const struct weft_field shape_fields[] = {
    PLACE("id", "shape", "number of the shape"),
    WEFT_SHAPE_FIELDS(ITSELF, 0),
};

const struct weft_table_type weft_shapes_type =
    WEFT_TABLE_TYPE("shapes", "shapes of calls", shape_fields, ROW);

#undef ROW
#define ROW struct weft_shape_cluster

#define EXAMPLE(key, head, tid_key, member, doc)                                                   \
    WEFT_FIELD(key, head, AT, member.start_ns, "start of " doc),                                   \
        WEFT_FIELD(tid_key, NULL, ID, member.thread_id, "its thread", .as = WEFT_AS_TID)

static const struct weft_field cluster_fields[] = {
    PLACE("id", "cluster", "number of the cluster"),
    WEFT_SHAPE_TIMES(times, .needs = 0),
    WEFT_FIELD("threads", "threads", COUNT, n_threads, "threads"),
    WEFT_FIELD("shapes", "shapes", COUNT, n_shapes, "shapes in it"),
    WEFT_FIELD("depth", NULL, COUNT, depth, "levels of its deepest shape"),
    EXAMPLE("first_ns", NULL, "first_tid", first, "the first call"),
    EXAMPLE("typical_ns", NULL, "typical_tid", typical, "a call of the median duration"),
    EXAMPLE("slowest_ns", "slowest at", "slowest_tid", slowest, "the slowest call"),
    WEFT_FIELD("spikes", "spikes", COUNT, n_spikes, "calls far longer than usual", .is_bad = true,
               .is_detail = true),
    WEFT_FIELD("drops", "drops", COUNT, n_drops, "stretches with few calls", .is_bad = true,
               .is_detail = true),
    WEFT_FIELD("surprise", NULL, RATIO, surprise, "rarity in bits"),
    WEFT_FIELD("ribbon", NULL, ID, ribbon, "its ribbon", .as = WEFT_AS_ID),
    WEFT_FIELD("function", "function", TEXT, function_id, "the function", .as = WEFT_AS_FUNCTION),
    WEFT_FIELD("function_id", NULL, ID, function_id, "its number in the source",
               .as = WEFT_AS_FUNCTION_KEY),
};

const struct weft_table_type weft_shape_clusters_type =
    WEFT_TABLE_TYPE("shape_clusters", "clusters of similar shapes", cluster_fields, ROW);

#undef ROW
#define ROW struct weft_shape_presence

static const struct weft_field presence_fields[] = {
    WEFT_FIELD("cluster", NULL, ID, cluster_id, "the cluster"),
    WEFT_FIELD("ribbon", NULL, ID, ribbon, "its ribbon on the thread", .as = WEFT_AS_ID),
    WEFT_FIELD("first_ns", NULL, AT, first_ns, "start of the first call"),
    WEFT_SHAPE_TIMES(times, .needs = 0),
};

const struct weft_table_type weft_shape_presences_type =
    WEFT_TABLE_TYPE("shape_presences", "clusters on a thread", presence_fields, ROW);

#undef ROW
#define ROW struct weft_shape_card_row

static WEFT_GET(get_rate)
{
    const struct weft_shapes_table *table = context->of;
    const uint64_t window_ns = table->to_ns - table->from_ns;
    cell->real =
        window_ns ? (double)((const ROW *)row)->presence.times.count * 1e9 / (double)window_ns : 0;
    cell->is_null = window_ns == 0;
}

static const struct weft_field card_fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "name", "thread", thread_id, "the thread"),
    WEFT_SHAPE_TIMES(presence.times, .needs = 0),
    WEFT_GETTER("rate_per_s", "calls/s", RATIO, get_rate, "calls a second"),
    WEFT_FIELD("first_ns", "first", AT, presence.first_ns, "start of the first call"),
    WEFT_FIELD("ribbon", "ribbon", ID, presence.ribbon, "its ribbon on the thread",
               .as = WEFT_AS_ID),
};

const struct weft_table_type weft_shape_card_type =
    WEFT_TABLE_TYPE("shape_card", "threads of a cluster", card_fields, ROW);

/* ---- threads --------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_shape_thread

/* What the thread and those before it have together, as in the paper: the member of a sum. */
static WEFT_GET(get_sum)
{
    const struct weft_shapes_sum *sums = context->of;
    cell->number = weft_member_number(&sums[context->place], WEFT_FROM_U64, field->arg);
}

static const struct weft_field thread_fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "name", "thread", thread_id, "the thread"),
    WEFT_FIELD("calls", "calls", COUNT, calls, "calls that have a shape"),
    WEFT_FIELD("shapes", "shapes", COUNT, n_shapes, "shapes"),
    WEFT_FIELD("new_shapes", "new", COUNT, n_new_shapes, "shapes on no thread before"),
    WEFT_GETTER("all_shapes", "all", COUNT, get_sum, "shapes of this and the threads before",
                .arg = offsetof(struct weft_shapes_sum, n_shapes)),
    WEFT_FIELD("clusters", "clusters", COUNT, n_clusters, "clusters"),
    WEFT_FIELD("new_clusters", "new", COUNT, n_new_clusters, "clusters on no thread before"),
    WEFT_GETTER("all_clusters", "all", COUNT, get_sum, "clusters of this and the threads before",
                .arg = offsetof(struct weft_shapes_sum, n_clusters)),
    WEFT_FIELD("ribbons", "ribbons", COUNT, n_ribbons, "ribbons"),
    WEFT_FIELD("group", "similar", ID, group, "similar threads have the same number"),
    WEFT_FIELD("cut_calls", NULL, COUNT, cut_calls, "calls cut by the edges, without a shape"),
    WEFT_FIELD("excluded_calls", NULL, COUNT, excluded_calls, "calls of excluded functions"),
    WEFT_FIELD("limited_calls", NULL, COUNT, limited_calls, "calls beyond the limit of shapes"),
};

const struct weft_table_type weft_shape_threads_type =
    WEFT_TABLE_TYPE("shape_threads", "shapes and clusters of threads", thread_fields, ROW);

/* ---- spikes and drops ------------------------------------------------------------------------ */

#undef ROW
#define ROW struct weft_shape_spike

/* Of the cluster whose place is the member. */
static const struct weft_shape_cluster *cluster_of(const struct weft_field *field,
                                                   const struct weft_table_context *context,
                                                   const void *row)
{
    const struct weft_shapes_table *table = context->of;
    return &table->clusters[weft_member_number(row, WEFT_FROM_U32, field->offset)];
}

static WEFT_GET(get_median)
{
    cell->number = cluster_of(field, context, row)->times.p50_ns;
}

static WEFT_GET(get_function)
{
    cell->text =
        context->function(context->trace, cluster_of(field, context, row)->function_id)->name;
}

static const struct weft_field spike_fields[] = {
    WEFT_SHAPE_OCCURRENCE(at),
    WEFT_FIELD("median_ns", "median", NS, cluster_id, "median of its cluster", .get = get_median),
    WEFT_FIELD("times_median", "x median", RATIO, times_median, "duration by median"),
    WEFT_FIELD("cluster", "cluster", ID, cluster_id, "the cluster"),
    WEFT_FIELD("shape", "shape", ID, at.shape_id, "the shape"),
    WEFT_FIELD("function", "function", TEXT, cluster_id, "the function", .get = get_function),
};

const struct weft_table_type weft_shape_spikes_type =
    WEFT_TABLE_TYPE("shape_spikes", "calls far longer than their cluster's", spike_fields, ROW);

#undef ROW
#define ROW struct weft_shape_drop

static const struct weft_field drop_fields[] = {
    WEFT_FIELD("from_ns", "from", AT, from_ns, "start of the stretch"),
    WEFT_FIELD("to_ns", "to", AT, to_ns, "its end"),
    WEFT_DURATION("duration_ns", "time", from_ns, to_ns, "its duration"),
    WEFT_FIELD("count", "calls", COUNT, count, "calls in it"),
    WEFT_FIELD("expected", "usual", RATIO, expected, "calls by the running median"),
    WEFT_FIELD("cluster", "cluster", ID, cluster_id, "the cluster"),
    WEFT_FIELD("function", "function", TEXT, cluster_id, "the function", .get = get_function),
};

const struct weft_table_type weft_shape_drops_type =
    WEFT_TABLE_TYPE("shape_drops", "stretches with few calls of a cluster", drop_fields, ROW);
