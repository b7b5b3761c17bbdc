/* SPDX-License-Identifier: MIT */
#include "schema/executions.h"

#include <math.h>
#include <string.h>

/* Cuts the text at `mark`; what was behind it, or an empty text. */
static struct weft_str split(struct weft_str *text, const char *mark)
{
    const size_t n = strlen(mark);
    const char *at = text->n_bytes ? memmem(text->bytes, text->n_bytes, mark, n) : NULL;
    if (!at)
        return (struct weft_str){ 0 };
    const struct weft_str rest = { at + n, text->n_bytes - (size_t)(at - text->bytes) - n };
    text->n_bytes = (size_t)(at - text->bytes);
    return rest;
}

struct weft_loop_name weft_loop_name_of(struct weft_str type)
{
    struct weft_loop_name loop = { .thread = type };
    loop.call = split(&loop.thread, " after ");
    loop.function = split(&loop.call, " in ");
    return loop;
}

bool weft_loop_is_of_thread(const struct weft_loop_name *loop, struct weft_str thread)
{
    return weft_str_equal(loop->thread, thread) ||
           weft_str_equal(loop->thread, weft_str_stem(thread));
}

bool weft_loop_is_of_events(struct weft_str type)
{
    return weft_str_begins(weft_loop_name_of(type).call, "epoll_");
}

double *weft_executions_metric(const struct weft_executions_table *table, struct weft_str name)
{
    for (size_t i = 0; i < table->n_metrics; i++)
        if (weft_str_equal(table->metrics[i].name, name))
            return table->metrics[i].values;
    return NULL;
}

enum weft_code weft_executions_array(struct weft_executions_table *table, size_t count,
                                     size_t object_bytes, void *array, struct weft_err *err)
{
    if (table->spool)
        return weft_spool_array(table->spool, count, object_bytes, array, err);
    void *objects = weft_arena_alloc(table->arena, count, object_bytes);
    memcpy(array, &objects, sizeof objects);
    return objects ? WEFT_OK : weft_no_memory(err, "executions");
}

static struct weft_metric *push_metric(struct weft_executions_table *table, struct weft_str name)
{
    struct weft_metric *metrics =
        WEFT_ARENA_NEW(table->arena, table->n_metrics + 1, struct weft_metric);
    const struct weft_str copy = weft_arena_copy(table->arena, name);
    if (!metrics || !copy.bytes)
        return NULL;
    if (table->n_metrics)
        memcpy(metrics, table->metrics, table->n_metrics * sizeof *metrics);
    metrics[table->n_metrics].name = copy;
    table->metrics = metrics;
    return &metrics[table->n_metrics++];
}

enum weft_code weft_executions_add_metric(struct weft_executions_table *table, struct weft_str name,
                                          enum weft_metric_unit unit, double **values,
                                          struct weft_err *err)
{
    *values = weft_executions_metric(table, name);
    if (*values)
        return WEFT_OK;
    WEFT_TRY(weft_executions_array(table, table->n_rows, sizeof **values, values, err));
    for (size_t i = 0; i < table->n_rows; i++) {
        (*values)[i] = (double)NAN;
        weft_executions_passed(table, i);
    }
    struct weft_metric *metric = push_metric(table, name);
    if (!metric)
        return weft_no_memory(err, "executions");
    metric->unit = unit;
    metric->values = *values;
    return WEFT_OK;
}

const char *weft_metric_unit_name(enum weft_metric_unit unit)
{
    static const char *const names[] = { "ns", "count", "bytes", "number" };
    return names[unit];
}

static const struct {
    const char *name;
    enum weft_path_state state; /* BLOCKED: by the reason below */
    enum weft_path_reason reason;
} path_values[WEFT_EXECUTION_PATH_VALUES] = {
    { "running", WEFT_PATH_RUNNING, WEFT_PATH_NO_REASON }, /* in whatever mode */
    { "interrupted", WEFT_PATH_INTERRUPTED, WEFT_PATH_NO_REASON },
    { "preempted", WEFT_PATH_PREEMPTED, WEFT_PATH_NO_REASON },
    { "blocked_timer", WEFT_PATH_BLOCKED, WEFT_PATH_TIMER },
    { "blocked_network", WEFT_PATH_BLOCKED, WEFT_PATH_NETWORK },
    { "blocked_block_device", WEFT_PATH_BLOCKED, WEFT_PATH_BLOCK_DEVICE },
    { "blocked_device", WEFT_PATH_BLOCKED, WEFT_PATH_DEVICE },
    { "blocked_ipi", WEFT_PATH_BLOCKED, WEFT_PATH_IPI },
    { "blocked_thread", WEFT_PATH_BLOCKED, WEFT_PATH_THREAD },
    { "blocked_lock", WEFT_PATH_BLOCKED, WEFT_PATH_LOCK },
    { "blocked_task", WEFT_PATH_BLOCKED, WEFT_PATH_TASK },
    { "blocked_idle_cpu", WEFT_PATH_BLOCKED, WEFT_PATH_IDLE },
    { "blocked_call", WEFT_PATH_BLOCKED, WEFT_PATH_CALL },
    { "unexplained", WEFT_PATH_UNKNOWN, WEFT_PATH_WAKER_UNKNOWN }, /* unknown states too */
};

const char *weft_execution_path_value_name(unsigned place)
{
    return path_values[place].name;
}

bool weft_execution_path_value_of(struct weft_str metric, enum weft_path_state *state,
                                  enum weft_path_reason *reason)
{
    for (unsigned i = 0; i < WEFT_EXECUTION_PATH_VALUES; i++)
        if (weft_str_equal(metric, weft_str_of(path_values[i].name))) {
            *state = path_values[i].state;
            *reason = path_values[i].reason;
            return true;
        }
    return false;
}

/* Which value the time of a segment belongs to: each to exactly one. */
static unsigned value_of(const struct weft_path_segment *segment)
{
    if (segment->state == WEFT_PATH_RUNNING || segment->state == WEFT_PATH_USER ||
        segment->state == WEFT_PATH_KERNEL)
        return 0;
    for (unsigned i = 1; i + 1 < WEFT_EXECUTION_PATH_VALUES; i++)
        if (path_values[i].state == (enum weft_path_state)segment->state &&
            (segment->state != WEFT_PATH_BLOCKED ||
             path_values[i].reason == (enum weft_path_reason)segment->reason))
            return i;
    return WEFT_EXECUTION_PATH_VALUES - 1;
}

void weft_execution_path_values(const struct weft_path_table *path, double *values)
{
    uint64_t sums_ns[WEFT_EXECUTION_PATH_VALUES] = { 0 };
    for (size_t i = 0; i < path->n_segments; i++)
        sums_ns[value_of(&path->segments[i])] +=
            path->segments[i].end_ns - path->segments[i].start_ns;
    for (unsigned i = 0; i < WEFT_EXECUTION_PATH_VALUES; i++)
        values[i] = (double)sums_ns[i];
}

const char *weft_proposal_why(enum weft_proposal_kind kind)
{
    static const char *const why[WEFT_PROPOSAL_KINDS] = {
        [WEFT_PROPOSAL_MARKED] = "marked by the program",
        [WEFT_PROPOSAL_POINTS] = "probes, begin and end",
        [WEFT_PROPOSAL_PRINTS] = "lines of trace_marker",
        [WEFT_PROPOSAL_TASKS] = "tasks",
        [WEFT_PROPOSAL_SPANS] = "spans",
        [WEFT_PROPOSAL_CALLS] = "repeated top-level call",
        [WEFT_PROPOSAL_CONNECTIONS] = "connections of a server",
        [WEFT_PROPOSAL_TURNS] = "loop iterations, from wait to wait",
        [WEFT_PROPOSAL_KERNEL_POINTS] = "tracepoints of the kernel",
    };
    return why[kind];
}
