/* SPDX-License-Identifier: MIT
 *
 * Walks the occurrences of clusters.
 */
#include "analysis/shapes/occurrences.h"

#include "base/u128.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { SPIKES_SLACK = 4096 };

/* One cluster in one column, on the thread at hand. */
struct cell {
    uint32_t ribbon, column, cluster_id;
    uint32_t shape_id; /* of the longest; WEFT_ID_NONE in a new cell */
    uint64_t count, covered_ns;
    uint64_t start_ns, end_ns; /* of the longest */
};

/* A cluster as a worker looks at it: kept small, since every call needs one. */
struct place {
    struct weft_shape_watch watch;
    uint32_t ribbon;  /* on the thread at hand */
    size_t last_cell; /* + 1, or 0 */
};

/* The earliest of some calls, in the order of threads and their partitions where times are equal.
 */
struct kept {
    struct weft_shape_occurrence at;
    size_t part;
    bool has_any;
};

/* What a worker found of a cluster. */
struct findings {
    struct kept first, typical, slowest;
    uint64_t n_spikes;
};

/* Which part of the window a time lies in; remembers the last. */
struct grid {
    const struct weft_window *window;
    uint32_t n, at;
    uint64_t begin_ns, end_ns; /* of part `at`: empty before the first use */
};

struct worker {
    struct place *places;      /* by cluster */
    struct findings *findings; /* by cluster */
    uint32_t *begun;           /* [window][drop_slot] */
    struct grid columns, windows;
    struct {
        struct weft_shape_spike *items;
        size_t n, cap;
    } spikes;
    struct cells {
        struct cell *items;
        size_t n, cap;
    } cells;
};

struct job {
    const struct weft_mined *mined;
    const struct weft_occurrence_opts *opts;
    struct weft_occurrences *result;
    struct worker *workers;
    unsigned n_workers;
    struct cells *cells; /* by partition, of threads that have several */
};

/* ---- parts of a window ----------------------------------------------------------------------- */

uint64_t weft_shape_part_begin(const struct weft_window *window, uint32_t n, uint32_t i)
{
    return window->from_ns +
           (uint64_t)((weft_u128)(window->to_ns - window->from_ns) * i / (n ? n : 1));
}

/* The last part that begins at or before `at_ns`. */
static uint32_t part_of(const struct weft_window *window, uint32_t n, uint64_t at_ns)
{
    uint64_t span_ns = window->to_ns - window->from_ns;
    if (n <= 1 || at_ns < window->from_ns)
        return 0;
    if (at_ns >= window->to_ns)
        return n - 1;
    uint32_t i = (uint32_t)((weft_u128)(at_ns - window->from_ns) * n / span_ns);
    while (i + 1 < n && weft_shape_part_begin(window, n, i + 1) <= at_ns)
        i++;
    return i;
}

static inline uint32_t grid_find(struct grid *grid, uint64_t at_ns)
{
    if (__builtin_expect(at_ns - grid->begin_ns < grid->end_ns - grid->begin_ns, 1))
        return grid->at;
    grid->at = part_of(grid->window, grid->n, at_ns);
    grid->begin_ns = weft_shape_part_begin(grid->window, grid->n, grid->at);
    grid->end_ns = weft_shape_part_begin(grid->window, grid->n, grid->at + 1);
    return grid->at;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_before(const struct kept *a, const struct kept *b)
{
    return a->at.start_ns != b->at.start_ns ? a->at.start_ns < b->at.start_ns : a->part < b->part;
}

/* Of a partition, the first call that is shown comes first. */
static void keep(struct kept *kept, const struct kept *call)
{
    if (!kept->has_any || (call->has_any && is_before(call, kept)))
        *kept = *call;
}

static void keep_examples(struct findings *findings, const struct weft_shape_watch *watch,
                          const struct kept *call)
{
    uint64_t duration_ns = call->at.end_ns - call->at.start_ns;
    if (call->at.start_ns == watch->first_ns)
        keep(&findings->first, call);
    if (duration_ns == watch->median_ns)
        keep(&findings->typical, call);
    if (duration_ns == watch->max_ns)
        keep(&findings->slowest, call);
}

static void join_findings(struct findings *to, const struct findings *from)
{
    keep(&to->first, &from->first);
    keep(&to->typical, &from->typical);
    keep(&to->slowest, &from->slowest);
    to->n_spikes += from->n_spikes;
}

static int by_height(const void *a, const void *b)
{
    const struct weft_shape_spike *x = a, *y = b;
    if (x->times_median > y->times_median || x->times_median < y->times_median)
        return x->times_median > y->times_median ? -1 : 1;
    if (x->at.start_ns != y->at.start_ns)
        return x->at.start_ns < y->at.start_ns ? -1 : 1;
    if (x->at.thread_id != y->at.thread_id)
        return x->at.thread_id < y->at.thread_id ? -1 : 1;
    return (x->cluster_id > y->cluster_id) - (x->cluster_id < y->cluster_id);
}

/* Sorts the spikes and forgets those beyond the limit. */
static void cut_spikes(struct worker *worker, uint32_t limit)
{
    if (worker->spikes.n > 1)
        qsort(worker->spikes.items, worker->spikes.n, sizeof *worker->spikes.items, by_height);
    if (limit && worker->spikes.n > limit)
        worker->spikes.n = limit;
}

static bool keep_spike(struct worker *worker, uint32_t cluster_id,
                       const struct weft_shape_occurrence *at, uint32_t limit)
{
    uint64_t duration_ns = at->end_ns - at->start_ns;
    uint64_t median_ns = worker->places[cluster_id].watch.median_ns;
    if (limit && worker->spikes.n >= (size_t)limit + SPIKES_SLACK)
        cut_spikes(worker, limit);
    struct weft_shape_spike *spike = WEFT_VEC_PUSH(&worker->spikes);
    if (!spike)
        return false;
    worker->findings[cluster_id].n_spikes++;
    spike->at = *at;
    spike->cluster_id = cluster_id;
    spike->times_median = (double)duration_ns / (double)(median_ns ? median_ns : 1);
    return true;
}

/* The cell of a cluster in a column, which is that of its last call or a later one. */
static inline struct cell *cell_at(struct worker *worker, struct place *place, uint32_t cluster_id,
                                   uint32_t column)
{
    if (place->last_cell && worker->cells.items[place->last_cell - 1].column == column)
        return &worker->cells.items[place->last_cell - 1];
    struct cell *cell = WEFT_VEC_PUSH(&worker->cells);
    if (!cell)
        return NULL;
    cell->ribbon = place->ribbon;
    cell->column = column;
    cell->cluster_id = cluster_id;
    cell->shape_id = WEFT_ID_NONE;
    place->last_cell = worker->cells.n;
    return cell;
}

static inline void keep_longest(struct cell *cell, const struct weft_shape_done *done)
{
    if (cell->shape_id != WEFT_ID_NONE &&
        done->end_ns - done->start_ns <= cell->end_ns - cell->start_ns)
        return;
    cell->start_ns = done->start_ns;
    cell->end_ns = done->end_ns;
    cell->shape_id = done->shape;
}

/* A call that lies in more than one column. False without memory. */
static bool draw_wide(struct worker *worker, struct place *place, uint32_t cluster_id,
                      const struct weft_shape_done *done)
{
    struct grid *grid = &worker->columns;
    uint32_t first = grid_find(grid, done->start_ns), last = grid_find(grid, done->end_ns - 1);
    uint64_t from_ns = done->start_ns;
    for (uint32_t column = first; column <= last; column++) {
        struct cell *cell = cell_at(worker, place, cluster_id, column);
        if (!cell)
            return false;
        uint64_t to_ns = column == last ? done->end_ns
                                        : weft_shape_part_begin(grid->window, grid->n, column + 1);
        cell->covered_ns += to_ns - from_ns;
        from_ns = to_ns;
        keep_longest(cell, done);
        cell->count += column == first;
    }
    return true;
}

static inline bool draw(struct worker *worker, struct place *place, uint32_t cluster_id,
                        const struct weft_shape_done *done)
{
    uint32_t column = grid_find(&worker->columns, done->start_ns);
    if (__builtin_expect(done->end_ns > worker->columns.end_ns, 0))
        return draw_wide(worker, place, cluster_id, done);
    struct cell *cell = cell_at(worker, place, cluster_id, column);
    if (!cell)
        return false;
    cell->covered_ns += done->end_ns - done->start_ns;
    cell->count++;
    keep_longest(cell, done);
    return true;
}

/* A call that is an example or a spike. False without memory. */
static bool see_special(struct job *job, struct worker *worker, size_t part, uint32_t cluster_id,
                        const struct weft_shape_done *done)
{
    const struct weft_shape_watch *watch = &worker->places[cluster_id].watch;
    const uint32_t thread_id = job->mined->threads[job->mined->parts[part].item].thread_id;
    const struct kept call = { { thread_id, done->shape, done->start_ns, done->end_ns },
                               part,
                               true };
    keep_examples(&worker->findings[cluster_id], watch, &call);
    return done->end_ns - done->start_ns <= watch->spike_above_ns ||
           keep_spike(worker, cluster_id, &call.at, job->opts->limit);
}

static inline bool see_call(struct job *job, struct worker *worker, size_t part,
                            const struct weft_shape_done *done)
{
    uint32_t cluster_id = job->opts->cluster_of[done->shape];
    struct place *place = &worker->places[cluster_id];
    const struct weft_shape_watch *watch = &place->watch;
    uint64_t duration_ns = done->end_ns - done->start_ns;
    if (watch->drop_slot != WEFT_ID_NONE)
        worker
            ->begun[(size_t)grid_find(&worker->windows, done->start_ns) * job->opts->n_drop_slots +
                    watch->drop_slot]++;
    bool is_special = (duration_ns > watch->spike_above_ns) | (duration_ns == watch->median_ns) |
                      (duration_ns == watch->max_ns) | (done->start_ns == watch->first_ns);
    if (is_special && !see_special(job, worker, part, cluster_id, done))
        return false;
    return place->ribbon == WEFT_ID_NONE || draw(worker, place, cluster_id, done);
}

static enum weft_code see_calls(void *context, size_t part, unsigned index,
                                const struct weft_shape_done *done, size_t n_done,
                                struct weft_err *err)
{
    struct job *job = context;
    for (size_t i = 0; i < n_done; i++)
        if (!see_call(job, &job->workers[index], part, &done[i]))
            return weft_no_memory(err, "occurrences");
    return WEFT_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    if (x->ribbon != y->ribbon)
        return x->ribbon < y->ribbon ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->cluster_id > y->cluster_id) - (x->cluster_id < y->cluster_id);
}

/* The cells of one column of one ribbon as a run. */
static struct weft_shape_run run_of(const struct cell *cells, size_t n, uint32_t thread_id)
{
    const struct cell *best = cells;
    for (size_t i = 1; i < n; i++)
        if (cells[i].covered_ns > best->covered_ns)
            best = &cells[i];
    return (struct weft_shape_run){
        .first_column = best->column,
        .n_columns = 1,
        .cluster_id = best->cluster_id,
        .n_others = (uint32_t)(n - 1),
        .count = best->count,
        .covered_ns = best->covered_ns,
        .longest = { thread_id, best->shape_id, best->start_ns, best->end_ns },
    };
}

/* Whether `next` continues the run; if so, it does. */
static bool extend_run(struct weft_shape_run *run, const struct weft_shape_run *next)
{
    if (run->first_column + run->n_columns != next->first_column ||
        run->cluster_id != next->cluster_id)
        return false;
    run->n_columns++;
    run->n_others = next->n_others > run->n_others ? next->n_others : run->n_others;
    run->count += next->count;
    run->covered_ns += next->covered_ns;
    if (next->longest.end_ns - next->longest.start_ns > run->longest.end_ns - run->longest.start_ns)
        run->longest = next->longest;
    return true;
}

static void sort_cells(struct cells *cells)
{
    if (cells->n > 1)
        qsort(cells->items, cells->n, sizeof *cells->items, by_place);
}

/* Gives back the room for runs that were joined to others: of all cells of a column and ribbon, and
 * often of many columns, one is left. */
static void shrink_runs(struct weft_shape_runs *runs)
{
    struct weft_shape_run *fit = realloc(runs->runs, (runs->n_runs + 1) * sizeof *fit);
    uint32_t *fit_ribbon = realloc(runs->ribbon, (runs->n_runs + 1) * sizeof *fit_ribbon);
    runs->runs = fit ? fit : runs->runs;
    runs->ribbon = fit_ribbon ? fit_ribbon : runs->ribbon;
}

/* Makes the runs of a thread from its cells, which are sorted. False without memory. */
static bool make_runs(const struct cells *sorted, uint32_t thread_id, struct weft_shape_runs *runs)
{
    const struct cell *cells = sorted->items;
    size_t n = sorted->n, end = 0;
    runs->runs = malloc((n + 1) * sizeof *runs->runs);
    runs->ribbon = malloc((n + 1) * sizeof *runs->ribbon);
    if (!runs->runs || !runs->ribbon)
        return false;
    for (size_t i = 0; i < n; i = end) {
        while (end < n && cells[end].ribbon == cells[i].ribbon &&
               cells[end].column == cells[i].column)
            end++;
        struct weft_shape_run next = run_of(&cells[i], end - i, thread_id);
        size_t last = runs->n_runs;
        if (last && runs->ribbon[last - 1] == cells[i].ribbon &&
            extend_run(&runs->runs[last - 1], &next))
            continue;
        runs->ribbon[runs->n_runs] = cells[i].ribbon;
        runs->runs[runs->n_runs++] = next;
    }
    shrink_runs(runs);
    return true;
}

/* Adds the cell of a later partition to that of the same place. */
static void add_cell(struct cell *to, const struct cell *from)
{
    to->count += from->count;
    to->covered_ns += from->covered_ns;
    if (from->end_ns - from->start_ns > to->end_ns - to->start_ns) {
        to->start_ns = from->start_ns;
        to->end_ns = from->end_ns;
        to->shape_id = from->shape_id;
    }
}

/* Joins the sorted cells of a later partition to those of the ones before it. False without
 * memory. */
static bool join_cells(struct cells *all, const struct cells *next)
{
    struct cells joined = { .cap = 0 };
    if (!weft_vec_reserve(&joined.items, &joined.cap, all->n + next->n + 1, sizeof *joined.items))
        return false;
    for (size_t i = 0, k = 0; i < all->n || k < next->n;) {
        int order = i == all->n ? 1 : k == next->n ? -1 : by_place(&all->items[i], &next->items[k]);
        joined.items[joined.n] = order <= 0 ? all->items[i++] : next->items[k++];
        if (order == 0)
            add_cell(&joined.items[joined.n], &next->items[k++]);
        joined.n++;
    }
    free(all->items);
    *all = joined;
    return true;
}

static enum weft_code begin_part(void *context, size_t part, unsigned index, struct weft_err *err)
{
    (void)err;
    struct job *job = context;
    const struct weft_occurrence_opts *opts = job->opts;
    struct worker *worker = &job->workers[index];
    const size_t item = job->mined->parts[part].item;
    worker->cells.n = 0;
    for (size_t i = opts->first[item]; i < opts->first[item + 1]; i++) {
        struct place *place = &worker->places[opts->cluster_id[i]];
        place->ribbon = opts->n_columns ? opts->ribbon[i] : WEFT_ID_NONE;
        place->last_cell = 0;
    }
    return WEFT_OK;
}

/* The runs of a thread of one partition; the cells of others are kept until all are there. */
static enum weft_code end_part(void *context, size_t part, unsigned index, struct weft_err *err)
{
    struct job *job = context;
    struct cells *cells = &job->workers[index].cells;
    const size_t item = job->mined->parts[part].item;
    const struct weft_mined_thread *thread = &job->mined->threads[item];
    if (!job->opts->n_columns)
        return WEFT_OK;
    sort_cells(cells);
    if (thread->n_parts > 1) {
        job->cells[part] = *cells;
        *cells = (struct cells){ .n = 0 };
        return WEFT_OK;
    }
    return make_runs(cells, thread->thread_id, &job->result->runs[item])
               ? WEFT_OK
               : weft_no_memory(err, "occurrences");
}

/* The runs of the threads of several partitions. False without memory. */
static bool join_parts(struct job *job)
{
    bool is_ok = true;
    for (size_t item = 0; is_ok && job->opts->n_columns && item < job->mined->n_threads; item++) {
        const struct weft_mined_thread *thread = &job->mined->threads[item];
        struct cells *cells = job->cells + thread->first_part;
        if (thread->n_parts <= 1)
            continue;
        for (size_t i = 1; is_ok && i < thread->n_parts; i++)
            is_ok = join_cells(&cells[0], &cells[i]);
        is_ok = is_ok && make_runs(&cells[0], thread->thread_id, &job->result->runs[item]);
    }
    return is_ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool workers_ready(struct job *job)
{
    const struct weft_occurrence_opts *opts = job->opts;
    size_t n_counts = (size_t)opts->n_drop_slots * opts->n_windows;
    for (unsigned w = 0; w < job->n_workers; w++) {
        struct worker *worker = &job->workers[w];
        worker->places = calloc(opts->n_clusters + 1, sizeof *worker->places);
        worker->findings = calloc(opts->n_clusters + 1, sizeof *worker->findings);
        worker->begun = calloc(n_counts + 1, sizeof *worker->begun);
        if (!worker->places || !worker->findings || !worker->begun)
            return false;
        for (size_t c = 0; c < opts->n_clusters; c++)
            worker->places[c].watch = opts->watch[c];
        worker->columns = (struct grid){ .window = &opts->window, .n = opts->n_columns };
        worker->windows = (struct grid){ .window = &opts->window, .n = opts->n_windows };
    }
    return true;
}

static bool add_spikes(struct worker *to, const struct worker *from, uint32_t limit)
{
    size_t n = to->spikes.n + from->spikes.n;
    if (!weft_vec_reserve(&to->spikes.items, &to->spikes.cap, n, sizeof *to->spikes.items))
        return false;
    if (from->spikes.n)
        memcpy(to->spikes.items + to->spikes.n, from->spikes.items,
               from->spikes.n * sizeof *from->spikes.items);
    to->spikes.n = n;
    cut_spikes(to, limit);
    return true;
}

/* Joins the workers' results in that of the first. */
static bool join_workers(struct job *job)
{
    const struct weft_occurrence_opts *opts = job->opts;
    struct worker *all = &job->workers[0];
    size_t n_counts = (size_t)opts->n_drop_slots * opts->n_windows;
    cut_spikes(all, opts->limit);
    for (unsigned w = 1; w < job->n_workers; w++) {
        const struct worker *worker = &job->workers[w];
        for (size_t i = 0; i < n_counts; i++)
            all->begun[i] += worker->begun[i];
        for (size_t c = 0; c < opts->n_clusters; c++)
            join_findings(&all->findings[c], &worker->findings[c]);
        if (!add_spikes(all, worker, opts->limit))
            return false;
    }
    return true;
}

static bool take_result(struct job *job)
{
    struct weft_occurrences *result = job->result;
    struct worker *all = &job->workers[0];
    size_t n = job->opts->n_clusters;
    result->examples = calloc(n + 1, sizeof *result->examples);
    result->n_spikes = calloc(n + 1, sizeof *result->n_spikes);
    if (!result->examples || !result->n_spikes)
        return false;
    for (size_t c = 0; c < n; c++) {
        const struct findings *found = &all->findings[c];
        result->examples[c] =
            (struct weft_shape_examples){ found->first.at, found->typical.at, found->slowest.at };
        result->n_spikes[c] = found->n_spikes;
    }
    result->begun = all->begun;
    all->begun = NULL;
    result->spikes = all->spikes.items;
    result->n_spikes_kept = all->spikes.n;
    all->spikes.items = NULL;
    return true;
}

void weft_occurrences_fini(struct weft_occurrences *occurrences)
{
    free(occurrences->examples);
    free(occurrences->n_spikes);
    free(occurrences->spikes);
    free(occurrences->begun);
    for (size_t i = 0; occurrences->runs && i < occurrences->n_threads; i++) {
        free(occurrences->runs[i].runs);
        free(occurrences->runs[i].ribbon);
    }
    free(occurrences->runs);
    *occurrences = (struct weft_occurrences){ 0 };
}

enum weft_code weft_occurrences_run(const struct weft_mined *mined,
                                    struct weft_shape_replay *replay,
                                    const struct weft_occurrence_opts *opts, unsigned n_workers,
                                    struct weft_occurrences *occurrences, struct weft_err *err)
{
    struct job job = {
        .mined = mined,
        .opts = opts,
        .result = occurrences,
        .workers = calloc(n_workers, sizeof *job.workers),
        .n_workers = n_workers,
        .cells = calloc(mined->n_parts + 1, sizeof *job.cells),
    };
    const struct weft_shape_replay_sink sink = { &job, begin_part, see_calls, end_part };
    *occurrences = (struct weft_occurrences){ .n_threads = mined->n_threads };
    occurrences->runs = calloc(mined->n_threads + 1, sizeof *occurrences->runs);
    bool is_ok = job.workers && job.cells && occurrences->runs && workers_ready(&job);
    enum weft_code code = is_ok ? weft_shape_replay_run(replay, NULL, 0, &sink, err)
                                : weft_no_memory(err, "occurrences");
    if (!code && !(join_parts(&job) && join_workers(&job) && take_result(&job)))
        code = weft_no_memory(err, "occurrences");
    for (unsigned w = 0; job.workers && w < n_workers; w++) {
        free(job.workers[w].places);
        free(job.workers[w].findings);
        free(job.workers[w].begun);
        free(job.workers[w].spikes.items);
        free(job.workers[w].cells.items);
    }
    for (size_t p = 0; job.cells && p < mined->n_parts; p++)
        free(job.cells[p].items);
    free(job.cells);
    free(job.workers);
    return code;
}
