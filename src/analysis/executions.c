/* SPDX-License-Identifier: MIT
 *
 * Executions: one pass over each thread finds their begins and ends; those of one thread are paired
 * there, those of several threads afterwards, in order of time.
 */
#include "analysis/executions.h"

#include "analysis/execution_metrics.h"
#include "analysis/execution_points.h"
#include "base/checked.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct job {
    struct weft_rule_plan plan;
    struct weft_execution_part *parts;   /* by item: thread */
    struct weft_executions_found *found; /* by item: paired on the thread */
    uint64_t *n_unmatched;               /* by item */
    size_t n_items;
    struct weft_executions_found across; /* paired over threads */
    struct weft_executions_found all;
    uint64_t n_across_unmatched;
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for executions");
}

static bool is_of_thread(const struct job *job, const struct weft_execution_point *point)
{
    return job->plan.types[point->type].scope == WEFT_SCOPE_THREAD;
}

/* Pairs the points of types that stay on a thread, and leaves the others. */
static enum weft_code pair_thread(struct job *job, size_t item, const struct weft_scan *scan,
                                  struct weft_err *err)
{
    struct weft_execution_part *part = &job->parts[item];
    struct weft_execution_pairs pairs = { 0 };
    enum weft_code code = WEFT_OK;
    size_t n_left = 0;
    for (size_t i = 0; i < part->points.n && code == WEFT_OK; i++) {
        const struct weft_execution_point *point = &part->points.items[i];
        if (is_of_thread(job, point))
            code = weft_execution_pairs_take(&pairs, point, 1, false, &job->found[item], err);
        else
            part->points.items[n_left++] = *point;
    }
    part->points.n = n_left;
    if (code == WEFT_OK)
        code = weft_execution_pairs_finish(&pairs, scan->thread->last_ns, &job->found[item], err);
    job->n_unmatched[item] = pairs.n_unmatched;
    weft_execution_pairs_fini(&pairs);
    if (n_left == 0)
        WEFT_VEC_FINI(&part->points);
    return code;
}

static enum weft_code run_item(void *context, struct weft_scan *scan, unsigned worker,
                               struct weft_err *err)
{
    struct job *job = context;
    (void)worker;
    enum weft_code code = weft_execution_part_read(&job->plan, scan, &job->parts[scan->item], err);
    return code == WEFT_OK ? pair_thread(job, scan->item, scan, err) : code;
}

/* ---- across threads -------------------------------------------------------------------------- */

struct points {
    struct weft_execution_point *items;
    size_t n, cap;
};

static int by_time(const void *a_void, const void *b_void)
{
    const struct weft_execution_point *a = a_void, *b = b_void;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    if (a->thread_id != b->thread_id)
        return a->thread_id < b->thread_id ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* The points of all threads that are left. */
static enum weft_code gather(struct job *job, struct points *all, struct weft_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n_items; i++)
        n += job->parts[i].points.n;
    if (n == 0)
        return WEFT_OK;
    if (!weft_vec_reserve(&all->items, &all->cap, n, sizeof *all->items))
        return no_memory(err);
    for (size_t i = 0; i < job->n_items; i++) {
        struct weft_execution_part *part = &job->parts[i];
        if (part->points.n)
            memcpy(all->items + all->n, part->points.items, part->points.n * sizeof *all->items);
        all->n += part->points.n;
        WEFT_VEC_FINI(&part->points);
    }
    qsort(all->items, all->n, sizeof *all->items, by_time);
    return WEFT_OK;
}

static enum weft_code pair_across(struct job *job, struct weft_err *err)
{
    struct points points = { 0 };
    struct weft_execution_pairs pairs = { 0 };
    enum weft_code code = gather(job, &points, err);
    if (code == WEFT_OK)
        code = weft_execution_pairs_take(&pairs, points.items, points.n, true, &job->across, err);
    if (code == WEFT_OK)
        code = weft_execution_pairs_finish(&pairs, weft_trace_meta(job->plan.trace)->duration_ns,
                                           &job->across, err);
    job->n_across_unmatched = pairs.n_unmatched;
    weft_execution_pairs_fini(&pairs);
    WEFT_VEC_FINI(&points);
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int by_start(const void *a_void, const void *b_void)
{
    const struct weft_execution_found *a = a_void, *b = b_void;
    const struct weft_execution_row *x = &a->row, *y = &b->row;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->end_thread_id != y->end_thread_id)
        return x->end_thread_id < y->end_thread_id ? -1 : 1;
    if (x->flags != y->flags)
        return x->flags < y->flags ? -1 : 1;
    return (a->begin.first > b->begin.first) - (a->begin.first < b->begin.first);
}

static bool append(struct weft_executions_found *all, struct weft_executions_found *some,
                   bool without_open)
{
    size_t n = 0;
    for (size_t i = 0; i < some->n; i++)
        n += !without_open || !(some->items[i].row.flags & WEFT_EXECUTION_UNFINISHED);
    if (!weft_vec_reserve(&all->items, &all->cap, all->n + n, sizeof *all->items))
        return false;
    for (size_t i = 0; i < some->n; i++)
        if (!without_open || !(some->items[i].row.flags & WEFT_EXECUTION_UNFINISHED))
            all->items[all->n++] = some->items[i];
    WEFT_VEC_FINI(some);
    return true;
}

static enum weft_code sort_all(struct job *job, bool without_open, struct weft_err *err)
{
    bool is_ok = append(&job->all, &job->across, without_open);
    for (size_t i = 0; is_ok && i < job->n_items; i++)
        is_ok = append(&job->all, &job->parts[i].rows, without_open) &&
                append(&job->all, &job->found[i], without_open);
    if (!is_ok)
        return no_memory(err);
    if (job->all.n)
        qsort(job->all.items, job->all.n, sizeof *job->all.items, by_start);
    return WEFT_OK;
}

/* An execution is nested if one of its type on its thread began before, or with it, and does not
 * end before it: rows are in order of begin, the longer ones first. */
static enum weft_code mark_nested(const struct job *job, struct weft_execution_row *rows,
                                  size_t n_rows, struct weft_err *err)
{
    struct weft_map *keys = weft_map_new();
    struct {
        uint64_t *items; /* by thread and type: the latest end so far */
        size_t n, cap;
    } ends = { 0 };
    bool is_ok = keys != NULL;
    for (size_t i = 0; i < n_rows && is_ok; i++) {
        bool is_new;
        const uint32_t id = weft_map_add(
            keys, (uint64_t)rows[i].thread_id * job->plan.n_types + rows[i].type, &is_new);
        is_ok = id != WEFT_MAP_NONE && (!is_new || WEFT_VEC_PUSH(&ends));
        if (!is_ok)
            break;
        if (!is_new && ends.items[id] >= rows[i].end_ns)
            rows[i].flags |= WEFT_EXECUTION_NESTED;
        ends.items[id] = is_new ? rows[i].end_ns : weft_max_u64(ends.items[id], rows[i].end_ns);
    }
    weft_map_free(keys);
    WEFT_VEC_FINI(&ends);
    return is_ok ? WEFT_OK : no_memory(err);
}

static bool copy_types(const struct job *job, struct weft_executions_table *table)
{
    table->n_types = job->plan.n_types;
    table->types = WEFT_ARENA_NEW(table->arena, table->n_types, struct weft_execution_type);
    for (size_t i = 0; table->types && i < table->n_types; i++) {
        table->types[i].name = weft_arena_copy(table->arena, job->plan.types[i].name);
        if (!table->types[i].name.bytes)
            return false;
    }
    return table->types != NULL;
}

static enum weft_code copy_rows(struct job *job, struct weft_executions_table *table,
                                struct weft_err *err)
{
    table->n_rows = job->all.n;
    table->rows = WEFT_ARENA_NEW(table->arena, table->n_rows, struct weft_execution_row);
    if (!table->rows)
        return no_memory(err);
    for (size_t i = 0; i < job->all.n; i++) {
        const struct weft_execution_row *row = &job->all.items[i].row;
        table->rows[i] = *row;
        table->types[row->type].count++;
        table->types[row->type].unfinished += (row->flags & WEFT_EXECUTION_UNFINISHED) != 0;
    }
    table->ends_unmatched = job->n_across_unmatched;
    for (size_t i = 0; i < job->n_items; i++)
        table->ends_unmatched += job->n_unmatched[i];
    return mark_nested(job, table->rows, table->n_rows, err);
}

/* ---- metrics that are known already ---------------------------------------------------------- */

static enum weft_code add_times(struct weft_executions_table *table, struct weft_err *err)
{
    double *durations = weft_executions_add_metric(table, WEFT_STR("duration"), WEFT_METRIC_NS);
    double *starts = weft_executions_add_metric(table, WEFT_STR("start"), WEFT_METRIC_NS);
    if (!durations || !starts)
        return no_memory(err);
    for (size_t i = 0; i < table->n_rows; i++) {
        durations[i] = (double)(table->rows[i].end_ns - table->rows[i].start_ns);
        starts[i] = (double)table->rows[i].start_ns;
    }
    return WEFT_OK;
}

/* The first value of a name counts: what the begin says, before what the end does. */
static void put_values(const struct job *job, const struct weft_execution_values *values,
                       size_t row, double *const *columns)
{
    for (uint32_t i = values->first; i < values->first + values->n; i++) {
        const struct weft_metric_value *value = &job->parts[values->item].values.items[i];
        if (isnan(columns[value->name][row]))
            columns[value->name][row] = value->value;
    }
}

static int by_text(const void *a_void, const void *b_void, void *names)
{
    return weft_str_compare(weft_strtab_get(names, *(const uint32_t *)a_void),
                            weft_strtab_get(names, *(const uint32_t *)b_void));
}

/* User metrics, in order of their names: their numbers depend on which thread came first. */
static enum weft_code add_user_metrics(struct job *job, struct weft_executions_table *table,
                                       struct weft_err *err)
{
    struct weft_strtab *names = job->plan.names.table;
    const uint32_t n_names = weft_strtab_count(names);
    uint32_t *order = calloc((size_t)n_names + 1, sizeof *order);
    double **columns = calloc((size_t)n_names + 1, sizeof *columns);
    bool is_ok = order && columns;
    for (uint32_t i = 0; is_ok && i < n_names; i++)
        order[i] = i;
    if (is_ok && n_names)
        qsort_r(order, n_names, sizeof *order, by_text, names);
    for (uint32_t i = 0; is_ok && i < n_names; i++) {
        columns[order[i]] =
            weft_executions_add_metric(table, weft_strtab_get(names, order[i]), WEFT_METRIC_NUMBER);
        is_ok = columns[order[i]] != NULL;
    }
    for (size_t i = 0; is_ok && i < table->n_rows; i++) {
        put_values(job, &job->all.items[i].begin, i, columns);
        put_values(job, &job->all.items[i].end, i, columns);
    }
    free(order);
    free(columns);
    return is_ok ? WEFT_OK : no_memory(err);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum weft_code make_table(struct job *job, const struct weft_executions_opts *opts,
                                 const struct weft_run *run, struct weft_executions_table **result,
                                 struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_executions_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_executions_table) : NULL;
    enum weft_code code = table ? WEFT_OK : no_memory(err);
    if (table)
        table->arena = arena;
    if (code == WEFT_OK && !copy_types(job, table))
        code = no_memory(err);
    if (code == WEFT_OK)
        code = copy_rows(job, table, err);
    if (code == WEFT_OK)
        code = add_times(table, err);
    if (code == WEFT_OK && !opts->without_metrics)
        code = weft_execution_metrics_add(job->plan.trace, job->plan.types, table, run, err);
    if (code == WEFT_OK)
        code = add_user_metrics(job, table, err);
    if (code == WEFT_OK)
        *result = table;
    else if (arena)
        weft_arena_free(arena);
    return code;
}

static void job_fini(struct job *job)
{
    for (size_t i = 0; job->parts && i < job->n_items; i++)
        weft_execution_part_fini(&job->parts[i]);
    for (size_t i = 0; job->found && i < job->n_items; i++)
        WEFT_VEC_FINI(&job->found[i]);
    free(job->parts);
    free(job->found);
    free(job->n_unmatched);
    WEFT_VEC_FINI(&job->across);
    WEFT_VEC_FINI(&job->all);
    weft_rule_plan_fini(&job->plan);
}

enum weft_code weft_executions_run(const struct weft_trace *trace,
                                   const struct weft_thread_filter *filter,
                                   const struct weft_executions_opts *opts,
                                   const struct weft_run *run, struct weft_executions_table **table,
                                   struct weft_err *err)
{
    const struct weft_rules *rules = opts->rules;
    const uint32_t *ids = filter ? filter->ids : NULL;
    const size_t n_ids = filter ? filter->n_ids : 0;
    const bool is_of_dependencies = opts->of_dependencies;
    struct job job = { .n_items = weft_scan_n_threads(trace, ids, n_ids) };
    *table = NULL;
    enum weft_code code = weft_rule_plan_init(
        &job.plan, trace, is_of_dependencies ? rules->dependencies : rules->types,
        is_of_dependencies ? rules->n_dependencies : rules->n_types, run->memory_bytes, err);
    job.parts = calloc(job.n_items + 1, sizeof *job.parts);
    job.found = calloc(job.n_items + 1, sizeof *job.found);
    job.n_unmatched = calloc(job.n_items + 1, sizeof *job.n_unmatched);
    if (code == WEFT_OK && (!job.parts || !job.found || !job.n_unmatched))
        code = no_memory(err);
    weft_progress_start(run->progress, "executions", "calls", weft_scan_calls(trace, ids, n_ids));
    if (code == WEFT_OK)
        code = weft_scan_threads(trace, ids, n_ids, NULL, run, run_item, &job, err);
    if (code == WEFT_OK)
        code = pair_across(&job, err);
    if (code == WEFT_OK)
        code = sort_all(&job, is_of_dependencies, err);
    if (code == WEFT_OK)
        code = make_table(&job, opts, run, table, err);
    job_fini(&job);
    return code;
}
