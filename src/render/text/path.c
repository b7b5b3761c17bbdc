/* SPDX-License-Identifier: MIT
 *
 * A critical path: a picture, its segments, and where its time went.
 */
#include "schema/path.h"

#include "base/arena.h"
#include "base/u128.h"
#include "model/trace.h"
#include "render/human.h"
#include "render/output.h"
#include "render/text/render.h"
#include "schema/calls.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- path picture ---------------------------------------------------------------------------- */

/* A critical path as a picture of characters: threads below each other, time to the right, arrows
 * from thread to thread. */

#define WEFT_PATH_LEGEND                                                                           \
    "= runs, # in the kernel, ! interrupted, - preempted, ? unknown,\n"                            \
    ". blocked (t timer, n network, d device, l lock)\n"

enum { ROWS_MAX = 16, NAME_COLUMNS = 16 };

/* Lines 0, 2, 4 ... are threads, those between them hold arrows. */
struct picture {
    const struct weft_path_table *table;
    const struct weft_trace *trace;
    uint32_t width;
    uint32_t thread_ids[ROWS_MAX]; /* in order of their first segments */
    size_t n_rows;
    char *cells;          /* 2 * n_rows lines of `width` */
    uint64_t *longest_ns; /* by row and column: of the segments there */
};

static size_t row_of(const struct picture *picture, uint32_t thread_id)
{
    size_t row = 0;
    while (row < picture->n_rows && picture->thread_ids[row] != thread_id)
        row++;
    return row;
}

static void find_rows(struct picture *picture)
{
    for (size_t i = 0; i < picture->table->n_segments && picture->n_rows < ROWS_MAX; i++) {
        const uint32_t id = picture->table->segments[i].thread_id;
        if (row_of(picture, id) == picture->n_rows)
            picture->thread_ids[picture->n_rows++] = id;
    }
}

static char *cell(const struct picture *picture, size_t line, uint32_t column)
{
    return &picture->cells[line * picture->width + column];
}

static uint32_t column_of(const struct picture *picture, uint64_t at_ns)
{
    const uint64_t length_ns = picture->table->to_ns - picture->table->from_ns;
    const uint64_t into_ns = at_ns - picture->table->from_ns;
    const uint64_t column =
        length_ns ? (uint64_t)((weft_u128)into_ns * picture->width / length_ns) : 0;
    return column < picture->width ? (uint32_t)column : picture->width - 1;
}

/* The first instant of a column. */
static uint64_t time_of(const struct picture *picture, uint32_t column)
{
    const uint64_t length_ns = picture->table->to_ns - picture->table->from_ns;
    return picture->table->from_ns + (uint64_t)((weft_u128)length_ns * column / picture->width);
}

static char letter_of(const struct weft_path_segment *segment)
{
    static const char states[WEFT_PATH_STATES] = {
        [WEFT_PATH_UNKNOWN] = '?', [WEFT_PATH_RUNNING] = '=',     [WEFT_PATH_USER] = '=',
        [WEFT_PATH_KERNEL] = '#',  [WEFT_PATH_INTERRUPTED] = '!', [WEFT_PATH_PREEMPTED] = '-',
    };
    static const char reasons[WEFT_PATH_REASONS] = { '.', 't', 'n', 'd', 'd', '.',
                                                     '.', 'l', '.', '.', '.' };
    return segment->state == WEFT_PATH_BLOCKED ? reasons[segment->reason] : states[segment->state];
}

/* In each column the segment that takes most of it, of equal ones the first. */
static void draw_segment(struct picture *picture, const struct weft_path_segment *segment)
{
    const size_t row = row_of(picture, segment->thread_id);
    if (row == picture->n_rows)
        return;
    const uint32_t last = column_of(picture, segment->end_ns - 1);
    for (uint32_t column = column_of(picture, segment->start_ns); column <= last; column++) {
        const uint64_t begin_ns = time_of(picture, column), end_ns = time_of(picture, column + 1);
        const uint64_t from_ns = segment->start_ns > begin_ns ? segment->start_ns : begin_ns;
        const uint64_t to_ns = segment->end_ns < end_ns ? segment->end_ns : end_ns;
        uint64_t *longest_ns = &picture->longest_ns[row * picture->width + column];
        if (to_ns <= from_ns && *longest_ns)
            continue;
        const uint64_t length_ns = to_ns > from_ns ? to_ns - from_ns : 1;
        if (length_ns > *longest_ns) {
            *longest_ns = length_ns;
            *cell(picture, 2 * row, column) = letter_of(segment);
        }
    }
}

static void draw_arrow(struct picture *picture, const struct weft_path_arrow *arrow)
{
    const size_t from = 2 * row_of(picture, arrow->from_thread_id);
    const size_t to = 2 * row_of(picture, arrow->to_thread_id);
    const uint64_t at_ns =
        arrow->to_ns > picture->table->from_ns ? arrow->to_ns : picture->table->from_ns;
    if (from >= 2 * picture->n_rows || to >= 2 * picture->n_rows || from == to)
        return;
    const uint32_t column = column_of(picture, at_ns);
    const size_t low = from < to ? from : to, high = from < to ? to : from;
    for (size_t line = low + 1; line < high; line++) {
        char *at = cell(picture, line, column);
        if (*at == ' ' || (*at == '|' && line % 2))
            *at = '|';
    }
    char *head = cell(picture, from < to ? to - 1 : to + 1, column);
    if (*head == ' ' || *head == '|')
        *head = from < to ? 'v' : '^';
}

static void print_line(const struct picture *picture, size_t line, struct weft_output *out)
{
    const char *from = cell(picture, line, 0);
    size_t n = picture->width;
    while (n > 0 && from[n - 1] == ' ')
        n--;
    if (line % 2) {
        if (n)
            weft_output_printf(out, "%*s %.*s\n", NAME_COLUMNS + 9, "", (int)n, from);
        return;
    }
    const struct weft_thread_info *info =
        &weft_trace_thread(picture->trace, picture->thread_ids[line / 2])->info;
    const size_t n_name = info->name.n_bytes < NAME_COLUMNS ? info->name.n_bytes : NAME_COLUMNS;
    weft_output_printf(out, "%8" PRIu64 " %-*.*s %.*s\n", info->tid, NAME_COLUMNS, (int)n_name,
                       info->name.bytes, (int)n, from);
}

static void print_more(const struct picture *picture, struct weft_output *out)
{
    if (picture->table->n_threads > picture->n_rows)
        weft_output_printf(out, "and %zu threads that come later\n",
                           picture->table->n_threads - picture->n_rows);
    weft_output_text(out, WEFT_PATH_LEGEND);
}

/* Prints it, `width` columns wide without the threads' names; threads beyond the first 16 are
 * counted below. False without memory. */
static bool weft_path_picture(const struct weft_path_table *table, const struct weft_trace *trace,
                              uint32_t width, struct weft_output *out)
{
    struct picture picture = { .table = table, .trace = trace, .width = width };
    find_rows(&picture);
    const size_t n_cells = 2 * picture.n_rows * width;
    picture.cells = malloc(n_cells + 1);
    picture.longest_ns = calloc(picture.n_rows * width + 1, sizeof *picture.longest_ns);
    const bool is_ok = picture.cells && picture.longest_ns;
    if (is_ok && n_cells) {
        memset(picture.cells, ' ', n_cells);
        for (size_t i = 0; i < table->n_segments; i++)
            draw_segment(&picture, &table->segments[i]);
        for (size_t i = 0; i < table->n_arrows; i++)
            draw_arrow(&picture, &table->arrows[i]);
        for (size_t line = 0; line + 1 < 2 * picture.n_rows; line++)
            print_line(&picture, line, out);
        print_more(&picture, out);
    }
    free(picture.cells);
    free(picture.longest_ns);
    return is_ok;
}

/* ---- path ------------------------------------------------------------------------------------ */

struct path {
    const struct weft_view *view;
    const struct weft_path_table *table;
    const struct weft_path_view *opts;
    const uint32_t *shown; /* segments, ascending */
    size_t n_shown;
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
    const struct weft_path_table *table = path->table;
    const struct {
        const struct weft_table_type *type;
        const void *rows;
        size_t n_rows;
    } tables[LISTS] = {
        [SEGMENTS] = { &weft_path_segments_type, table->segments, path->n_shown },
        [ARROWS] = { &weft_path_arrows_type, table->arrows, table->n_arrows },
        [REASONS] = { &weft_path_reasons_type, table->reasons, table->n_reasons },
        [LOCKS] = { &weft_path_locks_type, table->locks, table->n_locks },
        [THREADS] = { &weft_path_threads_type, table->threads, table->n_threads },
        [FUNCTIONS] = { &weft_path_functions_type, table->functions, table->n_functions },
        [SPANS] = { &weft_path_spans_type, table->spans, table->n_spans },
        [PREEMPTORS] = { &weft_path_others_type, table->preemptors, table->n_preemptors },
        [SHARERS] = { &weft_path_others_type, table->sharers, table->n_sharers },
    };
    struct weft_table rows = { .type = tables[list].type,
                               .rows = tables[list].rows,
                               .n_rows = tables[list].n_rows,
                               .order = list == SEGMENTS ? path->shown : NULL,
                               .in = weft_view_context(path->view, table) };
    rows.in.known = table->has_kernel ? WEFT_PATH_KNOWS_CPUS : 0;
    return rows;
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
        weft_output_printf(path->view->out, "%zu more: --limit 0\n", n_all - table.n_rows);
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
    weft_view_headline(path->view, "critical path");
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
    print_list(path, PREEMPTORS, "threads that had the CPU\n");
    print_list(path, SHARERS, "requests that block devices served\n");
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
    bool is_ok = arena && choose_segments(&path, arena);
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
