/* SPDX-License-Identifier: MIT
 *
 * Processors: one row each, and the threads that ran on them.
 */
#include "render/human.h"
#include "render/text/render.h"
#include "schema/states.h"
#include "schema/tables.h"

#include <inttypes.h>

struct cpus {
    const struct weft_view *view;
    const struct weft_cpu_table *table;
    const struct weft_cpu_view *opts;
};

static struct weft_table thread_table(const struct cpus *cpus, size_t row)
{
    const struct weft_cpu_row *cpu = &cpus->table->rows[row];
    const uint64_t limit = cpus->opts->limit;
    return (struct weft_table){ .type = &weft_cpu_threads_type,
                                .rows = cpu->threads,
                                .n_rows = limit > 0 && cpu->n_threads > limit ? (size_t)limit
                                                                              : cpu->n_threads,
                                .in = weft_view_context(cpus->view, cpus->table) };
}

static void print_text(const struct cpus *cpus, const struct weft_table *rows)
{
    const struct weft_view *view = cpus->view;
    weft_view_headline(view, weft_human_plural(cpus->table->n_rows, "CPU").text);
    if (!cpus->table->is_known)
        weft_view_dim(view, WEFT_STATES_UNKNOWN);
    if (cpus->table->n_rows == 0)
        return;
    weft_output_text(view->out, "\n");
    weft_table_text(rows, &view->style, view->out);
    for (size_t i = 0; i < cpus->table->n_rows && cpus->opts->with_threads; i++) {
        const struct weft_table threads = thread_table(cpus, i);
        if (threads.n_rows == 0)
            continue;
        weft_output_printf(view->out, "\nCPU %" PRId32 ":\n", cpus->table->rows[i].cpu);
        weft_table_text(&threads, &view->style, view->out);
    }
}

static void json_threads(const void *context, size_t row, struct weft_json *json)
{
    const struct weft_table threads = thread_table(context, row);
    weft_table_json(&threads, "threads", json);
}

static void print_json(const struct cpus *cpus, struct weft_table *rows)
{
    struct weft_json *json = weft_view_json(cpus->view);
    if (!json)
        return;
    rows->more = json_threads;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "from_ns", cpus->table->from_ns);
    weft_json_u64(json, "to_ns", cpus->table->to_ns);
    weft_json_bool(json, "known", cpus->table->is_known);
    weft_table_json(rows, "processors", json);
    weft_json_end_object(json);
    weft_view_json_end(cpus->view, json);
}

void weft_render_cpu(const struct weft_view *view, const struct weft_cpu_table *table,
                     const struct weft_cpu_view *opts)
{
    const struct cpus cpus = { .view = view, .table = table, .opts = opts };
    struct weft_table rows = { .type = &weft_cpus_type,
                               .rows = table->rows,
                               .n_rows = table->n_rows,
                               .in = weft_view_context(view, table),
                               .context = &cpus };
    for (size_t i = 0; i < table->n_rows; i++) /* contexts of wakeups alone last no time */
        rows.in.known |= table->rows[i].interrupted_ns ? WEFT_WAITS_INTERRUPTS : 0;
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&cpus, &rows);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&rows, view->out);
    else
        print_text(&cpus, &rows);
}
