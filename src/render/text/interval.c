/* SPDX-License-Identifier: MIT
 *
 * What every thread did in an interval: one row a thread, and the contexts of each.
 */
#include "schema/interval.h"

#include "base/arena.h"
#include "base/plain.h"
#include "render/human.h"
#include "render/text/render.h"
#include "schema/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT_MAX = 40 };

/* Where a thread was longest in the interval: self time summed over contexts. */
struct top {
    uint32_t function_id; /* WEFT_ID_NONE: in no call at all */
    uint64_t self_ns;
};

struct interval {
    const struct weft_view *view;
    const struct weft_interval_table *table;
    const struct weft_interval_view *opts;
    struct weft_arena *arena; /* text of cells */
    struct top *tops;         /* by thread of the table */
    size_t thread;            /* whose contexts are rendered */
    const uint32_t *shown;    /* rows of them, ascending */
    size_t n_shown;
};

static const struct weft_model_thread *thread_info(const struct interval *interval, size_t thread)
{
    return weft_trace_thread(interval->view->trace, interval->table->threads[thread].thread_id);
}

static const struct weft_function *function_of(const struct interval *interval, uint32_t id)
{
    return weft_trace_function(interval->view->trace, id);
}

static double share_of(const struct interval *interval, uint64_t part_ns)
{
    uint64_t whole_ns = interval->table->to_ns - interval->table->from_ns;
    return whole_ns ? (double)part_ns / (double)whole_ns : 0;
}

/* ---- the threads ----------------------------------------------------------------------------- */

/* Functions of one name count together. `self_ns`, by group, is zero before and after. */
static struct top find_top(const struct interval *interval, size_t thread, uint64_t *self_ns)
{
    const struct weft_interval_thread *from = &interval->table->threads[thread];
    struct top top = { WEFT_ID_NONE, 0 };
    for (size_t i = 0; i < from->n_rows; i++) {
        uint32_t group = function_of(interval, from->rows[i].function_id)->group_id;
        self_ns[group] += from->rows[i].self_ns;
        if (self_ns[group] > top.self_ns || top.function_id == WEFT_ID_NONE)
            top = (struct top){ from->rows[i].function_id, self_ns[group] };
    }
    for (size_t i = 0; i < from->n_rows; i++)
        self_ns[function_of(interval, from->rows[i].function_id)->group_id] = 0;
    return top;
}

static bool find_tops(struct interval *interval)
{
    size_t n_functions = weft_trace_n_functions(interval->view->trace);
    uint64_t *self_ns = calloc(n_functions + 1, sizeof *self_ns);
    interval->tops = WEFT_ARENA_NEW(interval->arena, interval->table->n_threads + 1, struct top);
    bool is_ok = self_ns && interval->tops;
    for (size_t i = 0; is_ok && i < interval->table->n_threads; i++)
        interval->tops[i] = find_top(interval, i, self_ns);
    free(self_ns);
    return is_ok;
}

static const struct weft_column thread_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "name", "thread", WEFT_CELL_TEXT },
    { "called_ns", "in calls", WEFT_CELL_NS },
    { NULL, "share", WEFT_CELL_SHARE },
    { "no_call_ns", "in no call", WEFT_CELL_NS },
    { "outside_ns", "not alive", WEFT_CELL_NS },
    { "calls", "calls", WEFT_CELL_COUNT },
    { "top_self_ns", "longest in", WEFT_CELL_NS },
    { "top_function", "function", WEFT_CELL_TEXT },
    { "folded_calls", NULL, WEFT_CELL_COUNT },
    { "folded_ns", NULL, WEFT_CELL_NS },
};

static void thread_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct interval *interval = context;
    const struct weft_interval_thread *thread = &interval->table->threads[row];
    const struct top *top = &interval->tops[row];
    uint64_t whole_ns = interval->table->to_ns - interval->table->from_ns;
    uint64_t called_ns = whole_ns - thread->no_call_ns - thread->outside_ns;
    bool has_top = top->function_id != WEFT_ID_NONE;
    cells[0].number = thread_info(interval, row)->info.tid;
    cells[1].text = thread_info(interval, row)->info.name;
    cells[2].number = called_ns;
    cells[3].real = share_of(interval, called_ns);
    cells[4].number = thread->no_call_ns;
    cells[5].number = thread->outside_ns;
    cells[6].number = thread->calls;
    cells[7] = (struct weft_cell){ .number = top->self_ns, .is_null = !has_top };
    cells[8].is_null = !has_top;
    if (has_top)
        cells[8].text = function_of(interval, top->function_id)->name;
    cells[9].number = thread->folded_calls;
    cells[10].number = thread->folded_ns;
}

/* ---- the contexts of a thread ---------------------------------------------------------------- */

static const struct weft_column context_columns[] = {
    { "tid", NULL, WEFT_CELL_ID },
    { "depth", NULL, WEFT_CELL_ID },
    { "sum_ns", "time", WEFT_CELL_NS },
    { NULL, "share", WEFT_CELL_SHARE },
    { "self_ns", "self", WEFT_CELL_NS },
    { "count", "calls", WEFT_CELL_COUNT },
    { "function", "function", WEFT_CELL_TEXT },
    { "function_id", NULL, WEFT_CELL_ID },
    { "folded_calls", NULL, WEFT_CELL_COUNT },
    { "folded_ns", NULL, WEFT_CELL_NS },
};

static struct weft_str indented(const struct interval *interval, uint32_t depth,
                                struct weft_str name)
{
    size_t n_indent = 2 * (size_t)(depth < INDENT_MAX ? depth : INDENT_MAX);
    char *text = weft_arena_alloc(interval->arena, n_indent + name.n_bytes, 1);
    if (!text)
        return name;
    memset(text, ' ', n_indent);
    memcpy(text + n_indent, name.bytes, name.n_bytes);
    return (struct weft_str){ .bytes = text, .n_bytes = n_indent + name.n_bytes };
}

static void context_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct interval *interval = context;
    const struct weft_interval_row *row =
        &interval->table->threads[interval->thread].rows[interval->shown[index]];
    const struct weft_function *function = function_of(interval, row->function_id);
    bool is_text = interval->view->format == WEFT_FORMAT_TEXT;
    cells[0].number = thread_info(interval, interval->thread)->info.tid;
    cells[1].number = row->depth;
    cells[2].number = row->sum_ns;
    cells[3].real = share_of(interval, row->sum_ns);
    cells[4].number = row->self_ns;
    cells[5].number = row->count;
    cells[6].text = is_text ? indented(interval, row->depth, function->name) : function->name;
    cells[7].number = function->key;
    cells[8].number = row->folded_calls;
    cells[9].number = row->folded_ns;
}

/* Greater sums first; of equal ones the earlier row, so that callers come before callees. */
static int by_sum(const void *a, const void *b, void *context)
{
    const struct weft_interval_row *rows = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (rows[x].sum_ns != rows[y].sum_ns)
        return rows[x].sum_ns > rows[y].sum_ns ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Chooses the thread whose contexts are rendered: those in which it was longest, with their
 * callers, in pre-order. */
static void choose_contexts(struct interval *interval, size_t thread)
{
    const struct weft_interval_thread *from = &interval->table->threads[thread];
    uint64_t limit = interval->opts->limit;
    uint32_t *shown = WEFT_ARENA_NEW(interval->arena, from->n_rows + 1, uint32_t);
    interval->thread = thread;
    interval->shown = shown;
    interval->n_shown = shown ? from->n_rows : 0;
    for (uint32_t i = 0; i < interval->n_shown; i++)
        shown[i] = i;
    if (limit == 0 || interval->n_shown <= limit)
        return;
    qsort_r(shown, interval->n_shown, sizeof *shown, by_sum, from->rows);
    interval->n_shown = (size_t)limit;
    qsort(shown, interval->n_shown, sizeof *shown, by_number);
}

static struct weft_table context_table(const struct interval *interval)
{
    return (struct weft_table){ .columns = context_columns,
                                .n_columns = sizeof context_columns / sizeof *context_columns,
                                .n_rows = interval->n_shown,
                                .row = context_row,
                                .context = interval };
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_head(const struct interval *interval)
{
    struct weft_output *out = interval->view->out;
    const struct weft_interval_table *table = interval->table;
    const struct weft_found_call *during = interval->opts->during;
    weft_output_printf(out, "%s to %s: %s", weft_human_at(table->from_ns).text,
                       weft_human_at(table->to_ns).text,
                       weft_human_ns(table->to_ns - table->from_ns).text);
    if (during) {
        struct weft_str name = function_of(interval, during->function_id)->name;
        const struct weft_model_thread *thread =
            weft_trace_thread(interval->view->trace, during->thread_id);
        weft_output_printf(out, ", a call of %.*s on thread %" PRIu64 " (of %s there)",
                           (int)name.n_bytes, name.bytes, thread->info.tid,
                           weft_human_count(during->n_calls).text);
    }
    weft_output_text(out, "\n\n");
}

static void print_thread(struct interval *interval, size_t index)
{
    const struct weft_interval_thread *thread = &interval->table->threads[index];
    const struct weft_model_thread *info = thread_info(interval, index);
    struct weft_output *out = interval->view->out;
    if (thread->n_rows == 0)
        return;
    choose_contexts(interval, index);
    char title[128];
    weft_plain_print(title, sizeof title, "\nthread %" PRIu64 " %.*s\n", info->info.tid,
                     (int)(info->info.name.n_bytes < 64 ? info->info.name.n_bytes : 64),
                     info->info.name.bytes);
    weft_view_bold(interval->view, title);
    struct weft_table table = context_table(interval);
    weft_table_text(&table, &interval->view->style, out);
    if (interval->n_shown < thread->n_rows)
        weft_output_printf(out, "%zu more contexts; --limit 0 shows all\n",
                           thread->n_rows - interval->n_shown);
}

/* What memory did not hold. */
static void print_folded(const struct interval *interval)
{
    uint64_t calls = 0, sum_ns = 0;
    for (size_t i = 0; i < interval->table->n_threads; i++) {
        calls += interval->table->threads[i].folded_calls;
        sum_ns += interval->table->threads[i].folded_ns;
    }
    if (calls > 0 || sum_ns > 0)
        weft_output_printf(
            interval->view->out,
            "\nfolded into their callers, for want of memory: contexts of least time, "
            "%s calls of %s; more with --mem\n",
            weft_human_count(calls).text, weft_human_ns(sum_ns).text);
}

static void print_text(struct interval *interval, const struct weft_table *threads)
{
    print_head(interval);
    weft_table_text(threads, &interval->view->style, interval->view->out);
    print_folded(interval);
    for (size_t i = 0; interval->opts->with_contexts && i < interval->table->n_threads; i++)
        print_thread(interval, i);
    if (!interval->opts->with_contexts)
        weft_output_text(interval->view->out,
                         "\n--contexts shows the calls of each thread, --tid those of some\n");
}

/* ---- CSV and JSON ---------------------------------------------------------------------------- */

static void print_csv(struct interval *interval)
{
    for (size_t i = 0; i < interval->table->n_threads; i++) {
        choose_contexts(interval, i);
        struct weft_table table = context_table(interval);
        table.without_head = i > 0;
        weft_table_csv(&table, interval->view->out);
    }
}

/* Without the thread's id, which stands above. */
static void json_row(const void *context, size_t index, struct weft_cell *cells)
{
    struct weft_cell all[sizeof context_columns / sizeof *context_columns] = { 0 };
    context_row(context, index, all);
    memcpy(cells, all + 1, sizeof all - sizeof *all);
}

static void json_context_ids(const void *context, size_t index, struct weft_json *json)
{
    const struct interval *interval = context;
    weft_json_u64(
        json, "fn",
        interval->table->threads[interval->thread].rows[interval->shown[index]].function_id);
}

static void json_contexts(const void *context, size_t row, struct weft_json *json)
{
    struct interval inside = *(const struct interval *)context;
    choose_contexts(&inside, row);
    struct weft_table table = context_table(&inside);
    if (inside.view->has_ids) {
        weft_json_u64(json, "thread", inside.table->threads[row].thread_id);
        table.more = json_context_ids;
    }
    table.columns++;
    table.n_columns--;
    table.row = json_row;
    weft_table_json(&table, "cct", json);
}

static void print_json(const struct interval *interval, struct weft_table *threads)
{
    struct weft_json *json = weft_view_json(interval->view);
    const struct weft_found_call *during = interval->opts->during;
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "from_ns", interval->table->from_ns);
    weft_json_u64(json, "to_ns", interval->table->to_ns);
    if (during) {
        weft_json_begin_object(json, "during");
        weft_json_u64(json, "tid",
                      weft_trace_thread(interval->view->trace, during->thread_id)->info.tid);
        weft_json_str(json, "function", function_of(interval, during->function_id)->name);
        weft_json_u64(json, "depth", during->depth);
        weft_json_u64(json, "calls", during->n_calls);
        weft_json_end_object(json);
    }
    threads->more = json_contexts;
    weft_table_json(threads, "threads", json);
    weft_json_end_object(json);
    weft_view_json_end(interval->view, json);
}

void weft_render_interval(const struct weft_view *view, const struct weft_interval_table *table,
                          const struct weft_interval_view *opts)
{
    struct interval interval = {
        .view = view, .table = table, .opts = opts, .arena = weft_arena_new(0)
    };
    struct weft_table threads = { .columns = thread_columns,
                                  .n_columns = sizeof thread_columns / sizeof *thread_columns,
                                  .n_rows = table->n_threads,
                                  .row = thread_row,
                                  .context = &interval };
    if (!interval.arena || !find_tops(&interval)) {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu threads",
                        table->n_threads);
        weft_output_fail(view->out, &err);
    } else if (view->format == WEFT_FORMAT_JSON) {
        print_json(&interval, &threads);
    } else if (view->format == WEFT_FORMAT_CSV) {
        print_csv(&interval);
    } else {
        print_text(&interval, &threads);
    }
    weft_output_release(view->out, interval.arena);
}
