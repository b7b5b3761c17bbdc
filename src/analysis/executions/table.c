/* SPDX-License-Identifier: MIT
 *
 * Turns gathered rows into schema/executions.h: marks those nested in one of the same type on the
 * same thread (one pass, as rows come by start), puts metrics of the user into columns sorted by
 * name, and leaves the rest to metrics.c.
 */
#include "analysis/executions/table.h"

#include "analysis/executions/metrics.h"
#include "base/checked.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

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

enum weft_code weft_execution_table_make(const struct weft_rule_plan *plan,
                                         struct weft_execution_gather *found, bool with_metrics,
                                         const struct weft_run *run,
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
