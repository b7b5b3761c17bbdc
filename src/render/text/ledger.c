/* SPDX-License-Identifier: MIT
 *
 * See ledger.h.
 */
#include "render/text/ledger.h"

#include "render/text/tables.h"

#define ROW struct weft_ledger_process

WEFT_NAME_OF(state_name, weft_ledger_state_name, unsigned)
WEFT_NAME_OF(why_name, weft_ledger_why_name, unsigned)
WEFT_NAME_OF(why_text, weft_ledger_why_text, unsigned)

/* The rest says much of the machine. */
static WEFT_GET(get_name)
{
    cell->text = weft_str_base(((const ROW *)row)->name);
}

static WEFT_GET(get_state)
{
    const ROW *process = row;
    weft_field_read(field, context, row, cell);
    cell->is_bad =
        process->state != WEFT_LEDGER_RECORDED && !weft_ledger_is_asked_for(process->why);
}

static WEFT_GET(get_time)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = cell->number == WEFT_LEDGER_NO_TIME;
}

#define TIME(key, head, member, doc) WEFT_FIELD(key, head, AT, member, doc, .get = get_time)
#define LEVEL(key, head, flag, doc)                                                                \
    WEFT_FIELD(key, head, BOOL, levels, doc, .as = WEFT_AS_FLAG, .arg = flag)

static const struct weft_field fields[] = {
    WEFT_FIELD("pid", "pid", ID, pid, "the process"),
    WEFT_FIELD("parent", NULL, ID, parent, "its parent", .zero_is_unknown = true),
    WEFT_FIELD("host", NULL, ID, host_id, "its host"),
    WEFT_FIELD("name", "program", TEXT, name, "the program it ran last", .get = get_name),
    WEFT_FIELD("state", "recorded", TEXT, state, "recorded, partly or not_recorded",
               .as = WEFT_AS_NAME, .name = state_name, .get = get_state),
    WEFT_FIELD("why", NULL, TEXT, why, "why not, or only partly", .as = WEFT_AS_NAME,
               .name = why_name),
    LEVEL("by_kernel", "kernel", WEFT_LEDGER_BY_KERNEL, "recorded by the kernel"),
    LEVEL("by_library", "library", WEFT_LEDGER_BY_LIBRARY, "recorded by the library"),
    WEFT_FIELD("start_ns", "start", AT, start_ns, "its start"),
    TIME("end_ns", "end", end_ns, "its end"),
    TIME("from_ns", "from", from_ns, "recorded from here"),
    TIME("until_ns", "until", until_ns, "recorded up to here"),
    WEFT_FIELD("threads", "threads", COUNT, n_threads, "its threads"),
    WEFT_FIELD("lost_threads", "without ring", COUNT, n_lost_threads, "threads without a ring",
               .is_bad = true),
    WEFT_FIELD("records", "records", COUNT, n_records, "records of the library"),
    WEFT_FIELD("lost_records", "lost", COUNT, n_lost_records, "records lost", .is_bad = true),
    WEFT_FIELD("reason", "reason", TEXT, why, "the reason in words", .as = WEFT_AS_NAME,
               .name = why_text),
};

const struct weft_table_type weft_processes_type =
    WEFT_TABLE_TYPE("processes", "processes of the recorded program", fields, ROW);

bool weft_ledger_list(const struct weft_trace *trace, struct weft_arena *arena, bool all,
                      struct weft_ledger_list *list)
{
    const struct weft_store *store = weft_trace_store(trace);
    const size_t n_processes = weft_store_n_processes(store);
    *list = (struct weft_ledger_list){ .rows = WEFT_ARENA_NEW(arena, n_processes,
                                                              struct weft_ledger_process) };
    for (size_t k = 0; list->rows && k < n_processes; k++) {
        const struct weft_ledger_process *process = weft_store_process_get(store, k);
        if (all || process->state != WEFT_LEDGER_RECORDED)
            list->rows[list->n_listed++] = *process;
    }
    return list->rows != NULL;
}

struct weft_table weft_ledger_table(const struct weft_ledger_list *list)
{
    return (struct weft_table){ .type = &weft_processes_type,
                                .rows = list->rows,
                                .n_rows = list->n_listed };
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
