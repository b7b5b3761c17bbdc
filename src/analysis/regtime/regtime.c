/* SPDX-License-Identifier: MIT
 *
 * RegTime: thresholds, the budget's factor, threads in parallel.
 */
#include "analysis/regtime/regtime.h"

#include "analysis/calls/calls.h"
#include "analysis/regtime/fold.h"
#include "analysis/regtime/runs.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* d and g are raised by these, in quarters, until a thread fits; beyond the last it is one row. */
static const uint32_t factor_quarters[] = { 4, 5, 6, 8, 12, 20, 40, 80, 200, 400 };
enum { N_FACTORS = sizeof factor_quarters / sizeof *factor_quarters };
static const double factor_of_one_row = 1000;

/* A node of a tree, with its share of tables and of a copy while they grow; and what else a worker
 * has, most of it decoded blocks. */
enum { NODE_BYTES = 320, WORKER_BYTES = 12 << 20, NODES_LEAST = 16 };

struct worker {
    struct regtime_builder builder;
};

/* The candidates of a thread for outlier marks. */
struct found {
    struct regtime_candidate *items;
    size_t n;
};

struct job {
    const struct weft_regtime_opts *opts;
    const struct weft_trace *trace;
    const uint32_t *ids; /* of the threads; NULL: all */
    size_t n_threads;
    uint32_t n_functions;
    unsigned n_workers;
    size_t max_nodes;  /* of a worker's tree; 0: any number */
    uint32_t rows_max; /* that memory allows a thread; 0: any number */
    struct worker *workers;
    struct weft_regtime_thread *threads; /* by item; rows are heap blocks until the end */
    struct found *found;                 /* by item */
};

bool weft_regtime_preset(const char *name, struct weft_regtime_opts *opts)
{
    bool is_paper = strcmp(name, "paper") == 0;
    if (!is_paper && strcmp(name, "fine") != 0)
        return false;
    *opts = (struct weft_regtime_opts){
        .duration_fraction = is_paper ? 0.01 : 0.005,
        .gap_fraction = 0.001,
        .span_fraction = is_paper ? 0.13 : 0.02,
        .glyphs = 400,
        .outlier_factor = 100,
        .outlier_min_ns = 1000000,
    };
    return true;
}

/* floor(fraction * whole), at most UINT64_MAX. */
static uint64_t share_of(double fraction, uint64_t whole_ns)
{
    double share = fraction * (double)whole_ns;
    if (!(share > 0))
        return 0;
    return share < 18446744073709549568.0 ? (uint64_t)share : UINT64_MAX;
}

static uint64_t raise(uint64_t limit_ns, uint32_t quarters)
{
    weft_u128 raised = (weft_u128)limit_ns * quarters / 4;
    return raised > UINT64_MAX ? UINT64_MAX : (uint64_t)raised;
}

/* The limits at a factor. A run may always hold one call that is not notable, so f >= d. */
static struct regtime_limits limits_of(const struct weft_regtime_opts *opts, uint64_t whole_ns,
                                       uint32_t quarters)
{
    uint64_t duration_ns =
        opts->duration_ns ? opts->duration_ns : share_of(opts->duration_fraction, whole_ns);
    uint64_t gap_ns = opts->gap_ns ? opts->gap_ns : share_of(opts->gap_fraction, whole_ns);
    uint64_t span_ns = opts->span_ns ? opts->span_ns : share_of(opts->span_fraction, whole_ns);
    struct regtime_limits limits = {
        .duration_ns = raise(duration_ns, quarters),
        .gap_ns = raise(gap_ns, quarters),
    };
    limits.span_ns = weft_max_u64(span_ns, limits.duration_ns);
    return limits;
}

/* Rows of a thread at most; 0: any number. */
static uint32_t glyphs_of(const struct job *job)
{
    uint32_t glyphs = job->opts->glyphs;
    return job->rows_max && (!glyphs || job->rows_max < glyphs) ? job->rows_max : glyphs;
}

/* Both passes, with d and g raised until the thread fits. */
static enum weft_code build_thread(const struct job *job, struct regtime_builder *builder,
                                   struct weft_scan *scan, struct weft_regtime_thread *thread,
                                   struct weft_err *err)
{
    const struct weft_regtime_opts *opts = job->opts;
    uint64_t whole_ns = thread->end_ns - thread->start_ns;
    builder->max_rows = glyphs_of(job);
    builder->shrinker.negligible_ns = share_of(opts->negligible_fraction, whole_ns);
    builder->shrinker.n_functions = job->n_functions;
    builder->is_one_run = false;
    builder->n_tallied = 0;
    for (size_t i = 0; i <= N_FACTORS; i++) {
        if (i < N_FACTORS) {
            builder->limits = limits_of(opts, whole_ns, factor_quarters[i]);
            thread->factor = factor_quarters[i] / 4.0;
        } else {
            builder->limits = (struct regtime_limits){ whole_ns, whole_ns, whole_ns };
            builder->is_one_run = true;
            thread->factor = factor_of_one_row;
        }
        enum weft_code code = weft_regtime_mark(builder, scan, err);
        builder->shrinker.n_keep =
            builder->max_rows >= builder->notable.n ? builder->max_rows - builder->notable.n : 0;
        if (!builder->max_rows)
            builder->shrinker.n_keep = SIZE_MAX;
        if (!code)
            code = weft_regtime_build(builder, scan, err);
        if (code || !builder->is_over)
            return code;
    }
    return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                     "internal error: RegTime cannot fold a thread into one row");
}

static enum weft_code run_item(void *context, struct weft_scan *scan, unsigned index,
                               struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[index];
    struct weft_regtime_thread *thread = &job->threads[scan->item];
    thread->thread_id = scan->thread_id;
    thread->factor = 1;
    thread->cut_before = scan->thread->cut_calls;
    bool has_calls = false;
    enum weft_code code =
        weft_scan_extent(scan, &has_calls, &thread->start_ns, &thread->end_ns, err);
    if (code || !has_calls)
        return code;
    code = weft_regtime_builder_ready(&worker->builder, scan->depth_bound, job->n_functions, err);
    if (!code && worker->builder.is_tallying)
        code = weft_median_tally_ready(&worker->builder.tally, job->n_functions, err);
    if (code)
        return code;
    code = build_thread(job, &worker->builder, scan, thread, err);
    if (code)
        return code;
    const struct regtime_builder *builder = &worker->builder;
    thread->duration_ns = builder->limits.duration_ns;
    thread->gap_ns = builder->limits.gap_ns;
    thread->span_ns = builder->limits.span_ns;
    thread->calls_before = builder->n_calls;
    thread->records_before = builder->n_calls + builder->n_inner_all;
    struct regtime_rows rows = { 0 };
    code = weft_regtime_fold(&worker->builder, glyphs_of(job), &rows, thread, err);
    thread->rows = rows.items;
    thread->n_rows_all = rows.n;
    bool has_lost = thread->folded_nodes > thread->negligible_nodes || thread->factor > 1;
    thread->memory_rows = has_lost && glyphs_of(job) != job->opts->glyphs ? job->rows_max : 0;
    struct found *found = &job->found[scan->item];
    if (!code &&
        !weft_regtime_candidates_take(&worker->builder.candidates, &found->items, &found->n))
        code = weft_no_memory(err, "RegTime");
    return code;
}

/* ---- outlier marks --------------------------------------------------------------------------- */

static bool wants_marks(const struct weft_regtime_opts *opts)
{
    return opts->medians_ns || opts->outlier_factor > 0;
}

/* The calls of the threads that were not asked for count for the medians, too. */
static enum weft_code tally_others(const struct job *job, struct weft_median_tally *tallies,
                                   const struct weft_run *run, struct weft_err *err)
{
    uint32_t n_all = weft_trace_n_threads(job->trace);
    if (job->n_threads == n_all)
        return WEFT_OK;
    uint32_t *others = malloc(n_all * sizeof *others);
    if (!others)
        return weft_no_memory(err, "RegTime");
    size_t n_others = 0, next = 0;
    for (uint32_t id = 0; id < n_all; id++) {
        if (next < job->n_threads && job->ids[next] == id)
            next++;
        else
            others[n_others++] = id;
    }
    enum weft_code code =
        weft_median_tally_threads(tallies, job->trace, others, n_others, run, err);
    free(others);
    return code;
}

/* The medians from what the workers have seen; in a window they have not seen all. */
static enum weft_code take_medians(struct job *job, const struct weft_run *run, uint64_t **medians,
                                   struct weft_err *err)
{
    if (job->opts->window)
        return weft_medians_run(job->trace, job->opts->outlier_factor, job->opts->outlier_min_ns,
                                run, medians, err);
    struct weft_median_tally *tallies = calloc(job->n_workers, sizeof *tallies);
    if (!tallies)
        return weft_no_memory(err, "RegTime");
    for (unsigned w = 0; w < job->n_workers; w++) {
        tallies[w] = job->workers[w].builder.tally;
        job->workers[w].builder.tally = (struct weft_median_tally){ 0 };
    }
    enum weft_code code = tally_others(job, tallies, run, err);
    if (!code)
        code = weft_medians_of(tallies, job->n_workers, job->trace, job->opts->outlier_factor,
                               job->opts->outlier_min_ns, run, medians, err);
    for (unsigned w = 0; w < job->n_workers; w++)
        weft_median_tally_fini(&tallies[w]);
    free(tallies);
    return code;
}

/* In place: from medians to the longest duration that is no outlier of its function. */
static void make_outlier_limits(const struct weft_regtime_opts *opts, uint64_t *limits_ns,
                                uint32_t n_functions)
{
    uint64_t least_ns = opts->outlier_min_ns ? opts->outlier_min_ns - 1 : 0;
    for (uint32_t id = 0; id < n_functions; id++)
        limits_ns[id] = limits_ns[id]
                            ? weft_max_u64(share_of(opts->outlier_factor, limits_ns[id]), least_ns)
                            : UINT64_MAX;
}

static enum weft_code mark_outliers(struct job *job, const struct weft_run *run,
                                    struct weft_err *err)
{
    uint64_t *limits_ns = NULL;
    enum weft_code code = WEFT_OK;
    if (!wants_marks(job->opts))
        return WEFT_OK;
    if (job->opts->medians_ns) {
        limits_ns = calloc((size_t)job->n_functions + 1, sizeof *limits_ns);
        if (!limits_ns)
            return weft_no_memory(err, "RegTime");
        memcpy(limits_ns, job->opts->medians_ns, job->n_functions * sizeof *limits_ns);
    } else {
        code = take_medians(job, run, &limits_ns, err);
    }
    if (code)
        return code;
    make_outlier_limits(job->opts, limits_ns, job->n_functions);
    for (size_t i = 0; i < job->n_threads; i++)
        weft_regtime_mark_outliers(job->threads[i].rows, job->threads[i].n_rows_all,
                                   job->found[i].items, job->found[i].n, limits_ns);
    free(limits_ns);
    return WEFT_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void add_totals(struct weft_regtime_table *table, const struct weft_regtime_thread *thread)
{
    table->calls_before += thread->calls_before;
    table->rows_after += thread->rows_after;
    table->records_before += thread->records_before;
    table->records_after += thread->records_after;
    table->folded_ns += thread->folded_ns;
    table->expression_ns += thread->expression_ns;
    table->n_raised += thread->factor > 1;
    table->n_memory += thread->memory_rows > 0;
}

/* Moves the rows into one arena. */
static enum weft_code make_table(struct job *job, struct weft_regtime_table **result,
                                 struct weft_err *err)
{
    size_t n_threads = job->n_threads;
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_regtime_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_regtime_table) : NULL;
    bool is_ok = table != NULL;
    if (is_ok) {
        table->arena = arena;
        table->n_threads = n_threads;
        table->threads = WEFT_ARENA_NEW(arena, n_threads, struct weft_regtime_thread);
        is_ok = table->threads != NULL;
    }
    for (size_t i = 0; is_ok && i < n_threads; i++) {
        struct weft_regtime_thread *thread = &table->threads[i];
        *thread = job->threads[i];
        thread->rows = WEFT_ARENA_NEW(arena, thread->n_rows_all, struct weft_regtime_row);
        is_ok = thread->rows != NULL;
        if (is_ok && thread->n_rows_all)
            memcpy(thread->rows, job->threads[i].rows, thread->n_rows_all * sizeof *thread->rows);
        free(job->threads[i].rows);
        job->threads[i].rows = NULL;
        add_totals(table, thread);
    }
    if (!is_ok) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "RegTime's rows");
    }
    *result = table;
    return WEFT_OK;
}

static bool is_fraction(double value)
{
    return value >= 0 && value <= 1e6;
}

static enum weft_code check_opts(const struct weft_regtime_opts *opts, struct weft_err *err)
{
    if (is_fraction(opts->duration_fraction) && is_fraction(opts->gap_fraction) &&
        is_fraction(opts->span_fraction) && is_fraction(opts->negligible_fraction) &&
        opts->outlier_factor >= 0)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected fractions from 0 to 1, found one that is not");
}

static enum weft_code job_ready(struct job *job, struct weft_err *err)
{
    const struct weft_regtime_opts *opts = job->opts;
    job->workers = calloc(job->n_workers, sizeof *job->workers);
    job->threads = calloc(job->n_threads + 1, sizeof *job->threads);
    job->found = calloc(job->n_threads + 1, sizeof *job->found);
    if (!job->workers || !job->threads || !job->found)
        return weft_no_memory(err, "RegTime");
    for (unsigned w = 0; w < job->n_workers; w++) {
        struct regtime_builder *builder = &job->workers[w].builder;
        builder->is_tallying = wants_marks(opts) && !opts->medians_ns && !opts->window;
        builder->max_nodes = job->max_nodes;
        builder->candidates.least_ns = wants_marks(opts) ? opts->outlier_min_ns : UINT64_MAX;
    }
    return WEFT_OK;
}

/* Rows that the selected threads have if each has at most `n_max`; a thread has no more than calls.
 */
static uint64_t count_rows(const struct job *job, uint64_t n_max)
{
    uint64_t n_rows = 0;
    for (size_t i = 0; i < job->n_threads; i++) {
        uint32_t id = weft_scan_thread_id(job->ids, job->n_threads, i);
        const struct weft_model_thread *thread = weft_trace_thread(job->trace, id);
        n_rows += weft_min_u64(thread->calls + thread->cut_calls, n_max);
    }
    return n_rows;
}

/* Shares the ceiling out: half of it for the trees being built, the rest for rows. */
static void share_memory(struct job *job, uint64_t memory_bytes)
{
    const uint64_t wanted = job->opts->glyphs ? job->opts->glyphs : UINT32_MAX;
    const uint64_t n_rows = memory_bytes / WEFT_REGTIME_ROW_BYTES;
    if (memory_bytes == 0)
        return;
    const uint64_t n_trees = weft_max_u64(weft_min_u64(job->n_workers, job->n_threads), 1);
    const uint64_t share = memory_bytes / n_trees;
    const uint64_t max_nodes = (share - weft_min_u64(share / 3, WORKER_BYTES)) / 2 / NODE_BYTES;
    job->max_nodes = max_nodes > NODES_LEAST ? max_nodes : NODES_LEAST;
    if (count_rows(job, wanted) <= n_rows)
        return;
    uint64_t low = 1, high = wanted; /* the most rows a thread that fit: in [low, high) */
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (count_rows(job, middle) <= n_rows)
            low = middle;
        else
            high = middle;
    }
    job->rows_max = (uint32_t)low;
}

static void job_fini(struct job *job)
{
    for (unsigned w = 0; job->workers && w < job->n_workers; w++) {
        weft_regtime_builder_fini(&job->workers[w].builder);
    }
    for (size_t i = 0; job->threads && job->found && i < job->n_threads; i++) {
        free(job->threads[i].rows);
        free(job->found[i].items);
    }
    free(job->workers);
    free(job->threads);
    free(job->found);
}

enum weft_code weft_regtime_run(const struct weft_trace *trace,
                                const struct weft_thread_filter *filter,
                                const struct weft_regtime_opts *opts, const struct weft_run *run,
                                struct weft_regtime_table **table, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    size_t n_ids = filter ? filter->n_ids : 0;
    *table = NULL;
    enum weft_code code = check_opts(opts, err);
    if (!code)
        code = weft_scan_check(trace, ids, n_ids, err);
    if (code)
        return code;
    struct job job = {
        .opts = opts,
        .trace = trace,
        .ids = n_ids ? ids : NULL,
        .n_threads = weft_scan_n_threads(trace, ids, n_ids),
        .n_functions = weft_trace_n_functions(trace),
        .n_workers = weft_pool_workers(run->pool),
    };
    share_memory(&job, run->memory_bytes);
    code = job_ready(&job, err);
    weft_progress_start(run->progress, "RegTime", "calls", 2 * weft_scan_calls(trace, ids, n_ids));
    if (!code)
        code = weft_scan_threads(trace, ids, n_ids, opts->window, run, run_item, &job, err);
    if (!code)
        code = mark_outliers(&job, run, err);
    if (!code)
        code = make_table(&job, table, err);
    job_fini(&job);
    return code;
}
