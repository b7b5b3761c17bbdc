/* SPDX-License-Identifier: MIT
 *
 * States of threads: a row a state. What text says in words, CSV and JSON have as keys.
 */
#include "schema/states.h"

#include "render/human.h"
#include "render/text/render.h"

#include <inttypes.h>
#include <stdio.h>

struct listing {
    const struct weft_view *view;
    const struct weft_states_table *table;
};

static const struct weft_column columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "thread", "thread", WEFT_CELL_TEXT },
    { "start_ns", "start", WEFT_CELL_AT },
    { "end_ns", NULL, WEFT_CELL_AT },
    { "duration_ns", "time", WEFT_CELL_NS },
    { "cpu_ns", NULL, WEFT_CELL_NS },
    { "state", "state", WEFT_CELL_TEXT },
    { "reason", "reason", WEFT_CELL_TEXT },
    { "name", "in", WEFT_CELL_TEXT },
    { "number", NULL, WEFT_CELL_ID },
    { "cpu", "cpu", WEFT_CELL_ID },
    { "other_tid", "other", WEFT_CELL_ID },
    { "other", "thread", WEFT_CELL_TEXT },
    { "wake_ns", NULL, WEFT_CELL_AT },
    { "uninterruptible", NULL, WEFT_CELL_BOOL },
    { "stopped", NULL, WEFT_CELL_BOOL },
    { "idle", NULL, WEFT_CELL_BOOL },
    { "forked", NULL, WEFT_CELL_BOOL },
    { "woken", NULL, WEFT_CELL_BOOL },
    { "inferred", NULL, WEFT_CELL_BOOL },
    { "open", NULL, WEFT_CELL_BOOL },
    { "earlier", NULL, WEFT_CELL_BOOL },
};

enum { FIRST_FLAG = 14, N_FLAGS = 7, EARLIER = FIRST_FLAG + N_FLAGS };

static void fill_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct listing *listing = context;
    const struct weft_trace *trace = listing->view->trace;
    const struct weft_states_row *row = &listing->table->rows[index];
    const struct weft_state *state = &row->state;
    const struct weft_thread_info *info = &weft_trace_thread(trace, row->thread_id)->info;
    const bool is_blocked = state->kind == WEFT_STATE_BLOCKED;
    const bool has_other = state->waker_thread_id < weft_trace_n_threads(trace);
    const bool has_number = state->kind == WEFT_STATE_INTERRUPTED ||
                            (is_blocked && state->reason != WEFT_WAIT_THREAD && state->wake_ns > 0);
    cells[0].number = info->tid;
    cells[1].text = info->name;
    cells[2].number = state->start_ns;
    cells[3].number = state->end_ns;
    cells[4].number = state->end_ns - state->start_ns;
    cells[5] = (struct weft_cell){ .number = state->ran_ns,
                                   .is_null = !(state->flags & WEFT_STATE_CLOCKED) };
    cells[6].text = weft_str_of(weft_state_kind_name(state->kind));
    cells[7] = (struct weft_cell){ .text = weft_str_of(weft_wait_reason_name(state->reason)),
                                   .is_null = !is_blocked };
    cells[8] = (struct weft_cell){ .text = state->name, .is_null = state->name.n_bytes == 0 };
    cells[9] = (struct weft_cell){ .number = state->number, .is_null = !has_number };
    cells[10] = (struct weft_cell){ .number = (uint64_t)state->cpu, .is_null = state->cpu < 0 };
    cells[11].is_null = cells[12].is_null = !has_other;
    if (has_other) {
        cells[11].number = weft_trace_thread(trace, state->waker_thread_id)->info.tid;
        cells[12].text = weft_trace_thread(trace, state->waker_thread_id)->info.name;
    }
    cells[13] = (struct weft_cell){ .number = state->wake_ns, .is_null = state->wake_ns == 0 };
    for (size_t i = 0; i < N_FLAGS; i++)
        cells[FIRST_FLAG + i].number = state->flags >> i & 1;
    cells[EARLIER].number = (state->flags & WEFT_STATE_EARLIER) != 0;
}

static void json_ids(const void *context, size_t row, struct weft_json *json)
{
    const struct listing *listing = context;
    weft_json_u64(json, "thread_id", listing->table->rows[row].thread_id);
}

static void print_text(const struct listing *listing, const struct weft_table *rows)
{
    const struct weft_states_table *table = listing->table;
    struct weft_output *out = listing->view->out;
    weft_view_head(listing->view);
    weft_output_printf(out, "  %s", weft_human_plural(table->n_found, "state").text);
    if (table->n_rows < table->n_found)
        weft_output_printf(out, ", the first %s", weft_human_count(table->n_rows).text);
    weft_output_text(out, "\n");
    weft_view_left_out(listing->view);
    if (!table->is_known)
        weft_view_dim(listing->view, WEFT_STATES_UNKNOWN);
    if (!table->is_known && table->n_found > 0)
        weft_output_text(out,
                         "what could be guessed is not listed; --format csv and json have it\n");
    if (table->is_known && table->n_rows > 0) {
        weft_output_text(out, "\n");
        weft_table_text(rows, &listing->view->style, out);
    }
}

void weft_render_states(const struct weft_view *view, const struct weft_states_table *table)
{
    const struct listing listing = { .view = view, .table = table };
    const struct weft_table rows = { .columns = columns,
                                     .n_columns = sizeof columns / sizeof *columns,
                                     .n_rows = table->n_rows,
                                     .row = fill_row,
                                     .context = &listing,
                                     .more = view->has_ids ? json_ids : NULL };
    if (view->format == WEFT_FORMAT_CSV) {
        weft_table_csv(&rows, view->out);
        return;
    }
    if (view->format == WEFT_FORMAT_TEXT) {
        print_text(&listing, &rows);
        return;
    }
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "from_ns", table->from_ns);
    weft_json_u64(json, "to_ns", table->to_ns);
    weft_json_bool(json, "known", table->is_known);
    weft_json_u64(json, "found", table->n_found);
    weft_view_left_out_json(view, json);
    weft_table_json(&rows, "states", json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}
