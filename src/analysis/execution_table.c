/* SPDX-License-Identifier: MIT */
#include "analysis/execution_table.h"

#include "analysis/execution_metrics.h"
#include "base/checked.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for executions");
}

/* ---- rows ------------------------------------------------------------------------------------ */

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
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* An execution is nested if one of its type on its thread began before, or with it, and does not
 * end before it: rows are in order of begin, the longer ones first. */
static enum weft_code mark_nested(const struct weft_rule_plan *plan,
                                  struct weft_execution_row *rows, size_t n_rows,
                                  struct weft_err *err)
{
    struct weft_map *keys = weft_map_new();
    struct {
        uint64_t *items; /* by thread and type: the latest end so far */
        size_t n, cap;
    } ends = { 0 };
    bool is_ok = keys != NULL;
    for (size_t i = 0; i < n_rows && is_ok; i++) {
        bool is_new;
        const uint32_t id =
            weft_map_add(keys, (uint64_t)rows[i].thread_id * plan->n_types + rows[i].type, &is_new);
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

static enum weft_code copy_rows(const struct weft_rule_plan *plan,
                                struct weft_executions_found *found,
                                struct weft_executions_table *table, struct weft_err *err)
{
    for (size_t i = 0; i < found->n; i++)
        found->items[i].sequence = i;
    if (found->n)
        qsort(found->items, found->n, sizeof *found->items, by_start);
    table->n_rows = found->n;
    table->rows = WEFT_ARENA_NEW(table->arena, table->n_rows, struct weft_execution_row);
    if (!table->rows)
        return no_memory(err);
    for (size_t i = 0; i < found->n; i++) {
        const struct weft_execution_row *row = &found->items[i].row;
        table->rows[i] = *row;
        table->types[row->type].count++;
        table->types[row->type].unfinished += (row->flags & WEFT_EXECUTION_UNFINISHED) != 0;
    }
    return mark_nested(plan, table->rows, table->n_rows, err);
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

/* User metrics, in order of their names: their numbers depend on which thread came first. */
static enum weft_code add_user_metrics(const struct weft_rule_plan *plan,
                                       const struct weft_executions_found *found,
                                       struct weft_executions_table *table, struct weft_err *err)
{
    struct weft_strtab *names = plan->names.table;
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
    for (size_t i = 0; is_ok && i < found->n; i++) {
        put_values(found->items[i].begin, i, columns);
        put_values(found->items[i].end, i, columns);
    }
    free(order);
    free(columns);
    return is_ok ? WEFT_OK : no_memory(err);
}

static void count_lossy(struct weft_executions_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        table->types[table->rows[i].type].lossy +=
            (table->rows[i].flags & WEFT_EXECUTION_LOSSY) != 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

enum weft_code weft_execution_table_make(const struct weft_rule_plan *plan,
                                         struct weft_executions_found *found, bool with_metrics,
                                         const struct weft_run *run,
                                         struct weft_executions_table **result,
                                         struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_executions_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_executions_table) : NULL;
    enum weft_code code = table ? WEFT_OK : no_memory(err);
    if (table)
        table->arena = arena;
    if (code == WEFT_OK && !copy_types(plan, table))
        code = no_memory(err);
    if (code == WEFT_OK)
        code = copy_rows(plan, found, table, err);
    if (weft_strtab_count(plan->names.table) == 0)
        weft_executions_found_fini(found); /* values are all that it has besides the rows */
    if (code == WEFT_OK)
        code = add_times(table, err);
    if (code == WEFT_OK && with_metrics)
        code = weft_execution_metrics_add(plan->trace, plan->types, table, run, err);
    if (code == WEFT_OK)
        code = add_user_metrics(plan, found, table, err);
    if (code == WEFT_OK)
        count_lossy(table);
    if (code == WEFT_OK)
        *result = table;
    else if (arena)
        weft_arena_free(arena);
    return code;
}
