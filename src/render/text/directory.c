/* SPDX-License-Identifier: MIT */
#include "render/text/directory.h"

#include "base/arena.h"
#include "base/checked.h"
#include "model/graph/waiting.h"
#include "render/text/notes.h"
#include "render/text/tables.h"

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

/* ---- threads --------------------------------------------------------------------------------- */

struct thread_row {
    uint32_t id;
    struct weft_model_thread thread;
    uint64_t lost; /* what the source says it lost of it */
};

#define ROW struct thread_row

enum { KNOWN_LOSSES = 1 };

static WEFT_GET(get_lost)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = cell->number == 0 && !(context->known & KNOWN_LOSSES);
}

static const struct weft_field thread_fields[] = {
    WEFT_FIELD("id", NULL, ID, id, "dense id of the thread"),
    WEFT_FIELD("tid", NULL, ID, thread.info.tid, "its tid"),
    WEFT_FIELD("pid", NULL, ID, thread.info.pid, "its process; 0: unknown"),
    WEFT_FIELD("name", NULL, TEXT, thread.info.name, "its name"),
    WEFT_FIELD("calls", NULL, COUNT, thread.calls, "its calls"),
    WEFT_FIELD("cut_calls", NULL, COUNT, thread.cut_calls, "calls entered before the trace"),
    WEFT_FIELD("events", NULL, COUNT, thread.events, "other events"),
    WEFT_FIELD("first_ns", NULL, AT, thread.first_ns, "its first event"),
    WEFT_FIELD("last_ns", NULL, AT, thread.last_ns, "its last event"),
    WEFT_FIELD("max_depth", NULL, ID, thread.max_depth, "deepest call"),
    WEFT_FIELD("lost", NULL, COUNT, lost, "records lost", .get = get_lost),
};

const struct weft_table_type weft_trace_threads_type =
    WEFT_TABLE_TYPE("trace_threads", "threads of a trace", thread_fields, ROW);

static int by_id(const void *id_void, const void *row_void)
{
    const uint32_t id = *(const uint32_t *)id_void;
    const struct thread_row *row = row_void;
    return (id > row->id) - (id < row->id);
}

/* The row of a thread; NULL: it has none. */
static struct thread_row *row_of(struct thread_row *rows, size_t n_rows, uint32_t id)
{
    return n_rows ? bsearch(&id, rows, n_rows, sizeof *rows, by_id) : NULL;
}

/* Losses of which it is known whose they are. */
static void add_losses(const struct weft_trace *trace, struct thread_row *rows, size_t n_rows)
{
    for (size_t i = 0; i < weft_trace_meta(trace)->n_notes; i++) {
        const struct weft_note *note = weft_trace_note(trace, i);
        struct thread_row *row = row_of(rows, n_rows, note->thread_id);
        if (row && weft_note_class_of(note->kind) == WEFT_NOTE_CLASS_LOST)
            row->lost = weft_add_sat_u64(row->lost, note->count);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_name_sum

enum name { NAME_OF_FUNCTION, NAME_OF_MODULE, NAME_IS_WAIT };

static WEFT_GET(get_name)
{
    const struct weft_function *function =
        context->function(context->trace, (uint32_t)context->place);
    cell->text = field->arg == NAME_OF_MODULE ? function->module : function->name;
    cell->number = field->arg == NAME_IS_WAIT && weft_is_wait_name(function->name);
}

static const struct weft_field function_fields[] = {
    { .key = "id", .unit = WEFT_UNIT_ID, .as = WEFT_AS_PLACE, .doc = "dense id of the function" },
    WEFT_GETTER("name", NULL, TEXT, get_name, "its name", .arg = NAME_OF_FUNCTION),
    WEFT_GETTER("module", NULL, TEXT, get_name, "its module", .arg = NAME_OF_MODULE),
    WEFT_GETTER("is_wait", NULL, BOOL, get_name, "its name is one of waits", .arg = NAME_IS_WAIT),
    WEFT_FIELD("count", NULL, COUNT, count, "its calls"),
    WEFT_FIELD("self_ns", NULL, NS, self_ns, "its self time"),
};

const struct weft_table_type weft_trace_functions_type =
    WEFT_TABLE_TYPE("trace_functions", "functions of a trace", function_fields, ROW);

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

void weft_render_threads(const struct weft_view *view, const uint32_t *ids, size_t n_ids)
{
    const size_t n_threads = ids ? n_ids : weft_trace_n_threads(view->trace);
    struct weft_arena *arena = weft_arena_new(0);
    struct thread_row *rows = arena ? WEFT_ARENA_NEW(arena, n_threads, struct thread_row) : NULL;
    struct weft_table table = { .type = &weft_trace_threads_type,
                                .rows = rows,
                                .n_rows = rows ? n_threads : 0,
                                .in = weft_view_context(view, NULL) };
    table.in.known = weft_trace_counts_losses(view->trace) ? KNOWN_LOSSES : 0;
    for (size_t i = 0; i < table.n_rows; i++) {
        const uint32_t id = ids ? ids[i] : (uint32_t)i;
        rows[i] = (struct thread_row){ id, *weft_trace_thread(view->trace, id), 0 };
    }
    add_losses(view->trace, rows, table.n_rows);
    render_rows(view, &table, "threads");
    weft_output_release(view->out, arena);
}

void weft_render_names(const struct weft_view *view, const struct weft_name_sum *sums)
{
    const struct weft_table table = { .type = &weft_trace_functions_type,
                                      .rows = sums,
                                      .n_rows = weft_trace_n_functions(view->trace),
                                      .in = weft_view_context(view, NULL) };
    render_rows(view, &table, "functions");
}
