/* SPDX-License-Identifier: MIT
 *
 * A critical path: a picture, its segments, and where its time went.
 */
#include "base/arena.h"
#include "render/human.h"
#include "render/text/lock_label.h"
#include "render/text/path_picture.h"
#include "render/text/render.h"
#include "schema/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct path {
    const struct weft_view *view;
    const struct weft_path_table *table;
    const struct weft_path_view *opts;
    const uint32_t *shown; /* segments, ascending */
    size_t n_shown;
    struct weft_lock_label *lock_names; /* by place in table->locks */
};

static const struct weft_thread_info *thread_of(const struct path *path, uint32_t thread_id)
{
    return &weft_trace_thread(path->view->trace, thread_id)->info;
}

static uint64_t length_of(const struct weft_path_segment *segment)
{
    return segment->end_ns - segment->start_ns;
}

static double share_of(const struct path *path, uint64_t part_ns)
{
    const uint64_t whole_ns = path->table->to_ns - path->table->from_ns;
    return whole_ns ? (double)part_ns / (double)whole_ns : 0;
}

static void put_thread(const struct path *path, uint32_t thread_id, struct weft_cell *tid,
                       struct weft_cell *name)
{
    const bool is_known = thread_id != WEFT_ID_NONE;
    tid->is_null = name->is_null = !is_known;
    if (!is_known)
        return;
    tid->number = thread_of(path, thread_id)->tid;
    name->text = thread_of(path, thread_id)->name;
}

/* The frame of a folded stack from which the kernel was entered, or the innermost. */
static struct weft_str innermost(struct weft_str stack)
{
    static const char *const entries[] = { "entry_SYSCALL", "entry_SYSENTER", "asm_",
                                           "el0t_",         "el1h_",          "__traceiter" };
    struct weft_str last = { 0 };
    for (size_t at = 0; at < stack.n_bytes;) {
        const char *end = memchr(stack.bytes + at, ';', stack.n_bytes - at);
        const size_t n = end ? (size_t)(end - stack.bytes) - at : stack.n_bytes - at;
        const struct weft_str frame = { .bytes = stack.bytes + at, .n_bytes = n };
        for (size_t k = 0; k < sizeof entries / sizeof *entries; k++)
            if (last.n_bytes && n >= strlen(entries[k]) &&
                memcmp(frame.bytes, entries[k], strlen(entries[k])) == 0)
                return last;
        last = frame;
        at += n + 1;
    }
    return last;
}

/* A function, or without calls the frame of a stack. */
static void put_place(const struct path *path, uint32_t function_id, struct weft_str stack,
                      struct weft_cell *cell)
{
    cell->is_null = function_id == WEFT_ID_NONE && stack.n_bytes == 0;
    if (function_id != WEFT_ID_NONE)
        cell->text = weft_trace_function(path->view->trace, function_id)->name;
    else
        cell->text = innermost(stack);
}

static void put_function(const struct path *path, uint32_t function_id, struct weft_cell *cell)
{
    cell->is_null = function_id == WEFT_ID_NONE;
    if (!cell->is_null)
        cell->text = weft_trace_function(path->view->trace, function_id)->name;
}

/* ---- segments -------------------------------------------------------------------------------- */

static const struct weft_column segment_columns[] = {
    { "start_ns", "at", WEFT_CELL_AT },
    { "end_ns", NULL, WEFT_CELL_AT },
    { NULL, "time", WEFT_CELL_NS },
    { NULL, "share", WEFT_CELL_SHARE },
    { "tid", "tid", WEFT_CELL_ID },
    { "thread", "thread", WEFT_CELL_TEXT },
    { "host", NULL, WEFT_CELL_ID },
    { "state", "state", WEFT_CELL_TEXT },
    { "reason", "reason", WEFT_CELL_TEXT },
    { "name", "in", WEFT_CELL_TEXT },
    { "function", "function", WEFT_CELL_TEXT },
    { "function_ns", NULL, WEFT_CELL_NS },
    { "cpu", NULL, WEFT_CELL_ID },
    { "depth", NULL, WEFT_CELL_ID },
    { "other_tid", "by", WEFT_CELL_ID },
    { "other_thread", "other thread", WEFT_CELL_TEXT },
    { "other_ns", NULL, WEFT_CELL_NS },
    { "other_function", "its function", WEFT_CELL_TEXT },
    { "in_flight", NULL, WEFT_CELL_BOOL },
    { "uncertain", NULL, WEFT_CELL_BOOL },
    { "cycle", NULL, WEFT_CELL_BOOL },
    { "too_deep", NULL, WEFT_CELL_BOOL },
    { "unfinished", NULL, WEFT_CELL_BOOL },
    { "stack", NULL, WEFT_CELL_TEXT },
    { "other_stack", NULL, WEFT_CELL_TEXT },
    { "span", NULL, WEFT_CELL_TEXT },
    { "span_ns", NULL, WEFT_CELL_NS },
};

static void segment_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct path *path = context;
    const struct weft_path_segment *segment = &path->table->segments[path->shown[row]];
    cells[0].number = segment->start_ns;
    cells[1].number = segment->end_ns;
    cells[2].number = length_of(segment);
    cells[3].real = share_of(path, length_of(segment));
    put_thread(path, segment->thread_id, &cells[4], &cells[5]);
    cells[6].number = thread_of(path, segment->thread_id)->host_id;
    cells[7].text = weft_str_of(weft_path_state_name(segment->state));
    cells[8].is_null = segment->reason == WEFT_PATH_NO_REASON;
    cells[8].text = weft_str_of(weft_path_reason_name(segment->reason));
    cells[9].is_null = segment->name.n_bytes == 0;
    cells[9].text = segment->name;
    put_place(path, segment->function_id, segment->stack, &cells[10]);
    cells[11].number = segment->function_ns;
    cells[12].is_null = segment->cpu < 0;
    cells[12].number = segment->cpu < 0 ? 0 : (uint64_t)segment->cpu;
    cells[13].number = segment->depth;
    put_thread(path, segment->other_thread_id, &cells[14], &cells[15]);
    cells[16].number = segment->other_ns;
    put_place(path, segment->other_function_id, segment->other_stack, &cells[17]);
    for (unsigned k = 0; k < 5; k++) /* in the order of enum weft_path_flag */
        cells[18 + k].number = segment->flags >> k & 1;
    cells[23].is_null = segment->stack.n_bytes == 0;
    cells[23].text = segment->stack;
    cells[24].is_null = segment->other_stack.n_bytes == 0;
    cells[24].text = segment->other_stack;
    cells[25].is_null = segment->span.n_bytes == 0;
    cells[25].text = segment->span;
    cells[26].number = segment->span_ns;
}

static void put_id(struct weft_json *json, const char *key, uint32_t id)
{
    if (id == WEFT_ID_NONE)
        weft_json_null(json, key);
    else
        weft_json_u64(json, key, id);
}

static void segment_ids(const void *context, size_t row, struct weft_json *json)
{
    const struct path *path = context;
    const struct weft_path_segment *segment = &path->table->segments[path->shown[row]];
    weft_json_u64(json, "thread_id", segment->thread_id);
    put_id(json, "fn", segment->function_id);
    put_id(json, "other_thread_id", segment->other_thread_id);
}

/* ---- the other lists ------------------------------------------------------------------------- */

static const struct weft_column arrow_columns[] = {
    { "from_ns", NULL, WEFT_CELL_AT },  { "to_ns", NULL, WEFT_CELL_AT },
    { "from_tid", NULL, WEFT_CELL_ID }, { "from_host", NULL, WEFT_CELL_ID },
    { "to_tid", NULL, WEFT_CELL_ID },   { "to_host", NULL, WEFT_CELL_ID },
    { "edge", NULL, WEFT_CELL_TEXT },   { "uncertain", NULL, WEFT_CELL_BOOL },
    { "wait_ns", NULL, WEFT_CELL_NS },  { "lock_id", NULL, WEFT_CELL_ID },
};

static void arrow_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct path *path = context;
    const struct weft_path_arrow *arrow = &path->table->arrows[row];
    cells[0].number = arrow->from_ns;
    cells[1].number = arrow->to_ns;
    cells[2].number = thread_of(path, arrow->from_thread_id)->tid;
    cells[3].number = thread_of(path, arrow->from_thread_id)->host_id;
    cells[4].number = thread_of(path, arrow->to_thread_id)->tid;
    cells[5].number = thread_of(path, arrow->to_thread_id)->host_id;
    cells[6].text = weft_str_of(weft_path_edge_name(arrow->edge));
    cells[7].number = arrow->flags & WEFT_PATH_UNCERTAIN ? 1 : 0;
    cells[8] =
        (struct weft_cell){ .number = arrow->wait_ns, .is_null = arrow->edge == WEFT_PATH_WAIT };
    cells[9] = (struct weft_cell){ .number = arrow->lock ? arrow->lock - 1 : 0,
                                   .is_null = arrow->lock == 0 };
}

static void arrow_ids(const void *context, size_t row, struct weft_json *json)
{
    const struct path *path = context;
    const struct weft_path_arrow *arrow = &path->table->arrows[row];
    weft_json_u64(json, "from_thread_id", arrow->from_thread_id);
    weft_json_u64(json, "to_thread_id", arrow->to_thread_id);
}

static const struct weft_column lock_columns[] = {
    { "lock_id", NULL, WEFT_CELL_ID },     { "edge", "by", WEFT_CELL_TEXT },
    { "kind", "kind", WEFT_CELL_TEXT },    { "lock", "of", WEFT_CELL_TEXT },
    { "count", "waits", WEFT_CELL_COUNT }, { "sum_ns", "time", WEFT_CELL_NS },
    { NULL, "share", WEFT_CELL_SHARE },    { "longest_ns", "longest", WEFT_CELL_NS },
};

static void lock_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct path *path = context;
    const struct weft_path_lock_row *lock = &path->table->locks[row];
    cells[0].number = row;
    cells[1].text = weft_str_of(weft_path_edge_name(lock->edge));
    cells[2].text = weft_str_of(weft_lock_kind_name(lock->object.kind));
    cells[3].text = weft_str_of(path->lock_names[row].text);
    cells[4].number = lock->count;
    cells[5].number = lock->sum_ns;
    cells[6].real = share_of(path, lock->sum_ns);
    cells[7].number = lock->longest_ns;
}

static const struct weft_column reason_columns[] = {
    { "state", "state", WEFT_CELL_TEXT },        { "reason", "reason", WEFT_CELL_TEXT },
    { "sum_ns", "time", WEFT_CELL_NS },          { NULL, "share", WEFT_CELL_SHARE },
    { "segments", "segments", WEFT_CELL_COUNT },
};

static void reason_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct path *path = context;
    const struct weft_path_reason_row *reason = &path->table->reasons[row];
    cells[0].text = weft_str_of(weft_path_state_name(reason->state));
    cells[1].is_null = reason->reason == WEFT_PATH_NO_REASON;
    cells[1].text = weft_str_of(weft_path_reason_name(reason->reason));
    cells[2].number = reason->sum_ns;
    cells[3].real = share_of(path, reason->sum_ns);
    cells[4].number = reason->segments;
}

static const struct weft_column thread_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "host", NULL, WEFT_CELL_ID },
    { "name", "thread", WEFT_CELL_TEXT },
    { "sum_ns", "time", WEFT_CELL_NS },
    { NULL, "share", WEFT_CELL_SHARE },
    { "running_ns", "running", WEFT_CELL_NS },
    { "user_ns", "user", WEFT_CELL_NS },
    { "kernel_ns", "in kernel", WEFT_CELL_NS },
    { "interrupted_ns", "interrupted", WEFT_CELL_NS },
    { "preempted_ns", "preempted", WEFT_CELL_NS },
    { "blocked_ns", "blocked", WEFT_CELL_NS },
    { "unknown_ns", "unknown", WEFT_CELL_NS },
    { "segments", "segments", WEFT_CELL_COUNT },
};

static void thread_row(const void *context, size_t row, struct weft_cell *cells)
{
    static const uint8_t order[] = { WEFT_PATH_USER,      WEFT_PATH_KERNEL,  WEFT_PATH_INTERRUPTED,
                                     WEFT_PATH_PREEMPTED, WEFT_PATH_BLOCKED, WEFT_PATH_UNKNOWN };
    const struct path *path = context;
    const struct weft_path_thread_row *thread = &path->table->threads[row];
    put_thread(path, thread->thread_id, &cells[0], &cells[2]);
    cells[1].number = thread_of(path, thread->thread_id)->host_id;
    cells[3].number = thread->sum_ns;
    cells[4].real = share_of(path, thread->sum_ns);
    for (size_t k = 0; k < sizeof order; k++)
        cells[6 + k].number = thread->by_state_ns[order[k]];
    const uint64_t moded_ns = cells[6].number + cells[7].number;
    cells[5].number = moded_ns + thread->by_state_ns[WEFT_PATH_RUNNING];
    cells[6].is_null = cells[7].is_null = moded_ns < thread->by_state_ns[WEFT_PATH_RUNNING];
    /* Without a kernel it is unknown what else a processor did. */
    cells[8].is_null = cells[9].is_null = !path->table->has_kernel;
    cells[12].number = thread->segments;
}

static void thread_ids(const void *context, size_t row, struct weft_json *json)
{
    const struct path *path = context;
    weft_json_u64(json, "thread_id", path->table->threads[row].thread_id);
}

static const struct weft_column function_columns[] = {
    { "running_ns", "running", WEFT_CELL_NS },
    { NULL, "share", WEFT_CELL_SHARE },
    { "waiting_ns", "waiting", WEFT_CELL_NS },
    { "function", "function", WEFT_CELL_TEXT },
};

static void function_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct path *path = context;
    const struct weft_path_function_row *function = &path->table->functions[row];
    cells[0].number = function->running_ns;
    cells[1].real = share_of(path, function->running_ns + function->waiting_ns);
    cells[2].number = function->waiting_ns;
    put_function(path, function->function_id, &cells[3]);
}

static void function_ids(const void *context, size_t row, struct weft_json *json)
{
    const struct path *path = context;
    put_id(json, "fn", path->table->functions[row].function_id);
}

static const struct weft_column span_columns[] = {
    { "running_ns", "running", WEFT_CELL_NS },
    { NULL, "share", WEFT_CELL_SHARE },
    { "waiting_ns", "waiting", WEFT_CELL_NS },
    { "span", "span", WEFT_CELL_TEXT },
};

static void span_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct path *path = context;
    const struct weft_path_span_row *span = &path->table->spans[row];
    cells[0].number = span->running_ns;
    cells[1].real = share_of(path, span->running_ns + span->waiting_ns);
    cells[2].number = span->waiting_ns;
    cells[3].text = span->name;
}

static const struct weft_column other_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "name", "thread", WEFT_CELL_TEXT },
    { "sum_ns", "time", WEFT_CELL_NS },
    { NULL, "share", WEFT_CELL_SHARE },
};

static void put_other(const struct path *path, const struct weft_path_other_row *other,
                      struct weft_cell *cells)
{
    put_thread(path, other->thread_id, &cells[0], &cells[1]);
    cells[2].number = other->sum_ns;
    cells[3].real = share_of(path, other->sum_ns);
}

static void preemptor_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct path *path = context;
    put_other(path, &path->table->preemptors[row], cells);
}

static void sharer_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct path *path = context;
    put_other(path, &path->table->sharers[row], cells);
}

enum list {
    SEGMENTS,
    ARROWS,
    REASONS,
    LOCKS,
    THREADS,
    FUNCTIONS,
    SPANS,
    PREEMPTORS,
    SHARERS,
    LISTS
};

static struct weft_table table_of(const struct path *path, enum list list)
{
    static void (*const ids[LISTS])(const void *, size_t, struct weft_json *) = {
        [SEGMENTS] = segment_ids,
        [ARROWS] = arrow_ids,
        [THREADS] = thread_ids,
        [FUNCTIONS] = function_ids,
    };
    struct weft_table table;
#define LIST(columns, row, n)                                                                      \
    {                                                                                              \
        columns##_columns, sizeof columns##_columns / sizeof *columns##_columns, n, row##_row,     \
            path, false, NULL                                                                      \
    }
    const struct weft_table tables[LISTS] = {
        [SEGMENTS] = LIST(segment, segment, path->n_shown),
        [ARROWS] = LIST(arrow, arrow, path->table->n_arrows),
        [REASONS] = LIST(reason, reason, path->table->n_reasons),
        [LOCKS] = LIST(lock, lock, path->table->n_locks),
        [THREADS] = LIST(thread, thread, path->table->n_threads),
        [FUNCTIONS] = LIST(function, function, path->table->n_functions),
        [SPANS] = LIST(span, span, path->table->n_spans),
        [PREEMPTORS] = LIST(other, preemptor, path->table->n_preemptors),
        [SHARERS] = LIST(other, sharer, path->table->n_sharers),
    };
#undef LIST
    table = tables[list];
    table.more = path->view->has_ids ? ids[list] : NULL;
    return table;
}

/* ---- which segments -------------------------------------------------------------------------- */

/* Longest first; of equal ones the earlier. */
static int by_length(const void *a, const void *b, void *context)
{
    const struct weft_path_segment *segments = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint64_t x_ns = length_of(&segments[x]), y_ns = length_of(&segments[y]);
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The longest that the limit admits, in order of time. False without memory. */
static bool choose_segments(struct path *path, struct weft_arena *arena)
{
    const size_t n = path->table->n_segments;
    uint32_t *shown = WEFT_ARENA_NEW(arena, n + 1, uint32_t);
    if (!shown)
        return false;
    for (uint32_t i = 0; i < n; i++)
        shown[i] = i;
    path->shown = shown;
    path->n_shown = n;
    if (path->opts->limit == 0 || n <= path->opts->limit)
        return true;
    qsort_r(shown, n, sizeof *shown, by_length, path->table->segments);
    path->n_shown = (size_t)path->opts->limit;
    qsort(shown, path->n_shown, sizeof *shown, by_number);
    return true;
}

static bool name_locks(struct path *path, struct weft_arena *arena)
{
    path->lock_names = WEFT_ARENA_NEW(arena, path->table->n_locks, struct weft_lock_label);
    for (size_t i = 0; path->lock_names && i < path->table->n_locks; i++)
        weft_lock_label_make(path->view->trace, &path->table->locks[i].object,
                             &path->lock_names[i]);
    return path->lock_names != NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_head(const struct path *path)
{
    struct weft_output *out = path->view->out;
    const struct weft_path_table *table = path->table;
    const struct weft_found_call *during = path->opts->during;
    const struct weft_thread_info *info = thread_of(path, table->thread_id);
    weft_output_printf(out, "thread %" PRIu64 " %.*s, %s to %s: %s", info->tid,
                       (int)info->name.n_bytes, info->name.bytes,
                       weft_human_at(table->from_ns).text, weft_human_at(table->to_ns).text,
                       weft_human_ns(table->to_ns - table->from_ns).text);
    if (during) {
        const struct weft_str name =
            weft_trace_function(path->view->trace, during->function_id)->name;
        weft_output_printf(out, ", a call of %.*s (of %s there)", (int)name.n_bytes, name.bytes,
                           weft_human_count(during->n_calls).text);
    }
    if (path->opts->span)
        weft_output_printf(out, ", the span %s (the longest of %s)", path->opts->span->name,
                           weft_human_count(path->opts->span->n_spans).text);
    weft_output_text(out, "\n");
    if (!table->has_kernel)
        weft_output_text(out, "no scheduling events: states are inferred from calls, locks and "
                              "flows\n");
    weft_output_text(out, "\n");
}

static void print_list(const struct path *path, enum list list, const char *title)
{
    struct weft_table table = table_of(path, list);
    const size_t n_rows = table.n_rows;
    if (n_rows == 0)
        return;
    weft_output_text(path->view->out, "\n");
    weft_view_bold(path->view, title);
    if (list != SEGMENTS && path->opts->limit && n_rows > path->opts->limit)
        table.n_rows = (size_t)path->opts->limit;
    weft_table_text(&table, &path->view->style, path->view->out);
    const size_t n_all = list == SEGMENTS ? path->table->n_segments : n_rows;
    if (table.n_rows < n_all)
        weft_output_printf(path->view->out, "%zu more; --limit 0 shows all\n",
                           n_all - table.n_rows);
}

static void print_foot(const struct path *path)
{
    struct weft_output *out = path->view->out;
    const struct weft_path_table *table = path->table;
    weft_output_printf(out, "\nunexplained: %s, %s of it\n",
                       weft_human_ns(table->unexplained_ns).text,
                       weft_human_share(share_of(path, table->unexplained_ns)).text);
    if (table->uncertain_ns)
        weft_output_printf(out, "inferred: %s, %s of it\n", weft_human_ns(table->uncertain_ns).text,
                           weft_human_share(share_of(path, table->uncertain_ns)).text);
    if (table->n_cycles)
        weft_output_printf(out, "not followed: %s whose waker waits itself for this path\n",
                           weft_human_plural(table->n_cycles, "wait").text);
    if (table->n_too_deep)
        weft_output_printf(out, "not followed: %s within too many others\n",
                           weft_human_plural(table->n_too_deep, "wait").text);
}

static bool print_text(const struct path *path)
{
    print_head(path);
    if (path->opts->width &&
        !weft_path_picture(path->table, path->view->trace, path->opts->width, path->view->out))
        return false;
    print_list(path, SEGMENTS,
               path->n_shown < path->table->n_segments ? "longest segments\n" : "segments\n");
    print_list(path, REASONS, "where the time went\n");
    print_list(path, LOCKS, "waits that the path went through\n");
    print_list(path, THREADS, "threads\n");
    print_list(path, FUNCTIONS, "functions\n");
    print_list(path, SPANS, "spans\n");
    print_list(path, PREEMPTORS, "who had the processor meanwhile\n");
    print_list(path, SHARERS, "whose requests block devices served meanwhile\n");
    print_foot(path);
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_during(const struct path *path, struct weft_json *json)
{
    const struct weft_found_call *during = path->opts->during;
    if (!during)
        return;
    weft_json_begin_object(json, "during");
    weft_json_str(json, "function",
                  weft_trace_function(path->view->trace, during->function_id)->name);
    weft_json_u64(json, "depth", during->depth);
    weft_json_u64(json, "calls", during->n_calls);
    weft_json_end_object(json);
}

static void print_json(const struct path *path)
{
    static const char *const keys[LISTS] = { "segments", "arrows",     "reasons",
                                             "locks",    "threads",    "functions",
                                             "spans",    "preemptors", "sharers" };
    const struct weft_path_table *table = path->table;
    struct weft_json *json = weft_view_json(path->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "tid", thread_of(path, table->thread_id)->tid);
    weft_json_u64(json, "from_ns", table->from_ns);
    weft_json_u64(json, "to_ns", table->to_ns);
    print_during(path, json);
    if (path->opts->span)
        weft_json_str(json, "of_span", weft_str_of(path->opts->span->name));
    weft_json_bool(json, "has_kernel", table->has_kernel);
    weft_json_u64(json, "unexplained_ns", table->unexplained_ns);
    weft_json_u64(json, "uncertain_ns", table->uncertain_ns);
    weft_json_u64(json, "cycles", table->n_cycles);
    weft_json_u64(json, "too_deep", table->n_too_deep);
    if (path->view->has_ids) {
        weft_json_u64(json, "thread_id", table->thread_id);
        weft_json_u64(json, "segments_total", table->n_segments);
    }
    for (unsigned list = 0; list < LISTS; list++) {
        const struct weft_table rows = table_of(path, list);
        weft_table_json(&rows, keys[list], json);
    }
    weft_json_end_object(json);
    weft_view_json_end(path->view, json);
}

void weft_render_path(const struct weft_view *view, const struct weft_path_table *table,
                      const struct weft_path_view *opts)
{
    struct path path = { .view = view, .table = table, .opts = opts };
    struct weft_arena *arena = weft_arena_new(0);
    bool is_ok = arena && choose_segments(&path, arena) && name_locks(&path, arena);
    if (is_ok && view->format == WEFT_FORMAT_JSON) {
        print_json(&path);
    } else if (is_ok && view->format == WEFT_FORMAT_CSV) {
        const struct weft_table segments = table_of(&path, SEGMENTS);
        weft_table_csv(&segments, view->out);
    } else if (is_ok) {
        is_ok = print_text(&path);
    }
    if (!is_ok) {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu segments",
                        table->n_segments);
        weft_output_fail(view->out, &err);
    }
    weft_output_release(view->out, arena);
}
