/* SPDX-License-Identifier: MIT
 *
 * Spikes, drops, surprise and groups of threads, as docs/analyses/shapes.md defines them.
 */
#include "analysis/shapes/shapes.h"
#include "naive_shapes_table.h"
#include "schema/shapes.h"

#include <math.h>

enum { REACH = 10, LEAST_MEDIAN = 10 };

static uint64_t ns_of(const struct weft_shape_occurrence *at)
{
    return at->end_ns - at->start_ns;
}

/* ---- spikes -----------------------------------------------------------------------------------
 */

static bool is_spike(const struct weft_shape_occurrence *at, const struct weft_shape_times *times,
                     const struct weft_shapes_opts *opts)
{
    return (double)ns_of(at) > opts->spike_factor * (double)times->p50_ns &&
           ns_of(at) > times->p999_ns && ns_of(at) >= opts->spike_least_ns;
}

static bool is_higher(const struct weft_shape_spike *a, const struct weft_shape_spike *b)
{
    if (a->times_median > b->times_median || a->times_median < b->times_median)
        return a->times_median > b->times_median;
    if (a->at.start_ns != b->at.start_ns)
        return a->at.start_ns < b->at.start_ns;
    if (a->at.thread_id != b->at.thread_id)
        return a->at.thread_id < b->at.thread_id;
    return a->cluster_id < b->cluster_id;
}

static void find_spikes(struct naive_memory *memory, const struct weft_shapes_opts *opts,
                        struct naive_result *result)
{
    struct weft_shapes_table *table = &result->table;
    table->spikes = naive_take(memory, result->n_occurrences * sizeof *table->spikes);
    for (size_t i = 0; i < result->n_occurrences; i++) {
        const struct weft_shape_occurrence *at = &result->occurrences[i];
        const uint32_t cluster_id = table->shapes[at->shape_id].cluster_id;
        struct weft_shape_cluster *cluster = &table->clusters[cluster_id];
        const uint64_t median_ns = cluster->times.p50_ns ? cluster->times.p50_ns : 1;
        if (!is_spike(at, &cluster->times, opts))
            continue;
        const struct weft_shape_spike spike = { .at = *at,
                                                .cluster_id = cluster_id,
                                                .times_median =
                                                    (double)ns_of(at) / (double)median_ns };
        size_t place = table->spikes_found++;
        for (; place > 0 && is_higher(&spike, &table->spikes[place - 1]); place--)
            table->spikes[place] = table->spikes[place - 1];
        table->spikes[place] = spike;
        cluster->n_spikes++;
    }
    table->n_spikes = table->spikes_found;
    if (opts->limit && table->n_spikes > opts->limit)
        table->n_spikes = opts->limit;
}

/* ---- drops ------------------------------------------------------------------------------------
 */

static uint64_t window_begin(const struct weft_shapes_table *table, uint32_t n_windows, uint32_t i)
{
    return table->from_ns + (table->to_ns - table->from_ns) * i / n_windows;
}

static uint32_t *count_begun(struct naive_memory *memory, const struct naive_result *result,
                             uint32_t cluster, uint32_t n_windows)
{
    const struct weft_shapes_table *table = &result->table;
    uint32_t *begun = naive_take(memory, n_windows * sizeof *begun);
    for (uint32_t w = 0; w < n_windows; w++)
        for (size_t i = 0; i < result->n_occurrences; i++) {
            const struct weft_shape_occurrence *at = &result->occurrences[i];
            begun[w] +=
                table->shapes[at->shape_id].cluster_id == cluster &&
                at->start_ns >= window_begin(table, n_windows, w) &&
                (at->start_ns < window_begin(table, n_windows, w + 1) || w + 1 == n_windows);
        }
    return begun;
}

/* The least count that at least half of the windows around `at` do not exceed. */
static uint32_t running_median(const uint32_t *begun, uint32_t n_windows, uint32_t at)
{
    const uint32_t first = at > REACH ? at - REACH : 0;
    const uint32_t end = at + REACH + 1 < n_windows ? at + REACH + 1 : n_windows;
    uint32_t median = UINT32_MAX;
    for (uint32_t w = first; w < end; w++) {
        uint32_t n_below = 0;
        for (uint32_t v = first; v < end; v++)
            n_below += begun[v] <= begun[w];
        if (2 * n_below >= end - first && begun[w] < median)
            median = begun[w];
    }
    return median;
}

static double loss_of(const struct weft_shapes_table *table, const struct weft_shape_drop *drop)
{
    const struct weft_shape_times *times = &table->clusters[drop->cluster_id].times;
    return (drop->expected - (double)drop->count) * ((double)times->sum_ns / (double)times->count);
}

static bool is_larger(const struct weft_shapes_table *table, const struct weft_shape_drop *a,
                      const struct weft_shape_drop *b)
{
    const double x = loss_of(table, a), y = loss_of(table, b);
    if (x > y || x < y)
        return x > y;
    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns;
    return a->cluster_id < b->cluster_id;
}

static void keep_drop(struct weft_shapes_table *table, const struct weft_shape_drop *drop)
{
    size_t place = table->drops_found++;
    for (; place > 0 && is_larger(table, drop, &table->drops[place - 1]); place--)
        table->drops[place] = table->drops[place - 1];
    table->drops[place] = *drop;
    table->clusters[drop->cluster_id].n_drops++;
}

static void find_drops(struct naive_memory *memory, const struct weft_shapes_opts *opts,
                       struct naive_result *result)
{
    struct weft_shapes_table *table = &result->table;
    const uint32_t n_windows = opts->n_windows;
    table->drops = naive_take(memory, table->n_clusters * n_windows * sizeof *table->drops);
    for (uint32_t c = 0; c < table->n_clusters; c++) {
        const uint32_t *begun = count_begun(memory, result, c, n_windows);
        struct weft_shape_drop drop = { .cluster_id = c };
        bool was_low = false;
        for (uint32_t w = 0; w <= n_windows; w++) {
            const uint32_t median = w < n_windows ? running_median(begun, n_windows, w) : 0;
            const bool is_low = w < n_windows && median >= LEAST_MEDIAN &&
                                (double)begun[w] < opts->drop_fraction * (double)median;
            if (was_low && !is_low)
                keep_drop(table, &drop);
            if (is_low && !was_low)
                drop = (struct weft_shape_drop){ .cluster_id = c,
                                                 .from_ns = window_begin(table, n_windows, w) };
            if (is_low) {
                drop.to_ns = window_begin(table, n_windows, w + 1);
                drop.count += begun[w];
                drop.expected += median;
            }
            was_low = is_low;
        }
    }
    table->n_drops = table->drops_found;
    if (opts->limit && table->n_drops > opts->limit)
        table->n_drops = opts->limit;
}

/* ---- surprise and groups ----------------------------------------------------------------------
 */

/* Whether a call of the function has a shape on a thread. */
static bool is_used(const struct naive_result *result, uint32_t function_id, uint32_t thread_id)
{
    for (size_t i = 0; i < result->n_occurrences; i++)
        if (result->occurrences[i].thread_id == thread_id &&
            result->table.shapes[result->occurrences[i].shape_id].function_id == function_id)
            return true;
    return false;
}

static double surprise_of(const struct naive_result *result,
                          const struct weft_shape_cluster *cluster)
{
    const struct weft_shapes_table *table = &result->table;
    double calls = 0, n_threads = 0;
    for (size_t i = 0; i < table->n_shapes; i++)
        if (table->shapes[i].function_id == cluster->function_id)
            calls += (double)table->shapes[i].count;
    for (size_t t = 0; t < table->n_threads; t++)
        n_threads += is_used(result, cluster->function_id, table->threads[t].thread_id);
    return (log2(calls / (double)cluster->times.count) + log2(n_threads / cluster->n_threads) +
            log2(1 + (double)cluster->n_spikes) + log2(1 + (double)cluster->n_drops)) *
           ((double)cluster->times.sum_ns / 1e9);
}

/* Time of a cluster on a thread. */
static double time_of(const struct weft_shape_thread *thread, uint32_t cluster)
{
    for (size_t i = 0; i < thread->n_presences; i++)
        if (thread->presences[i].cluster_id == cluster)
            return (double)thread->presences[i].times.sum_ns;
    return 0;
}

static bool are_alike(const struct weft_shapes_table *table, const struct weft_shape_thread *a,
                      const struct weft_shape_thread *b)
{
    double ab = 0, aa = 0, bb = 0;
    for (uint32_t c = 0; c < table->n_clusters; c++) {
        ab += time_of(a, c) * time_of(b, c);
        aa += time_of(a, c) * time_of(a, c);
        bb += time_of(b, c) * time_of(b, c);
    }
    if (aa <= 0 || bb <= 0)
        return aa <= 0 && bb <= 0;
    return ab / sqrt(aa * bb) >= 0.9;
}

static void find_groups(struct weft_shapes_table *table)
{
    uint32_t n_groups = 0;
    for (size_t t = 0; t < table->n_threads; t++) {
        table->threads[t].group = n_groups;
        for (size_t first = 0; first < t && table->threads[t].group == n_groups; first++) {
            bool is_first = true;
            for (size_t u = 0; u < first; u++)
                is_first = is_first && table->threads[u].group != table->threads[first].group;
            if (is_first && are_alike(table, &table->threads[t], &table->threads[first]))
                table->threads[t].group = table->threads[first].group;
        }
        n_groups += table->threads[t].group == n_groups;
    }
}

void naive_shapes_conclude(struct naive_memory *memory, const struct weft_shapes_opts *opts,
                           struct naive_result *result)
{
    find_spikes(memory, opts, result);
    find_drops(memory, opts, result);
    for (size_t c = 0; c < result->table.n_clusters; c++)
        result->table.clusters[c].surprise = surprise_of(result, &result->table.clusters[c]);
    find_groups(&result->table);
}
