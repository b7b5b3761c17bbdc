/* SPDX-License-Identifier: MIT
 *
 * Outliers: calls and gaps that are unusual for their function or for their thread
 * (docs/analyses/outliers.md).
 */
#include "analysis/calls/calls.h"
#include "base/checked.h"
#include "base/room.h"
#include "base/u128.h"
#include "model/calls/scan.h"
#include "model/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row before it is known to be among the best. */
struct found {
    struct weft_outlier_row row;
    uint64_t number; /* of the call, or of the call after the gap: breaks ties */
    uint32_t node;   /* of its caller, in the result of the item, + 1; 0: it has none */
    uint32_t item;
};

struct found_vec {
    struct found *items;
    size_t n, cap;
};

/* A call in which something was found. */
struct node {
    uint32_t parent, function_id;
    uint32_t outer; /* the last of the outermost callers that a row names, or itself */
};

/* A call of the current stack. */
struct level {
    uint64_t start_ns, end_ns;
    uint32_t function_id;
    uint32_t node; /* its node + 1, once it has one */
    uint32_t near; /* depth + 1 of the innermost open call that was found, of this one and those
                      around it; 0: none */
    size_t found;  /* its row + 1 while it is open, or 0 */
};

struct worker {
    struct level *levels; /* by depth */
    size_t cap;
    uint64_t *gaps; /* histogram of the thread's gaps: [WEFT_HIST_PAGES][WEFT_HIST_SLOTS] */
    struct {
        uint64_t *items;
        size_t n, cap;
    } long_ns; /* its gaps of more than g */
};

struct job {
    const struct weft_outliers_opts *opts;
    const struct weft_functions_table *functions;
    struct function_limit {
        uint64_t median_ns;
        uint64_t own_ns; /* longer is unusual for the function */
        bool is_wanted, has_median;
    } * limits; /* by function */
    bool has_function_filter;
    struct worker *workers;
    struct result {
        struct found_vec rows;
        struct {
            struct node *items;
            size_t n, cap;
        } nodes;
        uint64_t n_found, n_own, n_long, n_gaps;
    } * results; /* by item */
};

/* One thread being scanned. */
struct pass {
    struct job *job;
    struct worker *worker;
    struct result *result;
    struct weft_scan *scan;
    uint64_t whole_ns, duration_ns, gap_ns; /* T, d, g */
    int64_t prev_depth;
};

/* ---- rank ------------------------------------------------------------------------------------ */

/* log2(1 + times the median), weighed by the share of the thread on a log scale: a whole thread
 * counts 1, a millionth of it or less counts 0. */
static double score_of(double times, double share)
{
    double weight = 1 + log10(share > 1e-6 ? share : 1e-6) / 6;
    return log2(1 + times) * weight;
}

static void rate(struct weft_outlier_row *row, uint64_t median_ns, uint64_t whole_ns)
{
    double duration_ns = (double)(row->end_ns - row->start_ns);
    row->median_ns = median_ns;
    row->times_median = duration_ns / (double)weft_max_u64(median_ns, 1);
    row->thread_share = whole_ns ? duration_ns / (double)whole_ns : 0;
    row->score = score_of(row->times_median, row->thread_share);
}

/* Best first: score, then (start, thread, number), a call before a gap. */
static int by_rank(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->row.score < y->row.score || x->row.score > y->row.score)
        return x->row.score > y->row.score ? -1 : 1;
    if (x->row.start_ns != y->row.start_ns)
        return x->row.start_ns < y->row.start_ns ? -1 : 1;
    if (x->row.thread_id != y->row.thread_id)
        return x->row.thread_id < y->row.thread_id ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (int)x->row.kind - (int)y->row.kind;
}

/* Sorts and keeps the best `limit` (0: all). */
static void prune(struct found_vec *rows, size_t limit)
{
    weft_room_sort(rows->items, rows->n, sizeof *rows->items, by_rank);
    if (limit && rows->n > limit)
        rows->n = limit;
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* The node of the innermost of the first `depth` open calls, + 1; 0: of none. Each call gets one
 * when it is first asked for. False without memory. */
static bool node_of(struct pass *pass, uint32_t depth, uint32_t *node)
{
    struct level *levels = pass->worker->levels;
    uint32_t from = depth;
    while (from > 0 && levels[from - 1].node == 0)
        from--;
    *node = from > 0 ? levels[from - 1].node : 0;
    for (; from < depth; from++) {
        struct node *made =
            pass->result->nodes.n < UINT32_MAX - 1 ? WEFT_ROOM_PUSH(&pass->result->nodes) : NULL;
        if (!made)
            return false;
        const uint32_t id = (uint32_t)pass->result->nodes.n;
        made->parent = *node;
        made->function_id = levels[from].function_id;
        made->outer = from < WEFT_OUTLIER_OUTER ? id : pass->result->nodes.items[*node - 1].outer;
        levels[from].node = *node = id;
    }
    return true;
}

static struct found *push_found(struct pass *pass, enum weft_outlier_kind kind, uint32_t depth,
                                uint64_t number)
{
    uint32_t node;
    struct found *found = node_of(pass, depth, &node) ? WEFT_ROOM_PUSH(&pass->result->rows) : NULL;
    if (!found)
        return NULL;
    found->number = number;
    found->node = node;
    found->item = (uint32_t)pass->scan->item;
    found->row.kind = kind;
    found->row.thread_id = pass->scan->thread_id;
    found->row.depth = depth;
    found->row.is_deepest = true;
    return found;
}

/* The innermost listed caller, if most of its time is this: callers around it take longer still. */
static struct level *listed_caller(const struct pass *pass, uint32_t depth, uint64_t duration_ns)
{
    struct level *levels = pass->worker->levels;
    const uint32_t near = depth > 0 ? levels[depth - 1].near : 0;
    if (near == 0)
        return NULL;
    const weft_u128 whole_ns = levels[near - 1].end_ns - levels[near - 1].start_ns;
    return (weft_u128)duration_ns * 10 < whole_ns * 9 ? NULL : &levels[near - 1];
}

/* Listed callers most of whose time is this one's are not the deepest cause. What is around the
 * innermost of them and is mostly this one is mostly that one, too, and was seen with it. */
static void shadow_callers(struct pass *pass, uint32_t depth, uint64_t duration_ns)
{
    const struct level *caller = listed_caller(pass, depth, duration_ns);
    if (caller)
        pass->result->rows.items[caller->found - 1].row.is_deepest = false;
}

static bool add_call(struct pass *pass, const struct weft_calls *calls, size_t i, uint64_t number)
{
    uint32_t depth = calls->depth[i];
    struct level *level = &pass->worker->levels[depth];
    const struct function_limit *limit = &pass->job->limits[level->function_id];
    uint64_t duration_ns = level->end_ns - level->start_ns;
    struct found *found = push_found(pass, WEFT_OUTLIER_CALL, depth, number);
    if (!found)
        return false;
    struct weft_outlier_row *row = &found->row;
    row->function_id = level->function_id;
    row->flags = calls->flags ? calls->flags[i] : 0;
    row->start_ns = level->start_ns;
    row->end_ns = level->end_ns;
    row->self_ns = duration_ns; /* its callees' time goes when they are seen */
    row->is_own = duration_ns > limit->own_ns;
    row->is_long = duration_ns > pass->duration_ns;
    rate(row, limit->median_ns, pass->whole_ns);
    if (!limit->has_median) { /* nothing to compare with: as long as always */
        row->times_median = 1;
        row->score = score_of(1, row->thread_share);
    }
    level->found = pass->result->rows.n;
    level->near = depth + 1;
    pass->result->n_own += row->is_own;
    pass->result->n_long += row->is_long;
    shadow_callers(pass, depth, duration_ns);
    return true;
}

static bool keep_gap(struct worker *worker, uint64_t gap_ns)
{
    uint64_t *item = WEFT_ROOM_PUSH(&worker->long_ns);
    if (item)
        *item = gap_ns;
    return item != NULL;
}

static bool add_gap(struct pass *pass, uint32_t depth, uint64_t start_ns, uint64_t end_ns,
                    uint32_t before_id, uint64_t number)
{
    if (!keep_gap(pass->worker, end_ns - start_ns))
        return false;
    if (pass->job->has_function_filter || !pass->job->opts->with_long || pass->job->opts->no_gaps ||
        end_ns - start_ns < pass->job->opts->min_duration_ns)
        return true;
    struct found *found = push_found(pass, WEFT_OUTLIER_GAP, depth, number);
    if (!found)
        return false;
    found->row.function_id = before_id;
    found->row.start_ns = start_ns;
    found->row.end_ns = end_ns;
    found->row.is_long = true;
    pass->result->n_gaps++;
    /* A caller that is listed and is mostly this gap says more than the gap. */
    found->row.is_deepest = !listed_caller(pass, depth, end_ns - start_ns);
    return true;
}

static bool is_call_wanted(const struct pass *pass, uint32_t function_id, uint64_t duration_ns)
{
    const struct weft_outliers_opts *opts = pass->job->opts;
    const struct function_limit *limit = &pass->job->limits[function_id];
    bool is_long = opts->with_long && duration_ns > pass->duration_ns;
    return !opts->no_calls && limit->is_wanted && (duration_ns > limit->own_ns || is_long) &&
           duration_ns >= opts->min_duration_ns;
}

static void count_gap(struct worker *worker, uint64_t gap_ns)
{
    uint32_t page = weft_hist_page(gap_ns);
    worker->gaps[page * WEFT_HIST_SLOTS + weft_hist_slot(gap_ns, page)]++;
}

static bool scan_block(struct pass *pass, const struct weft_calls *calls)
{
    struct level *levels = pass->worker->levels;
    const struct function_limit *limits = pass->job->limits;
    uint64_t duration_min_ns = pass->duration_ns;
    int64_t prev = pass->prev_depth;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint32_t depth = calls->depth[i];
        struct level *level = &levels[depth];
        uint64_t start_ns = calls->start_ns[i], end_ns = calls->end_ns[i];
        uint64_t number = pass->scan->first_call + i, duration_ns = end_ns - start_ns;
        if (depth <= prev) { /* a sibling came before */
            uint64_t gap_ns = start_ns - level->end_ns;
            count_gap(pass->worker, gap_ns);
            if (__builtin_expect(gap_ns > pass->gap_ns, 0) &&
                !add_gap(pass, depth, level->end_ns, start_ns, level->function_id, number))
                return false;
        }
        if (depth && levels[depth - 1].found)
            pass->result->rows.items[levels[depth - 1].found - 1].row.self_ns -= duration_ns;
        level->start_ns = start_ns;
        level->end_ns = end_ns;
        level->function_id = calls->function_id[i];
        level->found = level->node = 0;
        level->near = depth ? levels[depth - 1].near : 0;
        prev = depth;
        bool is_maybe =
            duration_ns > duration_min_ns || duration_ns > limits[level->function_id].own_ns;
        if (__builtin_expect(is_maybe, 0) &&
            is_call_wanted(pass, level->function_id, duration_ns) &&
            !add_call(pass, calls, i, number))
            return false;
    }
    pass->prev_depth = prev;
    return true;
}

/* Nearest-rank median of the thread's gaps, as the floor of its histogram slot. */
static uint64_t gap_median(const struct worker *worker)
{
    uint64_t n = 0, n_below = 0;
    for (size_t i = 0; i < WEFT_HIST_PAGES * WEFT_HIST_SLOTS; i++)
        n += worker->gaps[i];
    for (uint32_t i = 0; n && i < WEFT_HIST_PAGES * WEFT_HIST_SLOTS; i++) {
        n_below += worker->gaps[i];
        if (n_below >= weft_nearest_rank(n, 500))
            return weft_hist_floor(i / WEFT_HIST_SLOTS, i % WEFT_HIST_SLOTS);
    }
    return 0;
}

static int by_length(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many of the sorted gaps are at least half as long. */
static size_t count_alike(const uint64_t *gaps_ns, size_t n, uint64_t gap_ns)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (gaps_ns[middle] < gap_ns - gap_ns / 2)
            low = middle + 1;
        else
            high = middle;
    }
    return n - low;
}

/* Rates the gaps of a thread, which is read to its end: what happens often is less unusual. */
static void rate_gaps(const struct pass *pass)
{
    struct worker *worker = pass->worker;
    struct found_vec *rows = &pass->result->rows;
    uint64_t median_ns = gap_median(worker);
    if (worker->long_ns.n)
        weft_room_sort(worker->long_ns.items, worker->long_ns.n, sizeof *worker->long_ns.items,
                       by_length);
    for (size_t i = 0; i < rows->n; i++) {
        struct weft_outlier_row *row = &rows->items[i].row;
        if (row->kind != WEFT_OUTLIER_GAP)
            continue;
        rate(row, median_ns, pass->whole_ns);
        row->score /= (double)count_alike(worker->long_ns.items, worker->long_ns.n,
                                          row->end_ns - row->start_ns);
    }
}

static bool worker_ready(struct worker *worker, uint32_t depth_bound)
{
    if (!worker->gaps)
        worker->gaps = calloc((size_t)WEFT_HIST_PAGES * WEFT_HIST_SLOTS, sizeof *worker->gaps);
    if (worker->cap < (size_t)depth_bound + 1) {
        free(worker->levels);
        worker->cap = (size_t)depth_bound + 1;
        worker->levels = calloc(worker->cap, sizeof *worker->levels);
        if (!worker->levels)
            worker->cap = 0;
    }
    if (!worker->gaps || !worker->levels)
        return false;
    worker->long_ns.n = 0;
    memset(worker->gaps, 0, (size_t)WEFT_HIST_PAGES * WEFT_HIST_SLOTS * sizeof *worker->gaps);
    return true;
}

static uint64_t share_of(double fraction, uint64_t whole_ns)
{
    double share = fraction * (double)whole_ns;
    if (!(share > 0))
        return 0;
    return share < 18446744073709549568.0 ? (uint64_t)share : UINT64_MAX;
}

static enum weft_code run_item(void *context, struct weft_scan *scan, unsigned index,
                               struct weft_err *err)
{
    struct job *job = context;
    bool has_calls = false;
    uint64_t start_ns = 0, end_ns = 0;
    enum weft_code code = weft_scan_extent(scan, &has_calls, &start_ns, &end_ns, err);
    if (code || !has_calls)
        return code;
    struct pass pass = {
        .job = job,
        .worker = &job->workers[index],
        .result = &job->results[scan->item],
        .scan = scan,
        .whole_ns = end_ns - start_ns,
        .duration_ns = share_of(job->opts->duration_fraction, end_ns - start_ns),
        .gap_ns = share_of(job->opts->gap_fraction, end_ns - start_ns),
        .prev_depth = -1,
    };
    if (!worker_ready(pass.worker, scan->depth_bound))
        return weft_no_memory(err, "outliers");
    const struct weft_calls *calls = NULL;
    while (!(code = weft_scan_next(scan, &calls, err)) && calls)
        if (!scan_block(&pass, calls))
            return weft_no_memory(err, "outliers");
    if (code)
        return code;
    struct found_vec *rows = &pass.result->rows;
    rate_gaps(&pass);
    pass.result->n_found = rows->n;
    prune(rows, job->opts->limit);
    return WEFT_OK;
}

/* ---- table ----------------------------------------------------------------------------------- */

static enum weft_code make_limits(struct job *job, uint32_t n_functions, struct weft_err *err)
{
    const struct weft_outliers_opts *opts = job->opts;
    job->limits = calloc((size_t)n_functions + 1, sizeof *job->limits);
    if (!job->limits)
        return weft_no_memory(err, "outliers");
    uint64_t least_ns = opts->outlier_min_ns ? opts->outlier_min_ns - 1 : 0;
    for (uint32_t id = 0; id < n_functions; id++) {
        struct function_limit *limit = &job->limits[id];
        limit->own_ns = UINT64_MAX; /* no closed call: nothing to compare with */
        limit->is_wanted = !job->has_function_filter;
        uint32_t at =
            id < job->functions->n_functions ? job->functions->row_of_function[id] : WEFT_ID_NONE;
        if (at == WEFT_ID_NONE ||
            job->functions->rows[at].count == job->functions->rows[at].open_count)
            continue;
        limit->has_median = true;
        limit->median_ns = job->functions->rows[at].p50_ns;
        limit->own_ns = weft_max_u64(
            share_of(opts->outlier_factor, weft_max_u64(limit->median_ns, 1)), least_ns);
    }
    for (size_t i = 0; job->has_function_filter && i < opts->n_function_ids; i++)
        if (opts->function_ids[i] < n_functions)
            job->limits[opts->function_ids[i]].is_wanted = true;
    return WEFT_OK;
}

/* Moves every thread's rows into `all`; of a limited list never more than twice the limit stay. */
static bool gather(struct job *job, size_t n_items, struct found_vec *all,
                   struct weft_outliers_table *table)
{
    for (size_t i = 0; i < n_items; i++) {
        struct result *result = &job->results[i];
        if (!weft_room_reserve(&all->items, &all->cap, all->n + result->rows.n, sizeof *all->items))
            return false;
        if (result->rows.n)
            memcpy(all->items + all->n, result->rows.items, result->rows.n * sizeof *all->items);
        all->n += result->rows.n;
        WEFT_ROOM_FINI(&result->rows);
        table->n_found += result->n_found;
        table->n_own += result->n_own;
        table->n_long += result->n_long;
        table->n_gaps += result->n_gaps;
    }
    prune(all, job->opts->limit);
    return true;
}

/* Of the callers of a deep call, the outermost and the innermost. */
static bool name_callers(struct weft_arena *arena, const struct result *result, uint32_t node,
                         struct weft_outlier_row *row)
{
    const uint32_t most = WEFT_OUTLIER_OUTER + WEFT_OUTLIER_INNER;
    row->n_context = row->depth < most ? row->depth : most;
    row->context = WEFT_ARENA_NEW(arena, row->n_context, uint32_t);
    if (!row->context)
        return false;
    for (uint32_t i = row->n_context; i-- > 0;) {
        if (row->depth > most && i + 1 == WEFT_OUTLIER_OUTER)
            node = result->nodes.items[node - 1].outer;
        row->context[i] = result->nodes.items[node - 1].function_id;
        node = result->nodes.items[node - 1].parent;
    }
    return true;
}

static bool fill_table(struct weft_arena *arena, const struct job *job, const struct found_vec *all,
                       struct weft_outliers_table *table)
{
    table->rows = WEFT_ARENA_NEW(arena, all->n, struct weft_outlier_row);
    if (!table->rows)
        return false;
    for (size_t i = 0; i < all->n; i++) {
        const struct found *found = &all->items[i];
        struct weft_outlier_row *row = &table->rows[table->n_rows++];
        *row = found->row;
        if (!name_callers(arena, &job->results[found->item], found->node, row))
            return false;
    }
    return true;
}

static enum weft_code make_table(struct job *job, size_t n_items,
                                 struct weft_outliers_table **result, struct weft_err *err)
{
    struct found_vec all = { 0 };
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_outliers_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_outliers_table) : NULL;
    if (table) {
        table->arena = arena;
        if (gather(job, n_items, &all, table) && fill_table(arena, job, &all, table))
            *result = table;
    }
    WEFT_ROOM_FINI(&all);
    if (*result)
        return WEFT_OK;
    if (arena)
        weft_arena_free(arena);
    return weft_no_memory(err, "outliers");
}

static void job_fini(struct job *job, unsigned n_workers, size_t n_items)
{
    for (unsigned w = 0; job->workers && w < n_workers; w++) {
        free(job->workers[w].levels);
        free(job->workers[w].gaps);
        WEFT_ROOM_FINI(&job->workers[w].long_ns);
    }
    for (size_t i = 0; job->results && i < n_items; i++) {
        WEFT_ROOM_FINI(&job->results[i].rows);
        WEFT_ROOM_FINI(&job->results[i].nodes);
    }
    free(job->workers);
    free(job->results);
    free(job->limits);
}

enum weft_code weft_outliers_run(const struct weft_trace *trace,
                                 const struct weft_thread_filter *filter,
                                 const struct weft_functions_table *functions,
                                 const struct weft_outliers_opts *opts, const struct weft_run *run,
                                 struct weft_outliers_table **table, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    size_t n_ids = filter ? filter->n_ids : 0;
    *table = NULL;
    enum weft_code code = weft_scan_check(trace, ids, n_ids, err);
    if (code)
        return code;
    unsigned n_workers = weft_pool_workers(run->pool);
    size_t n_items = weft_scan_n_threads(trace, ids, n_ids);
    struct job job = {
        .opts = opts,
        .functions = functions,
        .has_function_filter = opts->function_ids != NULL,
        .workers = calloc(n_workers, sizeof *job.workers),
        .results = calloc(n_items + 1, sizeof *job.results),
    };
    code = job.workers && job.results ? make_limits(&job, weft_trace_n_functions(trace), err)
                                      : weft_no_memory(err, "outliers");
    weft_progress_start(run->progress, "outliers", "calls", weft_scan_calls(trace, ids, n_ids));
    if (!code)
        code = weft_scan_threads(trace, ids, n_ids, opts->window, run, run_item, &job, err);
    if (!code)
        code = make_table(&job, n_items, table, err);
    job_fini(&job, n_workers, n_items);
    return code;
}
