/* SPDX-License-Identifier: MIT
 *
 * Shapes: mines, clusters, looks at every occurrence again, and makes the table.
 */
#include "analysis/shapes/shapes.h"

#include "analysis/shapes/bins.h"
#include "analysis/shapes/clusters.h"
#include "analysis/shapes/durations.h"
#include "analysis/shapes/mine.h"
#include "analysis/shapes/occurrences.h"
#include "analysis/shapes/quantiles.h"
#include "analysis/shapes/rank.h"
#include "base/checked.h"
#include "base/vec.h"
#include "model/calls/scan.h"
#include "model/window.h"
#include "schema/event.h"
#include "schema/result.h"
#include "schema/shapes.h"

#include <stdlib.h>
#include <string.h>

/* ---- drawn ----------------------------------------------------------------------------------- */

/* Which clusters' runs are looked for. The pass over occurrences keeps a cell for each cluster and
 * column of a thread in which it occurs. Where nearly every call has a shape of its own these
 * would be more than memory holds. Chooses within a limit of cells: clusters of a thread by their
 * time, longest first, as long as their columns fit; the rest are counted as omitted. */

struct weft_shape_drawing {
    struct weft_window window; /* that the columns divide */
    uint32_t n_columns;
    uint64_t max_cells; /* of a thread */
};

struct drawn {
    uint64_t sum_ns, n_cells;
    uint32_t cluster_id;
    size_t place; /* among the thread's clusters */
};

static int by_time(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;
    if (x->sum_ns != y->sum_ns)
        return x->sum_ns > y->sum_ns ? -1 : 1;
    return (x->cluster_id > y->cluster_id) - (x->cluster_id < y->cluster_id);
}

static uint64_t most_cells(const struct weft_shape_drawing *drawing,
                           const struct weft_shape_times *times)
{
    const uint64_t span_ns = drawing->window.to_ns - drawing->window.from_ns;
    const uint64_t column_ns = weft_max_u64(span_ns / drawing->n_columns, 1);
    const uint64_t n_columns = drawing->n_columns;
    if (times->count >= n_columns || times->sum_ns / column_ns >= n_columns)
        return n_columns;
    return weft_min_u64(2 * times->count + times->sum_ns / column_ns, n_columns);
}

/* Of the clusters of a thread that are in ribbons (ribbon[i] is not WEFT_ID_NONE), takes those of
 * most time, of equals the lower id, as long as all their cells fit, and sets ribbon[i] of the
 * others to WEFT_ID_NONE. A cluster has at most as many cells as there are columns, and at most two
 * for each occurrence and one for each column's width of its time. *n_left: how many were omitted.
 * False without memory. O(n log n). */
static bool weft_shapes_draw(const struct weft_shape_drawing *drawing,
                             const struct weft_shape_presence *presences, size_t n,
                             uint32_t *ribbon, uint64_t *n_left)
{
    struct drawn *order = malloc((n + 1) * sizeof *order);
    size_t n_order = 0, at = 0;
    uint64_t n_cells = 0;
    *n_left = 0;
    if (!order)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (ribbon[i] == WEFT_ID_NONE)
            continue;
        const struct weft_shape_times *times = &presences[i].times;
        order[n_order++] =
            (struct drawn){ times->sum_ns, most_cells(drawing, times), presences[i].cluster_id, i };
    }
    qsort(order, n_order, sizeof *order, by_time);
    while (at < n_order && order[at].n_cells <= drawing->max_cells - n_cells)
        n_cells += order[at++].n_cells;
    *n_left = n_order - at;
    for (; at < n_order; at++)
        ribbon[order[at].place] = WEFT_ID_NONE;
    free(order);
    return true;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

enum {
    MAX_COLUMNS = 1 << 16,
    MAX_WINDOWS = 1 << 16,
    MAX_DROP_CELLS = 1 << 24, /* counts of occurrences by cluster and window */
    BYTES_A_SHAPE = 4096,     /* with a cluster of its own, its states and the workers' copies */
    BYTES_A_ROW = 800, /* a fifth of the ceiling at worst, as rows and as clusters on threads */
    CHILDREN_A_SHAPE = 16,
    BYTES_A_CELL = 2048, /* of the ceiling: those of each worker's thread take a thirtieth */
    MAX_CELLS = 1 << 18,
    MAX_QUANTILE_BYTES = 128 * 1024 * 1024, /* a worker */
};

struct job {
    const struct weft_trace *trace;
    const struct weft_shapes_opts *opts;
    const struct weft_run *run;
    struct weft_mine_opts mine_opts;
    struct weft_mined mined;
    struct weft_shape_replay *replay;
    struct weft_clusters clusters;
    struct weft_cluster_relations *relations;
    struct weft_occurrences occurrences;
    struct weft_shapes_table *table;
    /* Clusters on threads: those of the mined thread t are first[t] ... first[t + 1). */
    struct weft_shape_presence *presences;
    size_t *first;
    uint32_t *cluster_id, *ribbon;
    size_t n_presences;
    struct weft_shape_bins *bins;   /* by cluster */
    struct weft_shape_watch *watch; /* by cluster */
    uint32_t *slot_cluster;         /* by drop slot */
    uint32_t n_slots;
};

void weft_shapes_defaults(struct weft_shapes_opts *opts)
{
    *opts = (struct weft_shapes_opts){
        .threshold_halves = 3,
        .spike_factor = 10,
        .spike_least_ns = 10000,
        .drop_fraction = 0.5,
        .n_windows = 200,
        .limit = 1000,
    };
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool is_earlier(const struct weft_shape_occurrence *a, const struct weft_shape_occurrence *b)
{
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->thread_id < b->thread_id;
}

static bool is_slower(const struct weft_shape_occurrence *a, const struct weft_shape_occurrence *b)
{
    uint64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;
    return x != y ? x > y : is_earlier(a, b);
}

/* Adds a shape's row on a thread; rows of ascending threads. */
static void add_row(struct weft_shape *shape, const struct weft_shape_row *row, uint32_t thread_id)
{
    const struct weft_shape_occurrence first = { thread_id, row->shape_id, row->first_ns,
                                                 row->first_end_ns };
    const struct weft_shape_occurrence slowest = { thread_id, row->shape_id, row->slowest_ns,
                                                   row->slowest_ns + row->max_ns };
    bool is_first = shape->count == 0;
    if (is_first || is_earlier(&first, &shape->first))
        shape->first = first;
    if (is_first || is_slower(&slowest, &shape->slowest))
        shape->slowest = slowest;
    shape->min_ns = is_first ? row->min_ns : weft_min_u64(shape->min_ns, row->min_ns);
    shape->max_ns = weft_max_u64(shape->max_ns, row->max_ns);
    shape->count += row->count;
    shape->sum_ns += row->sum_ns;
    shape->sum_squares += row->sum_squares;
    shape->n_threads++;
}

static enum weft_code make_shapes(struct job *job, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    const struct weft_mined *mined = &job->mined;
    size_t n = mined->set.n_shapes, n_child = mined->table.n_child;
    uint32_t *children = WEFT_ARENA_NEW(table->arena, n_child, uint32_t);
    struct weft_shape_repeat *repeats =
        WEFT_ARENA_NEW(table->arena, n_child, struct weft_shape_repeat);
    table->shapes = WEFT_ARENA_NEW(table->arena, n, struct weft_shape);
    if (!children || !repeats || !table->shapes)
        return weft_no_memory(err, "shapes");
    if (n_child) {
        memcpy(children, mined->set.child, n_child * sizeof *children);
        memcpy(repeats, mined->repeats, n_child * sizeof *repeats);
    }
    table->n_shapes = n;
    for (size_t i = 0; i < n; i++) {
        struct weft_shape *shape = &table->shapes[i];
        uint32_t first = mined->set.first_child[i];
        shape->function_id = mined->set.function_id[i];
        shape->depth = mined->set.depth[i];
        shape->cluster_id = job->clusters.cluster_of[i];
        shape->n_children = mined->set.first_child[i + 1] - first;
        shape->children = children + first;
        shape->repeats = repeats + first;
        table->n_trivial_shapes += shape->depth == 1;
    }
    for (size_t t = 0; t < mined->n_threads; t++)
        for (size_t i = 0; i < mined->threads[t].n_rows; i++) {
            const struct weft_shape_row *row = &mined->threads[t].rows[i];
            add_row(&table->shapes[row->shape_id], row, mined->threads[t].thread_id);
        }
    return WEFT_OK;
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Adds durations; quantiles are not of a sum. */
static void add_times(struct weft_shape_times *times, const struct weft_shape_times *more)
{
    times->min_ns = times->count ? weft_min_u64(times->min_ns, more->min_ns) : more->min_ns;
    times->max_ns = weft_max_u64(times->max_ns, more->max_ns);
    times->count += more->count;
    times->sum_ns += more->sum_ns;
    times->sum_squares += more->sum_squares;
}

static void make_cluster(struct job *job, uint32_t id)
{
    struct weft_shapes_table *table = job->table;
    struct weft_shape_cluster *cluster = &table->clusters[id];
    uint32_t first = job->clusters.first_member[id];
    cluster->n_shapes = job->clusters.first_member[id + 1] - first;
    cluster->shape_ids = job->clusters.member + first;
    cluster->depth = job->clusters.depth[id];
    cluster->ribbon = WEFT_ID_NONE;
    cluster->is_trivial = true;
    for (uint32_t i = 0; i < cluster->n_shapes; i++) {
        const struct weft_shape *shape = &table->shapes[cluster->shape_ids[i]];
        cluster->function_id = shape->function_id;
        cluster->is_trivial = cluster->is_trivial && shape->n_children == 0;
        if (i == 0 || shape->first.start_ns < cluster->first.start_ns)
            cluster->first = shape->first; /* its begin counts: find_occurrences finds the call */
        const struct weft_shape_times times = { .count = shape->count,
                                                .sum_ns = shape->sum_ns,
                                                .min_ns = shape->min_ns,
                                                .max_ns = shape->max_ns,
                                                .sum_squares = shape->sum_squares };
        add_times(&cluster->times, &times);
    }
}

static enum weft_code make_clusters(struct job *job, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    table->n_clusters = job->clusters.n_clusters;
    table->unclustered_shapes = job->clusters.n_unclustered;
    table->clusters = WEFT_ARENA_NEW(table->arena, table->n_clusters, struct weft_shape_cluster);
    if (!table->clusters)
        return weft_no_memory(err, "shapes");
    for (uint32_t id = 0; id < table->n_clusters; id++) {
        make_cluster(job, id);
        table->n_trivial_clusters += table->clusters[id].is_trivial;
    }
    return WEFT_OK;
}

/* ---- threads --------------------------------------------------------------------------------- */

static int by_cluster(const void *a, const void *b)
{
    const struct weft_shape_presence *x = a, *y = b;
    return (x->cluster_id > y->cluster_id) - (x->cluster_id < y->cluster_id);
}

/* The clusters of a thread, which are on `at` first, from its shapes. `place` is by cluster: zeros,
 * and left so. Returns how many. */
static size_t gather_presences(struct job *job, const struct weft_mined_thread *thread,
                               struct weft_shape_presence *at, size_t *place)
{
    size_t n = 0;
    for (size_t i = 0; i < thread->n_rows; i++) {
        const struct weft_shape_row *row = &thread->rows[i];
        uint32_t cluster = job->clusters.cluster_of[row->shape_id];
        if (!place[cluster]) {
            place[cluster] = n + 1;
            at[n++] = (struct weft_shape_presence){ .cluster_id = cluster,
                                                    .ribbon = WEFT_ID_NONE,
                                                    .first_ns = row->first_ns };
        }
        struct weft_shape_presence *presence = &at[place[cluster] - 1];
        presence->first_ns = weft_min_u64(presence->first_ns, row->first_ns);
        const struct weft_shape_times times = { .count = row->count,
                                                .sum_ns = row->sum_ns,
                                                .min_ns = row->min_ns,
                                                .max_ns = row->max_ns,
                                                .sum_squares = row->sum_squares };
        add_times(&presence->times, &times);
    }
    for (size_t i = 0; i < n; i++)
        place[at[i].cluster_id] = 0;
    if (n)
        qsort(at, n, sizeof *at, by_cluster);
    return n;
}

/* All threads' clusters, one after the other. */
static enum weft_code make_presences(struct job *job, struct weft_err *err)
{
    const struct weft_mined *mined = &job->mined;
    size_t n_max = 0, n_clusters = job->table->n_clusters;
    for (size_t t = 0; t < mined->n_threads; t++)
        n_max += weft_min_u64(mined->threads[t].n_rows, n_clusters);
    size_t *place = calloc(n_clusters + 1, sizeof *place);
    job->first = calloc(mined->n_threads + 1, sizeof *job->first);
    job->presences = WEFT_ARENA_NEW(job->table->arena, n_max, struct weft_shape_presence);
    job->cluster_id = calloc(n_max + 1, sizeof *job->cluster_id);
    job->ribbon = calloc(n_max + 1, sizeof *job->ribbon);
    bool is_ok = place && job->first && job->presences && job->cluster_id && job->ribbon;
    size_t n = 0;
    for (size_t t = 0; is_ok && t < mined->n_threads; t++) {
        n += gather_presences(job, &mined->threads[t], job->presences + n, place);
        job->first[t + 1] = n;
    }
    for (size_t i = 0; is_ok && i < n; i++) {
        job->cluster_id[i] = job->presences[i].cluster_id;
        job->table->clusters[job->cluster_id[i]].n_threads++;
    }
    job->n_presences = n;
    free(place);
    return is_ok ? WEFT_OK : weft_no_memory(err, "shapes");
}

/* Numbers of a thread; `seen` is by shape and by cluster: 1 those of threads before. */
static void fill_thread(struct job *job, size_t t, uint8_t *seen_shapes, uint8_t *seen_clusters)
{
    const struct weft_mined_thread *mined = &job->mined.threads[t];
    struct weft_shape_thread *thread = &job->table->threads[t];
    thread->thread_id = mined->thread_id;
    thread->calls = mined->tally.calls;
    thread->cut_calls = mined->tally.cut_calls;
    thread->excluded_calls = mined->tally.excluded_calls;
    thread->limited_calls = mined->tally.limited_calls;
    thread->presences = job->presences + job->first[t];
    thread->n_presences = job->first[t + 1] - job->first[t];
    for (size_t i = 0; i < mined->n_rows; i++) {
        uint32_t shape = mined->rows[i].shape_id;
        bool is_trivial = job->table->shapes[shape].n_children == 0;
        thread->n_shapes += !is_trivial;
        thread->n_new_shapes += !is_trivial && !seen_shapes[shape];
        seen_shapes[shape] = 1;
    }
    for (size_t i = 0; i < thread->n_presences; i++) {
        uint32_t cluster = thread->presences[i].cluster_id;
        bool is_trivial = job->table->clusters[cluster].is_trivial;
        thread->n_clusters += !is_trivial;
        thread->n_new_clusters += !is_trivial && !seen_clusters[cluster];
        seen_clusters[cluster] = 1;
    }
}

static enum weft_code make_threads(struct job *job, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    table->n_threads = job->mined.n_threads;
    table->threads = WEFT_ARENA_NEW(table->arena, table->n_threads, struct weft_shape_thread);
    uint8_t *seen_shapes = calloc(table->n_shapes + 1, 1);
    uint8_t *seen_clusters = calloc(table->n_clusters + 1, 1);
    bool is_ok = table->threads && seen_shapes && seen_clusters;
    for (size_t t = 0; is_ok && t < table->n_threads; t++) {
        fill_thread(job, t, seen_shapes, seen_clusters);
        table->calls += table->threads[t].calls;
        table->cut_calls += table->threads[t].cut_calls;
        table->excluded_calls += table->threads[t].excluded_calls;
        table->limited_calls += table->threads[t].limited_calls;
        table->repaired_calls += job->mined.threads[t].tally.repaired_calls;
    }
    free(seen_shapes);
    free(seen_clusters);
    return is_ok ? WEFT_OK : weft_no_memory(err, "shapes");
}

/* ---- ribbons --------------------------------------------------------------------------------- */

static bool is_in_ribbons(const struct job *job, uint32_t cluster)
{
    const struct weft_shape_cluster *is = &job->table->clusters[cluster];
    return !is->is_trivial && is->times.count >= job->opts->min_count;
}

/* Fills `ribbons` from the ribbon of each of `ids`, ascending. */
static enum weft_code fill_ribbons(struct job *job, const uint32_t *ids, const uint32_t *ribbon_of,
                                   size_t n_ids, struct weft_shape_ribbon *ribbons,
                                   size_t n_ribbons, struct weft_err *err)
{
    uint32_t *lists = WEFT_ARENA_NEW(job->table->arena, n_ids, uint32_t);
    if (!lists)
        return weft_no_memory(err, "shapes");
    for (size_t i = 0; i < n_ids; i++) {
        struct weft_shape_ribbon *ribbon = &ribbons[ribbon_of[i]];
        uint32_t depth = job->table->clusters[ids[i]].depth;
        ribbon->n_clusters++;
        ribbon->depth = depth > ribbon->depth ? depth : ribbon->depth;
    }
    size_t begin = 0;
    for (size_t r = 0; r < n_ribbons; r++) {
        ribbons[r].cluster_ids = lists + begin;
        begin += ribbons[r].n_clusters;
        ribbons[r].n_clusters = 0;
    }
    for (size_t i = 0; i < n_ids; i++) {
        struct weft_shape_ribbon *ribbon = &ribbons[ribbon_of[i]];
        lists[(size_t)(ribbon->cluster_ids - lists) + ribbon->n_clusters++] = ids[i];
    }
    return WEFT_OK;
}

static enum weft_code build_ribbons(struct job *job, const uint32_t *ids, size_t n_ids,
                                    const uint32_t **ribbon_of,
                                    const struct weft_shape_ribbon **ribbons, size_t *n_ribbons,
                                    struct weft_err *err)
{
    struct weft_arena *arena = job->table->arena;
    uint32_t *of = NULL, n = 0;
    enum weft_code code = weft_ribbons_build(job->relations, ids, n_ids, arena, &of, &n, err);
    if (code)
        return code;
    struct weft_shape_ribbon *made = WEFT_ARENA_NEW(arena, n, struct weft_shape_ribbon);
    if (!made)
        return weft_no_memory(err, "shapes");
    *ribbon_of = of;
    *ribbons = made;
    *n_ribbons = n;
    return fill_ribbons(job, ids, of, n_ids, made, n, err);
}

static enum weft_code trace_ribbons(struct job *job, uint32_t *ids, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    const uint32_t *ribbon_of = NULL;
    const struct weft_shape_ribbon *ribbons = NULL;
    size_t n = 0;
    for (uint32_t id = 0; id < table->n_clusters; id++) {
        bool is_in = is_in_ribbons(job, id);
        table->n_rare_clusters += !is_in && !table->clusters[id].is_trivial;
        if (is_in)
            ids[n++] = id;
    }
    enum weft_code code = build_ribbons(job, ids, n, &ribbon_of, &ribbons, &table->n_ribbons, err);
    if (code)
        return code;
    for (size_t i = 0; i < n; i++)
        table->clusters[ids[i]].ribbon = ribbon_of[i];
    table->ribbons = ribbons;
    return WEFT_OK;
}

static enum weft_code thread_ribbons(struct job *job, size_t t, uint32_t *ids, struct weft_err *err)
{
    struct weft_shape_thread *thread = &job->table->threads[t];
    const uint32_t *ribbon_of = NULL;
    size_t n = 0, k = 0;
    for (size_t i = job->first[t]; i < job->first[t + 1]; i++)
        if (is_in_ribbons(job, job->cluster_id[i]))
            ids[n++] = job->cluster_id[i];
    enum weft_code code =
        build_ribbons(job, ids, n, &ribbon_of, &thread->ribbons, &thread->n_ribbons, err);
    for (size_t i = job->first[t]; !code && i < job->first[t + 1]; i++)
        job->presences[i].ribbon = job->ribbon[i] =
            k < n && ids[k] == job->cluster_id[i] ? ribbon_of[k++] : WEFT_ID_NONE;
    return code;
}

/* Leaves out what cannot be drawn. */
static enum weft_code choose_drawn(struct job *job, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    const uint64_t n_fit = job->run->memory_bytes / BYTES_A_CELL;
    const struct weft_shape_drawing drawing = {
        .window = { table->from_ns, table->to_ns },
        .n_columns = table->n_columns,
        .max_cells = job->opts->max_cells ? job->opts->max_cells
                     : n_fit              ? weft_min_u64(n_fit, MAX_CELLS)
                                          : MAX_CELLS,
    };
    for (size_t t = 0; table->n_columns && t < table->n_threads; t++) {
        const size_t first = job->first[t], n = job->first[t + 1] - first;
        uint64_t n_left = 0;
        if (!weft_shapes_draw(&drawing, job->presences + first, n, job->ribbon + first, &n_left))
            return weft_no_memory(err, "shapes");
        table->undrawn_presences += n_left;
    }
    return WEFT_OK;
}

static enum weft_code make_ribbons(struct job *job, struct weft_err *err)
{
    uint32_t *ids = calloc(job->table->n_clusters + 1, sizeof *ids);
    if (!ids)
        return weft_no_memory(err, "shapes");
    job->table->rare_below = (uint32_t)weft_min_u64(job->opts->min_count, UINT32_MAX);
    enum weft_code code =
        weft_cluster_relations_build(&job->mined.set, &job->clusters, &job->relations, err);
    if (!code)
        code = trace_ribbons(job, ids, err);
    for (size_t t = 0; !code && t < job->table->n_threads; t++)
        code = thread_ribbons(job, t, ids, err);
    free(ids);
    return code ? code : choose_drawn(job, err);
}

/* ---- quantiles ------------------------------------------------------------------------------- */

/* What a worker's durations may take: an eighth of the ceiling for all together, 0 for the default.
 */
static size_t quantile_bytes(const struct weft_run *run)
{
    uint64_t share = run->memory_bytes / 8 / weft_pool_workers(run->pool);
    return share < MAX_QUANTILE_BYTES ? share : MAX_QUANTILE_BYTES;
}

/* Quantiles and bins. Clusters of one thread have its quantiles. */
static enum weft_code fill_quantiles(struct job *job, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    size_t n = job->n_presences;
    struct weft_shape_times **times = calloc(n + table->n_clusters + 1, sizeof(void *));
    job->bins = calloc(table->n_clusters + 1, sizeof *job->bins);
    if (!times || !job->bins) {
        free(times);
        return weft_no_memory(err, "shapes");
    }
    for (size_t i = 0; i < n; i++)
        times[i] = &job->presences[i].times;
    for (size_t c = 0; c < table->n_clusters; c++)
        times[n + c] = table->clusters[c].n_threads > 1 ? &table->clusters[c].times : NULL;
    const struct weft_shape_quantile_rows rows = {
        .cluster_of = job->clusters.cluster_of,
        .n_clusters = table->n_clusters,
        .first = job->first,
        .cluster_id = job->cluster_id,
        .times = times,
        .bins = job->bins,
        .budget_bytes = quantile_bytes(job->run),
    };
    enum weft_code code = job->mined.has_durations
                              ? weft_shape_durations_run(&job->mined, &rows, job->run->pool, err)
                              : weft_shape_quantiles_run(&job->mined, job->replay, &rows,
                                                         weft_pool_workers(job->run->pool), err);
    for (size_t i = 0; i < n; i++)
        if (!times[n + job->cluster_id[i]])
            table->clusters[job->cluster_id[i]].times = job->presences[i].times;
    free(times);
    if (!code && !weft_shape_bins_move(job->bins, table->arena, table->clusters, table->n_clusters))
        code = weft_no_memory(err, "shapes");
    return code;
}

/* ---- occurrences ----------------------------------------------------------------------------- */

static uint64_t product_of(double factor, uint64_t value)
{
    double product = factor * (double)value;
    if (!(product > 0))
        return 0;
    return product < 18446744073709549568.0 ? (uint64_t)product : UINT64_MAX;
}

static uint64_t spike_above(const struct weft_shapes_opts *opts,
                            const struct weft_shape_times *times)
{
    uint64_t above_ns = weft_max_u64(product_of(opts->spike_factor, times->p50_ns), times->p999_ns);
    return weft_max_u64(above_ns, opts->spike_least_ns ? opts->spike_least_ns - 1 : 0);
}

struct frequent {
    uint64_t count;
    uint32_t cluster_id;
};

static int by_count(const void *a, const void *b)
{
    const struct frequent *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->cluster_id > y->cluster_id) - (x->cluster_id < y->cluster_id);
}

/* Slots for the clusters that can have drops: of those too many, the most frequent. */
static bool choose_slots(struct job *job)
{
    const struct weft_shapes_table *table = job->table;
    const uint32_t n_windows = job->opts->n_windows;
    struct frequent *found = malloc((table->n_clusters + 1) * sizeof *found);
    size_t n = 0, max_slots = n_windows ? MAX_DROP_CELLS / n_windows : 0;
    job->slot_cluster = malloc((table->n_clusters + 1) * sizeof *job->slot_cluster);
    if (!found || !job->slot_cluster) {
        free(found);
        return false;
    }
    for (uint32_t c = 0; c < table->n_clusters; c++)
        if (table->clusters[c].times.count >= WEFT_DROP_LEAST_MEDIAN)
            found[n++] = (struct frequent){ table->clusters[c].times.count, c };
    if (n)
        qsort(found, n, sizeof *found, by_count);
    job->n_slots = (uint32_t)weft_min_u64(n, max_slots);
    for (uint32_t slot = 0; slot < job->n_slots; slot++) {
        job->slot_cluster[slot] = found[slot].cluster_id;
        job->watch[found[slot].cluster_id].drop_slot = slot;
    }
    free(found);
    return true;
}

static enum weft_code find_occurrences(struct job *job, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    const struct weft_shapes_opts *opts = job->opts;
    job->watch = calloc(table->n_clusters + 1, sizeof *job->watch);
    if (!job->watch)
        return weft_no_memory(err, "shapes");
    for (size_t c = 0; c < table->n_clusters; c++)
        job->watch[c] = (struct weft_shape_watch){
            .median_ns = table->clusters[c].times.p50_ns,
            .max_ns = table->clusters[c].times.max_ns,
            .first_ns = table->clusters[c].first.start_ns,
            .spike_above_ns = spike_above(opts, &table->clusters[c].times),
            .drop_slot = WEFT_ID_NONE,
        };
    if (!choose_slots(job))
        return weft_no_memory(err, "shapes");
    const struct weft_occurrence_opts find = {
        .cluster_of = job->clusters.cluster_of,
        .n_clusters = table->n_clusters,
        .watch = job->watch,
        .window = { table->from_ns, table->to_ns },
        .n_columns = opts->n_columns,
        .n_windows = opts->n_windows,
        .n_drop_slots = job->n_slots,
        .limit = opts->limit,
        .first = job->first,
        .cluster_id = job->cluster_id,
        .ribbon = job->ribbon,
    };
    return weft_occurrences_run(&job->mined, job->replay, &find, weft_pool_workers(job->run->pool),
                                &job->occurrences, err);
}

static enum weft_code take_examples_and_spikes(struct job *job, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    const struct weft_occurrences *found = &job->occurrences;
    size_t n = found->n_spikes_kept;
    table->spikes = WEFT_ARENA_NEW(table->arena, n, struct weft_shape_spike);
    if (!table->spikes)
        return weft_no_memory(err, "shapes");
    if (n)
        memcpy(table->spikes, found->spikes, n * sizeof *table->spikes);
    table->n_spikes = n;
    for (size_t c = 0; c < table->n_clusters; c++) {
        table->clusters[c].first = found->examples[c].first;
        table->clusters[c].typical = found->examples[c].typical;
        table->clusters[c].slowest = found->examples[c].slowest;
        table->clusters[c].n_spikes = found->n_spikes[c];
        table->spikes_found += found->n_spikes[c];
    }
    return WEFT_OK;
}

static enum weft_code take_drops(struct job *job, struct weft_err *err)
{
    struct weft_shapes_table *table = job->table;
    const struct weft_shapes_opts *opts = job->opts;
    const struct weft_drop_search search = {
        .window = { table->from_ns, table->to_ns },
        .n_windows = opts->n_windows,
        .fraction = opts->drop_fraction,
    };
    struct weft_drop_list list = { 0 };
    uint32_t *begun = malloc(((size_t)opts->n_windows + 1) * sizeof *begun);
    bool is_ok = begun != NULL;
    for (uint32_t slot = 0; is_ok && slot < job->n_slots; slot++) {
        size_t n_before = list.n;
        uint32_t cluster = job->slot_cluster[slot];
        for (size_t w = 0; w < opts->n_windows; w++)
            begun[w] = job->occurrences.begun[w * job->n_slots + slot];
        is_ok = weft_drops_find(&search, cluster, begun, &list);
        table->clusters[cluster].n_drops = list.n - n_before;
    }
    is_ok = is_ok && weft_drops_sort(&list, table->clusters);
    table->drops_found = list.n;
    table->n_drops = opts->limit ? weft_min_u64(list.n, opts->limit) : list.n;
    table->drops = WEFT_ARENA_NEW(table->arena, table->n_drops, struct weft_shape_drop);
    is_ok = is_ok && table->drops;
    if (is_ok && table->n_drops)
        memcpy(table->drops, list.items, table->n_drops * sizeof *table->drops);
    free(begun);
    free(list.items);
    return is_ok ? WEFT_OK : weft_no_memory(err, "shapes");
}

/* The runs of a thread's ribbons, which lie one after the other. */
static enum weft_code take_runs(struct job *job, size_t t, struct weft_err *err)
{
    struct weft_arena *arena = job->table->arena;
    struct weft_shape_thread *thread = &job->table->threads[t];
    const struct weft_shape_runs *found = &job->occurrences.runs[t];
    struct weft_shape_run *runs = WEFT_ARENA_NEW(arena, found->n_runs, struct weft_shape_run);
    struct weft_shape_ribbon *ribbons =
        WEFT_ARENA_NEW(arena, thread->n_ribbons, struct weft_shape_ribbon);
    if (!runs || !ribbons)
        return weft_no_memory(err, "shapes");
    if (thread->n_ribbons)
        memcpy(ribbons, thread->ribbons, thread->n_ribbons * sizeof *ribbons);
    if (found->n_runs)
        memcpy(runs, found->runs, found->n_runs * sizeof *runs);
    for (size_t i = 0; i < found->n_runs; i++) {
        struct weft_shape_ribbon *ribbon = &ribbons[found->ribbon[i]];
        ribbon->runs = ribbon->n_runs++ ? ribbon->runs : &runs[i];
    }
    thread->ribbons = ribbons;
    return WEFT_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum weft_code check_opts(const struct weft_shapes_opts *opts, struct weft_err *err)
{
    if (opts->n_columns > MAX_COLUMNS || opts->n_windows > MAX_WINDOWS)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected at most %d columns and windows, found more", MAX_COLUMNS);
    if (opts->window && opts->window->to_ns < opts->window->from_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected a window that does not end before its start");
    if (!(opts->spike_factor >= 0) || !(opts->drop_fraction >= 0))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected factors that are not negative");
    return WEFT_OK;
}

static enum weft_code new_table(struct job *job, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_shapes_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_shapes_table) : NULL;
    if (!table) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "shapes");
    }
    uint64_t whole_ns = weft_trace_meta(job->trace)->duration_ns;
    const struct weft_window *window = job->opts->window;
    table->arena = arena;
    table->from_ns = window ? weft_min_u64(window->from_ns, whole_ns) : 0;
    table->to_ns = window ? weft_min_u64(window->to_ns, whole_ns) : whole_ns;
    table->threshold_halves = job->opts->threshold_halves;
    table->n_columns = job->opts->n_columns;
    job->table = table;
    return WEFT_OK;
}

static enum weft_code find_clusters(struct job *job, struct weft_err *err)
{
    const struct weft_clusters_opts opts = { .threshold_halves = job->opts->threshold_halves };
    enum weft_code code = weft_clusters_build(&job->mined.set, &opts, job->run, job->table->arena,
                                              &job->clusters, err);
    if (!code)
        code = make_shapes(job, err);
    if (!code)
        code = make_clusters(job, err);
    if (!code)
        code = make_presences(job, err);
    if (!code)
        code = make_threads(job, err);
    return code ? code : make_ribbons(job, err);
}

static enum weft_code look_again(struct job *job, struct weft_err *err)
{
    enum weft_code code = weft_shape_replay_new(job->trace, &job->mined, &job->mine_opts, job->run,
                                                &job->replay, err);
    if (!code)
        code = fill_quantiles(job, err);
    if (!code)
        code = find_occurrences(job, err);
    if (!code)
        code = take_examples_and_spikes(job, err);
    if (!code)
        code = take_drops(job, err);
    for (size_t t = 0; !code && job->opts->n_columns && t < job->table->n_threads; t++)
        code = take_runs(job, t, err);
    if (!code && !(weft_shapes_surprise(job->table, weft_trace_n_functions(job->trace)) &&
                   weft_shapes_group(job->table)))
        code = weft_no_memory(err, "shapes");
    return code;
}

static void job_fini(struct job *job)
{
    weft_shape_replay_free(job->replay);
    weft_mined_fini(&job->mined);
    weft_cluster_relations_free(job->relations);
    weft_occurrences_fini(&job->occurrences);
    weft_shape_bins_free(job->bins, job->table ? job->table->n_clusters : 0);
    free(job->first);
    free(job->cluster_id);
    free(job->ribbon);
    free(job->watch);
    free(job->slot_cluster);
}

/* What fits below the ceiling; 0: the default of mining. */
static struct weft_mine_opts mine_opts(const struct weft_shapes_opts *opts,
                                       const struct weft_run *run)
{
    const uint64_t memory_bytes = run->memory_bytes;
    const uint64_t n_fit = weft_min_u64(memory_bytes / BYTES_A_SHAPE, WEFT_MINE_MAX_SHAPES);
    return (struct weft_mine_opts){
        .window = opts->window,
        .is_excluded = opts->is_excluded,
        .max_shapes = opts->max_shapes ? opts->max_shapes : n_fit,
        .max_children = weft_min_u64(n_fit * CHILDREN_A_SHAPE, WEFT_MINE_MAX_CHILDREN),
        .max_rows = opts->max_rows ? opts->max_rows : memory_bytes / BYTES_A_ROW,
        .max_states = weft_min_u64(n_fit, WEFT_MINE_MAX_STATES),
        .max_tape_bytes = opts->max_tape_bytes ? opts->max_tape_bytes : memory_bytes / 4,
    };
}

enum weft_code weft_shapes_run(const struct weft_trace *trace,
                               const struct weft_thread_filter *filter,
                               const struct weft_shapes_opts *opts, const struct weft_run *run,
                               struct weft_shapes_table **table, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    size_t n_ids = filter ? filter->n_ids : 0;
    struct job job = {
        .trace = trace,
        .opts = opts,
        .run = run,
        .mine_opts = mine_opts(opts, run),
    };
    *table = NULL;
    enum weft_code code = check_opts(opts, err);
    if (!code)
        code = weft_scan_check(trace, ids, n_ids, err);
    if (!code)
        code = new_table(&job, err);
    if (code)
        return code;
    const uint64_t n_calls = weft_scan_calls(trace, ids, n_ids);
    weft_progress_start(run->progress, "Shapes", "calls", 2 * n_calls);
    code = weft_mine_run(trace, filter, &job.mine_opts, run, &job.mined, err);
    if (!code && !job.mined.has_durations)
        weft_progress_start(run->progress, "Shapes, durations", "calls", 3 * n_calls);
    if (!code)
        code = find_clusters(&job, err);
    if (!code)
        code = look_again(&job, err);
    job_fini(&job);
    if (code)
        weft_result_free(job.table);
    else
        *table = job.table;
    return code;
}
