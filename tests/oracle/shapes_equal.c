/* SPDX-License-Identifier: MIT */
#include "shapes_equal.h"

#include "schema/shapes.h"
#include "tap.h"

/* Compares one field of *got and *want, which both have; `what` and `at` say where that is. */
#define SAME(field) same_number((got->field), (want->field), what, at, #field)

/* The same of the two halves of the sum of squares. */
#define SAME_SQUARES()                                                                             \
    (same_number((uint64_t)(got->sum_squares >> 64), (uint64_t)(want->sum_squares >> 64), what,    \
                 at, "sum_squares, high") &&                                                       \
     same_number((uint64_t)got->sum_squares, (uint64_t)want->sum_squares, what, at,                \
                 "sum_squares"))

static bool same_number(uint64_t got, uint64_t want, const char *what, size_t at, const char *field)
{
    if (got != want)
        tap_note("%s %zu: %s is %" PRIu64 ", want %" PRIu64, what, at, field, got, want);
    return got == want;
}

static bool same_real(double got, double want, const char *what, size_t at, const char *field)
{
    const double difference = got < want ? want - got : got - want;
    const bool is_same = difference <= 1e-9 * (want < 0 ? -want : want);
    if (!is_same)
        tap_note("%s %zu: %s is %.17g, want %.17g", what, at, field, got, want);
    return is_same;
}

static bool same_ids(const uint32_t *got, const uint32_t *want, size_t n, const char *what,
                     size_t at)
{
    for (size_t i = 0; i < n; i++)
        if (!same_number(got[i], want[i], what, at, "an id"))
            return false;
    return true;
}

static bool same_at(const struct weft_shape_occurrence *got,
                    const struct weft_shape_occurrence *want, const char *what, size_t at)
{
    return SAME(thread_id) && SAME(shape_id) && SAME(start_ns) && SAME(end_ns);
}

static bool same_times(const struct weft_shape_times *got, const struct weft_shape_times *want,
                       const char *what, size_t at)
{
    return SAME(count) && SAME(sum_ns) && SAME(min_ns) && SAME(max_ns) && SAME(p50_ns) &&
           SAME(p90_ns) && SAME(p99_ns) && SAME(p999_ns) && SAME_SQUARES();
}

static bool same_shape(const struct weft_shape *got, const struct weft_shape *want, size_t at)
{
    const char *what = "shape";
    if (!SAME(function_id) || !SAME(depth) || !SAME(cluster_id) || !SAME(n_children) ||
        !SAME(count) || !SAME(sum_ns) || !SAME(min_ns) || !SAME(max_ns) || !SAME(n_threads) ||
        !SAME_SQUARES() ||
        !same_ids(got->children, want->children, want->n_children, "child of shape", at))
        return false;
    for (size_t i = 0; i < want->n_children; i++)
        if (!SAME(repeats[i].sum) || !SAME(repeats[i].min) || !SAME(repeats[i].max))
            return false;
    return same_at(&got->first, &want->first, "first of shape", at) &&
           same_at(&got->slowest, &want->slowest, "slowest of shape", at);
}

static bool same_bins(const struct weft_shape_cluster *got_all,
                      const struct weft_shape_cluster *want_all)
{
    const char *what = "bin";
    if (!same_number(got_all->n_bins, want_all->n_bins, "cluster", 0, "n_bins"))
        return false;
    for (size_t at = 0; at < want_all->n_bins; at++) {
        const struct weft_shape_bin *got = &got_all->bins[at], *want = &want_all->bins[at];
        if (!SAME(from_ns) || !SAME(to_ns) || !SAME(count))
            return false;
    }
    return true;
}

static bool same_cluster(const struct weft_shape_cluster *got,
                         const struct weft_shape_cluster *want, size_t at)
{
    const char *what = "cluster";
    return SAME(function_id) && SAME(depth) && SAME(n_shapes) && SAME(is_trivial) && SAME(ribbon) &&
           SAME(n_threads) && SAME(n_spikes) && SAME(n_drops) &&
           same_ids(got->shape_ids, want->shape_ids, want->n_shapes, "shape of cluster", at) &&
           same_times(&got->times, &want->times, "times of cluster", at) && same_bins(got, want) &&
           same_at(&got->first, &want->first, "first of cluster", at) &&
           same_at(&got->typical, &want->typical, "typical of cluster", at) &&
           same_at(&got->slowest, &want->slowest, "slowest of cluster", at) &&
           same_real(got->surprise, want->surprise, what, at, "surprise");
}

static bool same_run(const struct weft_shape_run *got, const struct weft_shape_run *want, size_t at)
{
    const char *what = "run";
    return SAME(first_column) && SAME(n_columns) && SAME(cluster_id) && SAME(n_others) &&
           SAME(count) && SAME(covered_ns) &&
           same_at(&got->longest, &want->longest, "longest of run", at);
}

static bool same_ribbons(const struct weft_shape_ribbon *got_all, size_t n_got,
                         const struct weft_shape_ribbon *want_all, size_t n_want)
{
    if (!same_number(n_got, n_want, "all", 0, "n_ribbons"))
        return false;
    for (size_t at = 0; at < n_want; at++) {
        const struct weft_shape_ribbon *got = &got_all[at], *want = &want_all[at];
        const char *what = "ribbon";
        if (!SAME(n_clusters) || !SAME(depth) || !SAME(n_runs) ||
            !same_ids(got->cluster_ids, want->cluster_ids, want->n_clusters, what, at))
            return false;
        for (size_t i = 0; i < want->n_runs; i++)
            if (!same_run(&got->runs[i], &want->runs[i], i))
                return false;
    }
    return true;
}

static bool same_presence(const struct weft_shape_presence *got,
                          const struct weft_shape_presence *want, size_t at)
{
    const char *what = "presence";
    return SAME(cluster_id) && SAME(ribbon) && SAME(first_ns) &&
           same_times(&got->times, &want->times, "times of presence", at);
}

static bool same_thread(const struct weft_shape_thread *got, const struct weft_shape_thread *want,
                        size_t at)
{
    const char *what = "thread";
    if (!SAME(thread_id) || !SAME(n_shapes) || !SAME(n_new_shapes) || !SAME(n_clusters) ||
        !SAME(n_new_clusters) || !SAME(calls) || !SAME(cut_calls) || !SAME(excluded_calls) ||
        !SAME(limited_calls) || !SAME(n_presences) || !SAME(group))
        return false;
    for (size_t i = 0; i < want->n_presences; i++)
        if (!same_presence(&got->presences[i], &want->presences[i], i))
            return false;
    return same_ribbons(got->ribbons, got->n_ribbons, want->ribbons, want->n_ribbons);
}

static bool same_spike(const struct weft_shape_spike *got, const struct weft_shape_spike *want,
                       size_t at)
{
    const char *what = "spike";
    return SAME(cluster_id) && same_at(&got->at, &want->at, what, at) &&
           same_real(got->times_median, want->times_median, what, at, "times_median");
}

static bool same_drop(const struct weft_shape_drop *got, const struct weft_shape_drop *want,
                      size_t at)
{
    const char *what = "drop";
    return SAME(cluster_id) && SAME(from_ns) && SAME(to_ns) && SAME(count) &&
           same_real(got->expected, want->expected, what, at, "expected");
}

static bool same_sums(const struct weft_shapes_table *got, const struct weft_shapes_table *want)
{
    const char *what = "table";
    const size_t at = 0;
    return SAME(from_ns) && SAME(to_ns) && SAME(threshold_halves) && SAME(n_columns) &&
           SAME(n_shapes) && SAME(n_trivial_shapes) && SAME(n_clusters) &&
           SAME(n_trivial_clusters) && SAME(n_threads) && SAME(n_spikes) && SAME(spikes_found) &&
           SAME(n_drops) && SAME(drops_found) && SAME(calls) && SAME(cut_calls) &&
           SAME(repaired_calls) && SAME(excluded_calls) && SAME(limited_calls) &&
           SAME(unclustered_shapes) && SAME(undrawn_presences) && SAME(rare_below) &&
           SAME(n_rare_clusters);
}

bool shapes_tables_equal(const struct weft_shapes_table *got, const struct weft_shapes_table *want)
{
    bool is_same = same_sums(got, want);
    for (size_t i = 0; is_same && i < want->n_shapes; i++)
        is_same = same_shape(&got->shapes[i], &want->shapes[i], i);
    for (size_t i = 0; is_same && i < want->n_clusters; i++)
        is_same = same_cluster(&got->clusters[i], &want->clusters[i], i);
    is_same = is_same && same_ribbons(got->ribbons, got->n_ribbons, want->ribbons, want->n_ribbons);
    for (size_t i = 0; is_same && i < want->n_threads; i++)
        is_same = same_thread(&got->threads[i], &want->threads[i], i);
    for (size_t i = 0; is_same && i < want->n_spikes; i++)
        is_same = same_spike(&got->spikes[i], &want->spikes[i], i);
    for (size_t i = 0; is_same && i < want->n_drops; i++)
        is_same = same_drop(&got->drops[i], &want->drops[i], i);
    return is_same;
}
