/* SPDX-License-Identifier: MIT */
#include "render/text/directory.h"

#include "base/arena.h"
#include "base/checked.h"
#include "model/graph/waiting.h"
#include "render/text/notes.h"

#include <stdlib.h>

void weft_render_trace_entry(struct weft_json *json, const struct weft_trace *trace)
{
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    uint64_t lost = 0, repaired = 0;
    struct weft_note_sums notes;
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_err err = { 0 };
    if (arena && weft_note_sums(trace, arena, &notes, &err) == WEFT_OK) {
        lost = notes.lost;
        repaired = notes.repaired;
    }
    weft_json_release(json, arena);
    weft_json_str(json, "format", meta->format);
    weft_json_u64(json, "duration_ns", meta->duration_ns);
    weft_json_u64(json, "threads", meta->n_threads);
    weft_json_u64(json, "calls", meta->calls);
    weft_json_u64(json, "functions", meta->n_functions);
    if (lost > 0 || weft_trace_counts_losses(trace))
        weft_json_u64(json, "lost", lost);
    else
        weft_json_null(json, "lost");
    weft_json_u64(json, "repaired", repaired);
    weft_json_bool(json, "recovered", meta->is_recovered);
}

static const struct weft_column thread_columns[] = {
    { "id", NULL, WEFT_CELL_ID },        { "tid", NULL, WEFT_CELL_ID },
    { "pid", NULL, WEFT_CELL_ID },       { "name", NULL, WEFT_CELL_TEXT },
    { "calls", NULL, WEFT_CELL_COUNT },  { "cut_calls", NULL, WEFT_CELL_COUNT },
    { "events", NULL, WEFT_CELL_COUNT }, { "first_ns", NULL, WEFT_CELL_AT },
    { "last_ns", NULL, WEFT_CELL_AT },   { "max_depth", NULL, WEFT_CELL_ID },
    { "lost", NULL, WEFT_CELL_COUNT },
};

struct listed {
    const struct weft_trace *trace;
    uint64_t *lost; /* by thread id: what the source says it lost of it; NULL without memory */
};

/* Losses of which it is known whose they are. */
static uint64_t *lost_by_thread(const struct weft_trace *trace)
{
    const uint32_t n_threads = weft_trace_n_threads(trace);
    uint64_t *lost = calloc((size_t)n_threads + 1, sizeof *lost);
    for (size_t i = 0; lost && i < weft_trace_meta(trace)->n_notes; i++) {
        const struct weft_note *note = weft_trace_note(trace, i);
        if (note->thread_id < n_threads && weft_note_class_of(note->kind) == WEFT_NOTE_CLASS_LOST)
            lost[note->thread_id] = weft_add_sat_u64(lost[note->thread_id], note->count);
    }
    return lost;
}

static void thread_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct listed *listed = context;
    const struct weft_model_thread *thread = weft_trace_thread(listed->trace, (uint32_t)row);
    cells[0].number = row;
    cells[1].number = thread->info.tid;
    cells[2].number = thread->info.pid;
    cells[3].text = thread->info.name;
    cells[4].number = thread->calls;
    cells[5].number = thread->cut_calls;
    cells[6].number = thread->events;
    cells[7].number = thread->first_ns;
    cells[8].number = thread->last_ns;
    cells[9].number = thread->max_depth;
    const uint64_t lost = listed->lost ? listed->lost[row] : 0;
    cells[10] =
        (struct weft_cell){ .number = lost,
                            .is_null = lost == 0 && !weft_trace_counts_losses(listed->trace) };
}

static const struct weft_column function_columns[] = {
    { "id", NULL, WEFT_CELL_ID },       { "name", NULL, WEFT_CELL_TEXT },
    { "module", NULL, WEFT_CELL_TEXT }, { "is_wait", NULL, WEFT_CELL_BOOL },
    { "count", NULL, WEFT_CELL_COUNT }, { "self_ns", NULL, WEFT_CELL_NS },
};

struct named {
    const struct weft_trace *trace;
    const struct weft_name_sum *sums;
};

static void function_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct named *named = context;
    const struct weft_function *function = weft_trace_function(named->trace, (uint32_t)row);
    cells[0].number = row;
    cells[1].text = function->name;
    cells[2].text = function->module;
    cells[3].number = weft_is_wait_name(function->name);
    cells[4].number = named->sums[row].count;
    cells[5].number = named->sums[row].self_ns;
}

/* An object with one array. */
static void render_rows(const struct weft_view *view, const struct weft_table *table,
                        const char *key)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_table_json(table, key, json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

void weft_render_threads(const struct weft_view *view)
{
    struct listed listed = { view->trace, lost_by_thread(view->trace) };
    const struct weft_table table = { .columns = thread_columns,
                                      .n_columns = sizeof thread_columns / sizeof *thread_columns,
                                      .n_rows = weft_trace_n_threads(view->trace),
                                      .row = thread_row,
                                      .context = &listed };
    render_rows(view, &table, "threads");
    free(listed.lost);
}

void weft_render_names(const struct weft_view *view, const struct weft_name_sum *sums)
{
    const struct named named = { view->trace, sums };
    const struct weft_table table = { .columns = function_columns,
                                      .n_columns =
                                          sizeof function_columns / sizeof *function_columns,
                                      .n_rows = weft_trace_n_functions(view->trace),
                                      .row = function_row,
                                      .context = &named };
    render_rows(view, &table, "functions");
}
