/* SPDX-License-Identifier: MIT
 *
 * Sorts all readings of one counter by process and time, then finds the last before each start and
 * end by binary search: O(n log n) for each counter named, independent of how executions overlap.
 */
#include "analysis/executions/counters.h"

#include "base/room.h"
#include "base/search.h"
#include "model/events.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one counter. */
struct reading {
    uint64_t process; /* host and pid */
    uint64_t at_ns;
    size_t sequence;
    double value;
};

struct readings {
    struct reading *items;
    size_t n, cap;
};

static uint64_t process_of(const struct weft_trace *trace, uint32_t thread_id)
{
    const struct weft_thread_info *info = &weft_trace_thread(trace, thread_id)->info;
    return (uint64_t)info->host_id << 32 ^ info->pid;
}

static int by_time(const void *a_void, const void *b_void)
{
    const struct reading *a = a_void, *b = b_void;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static enum weft_code read_thread(const struct weft_trace *trace, struct weft_events *events,
                                  uint32_t thread_id, struct weft_str name,
                                  struct readings *readings, struct weft_err *err)
{
    const uint64_t process = process_of(trace, thread_id);
    const struct weft_event *event = NULL;
    enum weft_code code;
    weft_events_turn(events, thread_id);
    while ((code = weft_events_next(events, &event, err)) == WEFT_OK && event) {
        if (!weft_str_equal(event->name, name))
            continue;
        struct reading *reading = WEFT_ROOM_PUSH(readings);
        if (!reading)
            return weft_no_memory(err, "counters of executions");
        *reading = (struct reading){ .process = process,
                                     .at_ns = event->time_ns,
                                     .sequence = readings->n,
                                     .value = weft_counter_double(event->value) };
    }
    return code;
}

static enum weft_code read_counter(const struct weft_trace *trace, struct weft_str name,
                                   struct readings *readings, struct weft_err *err)
{
    struct weft_events *events = NULL;
    if (weft_trace_n_threads(trace) == 0)
        return WEFT_OK;
    enum weft_code code =
        weft_events_open(trace, 0, UINT32_C(1) << WEFT_EVENT_COUNTER, 0, UINT64_MAX, &events, err);
    for (uint32_t id = 0; id < weft_trace_n_threads(trace) && code == WEFT_OK; id++)
        code = read_thread(trace, events, id, name, readings, err);
    weft_events_close(events);
    if (readings->n)
        weft_room_sort(readings->items, readings->n, sizeof *readings->items, by_time);
    return code;
}

/* The latest value at at_ns, NAN if there is none yet. */
static double value_at(const struct readings *readings, uint64_t process, uint64_t at_ns)
{
    size_t place;
    WEFT_SEARCH(
        place, readings->n,
        readings->items[place].process < process ||
            (readings->items[place].process == process && readings->items[place].at_ns <= at_ns));
    return place > 0 && readings->items[place - 1].process == process
               ? readings->items[place - 1].value
               : (double)NAN;
}

static enum weft_code add_columns(struct weft_executions_table *table, struct weft_str name,
                                  double **values, double **changes, struct weft_err *err)
{
    char *change = NULL;
    const int n_bytes = asprintf(&change, "%.*s_change", (int)name.n_bytes, name.bytes);
    if (n_bytes < 0)
        return weft_no_memory(err, "counters of executions");
    enum weft_code code = weft_executions_add_metric(table, name, WEFT_METRIC_NUMBER, values, err);
    WEFT_THEN(code, weft_executions_add_metric(table, weft_str_of(change), WEFT_METRIC_NUMBER,
                                               changes, err));
    free(change);
    return code;
}

static enum weft_code add_counter(const struct weft_trace *trace, uint32_t type,
                                  struct weft_str name, const struct readings *readings,
                                  struct weft_executions_table *table, struct weft_err *err)
{
    double *values, *changes;
    const enum weft_code code = add_columns(table, name, &values, &changes, err);
    for (size_t i = 0; code == WEFT_OK && i < table->n_rows; i++) {
        const struct weft_execution_row *row = &table->rows[i];
        weft_executions_passed(table, i);
        if (row->type != type)
            continue;
        const uint64_t process = process_of(trace, row->thread_id);
        values[i] = value_at(readings, process, row->end_ns);
        changes[i] = values[i] - value_at(readings, process, row->start_ns);
    }
    return code;
}

enum weft_code weft_execution_counters_add(const struct weft_trace *trace,
                                           const struct weft_execution_rule *types,
                                           struct weft_executions_table *table,
                                           struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t t = 0; t < table->n_types && code == WEFT_OK; t++)
        for (size_t m = 0; m < types[t].n_metrics && code == WEFT_OK; m++) {
            const struct weft_rule_metric *metric = &types[t].metrics[m];
            struct readings readings = { 0 };
            if (metric->field.kind != WEFT_FIELD_NONE)
                continue;
            code = read_counter(trace, metric->name, &readings, err);
            WEFT_THEN(code, add_counter(trace, t, metric->name, &readings, table, err));
            WEFT_ROOM_FINI(&readings);
        }
    return code;
}
