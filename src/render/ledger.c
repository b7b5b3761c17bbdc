/* SPDX-License-Identifier: MIT
 *
 * See ledger.h.
 */
#include "render/ledger.h"

static const struct weft_column columns[] = {
    { "pid", "pid", WEFT_CELL_ID },
    { "parent", NULL, WEFT_CELL_ID },
    { "host", NULL, WEFT_CELL_ID },
    { "name", "program", WEFT_CELL_TEXT },
    { "state", "recorded", WEFT_CELL_TEXT },
    { "why", NULL, WEFT_CELL_TEXT },
    { "by_kernel", "kernel", WEFT_CELL_BOOL },
    { "by_library", "library", WEFT_CELL_BOOL },
    { "start_ns", "start", WEFT_CELL_AT },
    { "end_ns", "end", WEFT_CELL_AT },
    { "from_ns", "from", WEFT_CELL_AT },
    { "until_ns", "until", WEFT_CELL_AT },
    { "threads", "threads", WEFT_CELL_COUNT },
    { "lost_threads", "without ring", WEFT_CELL_COUNT },
    { "records", "records", WEFT_CELL_COUNT },
    { "lost_records", "lost", WEFT_CELL_COUNT },
    { "reason", "reason", WEFT_CELL_TEXT },
};

static const struct weft_ledger_process *process_of(const struct weft_ledger_list *list, size_t row)
{
    return weft_store_process_get(weft_trace_store(list->trace), list->places[row]);
}

static struct weft_cell time_cell(uint64_t ns)
{
    return (struct weft_cell){ .number = ns, .is_null = ns == WEFT_LEDGER_NO_TIME };
}

static void fill_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct weft_ledger_process *process = process_of(context, row);
    cells[0].number = process->pid;
    cells[1] = (struct weft_cell){ .number = process->parent, .is_null = process->parent == 0 };
    cells[2].number = process->host_id;
    cells[3].text = weft_str_base(process->name); /* the rest says much of the machine */
    cells[4] = (struct weft_cell){ .text = weft_str_of(weft_ledger_state_name(process->state)),
                                   .is_bad = process->state != WEFT_LEDGER_RECORDED &&
                                             !weft_ledger_is_asked_for(process->why) };
    cells[5].text = weft_str_of(weft_ledger_why_name(process->why));
    cells[6].number = (process->levels & WEFT_LEDGER_BY_KERNEL) != 0;
    cells[7].number = (process->levels & WEFT_LEDGER_BY_LIBRARY) != 0;
    cells[8].number = process->start_ns;
    cells[9] = time_cell(process->end_ns);
    cells[10] = time_cell(process->from_ns);
    cells[11] = time_cell(process->until_ns);
    cells[12].number = process->n_threads;
    cells[13] = (struct weft_cell){ .number = process->n_lost_threads,
                                    .is_bad = process->n_lost_threads > 0 };
    cells[14].number = process->n_records;
    cells[15] = (struct weft_cell){ .number = process->n_lost_records,
                                    .is_bad = process->n_lost_records > 0 };
    cells[16].text = weft_str_of(weft_ledger_why_text(process->why));
}

bool weft_ledger_list(const struct weft_trace *trace, struct weft_arena *arena, bool all,
                      struct weft_ledger_list *list)
{
    const struct weft_store *store = weft_trace_store(trace);
    const size_t n_processes = weft_store_n_processes(store);
    *list = (struct weft_ledger_list){ .trace = trace,
                                       .places = WEFT_ARENA_NEW(arena, n_processes, uint32_t) };
    for (size_t k = 0; list->places && k < n_processes; k++)
        if (all || weft_store_process_get(store, k)->state != WEFT_LEDGER_RECORDED)
            list->places[list->n_listed++] = (uint32_t)k;
    return list->places != NULL;
}

struct weft_table weft_ledger_table(const struct weft_ledger_list *list)
{
    return (struct weft_table){ .columns = columns,
                                .n_columns = sizeof columns / sizeof *columns,
                                .n_rows = list->n_listed,
                                .row = fill_row,
                                .context = list };
}

void weft_ledger_json(const struct weft_trace *trace, struct weft_json *json)
{
    const struct weft_ledger_totals *totals = &weft_trace_meta(trace)->ledger;
    if (totals->n_processes == 0) {
        weft_json_null(json, "program");
        return;
    }
    weft_json_begin_object(json, "program");
    weft_json_u64(json, "processes", totals->n_processes);
    for (unsigned state = 0; state < WEFT_LEDGER_STATES; state++)
        weft_json_u64(json, weft_ledger_state_name(state), totals->n_in_state[state]);
    weft_json_u64(json, "missing", totals->n_missing);
    weft_json_u64(json, "threads", totals->n_threads);
    weft_json_u64(json, "lost_threads", totals->n_lost_threads);
    weft_json_u64(json, "lost_records", totals->n_lost_records);
    weft_json_begin_object(json, "reasons");
    for (unsigned why = 1; why < WEFT_LEDGER_WHYS; why++)
        if (totals->n_by_why[why])
            weft_json_u64(json, weft_ledger_why_name(why), totals->n_by_why[why]);
    weft_json_end_object(json);
    weft_json_end_object(json);
}
