/* SPDX-License-Identifier: MIT
 *
 * Drops, surprise, groups of threads.
 */
#include "analysis/shapes/rank.h"

#include "analysis/shapes/occurrences.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- drops ----------------------------------------------------------------------------------- */

/* The lower median of the counts around a window. */
static uint32_t median_around(const uint32_t *begun, uint32_t n_windows, uint32_t at)
{
    uint32_t sorted[2 * WEFT_DROP_REACH + 1];
    uint32_t first = at > WEFT_DROP_REACH ? at - WEFT_DROP_REACH : 0, n = 0;
    uint32_t end = n_windows - at > WEFT_DROP_REACH ? at + WEFT_DROP_REACH + 1 : n_windows;
    for (uint32_t w = first; w < end; w++) {
        uint32_t i = n++;
        for (; i > 0 && sorted[i - 1] > begun[w]; i--)
            sorted[i] = sorted[i - 1];
        sorted[i] = begun[w];
    }
    return sorted[(n - 1) / 2];
}

bool weft_drops_find(const struct weft_drop_search *search, uint32_t cluster_id,
                     const uint32_t *begun, struct weft_drop_list *list)
{
    struct weft_shape_drop *drop = NULL; /* the one that the window before belongs to */
    for (uint32_t w = 0; w < search->n_windows; w++) {
        uint32_t median = median_around(begun, search->n_windows, w);
        if (median < WEFT_DROP_LEAST_MEDIAN ||
            !((double)begun[w] < search->fraction * (double)median)) {
            drop = NULL;
            continue;
        }
        if (!drop) {
            drop = WEFT_VEC_PUSH(list);
            if (!drop)
                return false;
            drop->cluster_id = cluster_id;
            drop->from_ns = weft_shape_part_begin(&search->window, search->n_windows, w);
        }
        drop->to_ns = weft_shape_part_begin(&search->window, search->n_windows, w + 1);
        drop->count += begun[w];
        drop->expected += (double)median;
    }
    return true;
}

struct ranked {
    struct weft_shape_drop drop;
    double loss;
};

static int by_loss(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->loss > y->loss || x->loss < y->loss)
        return x->loss > y->loss ? -1 : 1;
    if (x->drop.from_ns != y->drop.from_ns)
        return x->drop.from_ns < y->drop.from_ns ? -1 : 1;
    return (x->drop.cluster_id > y->drop.cluster_id) - (x->drop.cluster_id < y->drop.cluster_id);
}

bool weft_drops_sort(struct weft_drop_list *list, const struct weft_shape_cluster *clusters)
{
    struct ranked *ranked = malloc((list->n + 1) * sizeof *ranked);
    if (!ranked)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        const struct weft_shape_drop *drop = &list->items[i];
        const struct weft_shape_times *times = &clusters[drop->cluster_id].times;
        ranked[i] = (struct ranked){ *drop, (drop->expected - (double)drop->count) *
                                                ((double)times->sum_ns / (double)times->count) };
    }
    qsort(ranked, list->n, sizeof *ranked, by_loss);
    for (size_t i = 0; i < list->n; i++)
        list->items[i] = ranked[i].drop;
    free(ranked);
    return true;
}

/* ---- surprise -------------------------------------------------------------------------------- */

/* Of a function: calls with a shape, and threads that made some. */
struct use {
    uint64_t calls;
    uint32_t n_threads;
    size_t last_thread; /* + 1 */
};

static double bits(uint64_t whole, uint64_t part)
{
    return part ? log2((double)whole / (double)part) : 0;
}

bool weft_shapes_surprise(struct weft_shapes_table *table, uint32_t n_functions)
{
    struct use *uses = calloc((size_t)n_functions + 1, sizeof *uses);
    if (!uses)
        return false;
    for (size_t c = 0; c < table->n_clusters; c++)
        uses[table->clusters[c].function_id].calls += table->clusters[c].times.count;
    for (size_t t = 0; t < table->n_threads; t++)
        for (size_t i = 0; i < table->threads[t].n_presences; i++) {
            uint32_t cluster = table->threads[t].presences[i].cluster_id;
            struct use *use = &uses[table->clusters[cluster].function_id];
            use->n_threads += use->last_thread != t + 1;
            use->last_thread = t + 1;
        }
    for (size_t c = 0; c < table->n_clusters; c++) {
        struct weft_shape_cluster *cluster = &table->clusters[c];
        const struct use *use = &uses[cluster->function_id];
        double all = bits(use->calls, cluster->times.count) +
                     bits(use->n_threads, cluster->n_threads) +
                     log2(1 + (double)cluster->n_spikes) + log2(1 + (double)cluster->n_drops);
        cluster->surprise = all * (double)cluster->times.sum_ns / 1e9;
    }
    free(uses);
    return true;
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum { MAX_GROUPS = 256 }; /* that a thread is compared with */

/* Time by cluster as a vector: product of two threads'. */
static double product(const struct weft_shape_thread *a, const struct weft_shape_thread *b)
{
    double sum = 0;
    for (size_t i = 0, k = 0; i < a->n_presences && k < b->n_presences;) {
        uint32_t x = a->presences[i].cluster_id, y = b->presences[k].cluster_id;
        if (x == y)
            sum += (double)a->presences[i].times.sum_ns * (double)b->presences[k].times.sum_ns;
        i += x <= y;
        k += y <= x;
    }
    return sum;
}

/* The cosine of the angle between them is at least 0.9. */
static bool is_alike(const struct weft_shape_thread *a, const struct weft_shape_thread *b)
{
    double aa = product(a, a), bb = product(b, b);
    if (aa <= 0 || bb <= 0)
        return aa <= 0 && bb <= 0;
    return product(a, b) >= 0.9 * sqrt(aa) * sqrt(bb);
}

bool weft_shapes_group(struct weft_shapes_table *table)
{
    size_t *first = malloc((table->n_threads + 1) * sizeof *first);
    uint32_t n_groups = 0;
    if (!first)
        return false;
    for (size_t t = 0; t < table->n_threads; t++) {
        uint32_t group = 0;
        while (group < n_groups && (group >= MAX_GROUPS ||
                                    !is_alike(&table->threads[first[group]], &table->threads[t])))
            group++;
        if (group == n_groups)
            first[n_groups++] = t;
        table->threads[t].group = group;
    }
    free(first);
    return true;
}
