/* SPDX-License-Identifier: MIT */
#include "naive_shapes_table.h"

#include "analysis/shapes/shapes.h"
#include "schema/shapes.h"
#include "tap.h"

#include <stdlib.h>

/* A call of the window, clipped. */
struct call {
    struct weft_shape_occurrence at; /* shape_id: WEFT_ID_NONE without a shape */
    const struct memory_call *call;
    uint32_t flags;
    ptrdiff_t caller; /* among all calls of the thread; -1: none */
    bool is_out, is_excluded, is_limited;
    struct naive_instance *instance;
};

struct naive {
    struct naive_memory *memory;
    const struct memory_trace *trace;
    const struct weft_shapes_opts *opts;
    struct weft_window window;
    struct call *calls; /* by thread, in pre-order */
    size_t n_calls;
    struct naive_list list;
    struct naive_clusters clusters;
    struct weft_shapes_table table;
};

/* ---- calls ------------------------------------------------------------------------------------
 */

static bool has_thread(const struct weft_thread_filter *filter, uint32_t thread_id)
{
    for (size_t i = 0; filter && i < filter->n_ids; i++)
        if (filter->ids[i] == thread_id)
            return true;
    return !filter || filter->n_ids == 0;
}

static struct call call_of(const struct naive *naive, const struct memory_call *call,
                           uint32_t thread_id)
{
    const struct weft_window *window = &naive->window;
    return (struct call){
        .call = call,
        .flags = call->flags | (call->start_ns < window->from_ns ? WEFT_CALL_CUT_START : 0) |
                 (call->end_ns > window->to_ns ? WEFT_CALL_CUT_END : 0),
        .caller = -1,
        .is_out = call->start_ns >= window->to_ns ||
                  (call->start_ns < window->from_ns && call->end_ns <= window->from_ns),
        .is_excluded = naive->opts->is_excluded && naive->opts->is_excluded[call->function_id],
        .at = { .thread_id = thread_id,
                .shape_id = WEFT_ID_NONE,
                .start_ns = weft_window_clip(window, call->start_ns),
                .end_ns = weft_window_clip(window, call->end_ns) },
    };
}

static void add_calls(struct naive *naive, uint32_t thread_id)
{
    const struct memory_thread *thread = &naive->trace->threads[thread_id];
    struct call *all = naive->calls + naive->n_calls;
    for (size_t i = 0; i < thread->n_calls; i++) {
        all[i] = call_of(naive, &thread->calls[i], thread_id);
        for (ptrdiff_t j = (ptrdiff_t)i - 1; j >= 0 && all[i].caller < 0; j--)
            if (all[j].call->depth + 1 == all[i].call->depth)
                all[i].caller = j;
        if (all[i].caller >= 0 && all[all[i].caller].is_out)
            all[i].is_out = true;
        all[i].instance = naive_take(naive->memory, sizeof *all[i].instance);
        all[i].instance->function = thread->calls[i].function_id;
        size_t n_below = 0;
        while (i + n_below + 1 < thread->n_calls &&
               thread->calls[i + n_below + 1].depth > thread->calls[i].depth)
            n_below++;
        all[i].instance->children =
            naive_take(naive->memory, n_below * sizeof(struct naive_instance *));
    }
    for (size_t i = 0; i < thread->n_calls; i++) {
        ptrdiff_t caller = all[i].caller;
        while (caller >= 0 && all[caller].is_excluded)
            caller = all[caller].caller;
        if (caller >= 0 && !all[i].is_out && !all[i].is_excluded) {
            struct naive_instance *above = all[caller].instance;
            above->children[above->n_children++] = all[i].instance;
        }
    }
    naive->n_calls += thread->n_calls;
}

static bool is_cut(const struct call *call)
{
    return (call->flags & (WEFT_CALL_CUT_START | WEFT_CALL_CUT_END)) != 0;
}

/* Whether it might have one. */
static bool is_whole(const struct call *call)
{
    return !call->is_out && !call->is_excluded && !is_cut(call);
}

static bool has_shape(const struct call *call)
{
    return is_whole(call) && !call->is_limited;
}

static uint64_t ns_of(const struct weft_shape_occurrence *at)
{
    return at->end_ns - at->start_ns;
}

/* ---- shapes -----------------------------------------------------------------------------------
 */

/* Puts the call's shape into the list if it is there or has room; else no caller of the call that
 * might have had a shape has one. */
static void accept(struct naive *naive, struct call *thread, struct call *call)
{
    const uint64_t limit = naive->opts->max_shapes ? naive->opts->max_shapes : UINT64_MAX;
    if (!is_whole(call))
        return;
    const struct naive_shape *shape =
        call->is_limited ? NULL : naive_shape_of(naive->memory, call->instance);
    if (shape && (naive_find(&naive->list, shape) != SIZE_MAX || naive->list.n < limit)) {
        naive_put(naive->memory, &naive->list, shape);
        return;
    }
    call->is_limited = true;
    for (ptrdiff_t at = call->caller; at >= 0; at = thread[at].caller)
        thread[at].is_limited = true;
}

/* The calls of a thread in the order in which they end. */
static void accept_thread(struct naive *naive, struct call *thread, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t next_depth = i + 1 < n ? thread[i + 1].call->depth : 0;
        for (ptrdiff_t at = (ptrdiff_t)i; at >= 0; at = thread[at].caller)
            if (thread[at].call->depth >= next_depth)
                accept(naive, thread, &thread[at]);
    }
}

static const char *const *names_of(struct naive *naive)
{
    const char **names = naive_take(naive->memory, naive->trace->n_functions * sizeof *names);
    for (uint32_t f = 0; f < naive->trace->n_functions; f++) {
        char *name = naive_take(naive->memory, 24);
        (void)snprintf(name, 24, "#%u", f);
        names[f] = naive->trace->functions ? naive->trace->functions[f].name.bytes : name;
    }
    return names;
}

static void find_shapes(struct naive *naive)
{
    size_t n = 0;
    for (size_t first = 0; first < naive->n_calls; first += n) {
        for (n = 0; first + n < naive->n_calls &&
                    naive->calls[first + n].at.thread_id == naive->calls[first].at.thread_id;)
            n++;
        accept_thread(naive, naive->calls + first, n);
    }
    naive_sort(naive->memory, &naive->list, names_of(naive));
    for (size_t i = 0; i < naive->n_calls; i++)
        if (has_shape(&naive->calls[i]))
            naive->calls[i].at.shape_id = (uint32_t)naive_find(
                &naive->list, naive_shape_of(naive->memory, naive->calls[i].instance));
}

/* How often a child shape is in one instance. */
static uint32_t repetitions(struct naive *naive, const struct naive_instance *instance,
                            const struct naive_shape *child)
{
    uint32_t n = 0;
    for (size_t i = 0; i < instance->n_children; i++)
        n += naive_equal(naive_shape_of(naive->memory, instance->children[i]), child);
    return n;
}

static struct weft_shape_repeat repeat_of(struct naive *naive, uint32_t shape, uint32_t child)
{
    struct weft_shape_repeat repeat = { .min = UINT32_MAX };
    for (size_t i = 0; i < naive->n_calls; i++) {
        if (naive->calls[i].at.shape_id != shape)
            continue;
        uint32_t n = repetitions(naive, naive->calls[i].instance, naive->list.at[child]);
        repeat.sum += n;
        repeat.min = n < repeat.min ? n : repeat.min;
        repeat.max = n > repeat.max ? n : repeat.max;
    }
    return repeat;
}

static bool is_earlier(const struct weft_shape_occurrence *a, const struct weft_shape_occurrence *b)
{
    return a->start_ns < b->start_ns; /* of equals the lower thread came first */
}

static bool is_slower(const struct weft_shape_occurrence *a, const struct weft_shape_occurrence *b)
{
    return ns_of(a) > ns_of(b) || (ns_of(a) == ns_of(b) && is_earlier(a, b));
}

/* Everything of a shape but its children and cluster. */
static struct weft_shape count_shape(const struct naive *naive, uint32_t id)
{
    struct weft_shape shape = { .min_ns = UINT64_MAX };
    uint32_t last_thread = WEFT_ID_NONE;
    for (size_t i = 0; i < naive->n_calls; i++) {
        const struct weft_shape_occurrence *at = &naive->calls[i].at;
        if (at->shape_id != id)
            continue;
        if (shape.count == 0 || is_earlier(at, &shape.first))
            shape.first = *at;
        if (shape.count == 0 || is_slower(at, &shape.slowest))
            shape.slowest = *at;
        shape.count++;
        shape.sum_ns += ns_of(at);
        shape.sum_squares += (weft_u128)ns_of(at) * ns_of(at);
        shape.min_ns = ns_of(at) < shape.min_ns ? ns_of(at) : shape.min_ns;
        shape.max_ns = ns_of(at) > shape.max_ns ? ns_of(at) : shape.max_ns;
        shape.n_threads += at->thread_id != last_thread;
        last_thread = at->thread_id;
    }
    return shape;
}

static void fill_shapes(struct naive *naive)
{
    const size_t n = naive->list.n;
    naive->table.shapes = naive_take(naive->memory, n * sizeof *naive->table.shapes);
    naive->table.n_shapes = n;
    for (uint32_t id = 0; id < n; id++) {
        const struct naive_shape *tree = naive->list.at[id];
        struct weft_shape shape = count_shape(naive, id);
        uint32_t *children = naive_take(naive->memory, n * sizeof *children);
        struct weft_shape_repeat *repeats = naive_take(naive->memory, n * sizeof *repeats);
        for (uint32_t child = 0; child < n; child++)
            if (naive_contains(tree, naive->list.at[child])) {
                repeats[shape.n_children] = repeat_of(naive, id, child);
                children[shape.n_children++] = child;
            }
        shape.function_id = (uint32_t)tree->function;
        shape.depth = naive_depth(tree);
        shape.children = children;
        shape.repeats = repeats;
        naive->table.shapes[id] = shape;
        naive->table.n_trivial_shapes += shape.n_children == 0;
    }
}

/* ---- clusters ---------------------------------------------------------------------------------
 */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Nearest rank: the least value that at least `thousandths` of all do not exceed. */
static uint64_t percentile(const uint64_t *sorted, size_t n, size_t thousandths)
{
    size_t rank = 1;
    while (rank * 1000 < thousandths * n)
        rank++;
    return sorted[rank - 1];
}

static uint32_t cluster_of(const struct naive *naive, const struct call *call)
{
    return call->at.shape_id == WEFT_ID_NONE ? WEFT_ID_NONE
                                             : naive->table.shapes[call->at.shape_id].cluster_id;
}

/* Of a cluster's occurrences on a thread, or on all (WEFT_ID_NONE). */
static struct weft_shape_times times_of(struct naive *naive, uint32_t cluster, uint32_t thread_id)
{
    uint64_t *values = naive_take(naive->memory, naive->n_calls * sizeof *values);
    struct weft_shape_times times = { 0 };
    for (size_t i = 0; i < naive->n_calls; i++)
        if (cluster_of(naive, &naive->calls[i]) == cluster &&
            (thread_id == WEFT_ID_NONE || naive->calls[i].at.thread_id == thread_id)) {
            values[times.count++] = ns_of(&naive->calls[i].at);
            times.sum_ns += ns_of(&naive->calls[i].at);
            times.sum_squares += (weft_u128)ns_of(&naive->calls[i].at) * ns_of(&naive->calls[i].at);
        }
    if (times.count == 0)
        return times;
    qsort(values, times.count, sizeof *values, by_value);
    times.min_ns = values[0];
    times.max_ns = values[times.count - 1];
    times.p50_ns = percentile(values, times.count, 500);
    times.p90_ns = percentile(values, times.count, 900);
    times.p99_ns = percentile(values, times.count, 990);
    times.p999_ns = percentile(values, times.count, 999);
    return times;
}

/* Up to 15 ns one value a bin; above, eight of each power of two. */
static uint64_t bin_begin(uint64_t ns)
{
    uint64_t width = 1;
    while (ns / width >= 16)
        width *= 2;
    return ns / width * width;
}

/* Goes from bin to bin and counts what each holds. */
static void fill_bins(const struct naive *naive, uint32_t id, struct weft_shape_cluster *cluster)
{
    struct weft_shape_bin *bins =
        naive_take(naive->memory, (cluster->times.count + 1) * sizeof *bins);
    uint64_t from_ns = 0, last_ns = UINT64_MAX;
    while (from_ns != last_ns) {
        uint64_t next_ns = UINT64_MAX, count = 0;
        last_ns = from_ns;
        for (size_t i = 0; i < naive->n_calls; i++) {
            const uint64_t begin_ns = bin_begin(ns_of(&naive->calls[i].at));
            if (cluster_of(naive, &naive->calls[i]) != id)
                continue;
            count += begin_ns == from_ns;
            if (begin_ns > from_ns && begin_ns < next_ns)
                next_ns = begin_ns;
        }
        uint64_t to_ns = from_ns + 1;
        while (bin_begin(to_ns) == from_ns)
            to_ns++;
        if (count)
            bins[cluster->n_bins++] = (struct weft_shape_bin){ from_ns, to_ns, count };
        if (next_ns != UINT64_MAX)
            from_ns = next_ns;
    }
    cluster->bins = bins;
}

static void fill_examples(const struct naive *naive, uint32_t id,
                          struct weft_shape_cluster *cluster)
{
    uint32_t last_thread = WEFT_ID_NONE;
    bool has_any = false, has_typical = false;
    for (size_t i = 0; i < naive->n_calls; i++) {
        const struct weft_shape_occurrence *at = &naive->calls[i].at;
        if (cluster_of(naive, &naive->calls[i]) != id)
            continue;
        if (!has_any || is_earlier(at, &cluster->first))
            cluster->first = *at;
        if (!has_any || is_slower(at, &cluster->slowest))
            cluster->slowest = *at;
        if (ns_of(at) == cluster->times.p50_ns &&
            (!has_typical || is_earlier(at, &cluster->typical))) {
            cluster->typical = *at;
            has_typical = true;
        }
        has_any = true;
        cluster->n_threads += at->thread_id != last_thread;
        last_thread = at->thread_id;
    }
}

static void fill_clusters(struct naive *naive)
{
    naive->clusters = naive_clusters(naive->memory, &naive->list, naive->opts->threshold_halves);
    const size_t n = naive->clusters.n;
    struct weft_shape_cluster *clusters = naive_take(naive->memory, n * sizeof *clusters);
    for (uint32_t id = 0; id < n; id++) {
        const struct naive_cluster *from = &naive->clusters.at[id];
        uint32_t *shape_ids = naive_take(naive->memory, from->n_shapes * sizeof *shape_ids);
        clusters[id] = (struct weft_shape_cluster){ .depth = from->depth,
                                                    .n_shapes = (uint32_t)from->n_shapes,
                                                    .shape_ids = shape_ids,
                                                    .is_trivial = from->depth == 1,
                                                    .ribbon = WEFT_ID_NONE };
        for (size_t i = 0; i < from->n_shapes; i++) {
            shape_ids[i] = (uint32_t)from->shapes[i];
            naive->table.shapes[shape_ids[i]].cluster_id = id;
        }
        clusters[id].function_id = naive->table.shapes[shape_ids[0]].function_id;
    }
    naive->table.clusters = clusters;
    naive->table.n_clusters = n;
    for (uint32_t id = 0; id < n; id++) {
        clusters[id].times = times_of(naive, id, WEFT_ID_NONE);
        fill_examples(naive, id, &clusters[id]);
        fill_bins(naive, id, &clusters[id]);
        naive->table.n_trivial_clusters += clusters[id].is_trivial;
        naive->table.n_rare_clusters +=
            !clusters[id].is_trivial && clusters[id].times.count < naive->opts->min_count;
    }
}

/* ---- ribbons ----------------------------------------------------------------------------------
 */

static bool is_drawn(const struct naive *naive, uint32_t cluster)
{
    return !naive->table.clusters[cluster].is_trivial &&
           naive->table.clusters[cluster].times.count >= naive->opts->min_count;
}

/* The ribbons of a thread's clusters, or of all (WEFT_ID_NONE), without runs. */
static struct weft_shape_ribbon *fill_ribbons(struct naive *naive, uint32_t thread_id, size_t *n)
{
    bool *is_in = naive_take(naive->memory, naive->clusters.n);
    for (uint32_t id = 0; id < naive->clusters.n; id++)
        is_in[id] = is_drawn(naive, id) && times_of(naive, id, thread_id).count > 0;
    struct naive_ribbons from = naive_ribbons(naive->memory, &naive->list, &naive->clusters, is_in);
    struct weft_shape_ribbon *ribbons = naive_take(naive->memory, from.n * sizeof *ribbons);
    for (size_t r = 0; r < from.n; r++) {
        uint32_t *ids = naive_take(naive->memory, from.at[r].n_clusters * sizeof *ids);
        for (size_t i = 0; i < from.at[r].n_clusters; i++)
            ids[i] = (uint32_t)from.at[r].clusters[i];
        ribbons[r] = (struct weft_shape_ribbon){ .n_clusters = (uint32_t)from.at[r].n_clusters,
                                                 .cluster_ids = ids,
                                                 .depth = from.at[r].depth };
    }
    *n = from.n;
    return ribbons;
}

static uint32_t ribbon_of(const struct weft_shape_ribbon *ribbons, size_t n, uint32_t cluster)
{
    for (uint32_t r = 0; r < n; r++)
        for (size_t i = 0; i < ribbons[r].n_clusters; i++)
            if (ribbons[r].cluster_ids[i] == cluster)
                return r;
    return WEFT_ID_NONE;
}

/* ---- columns ----------------------------------------------------------------------------------
 */

/* Where column `column` begins. */
static uint64_t edge_of(const struct naive *naive, uint32_t column)
{
    const uint64_t span_ns = naive->table.to_ns - naive->table.from_ns;
    return naive->table.from_ns + span_ns * column / naive->opts->n_columns;
}

/* What one cluster has in one column of a thread. */
struct share {
    bool is_present;
    uint64_t covered_ns, begun;
    struct weft_shape_occurrence longest;
};

static struct share share_of(const struct naive *naive, uint32_t thread_id, uint32_t cluster,
                             uint32_t column)
{
    struct share share = { 0 };
    const uint64_t from = edge_of(naive, column), to = edge_of(naive, column + 1);
    const bool is_last = column + 1 == naive->opts->n_columns;
    for (size_t i = 0; i < naive->n_calls; i++) {
        const struct weft_shape_occurrence *at = &naive->calls[i].at;
        if (at->thread_id != thread_id || cluster_of(naive, &naive->calls[i]) != cluster)
            continue;
        const bool begins = at->start_ns >= from && (at->start_ns < to || is_last);
        if (!begins && !(at->start_ns < to && at->end_ns > from))
            continue;
        const uint64_t a = at->start_ns > from ? at->start_ns : from;
        const uint64_t b = at->end_ns < to ? at->end_ns : to;
        if (!share.is_present || is_slower(at, &share.longest))
            share.longest = *at;
        share.is_present = true;
        share.begun += begins;
        share.covered_ns += b > a ? b - a : 0;
    }
    return share;
}

/* One column as a run; n_columns 0 if it is empty. */
static struct weft_shape_run column_run(const struct naive *naive, uint32_t thread_id,
                                        const struct weft_shape_ribbon *ribbon, uint32_t column)
{
    struct weft_shape_run run = { .first_column = column };
    uint32_t n_present = 0;
    for (size_t i = 0; i < ribbon->n_clusters; i++) {
        const struct share share = share_of(naive, thread_id, ribbon->cluster_ids[i], column);
        n_present += share.is_present;
        if (!share.is_present || (run.n_columns && share.covered_ns <= run.covered_ns))
            continue;
        run.n_columns = 1;
        run.cluster_id = ribbon->cluster_ids[i];
        run.count = share.begun;
        run.covered_ns = share.covered_ns;
        run.longest = share.longest;
    }
    run.n_others = n_present ? n_present - 1 : 0;
    return run;
}

/* At most as many columns as a cluster of these times can be in. */
static uint64_t cells_of(const struct naive *naive, const struct weft_shape_times *times)
{
    const uint32_t n_columns = naive->opts->n_columns;
    const uint64_t column_ns = (naive->table.to_ns - naive->table.from_ns) / n_columns;
    const uint64_t n = 2 * times->count + times->sum_ns / (column_ns ? column_ns : 1);
    return n < n_columns ? n : n_columns;
}

/* Whether the cluster's cells fit together with those of the thread's that have more time. */
static bool fits_with_others(struct naive *naive, const struct weft_shape_thread *thread,
                             uint32_t cluster)
{
    const struct weft_shape_times own = times_of(naive, cluster, thread->thread_id);
    uint64_t n_cells = 0;
    for (size_t r = 0; r < thread->n_ribbons; r++)
        for (size_t i = 0; i < thread->ribbons[r].n_clusters; i++) {
            const uint32_t id = thread->ribbons[r].cluster_ids[i];
            const struct weft_shape_times times = times_of(naive, id, thread->thread_id);
            const bool is_before =
                times.sum_ns != own.sum_ns ? times.sum_ns > own.sum_ns : id <= cluster;
            n_cells += is_before ? cells_of(naive, &times) : 0;
        }
    return naive->opts->max_cells == 0 || n_cells <= naive->opts->max_cells;
}

/* The ribbon without the clusters that are not drawn. */
static struct weft_shape_ribbon drawn_of(struct naive *naive,
                                         const struct weft_shape_thread *thread,
                                         const struct weft_shape_ribbon *ribbon)
{
    uint32_t *ids = naive_take(naive->memory, ribbon->n_clusters * sizeof *ids);
    struct weft_shape_ribbon drawn = { .cluster_ids = ids };
    for (size_t i = 0; i < ribbon->n_clusters; i++)
        if (fits_with_others(naive, thread, ribbon->cluster_ids[i]))
            ids[drawn.n_clusters++] = ribbon->cluster_ids[i];
    return drawn;
}

/* The runs of the thread's ribbon, of those of its clusters that are drawn. */
static void fill_runs(struct naive *naive, const struct weft_shape_thread *thread,
                      struct weft_shape_ribbon *ribbon)
{
    const uint32_t thread_id = thread->thread_id;
    const struct weft_shape_ribbon drawn = drawn_of(naive, thread, ribbon);
    naive->table.undrawn_presences += ribbon->n_clusters - drawn.n_clusters;
    const uint32_t n_columns = naive->opts->n_columns;
    struct weft_shape_run *runs = naive_take(naive->memory, n_columns * sizeof *runs);
    for (uint32_t column = 0; column < n_columns; column++) {
        const struct weft_shape_run run = column_run(naive, thread_id, &drawn, column);
        struct weft_shape_run *last = ribbon->n_runs ? &runs[ribbon->n_runs - 1] : NULL;
        if (run.n_columns == 0)
            continue;
        if (!last || last->cluster_id != run.cluster_id ||
            last->first_column + last->n_columns != column) {
            runs[ribbon->n_runs++] = run;
            continue;
        }
        last->n_columns++;
        last->count += run.count;
        last->covered_ns += run.covered_ns;
        last->n_others = run.n_others > last->n_others ? run.n_others : last->n_others;
        if (is_slower(&run.longest, &last->longest))
            last->longest = run.longest;
    }
    ribbon->runs = runs;
}

/* ---- threads ----------------------------------------------------------------------------------
 */

static void count_calls(const struct naive *naive, struct weft_shape_thread *thread)
{
    for (size_t i = 0; i < naive->n_calls; i++) {
        const struct call *call = &naive->calls[i];
        if (call->at.thread_id != thread->thread_id || call->is_out)
            continue;
        thread->excluded_calls += call->is_excluded;
        thread->cut_calls += !call->is_excluded && is_cut(call);
        thread->calls += has_shape(call);
        thread->limited_calls += is_whole(call) && call->is_limited;
    }
}

/* Occurrences of a shape on a thread. */
static uint64_t count_on(const struct naive *naive, uint32_t shape, uint32_t thread_id)
{
    uint64_t n = 0;
    for (size_t i = 0; i < naive->n_calls; i++)
        n += naive->calls[i].at.shape_id == shape && naive->calls[i].at.thread_id == thread_id;
    return n;
}

/* Whether something of which there are `n` here is on an earlier thread of the table. */
static bool is_new_shape(const struct naive *naive, uint32_t shape, size_t n_before)
{
    for (size_t t = 0; t < n_before; t++)
        if (count_on(naive, shape, naive->table.threads[t].thread_id) > 0)
            return false;
    return true;
}

static bool is_new_cluster(struct naive *naive, uint32_t cluster, size_t n_before)
{
    for (size_t t = 0; t < n_before; t++)
        if (times_of(naive, cluster, naive->table.threads[t].thread_id).count > 0)
            return false;
    return true;
}

static uint64_t first_of(const struct naive *naive, uint32_t cluster, uint32_t thread_id)
{
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < naive->n_calls; i++)
        if (cluster_of(naive, &naive->calls[i]) == cluster &&
            naive->calls[i].at.thread_id == thread_id && naive->calls[i].at.start_ns < first_ns)
            first_ns = naive->calls[i].at.start_ns;
    return first_ns;
}

static void fill_presences(struct naive *naive, size_t t, struct weft_shape_thread *thread)
{
    struct weft_shape_presence *presences =
        naive_take(naive->memory, naive->clusters.n * sizeof *presences);
    for (uint32_t id = 0; id < naive->clusters.n; id++) {
        const struct weft_shape_times times = times_of(naive, id, thread->thread_id);
        if (times.count == 0)
            continue;
        presences[thread->n_presences++] = (struct weft_shape_presence){
            .cluster_id = id,
            .ribbon = ribbon_of(thread->ribbons, thread->n_ribbons, id),
            .first_ns = first_of(naive, id, thread->thread_id),
            .times = times,
        };
        thread->n_clusters += !naive->table.clusters[id].is_trivial;
        thread->n_new_clusters +=
            !naive->table.clusters[id].is_trivial && is_new_cluster(naive, id, t);
    }
    thread->presences = presences;
}

static void fill_thread(struct naive *naive, size_t t)
{
    struct weft_shape_thread *thread = &naive->table.threads[t];
    count_calls(naive, thread);
    for (uint32_t id = 0; id < naive->table.n_shapes; id++) {
        const bool is_here =
            naive->table.shapes[id].n_children > 0 && count_on(naive, id, thread->thread_id) > 0;
        thread->n_shapes += is_here;
        thread->n_new_shapes += is_here && is_new_shape(naive, id, t);
    }
    struct weft_shape_ribbon *ribbons = fill_ribbons(naive, thread->thread_id, &thread->n_ribbons);
    thread->ribbons = ribbons;
    for (size_t r = 0; naive->opts->n_columns && r < thread->n_ribbons; r++)
        fill_runs(naive, thread, &ribbons[r]);
    fill_presences(naive, t, thread);
    naive->table.calls += thread->calls;
    naive->table.cut_calls += thread->cut_calls;
    naive->table.excluded_calls += thread->excluded_calls;
    naive->table.limited_calls += thread->limited_calls;
}

/* ---- everything -------------------------------------------------------------------------------
 */

static void read_trace(struct naive *naive, const struct weft_thread_filter *filter)
{
    const struct memory_trace *trace = naive->trace;
    size_t n_calls = 0;
    uint64_t last_ns = 0;
    for (uint32_t t = 0; t < trace->n_threads; t++) {
        n_calls += trace->threads[t].n_calls;
        last_ns = trace->threads[t].last_ns > last_ns ? trace->threads[t].last_ns : last_ns;
    }
    const struct weft_window all = { .from_ns = 0, .to_ns = last_ns };
    naive->window = naive->opts->window ? *naive->opts->window : WEFT_WINDOW_ALL;
    naive->table.from_ns = weft_window_clip(&all, naive->window.from_ns);
    naive->table.to_ns = weft_window_clip(&all, naive->window.to_ns);
    naive->calls = naive_take(naive->memory, n_calls * sizeof *naive->calls);
    naive->table.threads =
        naive_take(naive->memory, trace->n_threads * sizeof *naive->table.threads);
    for (uint32_t t = 0; t < trace->n_threads; t++) {
        if (!has_thread(filter, t))
            continue;
        add_calls(naive, t);
        naive->table.threads[naive->table.n_threads++].thread_id = t;
    }
}

static struct naive_result result_of(const struct naive *naive)
{
    struct weft_shape_occurrence *all = naive_take(naive->memory, naive->n_calls * sizeof *all);
    struct naive_result result = { .table = naive->table, .occurrences = all };
    for (size_t i = 0; i < naive->n_calls; i++)
        if (has_shape(&naive->calls[i]))
            all[result.n_occurrences++] = naive->calls[i].at;
    return result;
}

struct naive_result naive_shapes(struct naive_memory *memory, const struct memory_trace *trace,
                                 const struct weft_thread_filter *filter,
                                 const struct weft_shapes_opts *opts)
{
    struct naive naive = { .memory = memory, .trace = trace, .opts = opts };
    naive.table.threshold_halves = opts->threshold_halves;
    naive.table.n_columns = opts->n_columns;
    naive.table.rare_below = (uint32_t)opts->min_count;
    read_trace(&naive, filter);
    find_shapes(&naive);
    fill_shapes(&naive);
    fill_clusters(&naive);
    naive.table.ribbons = fill_ribbons(&naive, WEFT_ID_NONE, &naive.table.n_ribbons);
    for (uint32_t id = 0; id < naive.table.n_clusters; id++)
        naive.table.clusters[id].ribbon = ribbon_of(naive.table.ribbons, naive.table.n_ribbons, id);
    for (size_t t = 0; t < naive.table.n_threads; t++)
        fill_thread(&naive, t);
    for (size_t i = 0; i < naive.n_calls; i++)
        naive.table.repaired_calls +=
            has_shape(&naive.calls[i]) && (naive.calls[i].flags & WEFT_CALL_REPAIRED) != 0;
    struct naive_result result = result_of(&naive);
    naive_shapes_conclude(memory, opts, &result);
    return result;
}
