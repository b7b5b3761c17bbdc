/* SPDX-License-Identifier: MIT
 *
 * Exact quantiles of clusters, in rounds over ranges of rows.
 */
#include "analysis/shapes/quantiles.h"

#include "analysis/calls/quantiles.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_COLLECTED = 1024,             /* values of a row: collected */
    HISTOGRAM_BYTES = 16 * 1024,      /* taken for a row that is not */
    BUDGET_BYTES = 128 * 1024 * 1024, /* of a worker */
};

static const uint32_t per_mille[WEFT_QUANTILES] = { 500, 900, 990, 999 };

/* Where a row of the round puts its values. */
#define PLACE_NONE UINT32_MAX
#define PLACE_COLLECTED                                                                            \
    (UINT32_C(1) << 31) /* with the number of a collection, else a histogram                       \
                         */

/* Of a cluster on the thread at hand: place of its row there, and of the cluster's own. */
struct places {
    uint32_t on_thread, on_all;
};

struct collection {
    uint64_t *values;
    uint64_t n; /* atomic while a pass runs */
    uint64_t cap;
};

struct worker {
    struct weft_hist_set hist;
    struct places *places; /* by cluster */
};

struct round {
    const struct weft_mined *mined;
    const struct weft_shape_quantile_rows *rows;
    struct worker *workers;
    unsigned n_workers;
    size_t first, end; /* rows */
    uint32_t *place;   /* by row - first */
    struct collection *collections;
    uint64_t *values;
    size_t n_collections, n_histograms;
    struct weft_quantiles quantiles;
};

static size_t n_thread_rows(const struct round *round)
{
    return round->rows->first[round->mined->n_threads];
}

static uint32_t place_of(const struct round *round, size_t row)
{
    return row >= round->first && row < round->end ? round->place[row - round->first] : PLACE_NONE;
}

/* The cluster whose bins are those of the row, or WEFT_ID_NONE: the cluster's own row has them, or,
 * if that is not wanted, the only one of a thread. */
static uint32_t binned_cluster(const struct round *round, size_t row)
{
    const size_t n = n_thread_rows(round);
    if (row >= n)
        return (uint32_t)(row - n);
    const uint32_t cluster = round->rows->cluster_id[row];
    return round->rows->times[n + cluster] ? WEFT_ID_NONE : cluster;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static enum weft_code begin_thread(void *context, size_t part, unsigned index, struct weft_err *err)
{
    (void)err;
    struct round *round = context;
    const struct weft_shape_quantile_rows *rows = round->rows;
    struct places *places = round->workers[index].places;
    const size_t item = round->mined->parts[part].item;
    for (size_t row = rows->first[item]; row < rows->first[item + 1]; row++) {
        uint32_t cluster = rows->cluster_id[row];
        places[cluster].on_thread = place_of(round, row);
        places[cluster].on_all = place_of(round, n_thread_rows(round) + cluster);
    }
    return WEFT_OK;
}

static bool collect(struct round *round, struct worker *worker, uint32_t place, uint64_t value)
{
    if (!(place & PLACE_COLLECTED))
        return weft_hist_add(&worker->hist, place, value);
    struct collection *collection = &round->collections[place & ~PLACE_COLLECTED];
    uint64_t at = __atomic_fetch_add(&collection->n, 1, __ATOMIC_RELAXED);
    if (at < collection->cap)
        collection->values[at] = value;
    return true;
}

/* The first pass. */
static enum weft_code tally_calls(void *context, size_t part, unsigned index,
                                  const struct weft_shape_done *done, size_t n_done,
                                  struct weft_err *err)
{
    (void)part;
    struct round *round = context;
    struct worker *worker = &round->workers[index];
    const uint32_t *cluster_of = round->rows->cluster_of;
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < n_done; i++) {
        struct places places = worker->places[cluster_of[done[i].shape]];
        uint64_t duration_ns = done[i].end_ns - done[i].start_ns;
        if (places.on_thread != PLACE_NONE)
            is_ok = collect(round, worker, places.on_thread, duration_ns);
        if (is_ok && places.on_all != PLACE_NONE)
            is_ok = collect(round, worker, places.on_all, duration_ns);
    }
    return is_ok ? WEFT_OK : weft_no_memory(err, "durations");
}

static void refine(struct round *round, uint32_t place, uint64_t value)
{
    if (!(place & PLACE_COLLECTED) && round->quantiles.first_target[place])
        weft_quantiles_see(&round->quantiles, place, value);
}

/* The later passes. */
static enum weft_code refine_calls(void *context, size_t part, unsigned index,
                                   const struct weft_shape_done *done, size_t n_done,
                                   struct weft_err *err)
{
    (void)part, (void)err;
    struct round *round = context;
    const struct worker *worker = &round->workers[index];
    const uint32_t *cluster_of = round->rows->cluster_of;
    for (size_t i = 0; i < n_done; i++) {
        struct places places = worker->places[cluster_of[done[i].shape]];
        uint64_t duration_ns = done[i].end_ns - done[i].start_ns;
        refine(round, places.on_thread, duration_ns);
        refine(round, places.on_all, duration_ns);
    }
    return WEFT_OK;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static size_t bytes_of_row(const struct weft_shape_times *times)
{
    if (!times)
        return 0;
    return times->count <= MAX_COLLECTED ? (size_t)times->count * sizeof(uint64_t)
                                         : HISTOGRAM_BYTES;
}

/* How many rows from `first` on the round may have: at least one. */
static size_t end_of_round(const struct round *round, size_t first, size_t n_rows)
{
    size_t budget = round->rows->budget_bytes ? round->rows->budget_bytes : BUDGET_BYTES;
    size_t end = first, n_bytes = 0;
    while (end < n_rows && (end == first || n_bytes <= budget))
        n_bytes += bytes_of_row(round->rows->times[end++]);
    return end;
}

static bool place_rows(struct round *round)
{
    size_t n = round->end - round->first, n_values = 0;
    round->n_collections = round->n_histograms = 0;
    round->place = malloc((n + 1) * sizeof *round->place);
    round->collections = calloc(n + 1, sizeof *round->collections);
    if (!round->place || !round->collections)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct weft_shape_times *times = round->rows->times[round->first + i];
        round->place[i] = PLACE_NONE;
        if (!times || !times->count)
            continue;
        bool is_small = times->count <= MAX_COLLECTED;
        round->place[i] = is_small ? PLACE_COLLECTED | (uint32_t)round->n_collections++
                                   : (uint32_t)round->n_histograms++;
        n_values += is_small ? (size_t)times->count : 0;
    }
    round->values = malloc((n_values + 1) * sizeof *round->values);
    if (!round->values)
        return false;
    uint64_t *values = round->values;
    for (size_t i = 0; i < n; i++)
        if (round->place[i] != PLACE_NONE && (round->place[i] & PLACE_COLLECTED)) {
            uint64_t count = round->rows->times[round->first + i]->count;
            round->collections[round->place[i] & ~PLACE_COLLECTED] =
                (struct collection){ .values = values, .cap = count };
            values += count;
        }
    return true;
}

static enum weft_code round_ready(struct round *round, struct weft_err *err)
{
    enum weft_code code = place_rows(round) ? WEFT_OK : weft_no_memory(err, "durations");
    for (unsigned w = 0; !code && w < round->n_workers; w++) {
        struct worker *worker = &round->workers[w];
        worker->places = malloc((round->rows->n_clusters + 1) * sizeof *worker->places);
        code = worker->places
                   ? weft_hist_set_init(&worker->hist, (uint32_t)round->n_histograms, err)
                   : weft_no_memory(err, "durations");
    }
    return code;
}

static void round_fini(struct round *round)
{
    for (unsigned w = 0; w < round->n_workers; w++) {
        weft_hist_set_fini(&round->workers[w].hist);
        free(round->workers[w].places);
        round->workers[w].places = NULL;
    }
    weft_quantiles_fini(&round->quantiles);
    free(round->place);
    free(round->collections);
    free(round->values);
    round->place = NULL;
    round->collections = NULL;
    round->values = NULL;
}

/* The mined threads that have rows of the round. */
static bool items_of(const struct round *round, size_t **items, size_t *n_items)
{
    size_t n_threads = round->mined->n_threads;
    bool is_all = round->end > n_thread_rows(round);
    *n_items = 0;
    *items = malloc((n_threads + 1) * sizeof **items);
    for (size_t item = 0; *items && item < n_threads; item++)
        if (is_all ||
            (round->rows->first[item] < round->end && round->rows->first[item + 1] > round->first))
            (*items)[(*n_items)++] = item;
    return *items != NULL;
}

static bool bin_histogram(const struct weft_hist_set *hist, uint32_t place,
                          struct weft_shape_bins *bins)
{
    struct weft_shape_bin_counts counts = { 0 };
    for (uint32_t page = 0; page < WEFT_HIST_PAGES; page++) {
        const uint32_t at = hist->page_of[(size_t)place * WEFT_HIST_PAGES + page];
        for (uint32_t slot = 0; at && slot < WEFT_HIST_SLOTS; slot++)
            counts.of[0][weft_bin_of(weft_hist_floor(page, slot))] +=
                hist->pages[(size_t)(at - 1) * WEFT_HIST_SLOTS + slot];
    }
    return weft_shape_bins_make(&counts, bins);
}

static bool bin_values(const struct collection *collection, struct weft_shape_bins *bins)
{
    struct weft_shape_bin_counts counts = { 0 };
    for (uint64_t i = 0; i < collection->n; i++)
        counts.of[i % WEFT_SHAPE_BIN_WAYS][weft_bin_of(collection->values[i])]++;
    return weft_shape_bins_make(&counts, bins);
}

/* Of the rows that have histograms; the slots of these lie in bins. */
static bool bin_histograms(const struct round *round)
{
    bool is_ok = true;
    for (size_t row = round->first; is_ok && row < round->end; row++) {
        const uint32_t place = place_of(round, row), cluster = binned_cluster(round, row);
        if (cluster != WEFT_ID_NONE && place != PLACE_NONE && !(place & PLACE_COLLECTED))
            is_ok = bin_histogram(&round->workers[0].hist, place, &round->rows->bins[cluster]);
    }
    return is_ok;
}

static enum weft_code histograms_to_quantiles(struct round *round, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (unsigned w = 1; !code && w < round->n_workers; w++) {
        code = weft_hist_merge(&round->workers[0].hist, &round->workers[w].hist, err);
        weft_hist_set_fini(&round->workers[w].hist);
    }
    if (!code && !bin_histograms(round))
        code = weft_no_memory(err, "durations");
    if (!code)
        code = weft_quantiles_init(&round->quantiles, &round->workers[0].hist, NULL, err);
    weft_hist_set_fini(&round->workers[0].hist);
    return code;
}

static enum weft_code run_passes(struct round *round, struct weft_shape_replay *replay,
                                 const size_t *items, size_t n_items, struct weft_err *err)
{
    struct weft_shape_replay_sink sink = { .context = round,
                                           .begin = begin_thread,
                                           .calls = tally_calls };
    bool is_needed = true;
    enum weft_code code = weft_shape_replay_run(replay, items, n_items, &sink, err);
    if (!code)
        code = histograms_to_quantiles(round, err);
    sink.calls = refine_calls;
    while (!code && !(code = weft_quantiles_begin(&round->quantiles, &is_needed, err)) &&
           is_needed) {
        code = weft_shape_replay_run(replay, items, n_items, &sink, err);
        if (!code)
            code = weft_quantiles_end(&round->quantiles, err);
    }
    return code;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* WEFT_E_MALFORMED if the calls were not those of the first mining. */
static enum weft_code fill_times(const struct round *round, struct weft_err *err)
{
    for (size_t row = round->first; row < round->end; row++) {
        uint32_t place = place_of(round, row);
        if (place == PLACE_NONE)
            continue;
        struct weft_shape_times *times = round->rows->times[row];
        uint64_t *to[WEFT_QUANTILES] = { &times->p50_ns, &times->p90_ns, &times->p99_ns,
                                         &times->p999_ns };
        const struct collection *collection = NULL;
        if (place & PLACE_COLLECTED) {
            collection = &round->collections[place & ~PLACE_COLLECTED];
            if (collection->n != collection->cap)
                return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                                 "expected the same calls as before, found others");
            const uint32_t cluster = binned_cluster(round, row);
            if (cluster != WEFT_ID_NONE && !bin_values(collection, &round->rows->bins[cluster]))
                return weft_no_memory(err, "durations");
            qsort(collection->values, (size_t)collection->n, sizeof *collection->values, by_value);
        }
        for (unsigned q = 0; q < WEFT_QUANTILES; q++)
            *to[q] = collection
                         ? collection->values[weft_nearest_rank(times->count, per_mille[q]) - 1]
                         : round->quantiles.value_ns[place][q];
    }
    return WEFT_OK;
}

static enum weft_code run_round(struct round *round, struct weft_shape_replay *replay,
                                struct weft_err *err)
{
    size_t *items = NULL, n_items = 0;
    enum weft_code code = round_ready(round, err);
    if (!code && !items_of(round, &items, &n_items))
        code = weft_no_memory(err, "durations");
    if (!code)
        code = run_passes(round, replay, items, n_items, err);
    if (!code)
        code = fill_times(round, err);
    free(items);
    round_fini(round);
    return code;
}

enum weft_code weft_shape_quantiles_run(const struct weft_mined *mined,
                                        struct weft_shape_replay *replay,
                                        const struct weft_shape_quantile_rows *rows,
                                        unsigned n_workers, struct weft_err *err)
{
    struct round round = { .mined = mined, .rows = rows, .n_workers = n_workers };
    size_t n_rows = rows->first[mined->n_threads] + rows->n_clusters;
    enum weft_code code = WEFT_OK;
    round.workers = calloc(n_workers, sizeof *round.workers);
    if (!round.workers)
        return weft_no_memory(err, "durations");
    for (size_t first = 0; !code && first < n_rows; first = round.end) {
        round.first = first;
        round.end = end_of_round(&round, first, n_rows);
        code = run_round(&round, replay, err);
    }
    free(round.workers);
    return code;
}
