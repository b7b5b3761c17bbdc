/* SPDX-License-Identifier: MIT
 *
 * Merges the interleaved counters that the inner loop used, and keeps the non-empty bins of each
 * cluster.
 */
#include "analysis/shapes/bins.h"

#include <stdlib.h>
#include <string.h>

static uint64_t count_of(const struct weft_shape_bin_counts *counts, uint32_t bin)
{
    uint64_t n = 0;
    for (size_t way = 0; way < WEFT_SHAPE_BIN_WAYS; way++)
        n += counts->of[way][bin];
    return n;
}

bool weft_shape_bins_make(const struct weft_shape_bin_counts *counts, struct weft_shape_bins *bins)
{
    size_t n = 0;
    for (uint32_t bin = 0; bin < WEFT_BINS; bin++)
        n += count_of(counts, bin) > 0;
    bins->items = malloc((n + 1) * sizeof *bins->items);
    if (!bins->items)
        return false;
    for (uint32_t bin = 0; bin < WEFT_BINS; bin++) {
        const uint64_t count = count_of(counts, bin);
        if (count)
            bins->items[bins->n++] = (struct weft_shape_bin){
                .from_ns = weft_bin_floor(bin),
                .to_ns = bin + 1 < WEFT_BINS ? weft_bin_floor(bin + 1) : UINT64_MAX,
                .count = count,
            };
    }
    return true;
}

bool weft_shape_bins_move(struct weft_shape_bins *bins, struct weft_arena *arena,
                          struct weft_shape_cluster *clusters, size_t n_clusters)
{
    size_t n = 0;
    for (size_t c = 0; c < n_clusters; c++)
        n += bins[c].n;
    struct weft_shape_bin *to = WEFT_ARENA_NEW(arena, n, struct weft_shape_bin);
    if (!to)
        return false;
    for (size_t c = 0; c < n_clusters; c++) {
        if (bins[c].n)
            memcpy(to, bins[c].items, bins[c].n * sizeof *to);
        clusters[c].bins = to;
        clusters[c].n_bins = (uint32_t)bins[c].n;
        to += bins[c].n;
        free(bins[c].items);
        bins[c] = (struct weft_shape_bins){ 0 };
    }
    return true;
}

void weft_shape_bins_free(struct weft_shape_bins *bins, size_t n_clusters)
{
    for (size_t c = 0; bins && c < n_clusters; c++)
        free(bins[c].items);
    free(bins);
}
