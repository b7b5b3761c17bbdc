/* SPDX-License-Identifier: MIT
 *
 * Executions, in one pass: each thread hands out begins and ends in order of time, a part at a
 * time. Those that stay on the thread are paired there and then. The others wait for the threads
 * that lie behind, and are merged as far as all threads are read:
 *
 *     thread 0  |-- read ----------|- - -         in rounds: the workers read on each thread that
 *     thread 1  |-- read ---|- - - - - -          has few points left, then what lies before the
 *     merged    |-- paired -|                     least of them is paired
 *
 * After each round what ended is handed on. What is kept is what is open, and a bounded number of
 * points and executions of each thread.
 */
#include "analysis/executions/executions.h"

#include "analysis/executions/gather.h"
#include "analysis/executions/metrics.h"
#include "analysis/executions/plan.h"
#include "analysis/executions/points.h"
#include "base/checked.h"
#include "base/pool.h"
#include "base/vec.h"
#include "schema/executions.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- table ----------------------------------------------------------------------------------- */

/* The table of executions, from those that were found in any order. Marks those nested in one of
 * the same type on the same thread (one pass, as rows come by start), puts metrics of the user into
 * columns sorted by name, and leaves the rest to metrics.c. */

/* In work. */
struct making {
    const struct weft_rule_plan *plan;
    struct weft_execution_gather *found;
    struct weft_executions_table *table;
    const struct weft_execution_values **values; /* by row; NULL: none has any */
    struct weft_map *keys;                       /* thread and type */
    struct {
        uint64_t *items; /* by key: the latest end so far */
        size_t n, cap;
    } ends;
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* An execution is nested if one of its type on its thread began before, or with it, and does not
 * end before it: rows come in order of begin, the longer ones first. False without memory. */
static bool mark_nested(struct making *making, struct weft_execution_row *row)
{
    bool is_new;
    const uint32_t id = weft_map_add(
        making->keys, (uint64_t)row->thread_id * making->plan->n_types + row->type, &is_new);
    if (id == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&making->ends)))
        return false;
    uint64_t *end_ns = &making->ends.items[id];
    if (!is_new && *end_ns >= row->end_ns)
        row->flags |= WEFT_EXECUTION_NESTED;
    *end_ns = is_new ? row->end_ns : weft_max_u64(*end_ns, row->end_ns);
    return true;
}

static bool copy_types(const struct weft_rule_plan *plan, struct weft_executions_table *table)
{
    table->n_types = plan->n_types;
    table->types = WEFT_ARENA_NEW(table->arena, table->n_types, struct weft_execution_type);
    for (size_t i = 0; table->types && i < table->n_types; i++) {
        table->types[i].name = weft_arena_copy(table->arena, plan->types[i].name);
        if (!table->types[i].name.bytes)
            return false;
    }
    return table->types != NULL;
}

static bool put_row(struct making *making, const struct weft_execution_gathered *found, size_t at)
{
    struct weft_executions_table *table = making->table;
    struct weft_execution_row *row = &table->rows[at];
    *row = found->row;
    table->types[row->type].count++;
    table->types[row->type].unfinished += (row->flags & WEFT_EXECUTION_UNFINISHED) != 0;
    if (making->values)
        making->values[at] = found->values;
    weft_executions_passed(table, at);
    return mark_nested(making, row);
}

static void free_spool(void *spool)
{
    weft_spool_free(spool);
}

static enum weft_code put_rows(struct making *making, struct weft_err *err)
{
    struct weft_executions_table *table = making->table;
    const struct weft_execution_gathered *found;
    size_t n = 0;
    enum weft_code code = weft_execution_gather_seal(making->found, err);
    table->spool = weft_execution_gather_spool(making->found);
    table->n_rows = weft_execution_gather_count(making->found);
    WEFT_THEN(code,
              weft_executions_array(table, table->n_rows, sizeof *table->rows, &table->rows, err));
    if (code == WEFT_OK && weft_execution_gather_has_values(making->found))
        code = weft_executions_array(table, table->n_rows, sizeof *making->values, &making->values,
                                     err);
    while (code == WEFT_OK && (found = weft_execution_gather_next(making->found)))
        code = put_row(making, found, n++) ? WEFT_OK : weft_no_memory(err, "executions");
    table->spool = code == WEFT_OK ? weft_execution_gather_take_spool(making->found) : NULL;
    weft_arena_own(table->arena, free_spool, table->spool);
    return code;
}

/* ---- metrics that are known already ---------------------------------------------------------- */

static enum weft_code add_times(struct weft_executions_table *table, struct weft_err *err)
{
    double *durations, *starts;
    enum weft_code code =
        weft_executions_add_metric(table, WEFT_STR("duration"), WEFT_METRIC_NS, &durations, err);
    WEFT_THEN(code,
              weft_executions_add_metric(table, WEFT_STR("start"), WEFT_METRIC_NS, &starts, err));
    for (size_t i = 0; code == WEFT_OK && i < table->n_rows; i++) {
        durations[i] = (double)(table->rows[i].end_ns - table->rows[i].start_ns);
        starts[i] = (double)table->rows[i].start_ns;
        weft_executions_passed(table, i);
    }
    return code;
}

/* The first value of a name counts: what the begin says, before what the end does. */
static void put_values(const struct weft_execution_values *values, size_t row,
                       double *const *columns)
{
    for (size_t i = 0; values && i < values->n; i++)
        if (isnan(columns[values->items[i].name][row]))
            columns[values->items[i].name][row] = values->items[i].value;
}

static int by_text(const void *a_void, const void *b_void, void *names)
{
    return weft_str_compare(weft_strtab_get(names, *(const uint32_t *)a_void),
                            weft_strtab_get(names, *(const uint32_t *)b_void));
}

/* Columns of user metrics by number, in order of their names: numbers depend on which thread came
 * first. */
static enum weft_code make_columns(struct making *making, uint32_t *order, double **columns,
                                   struct weft_err *err)
{
    struct weft_strtab *names = making->plan->names.table;
    const uint32_t n_names = weft_strtab_count(names);
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; i < n_names; i++)
        order[i] = i;
    if (n_names)
        qsort_r(order, n_names, sizeof *order, by_text, names);
    for (uint32_t i = 0; i < n_names && code == WEFT_OK; i++)
        code = weft_executions_add_metric(making->table, weft_strtab_get(names, order[i]),
                                          WEFT_METRIC_NUMBER, &columns[order[i]], err);
    return code;
}

static enum weft_code add_user_metrics(struct making *making, struct weft_err *err)
{
    const uint32_t n_names = weft_strtab_count(making->plan->names.table);
    uint32_t *order = calloc((size_t)n_names + 1, sizeof *order);
    double **columns = calloc((size_t)n_names + 1, sizeof *columns);
    enum weft_code code = order && columns ? make_columns(making, order, columns, err)
                                           : weft_no_memory(err, "executions");
    for (size_t i = 0; code == WEFT_OK && making->values && i < making->table->n_rows; i++) {
        put_values(making->values[i], i, columns);
        weft_executions_passed(making->table, i);
    }
    weft_spool_drop(making->table->spool, making->values);
    free(order);
    free(columns);
    return code;
}

static void count_lossy(struct weft_executions_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        table->types[table->rows[i].type].lossy +=
            (table->rows[i].flags & WEFT_EXECUTION_LOSSY) != 0;
        weft_executions_passed(table, i);
    }
    weft_spool_forget(table->spool);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum weft_code make(struct making *making, bool with_metrics, const struct weft_run *run,
                           struct weft_err *err)
{
    const struct weft_rule_plan *plan = making->plan;
    making->keys = weft_map_new();
    if (!making->keys || !copy_types(plan, making->table))
        return weft_no_memory(err, "executions");
    enum weft_code code = put_rows(making, err);
    WEFT_THEN(code, add_times(making->table, err));
    if (code == WEFT_OK && with_metrics)
        code = weft_execution_metrics_add(plan->trace, plan->types, making->table,
                                          weft_execution_gather_sizes(making->found)->window_rows,
                                          run, err);
    WEFT_THEN(code, add_user_metrics(making, err));
    if (code == WEFT_OK)
        count_lossy(making->table);
    return code;
}

/* Orders what was found, says which are nested, and adds metrics: times, the user's, and
 * `with_metrics` those that the trace contains. ends_unmatched is left 0. The table takes the spool
 * of `found`. O(n log n). */
static enum weft_code weft_execution_table_make(const struct weft_rule_plan *plan,
                                                struct weft_execution_gather *found,
                                                bool with_metrics, const struct weft_run *run,
                                                struct weft_executions_table **result,
                                                struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_executions_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_executions_table) : NULL;
    struct making making = { .plan = plan, .found = found, .table = table };
    if (!table) {
        weft_arena_free(arena);
        return weft_no_memory(err, "executions");
    }
    table->arena = arena;
    const enum weft_code code = make(&making, with_metrics, run, err);
    weft_map_free(making.keys);
    WEFT_VEC_FINI(&making.ends);
    if (code == WEFT_OK)
        *result = table;
    else
        weft_result_free(table);
    return code;
}

/* ---- executions ------------------------------------------------------------------------------ */

enum {
    POINTS = 1 << 19,  /* read and not yet paired, of all threads, about */
    LEAST_POINTS = 64, /* of a thread */
    MEMORY_SHARE = 16, /* of the ceiling for them: one part in so many */
    COUNT_STEP = 4096, /* executions that are held are counted a little later than they come */
};

/* A thread. */
struct item {
    struct weft_execution_reader reader;
    struct weft_execution_pairs pairs;  /* of types that stay on it */
    struct weft_execution_list ready;   /* points of the others, in order of time */
    struct weft_executions_found found; /* whole, and paired here */
    bool is_finished;
    uint64_t n_counted; /* in the job's bytes */
};

/* Where executions go, with their values. */
typedef enum weft_code (*take_fn)(void *context, struct weft_execution_found *found,
                                  struct weft_err *err);

struct job {
    struct weft_rule_plan plan;
    bool has_plan;
    take_fn take;
    void *context;
    struct item *items;
    size_t n_items;
    size_t n_points; /* of a thread in a round */
    struct weft_scan_piece *pieces;
    size_t *lagging;              /* the item of each */
    struct weft_event_buf **bufs; /* by worker */
    unsigned n_workers;
    uint64_t memory_bytes; /* 0: no bound */
    _Atomic uint64_t n_bytes;
    struct {
        size_t *items; /* that have points ready: the one with the earliest on top */
        size_t n;
    } heap;
    struct weft_execution_list group; /* points of one ns */
    struct weft_execution_pairs across;
    struct weft_executions_found found;
    uint64_t n_counted;
};

/* Is what is open, or waits to be paired, within the ceiling? */
static enum weft_code count_held(struct job *job, uint64_t n, uint64_t *n_counted,
                                 struct weft_err *err)
{
    if (job->memory_bytes == 0 || n < *n_counted + COUNT_STEP)
        return WEFT_OK;
    const uint64_t bytes = (n - *n_counted) * sizeof(struct weft_execution_pending);
    *n_counted = n;
    if (atomic_fetch_add(&job->n_bytes, bytes) + bytes <= job->memory_bytes)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                     "more than %" PRIu64
                     " executions are open at the same time, the most that --mem "
                     "admits: add conditions (where ...), or allow more",
                     job->memory_bytes / sizeof(struct weft_execution_pending));
}

/* Hands on what was found. */
static enum weft_code hand_on(const struct job *job, struct weft_executions_found *found,
                              struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < found->n; i++) {
        WEFT_THEN(code, job->take(job->context, &found->items[i], err));
        free(found->items[i].begin);
        free(found->items[i].end);
    }
    found->n = 0;
    return code;
}

/* ---- a thread -------------------------------------------------------------------------------- */

static enum weft_code take_point(struct job *job, struct item *item,
                                 struct weft_execution_point *point, struct weft_err *err)
{
    if (job->plan.types[point->type].scope == WEFT_SCOPE_THREAD)
        return weft_execution_pairs_take(&item->pairs, point, 1, false, &item->found, err);
    struct weft_execution_point *ready = weft_execution_list_add(&item->ready);
    if (ready)
        *ready = *point;
    else
        free(point->values);
    return ready ? WEFT_OK : weft_no_memory(err, "executions");
}

/* The thread is read to its end: what is open stays so. */
static enum weft_code finish_thread(struct item *item, const struct weft_scan *scan,
                                    struct weft_err *err)
{
    item->is_finished = true;
    return weft_execution_pairs_finish(&item->pairs, scan->thread->last_ns, &item->found, err);
}

/* Reads on until there are points enough for others to be paired with. */
static enum weft_code read_thread(void *context, struct weft_scan *scan, unsigned worker,
                                  struct weft_err *err)
{
    struct job *job = context;
    struct item *item = &job->items[job->lagging[scan->item]];
    enum weft_code code = WEFT_OK;
    if (!job->bufs[worker])
        job->bufs[worker] = weft_event_buf_new();
    if (!job->bufs[worker])
        return weft_no_memory(err, "executions");
    while (code == WEFT_OK && !item->reader.is_done &&
           item->ready.n - item->ready.at < job->n_points && item->found.n < job->n_points) {
        struct weft_execution_point point;
        code =
            weft_execution_reader_step(&item->reader, scan, job->bufs[worker], &item->found, err);
        while (code == WEFT_OK && weft_execution_reader_next(&item->reader, &point))
            code = take_point(job, item, &point, err);
        WEFT_THEN(code,
                  count_held(job, item->pairs.n_open + weft_execution_queue_n(&item->reader.queue),
                             &item->n_counted, err));
    }
    return code == WEFT_OK && item->reader.is_done ? finish_thread(item, scan, err) : code;
}

/* ---- across threads -------------------------------------------------------------------------- */

static int by_time(const void *a_void, const void *b_void)
{
    const struct weft_execution_point *a = a_void, *b = b_void;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    if (a->thread_id != b->thread_id)
        return a->thread_id < b->thread_id ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static const struct weft_execution_point *first_ready(const struct job *job, size_t item)
{
    const struct weft_execution_list *ready = &job->items[item].ready;
    return ready->at < ready->n ? &ready->items[ready->at] : NULL;
}

static bool is_earlier(const struct job *job, size_t a, size_t b)
{
    const uint64_t a_ns = first_ready(job, a)->at_ns, b_ns = first_ready(job, b)->at_ns;
    return a_ns != b_ns ? a_ns < b_ns : a < b;
}

static void heap_sift(struct job *job, size_t at)
{
    size_t *items = job->heap.items;
    const size_t moved = items[at];
    for (size_t next = 2 * at + 1; next < job->heap.n; next = 2 * at + 1) {
        next += next + 1 < job->heap.n && is_earlier(job, items[next + 1], items[next]);
        if (!is_earlier(job, items[next], moved))
            break;
        items[at] = items[next];
        at = next;
    }
    items[at] = moved;
}

/* The threads that have points before limit_ns. */
static void heap_fill(struct job *job, uint64_t limit_ns)
{
    job->heap.n = 0;
    for (size_t i = 0; i < job->n_items; i++) {
        const struct weft_execution_point *first = first_ready(job, i);
        if (first && first->at_ns < limit_ns)
            job->heap.items[job->heap.n++] = i;
    }
    for (size_t at = job->heap.n / 2; at-- > 0;)
        heap_sift(job, at);
}

/* Moves the earliest point to the group. */
static enum weft_code take_first(struct job *job, uint64_t limit_ns, struct weft_err *err)
{
    const size_t item = job->heap.items[0];
    struct weft_execution_list *ready = &job->items[item].ready;
    struct weft_execution_point *point = WEFT_VEC_PUSH(&job->group);
    if (!point)
        return weft_no_memory(err, "executions");
    *point = ready->items[ready->at++];
    const struct weft_execution_point *next = first_ready(job, item);
    if (!next)
        ready->at = ready->n = 0;
    if (!next || next->at_ns >= limit_ns)
        job->heap.items[0] = job->heap.items[--job->heap.n];
    if (job->heap.n)
        heap_sift(job, 0);
    return WEFT_OK;
}

/* Pairs what lies before limit_ns. */
static enum weft_code pair_before(struct job *job, uint64_t limit_ns, struct weft_err *err)
{
    struct weft_execution_list *group = &job->group;
    enum weft_code code = WEFT_OK;
    heap_fill(job, limit_ns);
    while (job->heap.n && code == WEFT_OK) {
        const uint64_t at_ns = first_ready(job, job->heap.items[0])->at_ns;
        while (code == WEFT_OK && job->heap.n &&
               first_ready(job, job->heap.items[0])->at_ns == at_ns)
            code = take_first(job, limit_ns, err);
        if (code != WEFT_OK)
            break;
        if (group->n > 1)
            qsort(group->items, group->n, sizeof *group->items, by_time);
        code =
            weft_execution_pairs_take(&job->across, group->items, group->n, true, &job->found, err);
        group->n = 0;
        WEFT_THEN(code, count_held(job, job->across.n_open, &job->n_counted, err));
        WEFT_THEN(code, hand_on(job, &job->found, err));
    }
    return code;
}

/* ---- all threads ----------------------------------------------------------------------------- */

/* Those that are not read to their end and have few points left. */
static size_t list_lagging(struct job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n_items; i++) {
        struct item *item = &job->items[i];
        if (item->is_finished || item->ready.n - item->ready.at >= job->n_points)
            continue;
        const uint32_t id = item->reader.thread_id;
        job->pieces[n] =
            (struct weft_scan_piece){ .thread_id = id,
                                      .calls = weft_trace_thread(job->plan.trace, id)->calls };
        job->lagging[n++] = i;
    }
    return n;
}

static enum weft_code find_all(struct job *job, const struct weft_run *run, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t n; code == WEFT_OK && (n = list_lagging(job)) > 0;) {
        uint64_t limit_ns = UINT64_MAX;
        code = weft_scan_pieces(job->plan.trace, job->pieces, n, NULL, run, read_thread, job, err);
        for (size_t i = 0; i < job->n_items; i++)
            if (!job->items[i].is_finished)
                limit_ns =
                    weft_min_u64(limit_ns, weft_execution_reader_reached_ns(&job->items[i].reader));
        WEFT_THEN(code, pair_before(job, limit_ns, err));
        for (size_t i = 0; i < job->n_items && code == WEFT_OK; i++)
            code = hand_on(job, &job->items[i].found, err);
    }
    WEFT_THEN(code, weft_execution_pairs_finish(&job->across,
                                                weft_trace_meta(job->plan.trace)->duration_ns,
                                                &job->found, err));
    return code == WEFT_OK ? hand_on(job, &job->found, err) : code;
}

static void count_ends_of(struct weft_executions_table *table, size_t type,
                          const struct weft_execution_pairs *pairs, size_t of)
{
    if (of >= pairs->ends.n)
        return;
    table->types[type].left_out += pairs->ends.items[of].dropped;
    table->types[type].ends_unmatched += pairs->ends.items[of].unmatched;
    table->ends_unmatched += pairs->ends.items[of].unmatched;
}

static void count_ends(struct weft_executions_table *table,
                       const struct weft_execution_pairs *pairs)
{
    for (size_t i = 0; i < pairs->ends.n; i++)
        count_ends_of(table, i, pairs, i);
}

/* How many points of each thread may wait. */
static size_t points_of_thread(const struct job *job)
{
    const uint64_t n_fit = job->memory_bytes / MEMORY_SHARE / sizeof(struct weft_execution_point);
    const uint64_t n = job->memory_bytes ? weft_min_u64(n_fit, POINTS) : POINTS;
    return (size_t)weft_max_u64(n / (job->n_items + 1), LEAST_POINTS);
}

static enum weft_code job_init(struct job *job, const uint32_t *ids, size_t n_ids,
                               const struct weft_run *run, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    job->n_workers = weft_pool_workers(run->pool);
    job->memory_bytes = run->memory_bytes;
    job->n_points = points_of_thread(job);
    job->items = calloc(job->n_items + 1, sizeof *job->items);
    job->pieces = calloc(job->n_items + 1, sizeof *job->pieces);
    job->lagging = calloc(job->n_items + 1, sizeof *job->lagging);
    job->heap.items = calloc(job->n_items + 1, sizeof *job->heap.items);
    job->bufs = calloc(job->n_workers, sizeof *job->bufs);
    if (!job->items || !job->pieces || !job->lagging || !job->heap.items || !job->bufs)
        return weft_no_memory(err, "executions");
    for (size_t i = 0; i < job->n_items && code == WEFT_OK; i++)
        code = weft_execution_reader_init(&job->items[i].reader, &job->plan,
                                          weft_scan_thread_id(ids, n_ids, i), job->n_points, err);
    return code;
}

/* What is needed to find executions, but for the names of metrics and the numbers of ends. */
static void job_release(struct job *job)
{
    for (size_t i = 0; job->items && i < job->n_items; i++) {
        weft_execution_reader_fini(&job->items[i].reader);
        weft_execution_list_fini(&job->items[i].ready);
        weft_executions_found_fini(&job->items[i].found);
    }
    for (unsigned i = 0; job->bufs && i < job->n_workers; i++) {
        weft_event_buf_free(job->bufs[i]);
        job->bufs[i] = NULL;
    }
    weft_execution_list_fini(&job->group);
    weft_executions_found_fini(&job->found);
}

static void job_fini(struct job *job)
{
    job_release(job);
    for (size_t i = 0; job->items && i < job->n_items; i++)
        weft_execution_pairs_fini(&job->items[i].pairs);
    free(job->items);
    free(job->pieces);
    free(job->lagging);
    free(job->heap.items);
    free(job->bufs);
    weft_execution_pairs_fini(&job->across);
    if (job->has_plan)
        weft_rule_plan_fini(&job->plan);
}

enum { LABELS_SHARE = 2 }; /* of the memory there is, for labels and what is counted by them */

/* Finds all of them; `job` is to be finished. */
static enum weft_code run_job(struct job *job, const struct weft_trace *trace,
                              const struct weft_thread_filter *filter,
                              const struct weft_executions_opts *opts, const struct weft_run *run,
                              struct weft_err *err)
{
    const struct weft_rules *rules = opts->rules;
    const uint32_t *ids = filter ? filter->ids : NULL;
    const size_t n_ids = filter ? filter->n_ids : 0;
    const bool is_of_dependencies = opts->of_dependencies;
    WEFT_TRY(weft_scan_check(trace, ids, n_ids, err));
    if (!rules)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected rules of executions");
    job->n_items = weft_scan_n_threads(trace, ids, n_ids);
    job->has_plan = true;
    enum weft_code code = weft_rule_plan_init(
        &job->plan, trace, is_of_dependencies ? rules->dependencies : rules->types,
        is_of_dependencies ? rules->n_dependencies : rules->n_types, err);
    job->plan.labels = opts->labels;
    job->plan.with_lines = opts->with_lines;
    job->plan.labels_most_bytes = run->memory_bytes ? run->memory_bytes / LABELS_SHARE : UINT64_MAX;
    WEFT_THEN(code, job_init(job, ids, n_ids, run, err));
    weft_progress_start(run->progress, "executions", "calls", weft_scan_calls(trace, ids, n_ids));
    if (code != WEFT_OK)
        return code;
    weft_events_keep(trace, run->memory_bytes); /* threads share chunks */
    code = find_all(job, run, err);
    weft_events_drop(trace);
    return code;
}

/* ---- to a table ------------------------------------------------------------------------------ */

enum { SPOOL_BYTES = 32 << 20, RUN_BYTES = 16 << 20, WINDOW_ROWS = 1 << 16, SPOOL_SHARE = 8 };

struct gathering {
    struct weft_execution_gather *all;
    bool without_open;
    const struct weft_trace *trace;
    const struct weft_rules *rules;
};

static bool are_equal(const struct weft_rule *a, const struct weft_rule *b)
{
    bool is_equal = weft_str_equal(a->name, b->name) && a->n_conditions == b->n_conditions;
    for (size_t i = 0; is_equal && i < a->n_conditions; i++) {
        const struct weft_rule_condition *x = &a->conditions[i], *y = &b->conditions[i];
        is_equal = x->op == y->op && x->field.kind == y->field.kind &&
                   weft_str_equal(x->field.name, y->field.name) && weft_str_equal(x->text, y->text);
    }
    return is_equal;
}

/* From the end of a wait to the begin of the next. */
static bool is_loop(const struct weft_execution_rule *type)
{
    return type->begin.kind == WEFT_RULE_EXIT && type->end.kind == WEFT_RULE_ENTER &&
           !type->has_match && are_equal(&type->begin, &type->end);
}

bool weft_execution_thread_is_over(const struct weft_trace *trace, uint32_t thread_id)
{
    static const double END = 0.99; /* of the trace */
    const struct weft_model_thread *thread = weft_trace_thread(trace, thread_id);
    return thread->info.tid == thread->info.pid ||
           (double)thread->last_ns < END * (double)weft_trace_meta(trace)->duration_ns;
}

static enum weft_code gather(void *context, struct weft_execution_found *found,
                             struct weft_err *err)
{
    const struct gathering *gathering = context;
    const bool is_open = found->row.flags & WEFT_EXECUTION_UNFINISHED;
    if (is_open && (gathering->without_open ||
                    (is_loop(&gathering->rules->types[found->row.type]) &&
                     weft_execution_thread_is_over(gathering->trace, found->row.thread_id))))
        return WEFT_OK;
    return weft_execution_gather_add(gathering->all, found, err);
}

static struct weft_execution_sizes sizes_of(const struct weft_run *run)
{
    const uint64_t share = run->memory_bytes / SPOOL_SHARE;
    const uint64_t most = run->memory_bytes ? weft_min_u64(share, SPOOL_BYTES) : SPOOL_BYTES;
    return (struct weft_execution_sizes){ .spool_bytes = most,
                                          .run_bytes = (size_t)weft_min_u64(most, RUN_BYTES),
                                          .window_rows = WINDOW_ROWS };
}

static enum weft_code make_table(struct job *job, struct weft_execution_gather *all,
                                 bool with_metrics, const struct weft_run *run,
                                 struct weft_executions_table **table, struct weft_err *err)
{
    struct weft_executions_table *made = NULL;
    const enum weft_code code =
        weft_execution_table_make(&job->plan, all, with_metrics, run, &made, err);
    for (size_t i = 0; code == WEFT_OK && i < job->n_items; i++)
        count_ends(made, &job->items[i].pairs);
    if (code == WEFT_OK)
        count_ends(made, &job->across);
    *table = made;
    return code;
}

enum weft_code weft_executions_run(const struct weft_trace *trace,
                                   const struct weft_thread_filter *filter,
                                   const struct weft_executions_opts *opts,
                                   const struct weft_run *run, struct weft_executions_table **table,
                                   struct weft_err *err)
{
    const struct weft_execution_sizes sizes = opts->sizes ? *opts->sizes : sizes_of(run);
    struct gathering gathering = { .all = weft_execution_gather_new(&sizes),
                                   .without_open = opts->of_dependencies,
                                   .trace = trace,
                                   .rules = opts->rules };
    struct job job = { .take = gather, .context = &gathering };
    *table = NULL;
    enum weft_code code = gathering.all ? run_job(&job, trace, filter, opts, run, err)
                                        : weft_no_memory(err, "executions");
    job_release(&job);
    WEFT_THEN(code, make_table(&job, gathering.all, !opts->without_metrics, run, table, err));
    weft_execution_gather_free(gathering.all);
    job_fini(&job);
    return code;
}

/* ---- to a table for each type ------------------------------------------------------------------
 */

struct sorting_out {
    struct weft_execution_gather **all; /* by type */
};

static enum weft_code sort_out(void *context, struct weft_execution_found *found,
                               struct weft_err *err)
{
    const struct sorting_out *sorting = context;
    struct weft_execution_gather *to = sorting->all[found->row.type];
    found->row.type = 0;
    return weft_execution_gather_add(to, found, err);
}

/* The table of one type, as if there were no other. */
static enum weft_code make_table_of(const struct job *job, size_t type,
                                    struct weft_execution_gather *all, bool with_metrics,
                                    const struct weft_run *run,
                                    struct weft_executions_table **table, struct weft_err *err)
{
    struct weft_rule_plan plan = job->plan;
    plan.types += type;
    plan.n_types = 1;
    const enum weft_code code =
        weft_execution_table_make(&plan, all, with_metrics, run, table, err);
    for (size_t i = 0; code == WEFT_OK && i < job->n_items; i++)
        count_ends_of(*table, 0, &job->items[i].pairs, type);
    if (code == WEFT_OK)
        count_ends_of(*table, 0, &job->across, type);
    return code;
}

enum weft_code weft_executions_run_each(const struct weft_trace *trace,
                                        const struct weft_thread_filter *filter,
                                        const struct weft_executions_opts *opts,
                                        const struct weft_run *run,
                                        struct weft_executions_table **tables, struct weft_err *err)
{
    const size_t n_types = opts->rules->n_types;
    struct weft_execution_sizes sizes = sizes_of(run);
    struct sorting_out sorting = { .all = calloc(n_types + 1, sizeof *sorting.all) };
    struct job job = { .take = sort_out, .context = &sorting };
    sizes.spool_bytes /= n_types + 1;
    sizes.run_bytes /= n_types + 1;
    bool has_all = sorting.all != NULL;
    for (size_t i = 0; has_all && i < n_types; i++)
        has_all = (sorting.all[i] = weft_execution_gather_new(&sizes)) != NULL;
    enum weft_code code =
        has_all ? run_job(&job, trace, filter, opts, run, err) : weft_no_memory(err, "executions");
    job_release(&job);
    for (size_t i = 0; i < n_types && sorting.all; i++) {
        tables[i] = NULL;
        WEFT_THEN(code, make_table_of(&job, i, sorting.all[i], !opts->without_metrics, run,
                                      &tables[i], err));
        weft_execution_gather_free(sorting.all[i]);
    }
    free(sorting.all);
    job_fini(&job);
    return code;
}

/* ---- to anybody ------------------------------------------------------------------------------ */

struct showing {
    weft_execution_see_fn see;
    void *context;
};

static enum weft_code show(void *context, struct weft_execution_found *found, struct weft_err *err)
{
    const struct showing *showing = context;
    return showing->see(showing->context, &found->row, err);
}

enum weft_code weft_executions_stream(const struct weft_trace *trace,
                                      const struct weft_thread_filter *filter,
                                      const struct weft_executions_opts *opts,
                                      const struct weft_run *run, weft_execution_see_fn see,
                                      void *context, struct weft_err *err)
{
    struct showing showing = { see, context };
    struct job job = { .take = show, .context = &showing };
    const enum weft_code code = run_job(&job, trace, filter, opts, run, err);
    job_fini(&job);
    return code;
}
