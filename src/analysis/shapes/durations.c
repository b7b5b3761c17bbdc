/* SPDX-License-Identifier: MIT
 *
 * Groups the durations of partitions by cluster, and selects quantiles from groups.
 */
#include "analysis/shapes/durations.h"

#include "analysis/calls/quantiles.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t per_mille[WEFT_QUANTILES] = { 500, 900, 990, 999 };

/* Durations of one cluster in a partition: those that fit in two bytes, and the others. */
struct group {
    uint64_t first, n;
    uint64_t first_long, n_long;
};

/* The groups of a partition, in the order of the rows of its thread. */
struct groups {
    struct group *items;
    uint16_t *duration_ns;
    uint64_t *long_ns;
};

struct segments;

struct job {
    struct weft_mined *mined;
    const struct weft_shape_quantile_rows *rows;
    struct groups *groups;     /* by partition */
    uint32_t **places;         /* by worker: by cluster, of the partition at hand */
    struct segments *segments; /* by worker */
    /* Rows of the cluster c on threads: those at first_row[c] ... first_row[c + 1). */
    size_t *first_row, *row_of, *item_of;
};

static void groups_fini(struct groups *groups)
{
    free(groups->items);
    free(groups->duration_ns);
    free(groups->long_ns);
    *groups = (struct groups){ 0 };
}

/* ---- grouping -------------------------------------------------------------------------------- */

/* By the worker's number of a shape: the place of its cluster among the rows of the thread. NULL
 * without memory. */
static uint32_t *places_of_shapes(const struct job *job, const struct weft_mine_part *part,
                                  uint32_t *place_of)
{
    const struct weft_shape_quantile_rows *rows = job->rows;
    const struct weft_mine_names *names = &job->mined->names[part->worker];
    uint32_t *places = malloc((names->n_shapes + 1) * sizeof *places);
    size_t first = rows->first[part->item], end = rows->first[part->item + 1];
    for (size_t row = first; row < end; row++)
        place_of[rows->cluster_id[row]] = (uint32_t)(row - first);
    for (size_t i = 0; places && i < names->n_shapes; i++)
        places[i] = place_of[rows->cluster_of[names->shape_of[i]]];
    return places;
}

static void count_groups(const struct weft_shape_tape *tape, const uint32_t *places,
                         struct group *groups, size_t n_groups)
{
    const uint16_t *duration_ns = tape->duration_ns;
    const uint64_t n_rows = tape->n_rows;
    for (uint64_t i = 0; i < n_rows; i++) {
        const uint32_t shape = weft_shape_tape_get(tape, i);
        if (shape == WEFT_TAPE_NONE)
            continue;
        struct group *group = &groups[places[shape]];
        group->n++;
        group->n_long += duration_ns[i] == WEFT_TAPE_LONG;
    }
    uint64_t first = 0, first_long = 0;
    for (size_t g = 0; g < n_groups; g++) {
        groups[g].n -= groups[g].n_long;
        groups[g].first = first;
        groups[g].first_long = first_long;
        first += groups[g].n;
        first_long += groups[g].n_long;
    }
}

static void fill_groups(const struct weft_shape_tape *tape, const uint32_t *places,
                        const struct groups *groups, size_t n_groups)
{
    const uint16_t *duration_ns = tape->duration_ns;
    const uint64_t *next_long = tape->long_ns, n_rows = tape->n_rows;
    struct group *items = groups->items;
    uint16_t *to = groups->duration_ns;
    for (uint64_t i = 0; i < n_rows; i++) {
        const uint32_t shape = weft_shape_tape_get(tape, i);
        const bool has_shape = shape != WEFT_TAPE_NONE;
        struct group *group = has_shape ? &items[places[shape]] : NULL;
        if (__builtin_expect(duration_ns[i] == WEFT_TAPE_LONG, 0)) {
            if (has_shape)
                groups->long_ns[group->first_long++] = *next_long;
            next_long++;
        } else if (has_shape) {
            to[group->first++] = duration_ns[i];
        }
    }
    for (size_t g = 0; g < n_groups; g++) {
        items[g].first -= items[g].n;
        items[g].first_long -= items[g].n_long;
    }
}

/* Replaces the durations of a partition by its groups. */
static enum weft_code group_part(void *context, size_t index, unsigned worker, struct weft_err *err)
{
    struct job *job = context;
    struct weft_mine_part *part = &job->mined->parts[index];
    struct groups *groups = &job->groups[index];
    struct weft_shape_tape *tape = &part->tape;
    if (part->is_empty)
        return WEFT_OK;
    size_t n_groups = job->rows->first[part->item + 1] - job->rows->first[part->item];
    if (!job->places[worker])
        job->places[worker] = malloc((job->rows->n_clusters + 1) * sizeof **job->places);
    uint32_t *places =
        job->places[worker] ? places_of_shapes(job, part, job->places[worker]) : NULL;
    groups->items = calloc(n_groups + 1, sizeof *groups->items);
    groups->duration_ns = malloc(((size_t)tape->n_rows + 1) * sizeof *groups->duration_ns);
    groups->long_ns = malloc((tape->n_long + 1) * sizeof *groups->long_ns);
    bool is_ok = places && groups->items && groups->duration_ns && groups->long_ns;
    if (is_ok) {
        count_groups(tape, places, groups->items, n_groups);
        fill_groups(tape, places, groups, n_groups);
    }
    free(places);
    weft_shape_tape_drop_durations(tape);
    return is_ok ? WEFT_OK : weft_no_memory(err, "durations");
}

/* ---- selecting ------------------------------------------------------------------------------- */

/* A group that is looked at with others. */
struct segment {
    const uint16_t *duration_ns;
    const uint64_t *long_ns;
    uint64_t n, n_long;
};

struct segments {
    struct segment *items;
    size_t n, cap;
    uint64_t n_short, n_long; /* durations */
};

/* How many short durations have a high byte, and, of up to three high bytes, how many have each low
 * byte. Neighbours are counted in different tables: most calls of a cluster are alike, and to count
 * up one word again and again is slow. */
enum { N_WAYS = 4, FEW = 48 };
struct counts {
    uint32_t high[N_WAYS][256];
    uint32_t low[WEFT_QUANTILES + 1][N_WAYS][256];
    uint8_t which[256]; /* by high byte: its table in `low`; 0: it holds no quantile */
};

static void count_high(struct counts *counts, const struct segments *segments)
{
    for (size_t s = 0; s < segments->n; s++) {
        const uint16_t *duration_ns = segments->items[s].duration_ns;
        const uint64_t n = segments->items[s].n;
        uint64_t i = 0;
        for (; i + N_WAYS <= n; i += N_WAYS)
            for (size_t way = 0; way < N_WAYS; way++)
                counts->high[way][duration_ns[i + way] >> 8]++;
        for (; i < n; i++)
            counts->high[0][duration_ns[i] >> 8]++;
    }
}

static inline void count_one_low(struct counts *counts, size_t way, uint16_t duration_ns)
{
    counts->low[counts->which[duration_ns >> 8]][way][duration_ns & 255]++;
}

static void count_low(struct counts *counts, const struct segments *segments)
{
    for (size_t s = 0; s < segments->n; s++) {
        const uint16_t *duration_ns = segments->items[s].duration_ns;
        const uint64_t n = segments->items[s].n;
        uint64_t i = 0;
        for (; i + N_WAYS <= n; i += N_WAYS)
            for (size_t way = 0; way < N_WAYS; way++)
                count_one_low(counts, way, duration_ns[i + way]);
        for (; i < n; i++)
            count_one_low(counts, 0, duration_ns[i]);
    }
}

/* The byte at which the rank lies; the rank becomes that among those of the byte. */
static uint32_t byte_of_rank(uint32_t (*tables)[256], uint64_t *rank)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint64_t n = 0;
        for (size_t way = 0; way < N_WAYS; way++)
            n += tables[way][byte];
        if (*rank <= n)
            return byte;
        *rank -= n;
    }
    return 255; /* not reached: ranks are at most the number of durations */
}

/* The values at `ranks`, all of them among the short ones, of which there are many. */
static void select_counting(const struct segments *segments, const uint64_t *ranks, size_t n_ranks,
                            uint64_t *values_ns)
{
    struct counts counts;
    uint32_t high[WEFT_QUANTILES];
    uint64_t rank[WEFT_QUANTILES];
    uint8_t n_tables = 0;
    memset(counts.high, 0, sizeof counts.high);
    memset(counts.which, 0, sizeof counts.which);
    count_high(&counts, segments);
    for (size_t q = 0; q < n_ranks; q++) {
        rank[q] = ranks[q];
        high[q] = byte_of_rank(counts.high, &rank[q]);
        if (!counts.which[high[q]])
            counts.which[high[q]] = ++n_tables;
    }
    memset(counts.low, 0, ((size_t)n_tables + 1) * sizeof *counts.low);
    count_low(&counts, segments);
    for (size_t q = 0; q < n_ranks; q++)
        values_ns[q] = high[q] << 8 | byte_of_rank(counts.low[counts.which[high[q]]], &rank[q]);
}

/* The same of at most FEW short ones. */
static void select_few(const struct segments *segments, const uint64_t *ranks, size_t n_ranks,
                       uint64_t *values_ns)
{
    uint16_t sorted[FEW];
    size_t n = 0;
    for (size_t s = 0; s < segments->n; s++)
        for (uint64_t i = 0; i < segments->items[s].n; i++) {
            uint16_t duration_ns = segments->items[s].duration_ns[i];
            size_t at = n++;
            for (; at > 0 && sorted[at - 1] > duration_ns; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = duration_ns;
        }
    for (size_t q = 0; q < n_ranks; q++)
        values_ns[q] = sorted[ranks[q] - 1];
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* All the long durations, ascending; NULL without memory. */
static uint64_t *sort_long(const struct segments *segments)
{
    uint64_t *values = malloc((size_t)(segments->n_long + 1) * sizeof *values);
    size_t n = 0;
    for (size_t s = 0; values && s < segments->n; s++) {
        const struct segment *segment = &segments->items[s];
        if (segment->n_long)
            memcpy(values + n, segment->long_ns, (size_t)segment->n_long * sizeof *values);
        n += (size_t)segment->n_long;
    }
    if (values && n > 1)
        qsort(values, n, sizeof *values, by_value);
    return values;
}

static enum weft_code select_quantiles(const struct segments *segments,
                                       struct weft_shape_times *times, struct weft_err *err)
{
    uint64_t *const to[WEFT_QUANTILES] = { &times->p50_ns, &times->p90_ns, &times->p99_ns,
                                           &times->p999_ns };
    uint64_t ranks[WEFT_QUANTILES], values_ns[WEFT_QUANTILES] = { 0 };
    size_t n_short = 0;
    if (segments->n_short + segments->n_long != times->count)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected the same calls as before, found others");
    for (size_t q = 0; q < WEFT_QUANTILES; q++) {
        ranks[q] = weft_nearest_rank(times->count, per_mille[q]);
        n_short += ranks[q] <= segments->n_short;
    }
    if (n_short > 0 && segments->n_short <= FEW)
        select_few(segments, ranks, n_short, values_ns);
    else if (n_short > 0)
        select_counting(segments, ranks, n_short, values_ns);
    if (n_short < WEFT_QUANTILES) {
        uint64_t *long_ns = sort_long(segments);
        if (!long_ns)
            return weft_no_memory(err, "durations");
        for (size_t q = n_short; q < WEFT_QUANTILES; q++)
            values_ns[q] = long_ns[ranks[q] - segments->n_short - 1];
        free(long_ns);
    }
    for (size_t q = 0; q < WEFT_QUANTILES; q++)
        *to[q] = values_ns[q];
    return WEFT_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Adds the groups of a row of the thread `item`: one in each of its partitions. False without
 * memory. */
static bool add_row(const struct job *job, size_t item, size_t row, struct segments *segments)
{
    const struct weft_mined_thread *thread = &job->mined->threads[item];
    const size_t place = row - job->rows->first[item];
    if (!weft_vec_reserve(&segments->items, &segments->cap, segments->n + thread->n_parts,
                          sizeof *segments->items))
        return false;
    for (size_t p = thread->first_part; p < thread->first_part + thread->n_parts; p++) {
        const struct groups *groups = &job->groups[p];
        if (!groups->items)
            continue;
        const struct group *group = &groups->items[place];
        segments->items[segments->n++] =
            (struct segment){ groups->duration_ns + group->first,
                              groups->long_ns + group->first_long, group->n, group->n_long };
        segments->n_short += group->n;
        segments->n_long += group->n_long;
    }
    return true;
}

static void begin_selection(struct segments *segments)
{
    segments->n = 0;
    segments->n_short = segments->n_long = 0;
}

/* All rows of a thread. */
static enum weft_code select_thread(void *context, size_t item, unsigned worker,
                                    struct weft_err *err)
{
    const struct job *job = context;
    const struct weft_shape_quantile_rows *rows = job->rows;
    struct segments *segments = &job->segments[worker];
    enum weft_code code = WEFT_OK;
    for (size_t row = rows->first[item]; !code && row < rows->first[item + 1]; row++) {
        if (!rows->times[row])
            continue;
        begin_selection(segments);
        code = add_row(job, item, row, segments) ? select_quantiles(segments, rows->times[row], err)
                                                 : weft_no_memory(err, "durations");
    }
    return code;
}

static void count_bins(const struct segments *segments, struct weft_shape_bin_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    for (size_t s = 0; s < segments->n; s++) {
        const struct segment *segment = &segments->items[s];
        for (uint64_t i = 0; i < segment->n; i++)
            counts->of[i % WEFT_SHAPE_BIN_WAYS][weft_bin_of(segment->duration_ns[i])]++;
        for (uint64_t i = 0; i < segment->n_long; i++)
            counts->of[0][weft_bin_of(segment->long_ns[i])]++;
    }
}

/* A cluster over all threads. */
static enum weft_code select_cluster(void *context, size_t cluster, unsigned worker,
                                     struct weft_err *err)
{
    const struct job *job = context;
    struct segments *segments = &job->segments[worker];
    struct weft_shape_times *times =
        job->rows->times[job->rows->first[job->mined->n_threads] + cluster];
    struct weft_shape_bin_counts counts;
    begin_selection(segments);
    for (size_t i = job->first_row[cluster]; i < job->first_row[cluster + 1]; i++)
        if (!add_row(job, job->item_of[i], job->row_of[i], segments))
            return weft_no_memory(err, "durations");
    count_bins(segments, &counts);
    if (!weft_shape_bins_make(&counts, &job->rows->bins[cluster]))
        return weft_no_memory(err, "durations");
    return times && times->count ? select_quantiles(segments, times, err) : WEFT_OK;
}

/* Lists the rows of each cluster. False without memory. */
static bool list_rows(struct job *job)
{
    const struct weft_shape_quantile_rows *rows = job->rows;
    const size_t n_threads = job->mined->n_threads, n_rows = rows->first[n_threads];
    job->first_row = calloc(rows->n_clusters + 2, sizeof *job->first_row);
    job->row_of = malloc((n_rows + 1) * sizeof *job->row_of);
    job->item_of = malloc((n_rows + 1) * sizeof *job->item_of);
    if (!job->first_row || !job->row_of || !job->item_of)
        return false;
    size_t *next = job->first_row + 1; /* becomes the begin of the next cluster */
    for (size_t row = 0; row < n_rows; row++)
        next[rows->cluster_id[row] + 1]++;
    for (size_t c = 0; c < rows->n_clusters; c++)
        next[c + 1] += next[c];
    for (size_t item = 0; item < n_threads; item++)
        for (size_t row = rows->first[item]; row < rows->first[item + 1]; row++) {
            size_t at = next[rows->cluster_id[row]]++;
            job->row_of[at] = row;
            job->item_of[at] = item;
        }
    return true;
}

static void job_fini(struct job *job, unsigned n_workers)
{
    for (size_t p = 0; job->groups && p < job->mined->n_parts; p++)
        groups_fini(&job->groups[p]);
    for (unsigned w = 0; job->places && job->segments && w < n_workers; w++) {
        free(job->places[w]);
        free(job->segments[w].items);
    }
    free(job->groups);
    free(job->places);
    free(job->segments);
    free(job->first_row);
    free(job->row_of);
    free(job->item_of);
}

enum weft_code weft_shape_durations_run(struct weft_mined *mined,
                                        const struct weft_shape_quantile_rows *rows,
                                        struct weft_pool *pool, struct weft_err *err)
{
    const unsigned n_workers = weft_pool_workers(pool);
    struct job job = {
        .mined = mined,
        .rows = rows,
        .groups = calloc(mined->n_parts + 1, sizeof *job.groups),
        .places = calloc(n_workers, sizeof *job.places),
        .segments = calloc(n_workers, sizeof *job.segments),
    };
    bool is_ok = job.groups && job.places && job.segments && list_rows(&job);
    enum weft_code code = is_ok ? weft_pool_run(pool, mined->n_parts, group_part, &job, NULL, err)
                                : weft_no_memory(err, "durations");
    if (!code)
        code = weft_pool_run(pool, mined->n_threads, select_thread, &job, NULL, err);
    if (!code)
        code = weft_pool_run(pool, rows->n_clusters, select_cluster, &job, NULL, err);
    job_fini(&job, n_workers);
    return code;
}
