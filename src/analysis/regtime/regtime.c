/* SPDX-License-Identifier: MIT
 *
 * RegTime: thresholds, the budget's factor, threads in parallel.
 */
#include "analysis/regtime/regtime.h"

#include "analysis/calls/calls.h"
#include "analysis/regtime/runs.h"
#include "base/checked.h"
#include "base/vec.h"
#include "schema/regtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- fold ------------------------------------------------------------------------------------ */

/* RegTime's budget: folds the nodes of expressions until a thread fits, and makes its rows. */

struct regtime_rows {
    struct weft_regtime_row *items;
    size_t n, cap;
};

/* ---- which nodes stay ------------------------------------------------------------------------ */

/* Marks (in `other`) the kept parents of folded nodes and counts them. */
static size_t mark_parents(struct regtime_shrinker *shrinker, const struct regtime_tree *tree)
{
    struct regtime_link *links = shrinker->links;
    size_t n_others = 0;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        const struct regtime_node *node = &tree->nodes[i];
        uint32_t with = links[i].is_folded ? node->parent : node->other ? (uint32_t)i : 0;
        if (!with || links[with].is_folded || links[with].other)
            continue;
        links[with].other = 1;
        n_others++;
    }
    return n_others;
}

/* Folds until `n_rows_max` nodes and others are left. */
static bool fold_to_budget(struct regtime_shrinker *shrinker, const struct regtime_tree *tree,
                           size_t n_rows_max)
{
    if (!weft_regtime_rank(shrinker, tree, tree->n_nodes, n_rows_max))
        return false;
    size_t n_rows = shrinker->kept.n + mark_parents(shrinker, tree);
    while (n_rows > n_rows_max && shrinker->kept.n) {
        uint32_t at = shrinker->kept.items[--shrinker->kept.n];
        struct regtime_link *link = &shrinker->links[at];
        struct regtime_link *above = &shrinker->links[tree->nodes[at].parent];
        n_rows -= link->other ? 2 : 1;
        n_rows += above->other == 0;
        link->is_folded = true;
        link->other = 0;
        above->other = 1;
    }
    return true;
}

/* Links the kept nodes to their parents, which come first. */
static void link_nodes(struct regtime_shrinker *shrinker, const struct regtime_tree *tree)
{
    struct regtime_link *links = shrinker->links;
    for (size_t i = 1; i < tree->n_nodes; i++)
        links[i].first = links[i].last = links[i].next = links[i].other = 0;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        struct regtime_link *above = &links[tree->nodes[i].parent];
        if (weft_regtime_is_root(&tree->nodes[i]) || links[i].is_folded)
            continue;
        if (above->last)
            links[above->last].next = (uint32_t)i;
        else
            above->first = (uint32_t)i;
        above->last = (uint32_t)i;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct emitter {
    struct regtime_builder *builder;
    struct regtime_rows *rows;
    struct weft_regtime_thread *thread;
};

/* The candidates of `owner` are in the row made last. */
static void settle_owner(struct emitter *out, uint32_t owner)
{
    if (owner)
        out->builder->candidates.row_of.items[owner - 1] = (uint32_t)out->rows->n - 1;
}

static struct weft_regtime_row *push_row(struct emitter *out, enum weft_regtime_kind kind,
                                         uint32_t level, uint32_t parent)
{
    struct weft_regtime_row *row = WEFT_VEC_PUSH(out->rows);
    if (!row)
        return NULL;
    row->kind = kind;
    row->level = level;
    row->parent = parent;
    row->function_id = WEFT_ID_NONE;
    return row;
}

static bool emit_node(struct emitter *out, uint32_t at, uint32_t parent_row)
{
    const struct regtime_node *node = &out->builder->tree.nodes[at];
    const struct regtime_link *link = &out->builder->shrinker.links[at];
    struct weft_regtime_row *row = push_row(out, WEFT_REGTIME_NODE, node->level, parent_row);
    if (!row)
        return false;
    row->function_id = node->function_id;
    row->start_ns = node->first_start_ns;
    row->end_ns = node->last_end_ns;
    row->count = node->count;
    row->records = node->count + node->n_inner;
    row->sum_ns = node->sum_ns;
    row->self_ns = node->self_ns;
    row->min_ns = node->min_ns;
    row->max_ns = node->max_ns;
    row->sum_squares = node->sum_squares;
    out->thread->n_nodes++;
    out->thread->records_after += link->first || node->other ? 2 : 1;
    return true;
}

static bool emit_other(struct emitter *out, uint32_t index, uint32_t parent, uint32_t parent_row)
{
    const struct regtime_node *caller = &out->builder->tree.nodes[parent];
    const struct regtime_other *other = &out->builder->shrinker.others.items[index];
    struct weft_regtime_row *row =
        push_row(out, WEFT_REGTIME_OTHER, weft_regtime_level_below(caller), parent_row);
    if (!row)
        return false;
    settle_owner(out, other->owner);
    row->n_folded = other->n_folded;
    row->start_ns = other->start_ns;
    row->end_ns = other->end_ns;
    row->count = other->count;
    row->records = other->count + other->n_inner;
    row->sum_ns = other->sum_ns;
    row->self_ns = other->self_ns;
    row->min_ns = other->min_ns;
    row->max_ns = other->max_ns;
    out->thread->n_others++;
    out->thread->records_after++;
    out->thread->folded_nodes += other->n_folded;
    out->thread->folded_calls += other->count;
    out->thread->folded_ns += other->self_ns;
    return true;
}

/* The nodes under `root` in pre-order, after each parent's nodes its "other". `last` of a link,
 * no longer needed, keeps the row of its node. */
static bool emit_nodes(struct emitter *out, uint32_t root, uint32_t expression_row)
{
    const struct regtime_node *nodes = out->builder->tree.nodes;
    struct regtime_link *links = out->builder->shrinker.links;
    uint32_t inside = root, at = links[root].first;
    links[root].last = expression_row;
    for (;;) {
        if (at) {
            links[at].last = (uint32_t)out->rows->n;
            if (!emit_node(out, at, links[inside].last))
                return false;
            inside = at;
            at = links[at].first;
            continue;
        }
        if (nodes[inside].other &&
            !emit_other(out, nodes[inside].other - 1, inside, links[inside].last))
            return false;
        if (inside == root)
            return true;
        at = links[inside].next;
        inside = nodes[inside].parent;
    }
}

static bool emit_expression(struct emitter *out, const struct regtime_item *item,
                            uint32_t parent_row)
{
    size_t at = out->rows->n;
    struct weft_regtime_row *row = push_row(out, WEFT_REGTIME_EXPRESSION, item->level, parent_row);
    if (!row)
        return false;
    row->start_ns = item->start_ns;
    row->end_ns = item->end_ns;
    row->count = item->count;
    row->records = item->count + item->n_inner;
    row->sum_ns = row->self_ns = item->sum_ns;
    row->min_ns = item->min_ns;
    row->max_ns = item->max_ns;
    out->thread->n_expressions++;
    out->thread->expression_ns += row->self_ns;
    return emit_nodes(out, item->root, (uint32_t)at);
}

static bool emit_plain(struct emitter *out, const struct regtime_item *item, uint32_t parent_row)
{
    struct weft_regtime_row *row = push_row(out, item->kind, item->level, parent_row);
    if (!row)
        return false;
    settle_owner(out, item->owner);
    row->flags = item->flags;
    row->function_id = item->function_id;
    row->start_ns = item->start_ns;
    row->end_ns = item->end_ns;
    if (item->kind == WEFT_REGTIME_CALL) {
        row->count = 1;
        row->records = item->has_calls ? 2 : 1;
        row->sum_ns = row->min_ns = row->max_ns = item->end_ns - item->start_ns;
        row->self_ns = item->self_ns;
        out->thread->n_notable++;
        out->thread->records_after += row->records;
    } else if (item->kind == WEFT_REGTIME_SLIVER) {
        row->count = item->count;
        row->records = item->count + item->n_inner;
        row->sum_ns = row->self_ns = item->sum_ns;
        row->min_ns = item->min_ns;
        row->max_ns = item->max_ns;
        out->thread->sliver_calls += item->count;
        out->thread->sliver_ns += item->span_ns;
    } else {
        out->thread->n_gaps++;
    }
    return true;
}

static enum weft_code emit(struct emitter *out, struct weft_err *err)
{
    struct regtime_item *items = out->builder->items.items;
    uint64_t root_end_ns = 0;
    for (size_t i = 0; i < out->builder->items.n; i++) {
        struct regtime_item *item = &items[i];
        bool has_parent = item->parent != WEFT_ID_NONE;
        uint64_t *child_end_ns = has_parent ? &items[item->parent].child_end_ns : &root_end_ns;
        if (item->kind != WEFT_REGTIME_SLIVER) {
            bool is_inside = !has_parent || (item->start_ns >= items[item->parent].start_ns &&
                                             item->end_ns <= items[item->parent].end_ns);
            if (item->start_ns < *child_end_ns || item->end_ns < item->start_ns || !is_inside)
                return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                                 "internal error: RegTime's invariant \"siblings are disjoint and "
                                 "in order\" fails at %" PRIu64 " ns",
                                 item->start_ns);
            *child_end_ns = item->end_ns;
        }
        uint32_t parent_row = has_parent ? items[item->parent].row : WEFT_ID_NONE;
        item->row = (uint32_t)out->rows->n;
        bool is_ok = item->kind == WEFT_REGTIME_EXPRESSION ? emit_expression(out, item, parent_row)
                                                           : emit_plain(out, item, parent_row);
        if (!is_ok)
            return weft_no_memory(err, "RegTime");
    }
    return WEFT_OK;
}

/* Makes at most `glyphs` rows (0: any number) of a thread from a finished builder, and fills every
 * count of `thread` that they determine. Checks that siblings are disjoint and in order and that
 * the budget holds. */
static enum weft_code weft_regtime_fold(struct regtime_builder *builder, uint32_t glyphs,
                                        struct regtime_rows *rows,
                                        struct weft_regtime_thread *thread, struct weft_err *err)
{
    struct regtime_shrinker *shrinker = &builder->shrinker;
    struct regtime_tree *tree = &builder->tree;
    if (!weft_regtime_links_ready(shrinker, tree, 0))
        return weft_no_memory(err, "RegTime");
    if (shrinker->negligible_ns)
        weft_regtime_fold_negligible(shrinker, tree, tree->n_nodes);
    thread->negligible_nodes = shrinker->negligible_nodes;
    thread->negligible_ns = shrinker->negligible_self_ns;
    if (glyphs && !fold_to_budget(shrinker, tree, glyphs - builder->notable.n))
        return weft_no_memory(err, "RegTime");
    link_nodes(shrinker, tree);
    if (!weft_regtime_sum_folded(shrinker, tree, &builder->candidates, tree->n_nodes) ||
        !weft_regtime_candidates_settle(&builder->candidates))
        return weft_no_memory(err, "RegTime");
    struct emitter out = { builder, rows, thread };
    enum weft_code code = emit(&out, err);
    thread->rows_after = thread->n_notable + thread->n_nodes + thread->n_others;
    if (!code && glyphs && thread->rows_after > glyphs)
        code = weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "internal error: RegTime made %" PRIu64 " rows of at most %" PRIu32,
                         thread->rows_after, glyphs);
    return code;
}

/* ---- regtime --------------------------------------------------------------------------------- */

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
