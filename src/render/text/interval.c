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
#include "schema/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct interval {
    const struct weft_view *view;
    const struct weft_interval_table *table;
    const struct weft_interval_view *opts;
    struct weft_arena *arena;                /* text of cells */
    struct weft_interval_summary *summaries; /* by thread of the table */
};

static const struct weft_model_thread *thread_info(const struct interval *interval, size_t thread)
{
    return weft_trace_thread(interval->view->trace, interval->table->threads[thread].thread_id);
}

static const struct weft_function *function_of(const struct interval *interval, uint32_t id)
{
    return weft_trace_function(interval->view->trace, id);
}

/* ---- the threads ----------------------------------------------------------------------------- */

/* Functions of one name count together. `self_ns`, by group, is zero before and after. */
static void find_top(const struct interval *interval, const struct weft_interval_thread *from,
                     uint64_t *self_ns, struct weft_interval_summary *to)
{
    to->top_function_id = WEFT_ID_NONE;
    for (size_t i = 0; i < from->n_rows; i++) {
        uint32_t group = function_of(interval, from->rows[i].function_id)->group_id;
        self_ns[group] += from->rows[i].self_ns;
        if (self_ns[group] > to->top_self_ns || to->top_function_id == WEFT_ID_NONE) {
            to->top_function_id = from->rows[i].function_id;
            to->top_self_ns = self_ns[group];
        }
    }
    for (size_t i = 0; i < from->n_rows; i++)
        self_ns[function_of(interval, from->rows[i].function_id)->group_id] = 0;
}

static bool sum_up(struct interval *interval)
{
    const struct weft_interval_table *table = interval->table;
    size_t n_functions = weft_trace_n_functions(interval->view->trace);
    uint64_t *self_ns = calloc(n_functions + 1, sizeof *self_ns);
    interval->summaries =
        WEFT_ARENA_NEW(interval->arena, table->n_threads + 1, struct weft_interval_summary);
    bool is_ok = self_ns && interval->summaries;
    for (size_t i = 0; is_ok && i < table->n_threads; i++) {
        const struct weft_interval_thread *thread = &table->threads[i];
        interval->summaries[i] = (struct weft_interval_summary){
            .thread_id = thread->thread_id,
            .called_ns = table->to_ns - table->from_ns - thread->no_call_ns - thread->outside_ns,
            .no_call_ns = thread->no_call_ns,
            .outside_ns = thread->outside_ns,
            .calls = thread->calls,
            .folded_calls = thread->folded_calls,
            .folded_ns = thread->folded_ns,
        };
        find_top(interval, thread, self_ns, &interval->summaries[i]);
    }
    free(self_ns);
    return is_ok;
}

/* ---- the contexts of a thread ---------------------------------------------------------------- */

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

/* The contexts of a thread in which it was longest, with their callers, in pre-order. `of` is
 * filled and has to live as long as the table. */
static struct weft_table context_table(const struct interval *interval, size_t thread,
                                       struct weft_interval_of *of)
{
    const struct weft_interval_thread *from = &interval->table->threads[thread];
    const size_t limit = (size_t)interval->opts->limit;
    uint32_t *shown = WEFT_ARENA_NEW(interval->arena, from->n_rows + 1, uint32_t);
    *of = (struct weft_interval_of){ interval->table, from };
    struct weft_table table = { .type = &weft_interval_contexts_type,
                                .rows = from->rows,
                                .n_rows = shown ? from->n_rows : 0,
                                .order = shown,
                                .in = weft_view_context(interval->view, of) };
    for (uint32_t i = 0; i < table.n_rows; i++)
        shown[i] = i;
    if (limit == 0 || table.n_rows <= limit)
        return table;
    qsort_r(shown, table.n_rows, sizeof *shown, by_sum, from->rows);
    table.n_rows = limit;
    qsort(shown, limit, sizeof *shown, by_number);
    return table;
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

static void print_thread(const struct interval *interval, size_t index)
{
    const struct weft_interval_thread *thread = &interval->table->threads[index];
    const struct weft_model_thread *info = thread_info(interval, index);
    struct weft_output *out = interval->view->out;
    if (thread->n_rows == 0)
        return;
    char title[128];
    weft_plain_print(title, sizeof title, "\nthread %" PRIu64 " %.*s\n", info->info.tid,
                     (int)(info->info.name.n_bytes < 64 ? info->info.name.n_bytes : 64),
                     info->info.name.bytes);
    weft_view_bold(interval->view, title);
    struct weft_interval_of of;
    const struct weft_table table = context_table(interval, index, &of);
    weft_table_text(&table, &interval->view->style, out);
    if (table.n_rows < thread->n_rows)
        weft_output_printf(out, "%zu more contexts: --limit 0\n", thread->n_rows - table.n_rows);
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
            "\naggregated into their callers (memory limit): contexts of least time, "
            "%s calls of %s; more with --mem\n",
            weft_human_count(calls).text, weft_human_ns(sum_ns).text);
}

static void print_text(const struct interval *interval, const struct weft_table *threads)
{
    weft_view_headline(interval->view, "calls in an interval");
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

static void print_csv(const struct interval *interval)
{
    for (size_t i = 0; i < interval->table->n_threads; i++) {
        struct weft_interval_of of;
        struct weft_table table = context_table(interval, i, &of);
        table.without_head = i > 0;
        weft_table_csv(&table, interval->view->out);
    }
}

/* Without the thread's id, which stands above. */
static void json_contexts(const void *context, size_t row, struct weft_json *json)
{
    const struct interval *interval = context;
    struct weft_interval_of of;
    struct weft_table table = context_table(interval, row, &of);
    table.omitted = 1;
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
    struct weft_interval_of of = { .table = table };
    struct weft_table threads = { .type = &weft_interval_threads_type,
                                  .n_rows = table->n_threads,
                                  .in = weft_view_context(view, &of),
                                  .context = &interval };
    const bool is_ok = interval.arena && sum_up(&interval);
    threads.rows = interval.summaries;
    if (!is_ok) {
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
