/* SPDX-License-Identifier: MIT
 *
 * What is in a trace, and what was lost or mended on the way: from the directory alone.
 */
#include "base/arena.h"
#include "model/trace.h"
#include "render/human.h"
#include "render/text/notes.h"
#include "render/text/render.h"
#include "render/text/table.h"
#include "render/text/tables.h"
#include "schema/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* ---- ledger ---------------------------------------------------------------------------------- */

/* The ledger of a recording, as a table: each process, and how much of it was recorded. */

struct weft_ledger_list {
    struct weft_ledger_process *rows;
    size_t n_listed;
};

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

/* All processes, or those of which something is missing. False without memory. */
static bool weft_ledger_list(const struct weft_trace *trace, struct weft_arena *arena, bool all,
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

/* `list` must live as long as the table. */
static struct weft_table weft_ledger_table(const struct weft_ledger_list *list)
{
    return (struct weft_table){ .type = &weft_processes_type,
                                .rows = list->rows,
                                .n_rows = list->n_listed };
}

/* Members "program": sums; null for a trace without a ledger. */
static void weft_ledger_json(const struct weft_trace *trace, struct weft_json *json)
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

/* ---- info ------------------------------------------------------------------------------------ */

struct info {
    const struct weft_view *view;
    const struct weft_info_view *opts;
    const struct weft_store_meta *meta;
    struct weft_arena *arena;
    struct weft_note_sums notes;
    uint64_t n_unnamed;
    struct weft_model_thread *threads; /* those that are listed */
    size_t n_listed;
    struct weft_ledger_list processes;
};

static uint64_t count_unnamed(const struct weft_trace *trace)
{
    uint64_t n_unnamed = 0;
    for (uint32_t id = 0; id < weft_trace_n_functions(trace); id++)
        n_unnamed += weft_store_function_get(weft_trace_store(trace), id)->name.n_bytes == 0;
    return n_unnamed;
}

static uint64_t kernel_events(const struct weft_store_meta *meta)
{
    uint64_t n_events = 0;
    for (int kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        if (weft_event_is_kernel((enum weft_event_kind)kind))
            n_events += meta->events_of_kind[kind];
    return n_events;
}

/* What no source counts may have been lost all the same. */
static bool is_loss_known(const struct info *info)
{
    return info->notes.lost > 0 || weft_trace_counts_losses(info->view->trace);
}

static double bytes_per_call(const struct weft_store_meta *meta)
{
    return meta->calls ? (double)meta->bytes_out / (double)meta->calls : 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_model_thread

/* Of threads that have events. */
static WEFT_GET(get_of_life)
{
    const ROW *thread = row;
    if (field->key)
        weft_field_read(field, context, row, cell);
    else
        cell->number = thread->last_ns - thread->first_ns;
    cell->is_null =
        thread->last_ns <= thread->first_ns && thread->calls == 0 && thread->events == 0;
}

static const struct weft_field thread_fields[] = {
    WEFT_FIELD("tid", "tid", ID, info.tid, "tid of the thread"),
    WEFT_FIELD("pid", "pid", ID, info.pid, "its process", .zero_is_unknown = true),
    WEFT_FIELD("generation", NULL, ID, info.generation, "how often the tid was used before"),
    WEFT_FIELD("name", "name", TEXT, info.name, "its name"),
    WEFT_FIELD("calls", "calls", COUNT, calls, "its calls"),
    WEFT_FIELD("cut_calls", "cut", COUNT, cut_calls, "calls entered before the trace"),
    WEFT_FIELD("max_depth", "depth", COUNT, max_depth, "deepest call"),
    WEFT_FIELD("first_ns", "first event", AT, first_ns, "its first event", .get = get_of_life),
    WEFT_FIELD("last_ns", "last event", AT, last_ns, "its last event", .get = get_of_life),
    WEFT_GETTER(NULL, "life", NS, get_of_life, "time between them"),
    WEFT_FIELD("events", "events", COUNT, events, "other events"),
    WEFT_FIELD("foreign", NULL, BOOL, info.is_foreign, "of another process than the program's"),
};

const struct weft_table_type weft_info_threads_type =
    WEFT_TABLE_TYPE("info_threads", "threads of a trace", thread_fields, ROW);

enum { EVENTS_COLUMN = 10 };

/* Text and CSV leave out threads of other processes, as asked; JSON has all. False without memory.
 */
static bool choose_threads(struct info *info)
{
    const struct weft_trace *trace = info->view->trace;
    const uint32_t n_threads = weft_trace_n_threads(trace);
    const bool has_all = info->view->format == WEFT_FORMAT_JSON || info->view->n_left_out == 0;
    info->threads = WEFT_ARENA_NEW(info->arena, n_threads, struct weft_model_thread);
    for (uint32_t id = 0; info->threads && id < n_threads; id++)
        if (has_all || !weft_trace_thread(trace, id)->info.is_foreign)
            info->threads[info->n_listed++] = *weft_trace_thread(trace, id);
    return info->threads != NULL;
}

/* As text, the column of events is left out when there are only calls. */
static struct weft_table threads_table(const struct info *info)
{
    const bool has_events = info->view->format != WEFT_FORMAT_TEXT || info->meta->events > 0;
    return (struct weft_table){ .type = &weft_info_threads_type,
                                .rows = info->threads,
                                .n_rows = info->n_listed,
                                .omitted = has_events ? 0 : UINT64_C(1) << EVENTS_COLUMN };
}

/* ---- notes ----------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_note_sum

WEFT_NAME_OF(class_name, weft_note_class_name, enum weft_note_class)
WEFT_NAME_OF(note_name, weft_note_name, enum weft_note_kind)
WEFT_NAME_OF(note_text, weft_note_text, enum weft_note_kind)

static WEFT_GET(get_class)
{
    weft_field_read(field, context, row, cell);
    cell->is_bad = ((const ROW *)row)->class == WEFT_NOTE_CLASS_LOST;
}

static WEFT_GET(get_offset)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = cell->number == WEFT_NO_OFFSET;
}

static const struct weft_field note_fields[] = {
    WEFT_FIELD("class", "class", TEXT, class, "lost, repaired or note", .as = WEFT_AS_NAME,
               .name = class_name, .get = get_class),
    WEFT_FIELD("kind", NULL, TEXT, kind, "what was found", .as = WEFT_AS_NAME, .name = note_name),
    WEFT_FIELD("count", "count", COUNT, count, "how often"),
    WEFT_FIELD("threads", "threads", COUNT, n_threads, "threads; unknown: the whole trace",
               .zero_is_unknown = true),
    WEFT_FIELD("first_offset", "first byte", ID, first_off, "offset of the first in the input",
               .get = get_offset),
    WEFT_FIELD("text", "what", TEXT, kind, "the same in words", .as = WEFT_AS_NAME,
               .name = note_text),
    WEFT_FIELD("detail", "detail", TEXT, detail, "detail"),
};

const struct weft_table_type weft_notes_type =
    WEFT_TABLE_TYPE("notes", "losses, repairs and other notes", note_fields, ROW);

static struct weft_table notes_table(const struct info *info)
{
    return (struct weft_table){ .type = &weft_notes_type,
                                .rows = info->notes.rows,
                                .n_rows = info->notes.n_rows };
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { LABEL_COLUMNS = 13 }; /* with the indent */

static void label(const struct info *info, const char *text)
{
    char padded[32];
    snprintf(padded, sizeof padded, "  %-11s", text);
    weft_view_dim(info->view, padded);
}

static void print_source(const struct info *info)
{
    struct weft_output *out = weft_view_line(info->view);
    const struct weft_store_meta *meta = info->meta;
    label(info, "from");
    weft_output_plain(out, meta->source_name);
    weft_output_text(out, meta->source_name.n_bytes ? " (" : "(");
    weft_output_plain(out, meta->format);
    weft_output_text(out, meta->details.n_bytes ? ", " : "");
    weft_output_plain(out, meta->details);
    weft_output_text(out, ")");
    weft_view_line_end(info->view, out, LABEL_COLUMNS);
}

static void print_time(const struct info *info)
{
    struct weft_output *out = info->view->out;
    const struct weft_clock *clock = &info->meta->clock;
    label(info, "time");
    weft_output_printf(out, "%s", weft_human_ns(info->meta->duration_ns).text);
    if (clock->frequency_hz != 1000000000)
        weft_output_printf(out, ", clock %.6g MHz", (double)clock->frequency_hz / 1e6);
    weft_output_printf(out, ", zero at tick %" PRIu64, clock->zero_ticks);
    if (clock->has_realtime) {
        char stamp[32] = "";
        time_t seconds = (time_t)(clock->realtime_ns / 1000000000);
        struct tm broken;
        if (gmtime_r(&seconds, &broken))
            strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &broken);
        weft_output_printf(out, ", %s UTC", stamp);
    }
    weft_output_text(out, "\n");
}

/* How many events there are, and of the most frequent kinds. */
static void print_events(const struct info *info)
{
    enum { MOST_KINDS = 6 };
    uint64_t left[WEFT_EVENT_KINDS];
    uint64_t n_left = info->meta->events;
    memcpy(left, info->meta->events_of_kind, sizeof left);
    if (n_left == 0)
        return;
    struct weft_output *out = weft_view_line(info->view);
    label(info, "events");
    weft_output_printf(out, "%s:", weft_human_count(n_left).text);
    for (int i = 0; i < MOST_KINDS && n_left > 0; i++) {
        int most = 0;
        for (int kind = 1; kind < WEFT_EVENT_KINDS; kind++)
            most = left[kind] > left[most] ? kind : most;
        weft_output_printf(out, "%s %s %s", i ? "," : "", weft_human_count(left[most]).text,
                           weft_event_kind_name((enum weft_event_kind)most));
        n_left -= left[most];
        left[most] = 0;
    }
    if (n_left > 0)
        weft_output_printf(out, ", %s of other kinds", weft_human_count(n_left).text);
    weft_view_line_end(info->view, out, LABEL_COLUMNS);
}

static void print_counts(const struct info *info)
{
    struct weft_output *out = info->view->out;
    const struct weft_store_meta *meta = info->meta;
    label(info, "threads");
    weft_output_printf(out, "%s", weft_human_count(meta->n_threads).text);
    if (weft_trace_n_foreign(info->view->trace) > 0)
        weft_output_printf(out, ", %s of them in other processes than the recorded program's",
                           weft_human_count(weft_trace_n_foreign(info->view->trace)).text);
    weft_output_text(out, "\n");
    label(info, "functions");
    weft_output_printf(out, "%s", weft_human_count(meta->n_functions).text);
    if (info->n_unnamed > 0)
        weft_output_printf(
            out, ", %s of them without a name (shown as #id; import with --binary or --map)",
            weft_human_count(info->n_unnamed).text);
    weft_output_text(out, "\n");
    label(info, "calls");
    weft_output_printf(out, "%s", weft_human_count(meta->calls).text);
    if (meta->cut_calls > 0)
        weft_output_printf(out, ", and %s more that were entered before the trace",
                           weft_human_count(meta->cut_calls).text);
    weft_output_text(out, "\n");
    print_events(info);
}

/* The processes of the recorded program, where a recording lists them. */
static void print_program(const struct info *info)
{
    const struct weft_ledger_totals *ledger = &info->meta->ledger;
    char text[512];
    if (ledger->n_processes == 0)
        return;
    weft_ledger_describe(ledger, text, sizeof text);
    struct weft_output *out = weft_view_line(info->view);
    label(info, "program");
    weft_output_printf(out, "%s; %s thread%s", text, weft_human_count(ledger->n_threads).text,
                       ledger->n_threads == 1 ? "" : "s");
    if (ledger->n_lost_threads)
        weft_output_printf(out, ", %s of them not recorded",
                           weft_human_count(ledger->n_lost_threads).text);
    weft_view_line_end(info->view, out, LABEL_COLUMNS);
}

/* Those that are not wholly recorded, the first ones. */
static void print_processes(const struct info *info)
{
    enum { MOST_ROWS = 20 };
    struct weft_ledger_list shown = info->processes;
    if (shown.n_listed == 0)
        return;
    if (!info->opts->with_threads && shown.n_listed > MOST_ROWS)
        shown.n_listed = MOST_ROWS;
    struct weft_table table = weft_ledger_table(&shown);
    weft_output_text(info->view->out, "\n");
    weft_table_text(&table, &info->view->style, info->view->out);
    if (shown.n_listed < info->processes.n_listed)
        weft_output_printf(info->view->out, "%s more: --threads\n",
                           weft_human_count(info->processes.n_listed - shown.n_listed).text);
}

static void print_size(const struct info *info)
{
    struct weft_output *out = info->view->out;
    const struct weft_store_meta *meta = info->meta;
    label(info, "size");
    weft_output_printf(out, "%s", weft_human_bytes(meta->bytes_out).text);
    if (meta->calls > 0)
        weft_output_printf(out, ", %.3g bytes a call", bytes_per_call(meta));
    if (meta->bytes_in > 0 && meta->bytes_out > 0)
        weft_output_printf(out, "; %s when imported (%s times)",
                           weft_human_bytes(meta->bytes_in).text,
                           weft_human_ratio((double)meta->bytes_in / (double)meta->bytes_out).text);
    weft_output_text(out, "\n");
}

/* A paragraph for each: class, count, what happened, and its detail. */
static void print_notes(const struct info *info)
{
    enum { CLASS_COLUMNS = 10, COUNT_COLUMNS = 11, INDENT = CLASS_COLUMNS + COUNT_COLUMNS + 2 };
    weft_output_text(info->view->out, "\n");
    for (size_t i = 0; i < info->notes.n_rows; i++) {
        const struct weft_note_sum *note = &info->notes.rows[i];
        char text[64];
        (void)snprintf(text, sizeof text, "%-*s%*s  ", CLASS_COLUMNS, class_name(note->class),
                       COUNT_COLUMNS, weft_human_count(note->count).text);
        if (note->class == WEFT_NOTE_CLASS_LOST)
            weft_view_bold(info->view, text);
        else
            weft_output_text(info->view->out, text);
        struct weft_output *out = weft_view_line(info->view);
        weft_output_text(out, note_text(note->kind));
        if (note->n_threads > 0)
            weft_output_printf(out, " (%s)", weft_human_plural(note->n_threads, "thread").text);
        if (note->first_off != WEFT_NO_OFFSET)
            weft_output_printf(out, " (first at byte %" PRIu64 ")", note->first_off);
        weft_output_text(out, note->detail.n_bytes > 0 ? ": " : "");
        weft_output_plain(out, note->detail);
        weft_view_line_end(info->view, out, INDENT);
    }
}

static void print_damage(const struct info *info)
{
    struct weft_output *out = info->view->out;
    if (info->meta->is_recovered) {
        label(info, "recovered");
        weft_output_printf(out,
                           "the file ends early: read without its directory; the last %s are in no "
                           "whole block\n",
                           weft_human_bytes(info->meta->lost_bytes).text);
    }
    if (info->notes.n_rows == 0) {
        label(info, "notes");
        weft_output_text(out, is_loss_known(info)
                                  ? "none: no data loss, nothing repaired\n"
                                  : "none: nothing repaired; this format does not count losses\n");
        return;
    }
    print_notes(info);
}

static void print_text(const struct info *info)
{
    weft_view_headline(info->view, "");
    print_source(info);
    print_time(info);
    print_counts(info);
    print_program(info);
    print_size(info);
    print_damage(info);
    print_processes(info);
    if (info->opts->with_threads) {
        struct weft_table threads = threads_table(info);
        weft_output_text(info->view->out, "\n");
        weft_view_left_out(info->view);
        weft_table_text(&threads, &info->view->style, info->view->out);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_clock(const struct info *info, struct weft_json *json)
{
    const struct weft_clock *clock = &info->meta->clock;
    weft_json_begin_object(json, "clock");
    weft_json_u64(json, "frequency_hz", clock->frequency_hz);
    weft_json_u64(json, "zero_ticks", clock->zero_ticks);
    if (clock->has_monotonic)
        weft_json_u64(json, "monotonic_ns", clock->monotonic_ns);
    else
        weft_json_null(json, "monotonic_ns");
    if (clock->has_realtime)
        weft_json_u64(json, "realtime_ns", clock->realtime_ns);
    else
        weft_json_null(json, "realtime_ns");
    weft_json_end_object(json);
}

static void json_events(const struct info *info, struct weft_json *json)
{
    weft_json_u64(json, "events", info->meta->events);
    weft_json_begin_object(json, "events_by_kind");
    for (int kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        if (info->meta->events_of_kind[kind] > 0)
            weft_json_u64(json, weft_event_kind_name((enum weft_event_kind)kind),
                          info->meta->events_of_kind[kind]);
    weft_json_end_object(json);
}

static void print_json(const struct info *info)
{
    const struct weft_store_meta *meta = info->meta;
    struct weft_json *json = weft_view_json(info->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_str(json, "source", meta->source_name);
    weft_json_str(json, "format", meta->format);
    weft_json_str(json, "details", meta->details);
    weft_json_u64(json, "version", meta->version);
    weft_json_u64(json, "threads", meta->n_threads);
    weft_json_u64(json, "foreign_threads", weft_trace_n_foreign(info->view->trace));
    weft_json_u64(json, "functions", meta->n_functions);
    weft_json_u64(json, "unnamed_functions", info->n_unnamed);
    weft_json_u64(json, "calls", meta->calls);
    weft_json_u64(json, "cut_calls", meta->cut_calls);
    weft_json_u64(json, "kernel_events", kernel_events(meta));
    json_events(info, json);
    weft_json_u64(json, "duration_ns", meta->duration_ns);
    if (is_loss_known(info))
        weft_json_u64(json, "lost", info->notes.lost);
    else
        weft_json_null(json, "lost");
    weft_json_u64(json, "repaired", info->notes.repaired);
    weft_ledger_json(info->view->trace, json);
    weft_json_u64(json, "bytes_in", meta->bytes_in);
    weft_json_u64(json, "bytes_out", meta->bytes_out);
    if (meta->calls)
        weft_json_real(json, "bytes_per_call", bytes_per_call(meta));
    else
        weft_json_null(json, "bytes_per_call");
    weft_json_bool(json, "recovered", meta->is_recovered);
    weft_json_u64(json, "lost_bytes", meta->lost_bytes);
    json_clock(info, json);
    struct weft_table notes = notes_table(info), threads = threads_table(info);
    weft_table_json(&notes, "notes", json);
    weft_json_new_line(json);
    struct weft_table processes = weft_ledger_table(&info->processes);
    weft_table_json(&processes, "process_list", json);
    weft_json_new_line(json);
    weft_table_json(&threads, "thread_list", json);
    weft_json_end_object(json);
    weft_view_json_end(info->view, json);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void print_csv(const struct info *info)
{
    const struct weft_store_meta *meta = info->meta;
    struct weft_output *out = info->view->out;
    struct weft_table threads = threads_table(info);
    if (info->opts->with_threads) {
        weft_table_csv(&threads, out);
        return;
    }
    weft_output_text(out, "threads,functions,unnamed_functions,calls,cut_calls,kernel_events,"
                          "events,duration_ns,lost,repaired,bytes_in,bytes_out\n");
    char lost[24] = "";
    if (is_loss_known(info))
        (void)snprintf(lost, sizeof lost, "%" PRIu64, info->notes.lost);
    weft_output_printf(out,
                       "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                       ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                       meta->n_threads, meta->n_functions, info->n_unnamed, meta->calls,
                       meta->cut_calls, kernel_events(meta), meta->events, meta->duration_ns, lost,
                       info->notes.repaired, meta->bytes_in, meta->bytes_out);
}

void weft_render_info(const struct weft_view *view, const struct weft_info_view *opts)
{
    struct weft_err err = { 0 };
    struct weft_arena *arena = weft_arena_new(0);
    struct info info = { .view = view,
                         .opts = opts,
                         .meta = weft_trace_meta(view->trace),
                         .arena = arena,
                         .n_unnamed = count_unnamed(view->trace) };
    enum weft_code code = arena ? weft_note_sums(view->trace, arena, &info.notes, &err)
                                : weft_no_memory(&err, "the notes");
    if (code == WEFT_OK && !choose_threads(&info))
        code = weft_no_memory(&err, "the threads");
    if (code == WEFT_OK &&
        !weft_ledger_list(view->trace, arena, view->format == WEFT_FORMAT_JSON, &info.processes))
        code = weft_no_memory(&err, "the processes");
    if (code != WEFT_OK)
        weft_output_fail(view->out, &err);
    else if (view->format == WEFT_FORMAT_JSON)
        print_json(&info);
    else if (view->format == WEFT_FORMAT_CSV)
        print_csv(&info);
    else
        print_text(&info);
    weft_output_release(view->out, arena);
}
