/* SPDX-License-Identifier: MIT
 *
 * What the page says of clusters: their numbers, shapes, spikes and drops, and what is rare.
 */
#include "analysis/shapes/rare.h"
#include "analysis/shapes/shapes.h"
#include "base/deviation.h"
#include "model/histogram.h"
#include "render/page/shapes.h"

#include <math.h>
#include <stdlib.h>

/* ---- clusters -------------------------------------------------------------------------------- */

typedef int64_t (*cluster_value)(const struct weft_page_shapes *shapes,
                                 const struct weft_shape_cluster *cluster);

#define CLUSTER_VALUE(name, value)                                                                 \
    static int64_t cluster_##name(const struct weft_page_shapes *shapes,                           \
                                  const struct weft_shape_cluster *cluster)                        \
    {                                                                                              \
        (void)shapes;                                                                              \
        return (int64_t)(value);                                                                   \
    }

CLUSTER_VALUE(id, cluster - shapes->table->clusters)
CLUSTER_VALUE(function, weft_page_function(shapes->page, cluster->function_id))
CLUSTER_VALUE(depth, cluster->depth)
CLUSTER_VALUE(n_shapes, cluster->n_shapes)
CLUSTER_VALUE(ribbon, cluster->ribbon == WEFT_ID_NONE ? -1 : (int64_t)cluster->ribbon)
CLUSTER_VALUE(count, cluster->times.count)
CLUSTER_VALUE(sum, cluster->times.sum_ns)
CLUSTER_VALUE(threads, cluster->n_threads)
CLUSTER_VALUE(min, cluster->times.min_ns)
CLUSTER_VALUE(max, cluster->times.max_ns)
CLUSTER_VALUE(p50, cluster->times.p50_ns)
CLUSTER_VALUE(p90, cluster->times.p90_ns)
CLUSTER_VALUE(p99, cluster->times.p99_ns)
CLUSTER_VALUE(p999, cluster->times.p999_ns)
CLUSTER_VALUE(spikes, cluster->n_spikes)
CLUSTER_VALUE(drops, cluster->n_drops)

static int64_t deviation_of(const struct weft_shape_times *times)
{
    return llround(weft_deviation(times->count, times->sum_ns, times->sum_squares));
}

CLUSTER_VALUE(deviation, deviation_of(&cluster->times))
CLUSTER_VALUE(function_count, shapes->function_times[cluster->function_id].count)
CLUSTER_VALUE(function_sum, shapes->function_times[cluster->function_id].sum_ns)
CLUSTER_VALUE(function_deviation, deviation_of(&shapes->function_times[cluster->function_id]))

struct cluster_column {
    const char *key;
    cluster_value value;
};

static void put_columns(const struct weft_page_shapes *shapes, uint32_t n,
                        const struct cluster_column *columns, size_t n_columns)
{
    for (size_t column = 0; column < n_columns; column++) {
        weft_json_begin_array(shapes->json, columns[column].key);
        for (uint32_t i = 0; i < n; i++)
            weft_json_i64(shapes->json, NULL,
                          columns[column].value(shapes, weft_page_cluster(shapes, i)));
        weft_json_end_array(shapes->json);
    }
}

static int64_t shape_index(const struct weft_page_shapes *shapes, uint32_t shape_id)
{
    uint32_t at = shape_id < shapes->table->n_shapes ? shapes->shape_at[shape_id] : WEFT_ID_NONE;
    return at == WEFT_ID_NONE ? -1 : (int64_t)at;
}

/* Threads, starts, durations, shapes. */
static void put_occurrences(const struct weft_page_shapes *shapes, const char *key,
                            const struct weft_shape_occurrence **rows, size_t n)
{
    struct weft_json *json = shapes->json;
    weft_json_begin_object(json, key);
    weft_json_begin_array(json, "h");
    for (size_t i = 0; i < n; i++)
        weft_json_u64(json, NULL, weft_page_thread(shapes->page, rows[i]->thread_id));
    weft_json_end_array(json);
    weft_json_begin_array(json, "s");
    for (size_t i = 0; i < n; i++)
        weft_json_u64(json, NULL, rows[i]->start_ns);
    weft_json_end_array(json);
    weft_json_begin_array(json, "t");
    for (size_t i = 0; i < n; i++)
        weft_json_u64(json, NULL, rows[i]->end_ns - rows[i]->start_ns);
    weft_json_end_array(json);
    weft_json_begin_array(json, "p");
    for (size_t i = 0; i < n; i++)
        weft_json_i64(json, NULL, shape_index(shapes, rows[i]->shape_id));
    weft_json_end_array(json);
    weft_json_end_object(json);
}

/* The shapes of a cluster that were sent: how many, and then which. */
static void put_members(const struct weft_page_shapes *shapes)
{
    struct weft_json *json = shapes->json;
    weft_json_begin_array(json, "mn");
    for (uint32_t i = 0; i < shapes->n_full; i++) {
        const struct weft_shape_cluster *cluster = weft_page_cluster(shapes, i);
        uint32_t n = 0;
        for (uint32_t m = 0; m < cluster->n_shapes; m++)
            n += shapes->shape_at[cluster->shape_ids[m]] != WEFT_ID_NONE;
        weft_json_u64(json, NULL, n);
    }
    weft_json_end_array(json);
    weft_json_begin_array(json, "m");
    for (uint32_t i = 0; i < shapes->n_full; i++) {
        const struct weft_shape_cluster *cluster = weft_page_cluster(shapes, i);
        for (uint32_t m = 0; m < cluster->n_shapes; m++)
            if (shapes->shape_at[cluster->shape_ids[m]] != WEFT_ID_NONE)
                weft_json_u64(json, NULL, shapes->shape_at[cluster->shape_ids[m]]);
    }
    weft_json_end_array(json);
}

/* Four bins for every power of two; values below four have bins of their own. */
static uint64_t page_bin(uint64_t ns)
{
    if (ns < 4)
        return ns;
    const uint32_t power = 63U - (uint32_t)__builtin_clzll(ns);
    return (power - 1) * 4 + (ns >> (power - 2) & 3);
}

/* The page's bins of a cluster, of which most stand for two of the table's, and what they hold;
 * returns how many. Both arrays have WEFT_BINS elements. */
static uint32_t join_bins(const struct weft_shape_cluster *cluster, uint64_t *bins,
                          uint64_t *counts)
{
    uint32_t n = 0;
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i < cluster->n_bins; i++) {
        const uint64_t bin = page_bin(cluster->bins[i].from_ns);
        if (bin != last) {
            bins[n] = bin;
            counts[n++] = 0;
        }
        counts[n - 1] += cluster->bins[i].count;
        last = bin;
    }
    return n;
}

/* How many bins each cluster has, each bin as the distance from the one before, the counts. */
static void put_bins(const struct weft_page_shapes *shapes)
{
    enum { N, BIN, COUNT };
    static const char *const keys[] = { "bn", "b", "bc" };
    const uint32_t n_clusters =
        shapes->n_full < shapes->level->spreads ? shapes->n_full : shapes->level->spreads;
    uint64_t bins[WEFT_BINS], counts[WEFT_BINS];
    for (int part = N; part <= COUNT; part++) {
        weft_json_begin_array(shapes->json, keys[part]);
        for (uint32_t c = 0; c < n_clusters; c++) {
            const uint32_t n = join_bins(weft_page_cluster(shapes, c), bins, counts);
            if (part == N)
                weft_json_u64(shapes->json, NULL, n);
            for (uint32_t i = 0; part != N && i < n; i++)
                weft_json_u64(shapes->json, NULL,
                              part == COUNT ? counts[i] : bins[i] - (i > 0 ? bins[i - 1] : 0));
        }
        weft_json_end_array(shapes->json);
    }
}

static void put_surprise(const struct weft_page_shapes *shapes)
{
    weft_json_begin_array(shapes->json, "surprise");
    for (uint32_t i = 0; i < shapes->n_full; i++) {
        double value = weft_page_cluster(shapes, i)->surprise;
        weft_json_real(shapes->json, NULL, isfinite(value) ? round(value * 1e4) / 1e4 : 0);
    }
    weft_json_end_array(shapes->json);
}

static enum weft_code put_clusters(const struct weft_page_shapes *shapes, struct weft_err *err)
{
    static const struct cluster_column all[] = {
        { "id", cluster_id },           { "f", cluster_function },      { "depth", cluster_depth },
        { "shapes", cluster_n_shapes }, { "ribbon", cluster_ribbon },   { "n", cluster_count },
        { "sum", cluster_sum },         { "threads", cluster_threads },
    };
    static const struct cluster_column full[] = {
        { "min", cluster_min },         { "max", cluster_max },
        { "p50", cluster_p50 },         { "p90", cluster_p90 },
        { "p99", cluster_p99 },         { "p999", cluster_p999 },
        { "spikes", cluster_spikes },   { "drops", cluster_drops },
        { "sd", cluster_deviation },    { "fn", cluster_function_count },
        { "fs", cluster_function_sum }, { "fd", cluster_function_deviation },
    };
    static const char *const kinds[WEFT_PAGE_KINDS] = { "typical", "slowest", "first" };
    const struct weft_shape_occurrence **rows = malloc((shapes->n_full + 1) * sizeof *rows);
    if (!rows)
        return weft_no_memory(err, "the page's clusters");
    weft_json_begin_object(shapes->json, "clusters");
    put_columns(shapes, shapes->n_listed, all, sizeof all / sizeof *all);
    put_columns(shapes, shapes->n_full, full, sizeof full / sizeof *full);
    put_surprise(shapes);
    put_bins(shapes);
    put_members(shapes);
    for (enum weft_page_kind kind = WEFT_PAGE_TYPICAL; kind < WEFT_PAGE_KINDS; kind++) {
        for (uint32_t i = 0; i < shapes->n_full; i++)
            rows[i] = weft_page_occurrence(weft_page_cluster(shapes, i), kind);
        put_occurrences(shapes, kinds[kind], rows, shapes->n_full);
    }
    weft_json_end_object(shapes->json);
    free(rows);
    return WEFT_OK;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

typedef int64_t (*shape_value)(const struct weft_page_shapes *shapes, uint32_t at);

static const struct weft_shape *shape_of(const struct weft_page_shapes *shapes, uint32_t at)
{
    return &shapes->table->shapes[shapes->shape_ids[at]];
}

static bool is_sent(const struct weft_page_shapes *shapes, uint32_t shape_id)
{
    return shapes->shape_at[shape_id] != WEFT_ID_NONE;
}

static int64_t kids_sent(const struct weft_page_shapes *shapes, uint32_t at)
{
    const struct weft_shape *shape = shape_of(shapes, at);
    int64_t n = 0;
    for (uint32_t c = 0; c < shape->n_children; c++)
        n += is_sent(shapes, shape->children[c]);
    return n;
}

static int64_t shape_id_of(const struct weft_page_shapes *shapes, uint32_t at)
{
    return shapes->shape_ids[at];
}

static int64_t shape_function(const struct weft_page_shapes *shapes, uint32_t at)
{
    return weft_page_function(shapes->page, shape_of(shapes, at)->function_id);
}

static int64_t shape_cluster(const struct weft_page_shapes *shapes, uint32_t at)
{
    uint32_t cluster_id = shape_of(shapes, at)->cluster_id;
    return weft_page_lists(shapes, cluster_id) ? (int64_t)shapes->cluster_at[cluster_id] : -1;
}

static int64_t shape_count(const struct weft_page_shapes *shapes, uint32_t at)
{
    return (int64_t)shape_of(shapes, at)->count;
}

static int64_t kids_left_out(const struct weft_page_shapes *shapes, uint32_t at)
{
    return (int64_t)shape_of(shapes, at)->n_children - kids_sent(shapes, at);
}

typedef int64_t (*edge_value)(const struct weft_page_shapes *shapes, uint32_t at, uint32_t child);

static int64_t edge_child(const struct weft_page_shapes *shapes, uint32_t at, uint32_t child)
{
    return (int64_t)at - shapes->shape_at[shape_of(shapes, at)->children[child]];
}

static int64_t edge_min(const struct weft_page_shapes *shapes, uint32_t at, uint32_t child)
{
    return shape_of(shapes, at)->repeats[child].min;
}

static int64_t edge_max(const struct weft_page_shapes *shapes, uint32_t at, uint32_t child)
{
    return shape_of(shapes, at)->repeats[child].max;
}

static int64_t edge_sum(const struct weft_page_shapes *shapes, uint32_t at, uint32_t child)
{
    return (int64_t)shape_of(shapes, at)->repeats[child].sum;
}

static void put_table(const struct weft_page_shapes *shapes)
{
    static const struct {
        const char *key;
        shape_value value;
    } columns[] = {
        { "id", shape_id_of }, { "f", shape_function }, { "c", shape_cluster },
        { "n", shape_count },  { "kn", kids_sent },     { "m", kids_left_out },
    };
    static const struct {
        const char *key;
        edge_value value;
    } edges[] = { { "k", edge_child }, { "a", edge_min }, { "b", edge_max }, { "s", edge_sum } };
    struct weft_json *json = shapes->json;
    weft_json_begin_object(json, "table");
    for (size_t column = 0; column < sizeof columns / sizeof *columns; column++) {
        weft_json_begin_array(json, columns[column].key);
        for (uint32_t at = 0; at < shapes->n_sent_shapes; at++)
            weft_json_i64(json, NULL, columns[column].value(shapes, at));
        weft_json_end_array(json);
    }
    for (size_t column = 0; column < sizeof edges / sizeof *edges; column++) {
        weft_json_begin_array(json, edges[column].key);
        for (uint32_t at = 0; at < shapes->n_sent_shapes; at++)
            for (uint32_t c = 0; c < shape_of(shapes, at)->n_children; c++)
                if (is_sent(shapes, shape_of(shapes, at)->children[c]))
                    weft_json_i64(json, NULL, edges[column].value(shapes, at, c));
        weft_json_end_array(json);
    }
    weft_json_end_object(json);
}

/* ---- spikes and drops ------------------------------------------------------------------------ */

static enum weft_code put_spikes(const struct weft_page_shapes *shapes, struct weft_err *err)
{
    const struct weft_shapes_table *table = shapes->table;
    struct weft_json *json = shapes->json;
    const struct weft_shape_occurrence **rows = malloc((table->n_spikes + 1) * sizeof *rows);
    const struct weft_shape_spike **spikes = malloc((table->n_spikes + 1) * sizeof *spikes);
    size_t n = 0;
    for (size_t i = 0; rows && spikes && i < table->n_spikes && n < shapes->level->marks; i++) {
        if (!weft_page_lists(shapes, table->spikes[i].cluster_id))
            continue;
        spikes[n] = &table->spikes[i];
        rows[n++] = &table->spikes[i].at;
    }
    if (rows && spikes) {
        weft_json_begin_object(json, "spikes");
        weft_json_begin_array(json, "c");
        for (size_t i = 0; i < n; i++)
            weft_json_u64(json, NULL, shapes->cluster_at[spikes[i]->cluster_id]);
        weft_json_end_array(json);
        weft_json_begin_array(json, "x");
        for (size_t i = 0; i < n; i++)
            weft_json_real(json, NULL, round(spikes[i]->times_median * 10) / 10);
        weft_json_end_array(json);
        put_occurrences(shapes, "at", rows, n);
        weft_json_end_object(json);
    }
    bool is_done = rows && spikes;
    free(rows);
    free(spikes);
    return is_done ? WEFT_OK : weft_no_memory(err, "the page's spikes");
}

typedef double (*drop_value)(const struct weft_page_shapes *shapes,
                             const struct weft_shape_drop *drop);

static double drop_cluster(const struct weft_page_shapes *shapes,
                           const struct weft_shape_drop *drop)
{
    return shapes->cluster_at[drop->cluster_id];
}

static double drop_start(const struct weft_page_shapes *shapes, const struct weft_shape_drop *drop)
{
    (void)shapes;
    return (double)drop->from_ns;
}

static double drop_length(const struct weft_page_shapes *shapes, const struct weft_shape_drop *drop)
{
    (void)shapes;
    return (double)(drop->to_ns - drop->from_ns);
}

static double drop_count(const struct weft_page_shapes *shapes, const struct weft_shape_drop *drop)
{
    (void)shapes;
    return (double)drop->count;
}

static double drop_expected(const struct weft_page_shapes *shapes,
                            const struct weft_shape_drop *drop)
{
    (void)shapes;
    return round(drop->expected * 10) / 10;
}

static void put_drops(const struct weft_page_shapes *shapes)
{
    static const struct {
        const char *key;
        drop_value value;
    } columns[] = { { "c", drop_cluster },
                    { "s", drop_start },
                    { "t", drop_length },
                    { "n", drop_count },
                    { "e", drop_expected } };
    const struct weft_shapes_table *table = shapes->table;
    weft_json_begin_object(shapes->json, "drops");
    for (size_t column = 0; column < sizeof columns / sizeof *columns; column++) {
        size_t n = 0;
        weft_json_begin_array(shapes->json, columns[column].key);
        for (size_t i = 0; i < table->n_drops && n < shapes->level->marks; i++)
            if (weft_page_lists(shapes, table->drops[i].cluster_id)) {
                weft_json_real(shapes->json, NULL, columns[column].value(shapes, &table->drops[i]));
                n++;
            }
        weft_json_end_array(shapes->json);
    }
    weft_json_end_object(shapes->json);
}

/* ---- rare ------------------------------------------------------------------------------------ */

enum weft_code weft_page_find_rare(struct weft_page_shapes *shapes, struct weft_err *err)
{
    struct weft_shapes_opts opts;
    struct weft_shape_rare *rare;
    size_t n_kept = 0;
    weft_shapes_defaults(&opts);
    WEFT_TRY(weft_shape_rare_find(shapes->table, opts.spike_factor, shapes->arena, &rare,
                                  &shapes->n_rare_found, err));
    for (size_t i = 0; i < shapes->n_rare_found; i++)
        if (rare[i].is_deepest)
            rare[n_kept++] = rare[i];
    shapes->rare = rare;
    shapes->n_rare = n_kept;
    return WEFT_OK;
}

typedef int64_t (*rare_value)(const struct weft_page_shapes *shapes,
                              const struct weft_shape_rare *rare);

enum { RARE_ONCE = 1, RARE_ONE_THREAD = 2, RARE_SLOW = 4 };

#define RARE_VALUE(name, value)                                                                    \
    static int64_t rare_##name(const struct weft_page_shapes *shapes,                              \
                               const struct weft_shape_rare *rare)                                 \
    {                                                                                              \
        const struct weft_shape *shape = &shapes->table->shapes[rare->shape_id];                   \
        (void)shape;                                                                               \
        return (int64_t)(value);                                                                   \
    }

RARE_VALUE(id, rare->shape_id)
RARE_VALUE(function, weft_page_function(shapes->page, shape->function_id))
RARE_VALUE(cluster, weft_page_lists(shapes, shape->cluster_id)
                        ? (int64_t)shapes->cluster_at[shape->cluster_id]
                        : -1)
RARE_VALUE(why, (rare->is_once ? RARE_ONCE : 0) | (rare->is_one_thread ? RARE_ONE_THREAD : 0) |
                    (rare->is_slow ? RARE_SLOW : 0))
RARE_VALUE(count, shape->count)
RARE_VALUE(function_calls, rare->function_calls)
RARE_VALUE(time, rare->time_ns)
RARE_VALUE(typical, rare->typical_ns)

static enum weft_code put_rare(const struct weft_page_shapes *shapes, struct weft_err *err)
{
    static const struct {
        const char *key;
        rare_value value;
    } columns[] = {
        { "id", rare_id },     { "f", rare_function },   { "c", rare_cluster },
        { "why", rare_why },   { "n", rare_count },      { "of", rare_function_calls },
        { "time", rare_time }, { "mean", rare_typical },
    };
    struct weft_json *json = shapes->json;
    const size_t n = shapes->n_rare < shapes->level->marks ? shapes->n_rare : shapes->level->marks;
    const struct weft_shape_occurrence **rows = malloc((n + 1) * sizeof *rows);
    if (!rows)
        return weft_no_memory(err, "the page's rare shapes");
    for (size_t i = 0; i < n; i++)
        rows[i] = &shapes->rare[i].at;
    weft_json_begin_object(json, "rare");
    for (size_t column = 0; column < sizeof columns / sizeof *columns; column++) {
        weft_json_begin_array(json, columns[column].key);
        for (size_t i = 0; i < n; i++)
            weft_json_i64(json, NULL, columns[column].value(shapes, &shapes->rare[i]));
        weft_json_end_array(json);
    }
    weft_json_begin_array(json, "bits");
    for (size_t i = 0; i < n; i++)
        weft_json_real(json, NULL, round(shapes->rare[i].surprise * 100) / 100);
    weft_json_end_array(json);
    put_occurrences(shapes, "at", rows, n);
    weft_json_end_object(json);
    free(rows);
    return WEFT_OK;
}

enum weft_code weft_page_put_clusters(struct weft_page_shapes *shapes, struct weft_err *err)
{
    WEFT_TRY(put_clusters(shapes, err));
    put_table(shapes);
    weft_page_put_trees(shapes);
    enum weft_code code = put_spikes(shapes, err);
    put_drops(shapes);
    return code == WEFT_OK ? put_rare(shapes, err) : code;
}
