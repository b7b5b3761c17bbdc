/* SPDX-License-Identifier: MIT
 *
 * Processors: one row each, and the threads that ran on them.
 */
#include "render/human.h"
#include "render/text/modes.h"
#include "render/text/render.h"

#include <inttypes.h>

struct cpus {
    const struct weft_view *view;
    const struct weft_cpu_table *table;
    const struct weft_cpu_view *opts;
    size_t row; /* whose threads are shown */
    bool has_interrupts;
};

static const struct weft_column cpu_columns[] = {
    { "host", NULL, WEFT_CELL_ID },
    { "cpu", "cpu", WEFT_CELL_ID },
    { "busy_share", "busy", WEFT_CELL_SHARE },
    { "running_ns", "running", WEFT_CELL_NS },
    WEFT_MODE_COLUMNS("user_ns", "kernel_ns"),
    { "interrupted_ns", "irq", WEFT_CELL_NS },
    { "idle_ns", "idle", WEFT_CELL_NS },
    { "unknown_ns", "unknown", WEFT_CELL_NS },
    { "runs", "runs", WEFT_CELL_COUNT },
    { "migrations", "migrations", WEFT_CELL_COUNT },
    { "threads_run", "threads", WEFT_CELL_COUNT },
};

static uint64_t running_ns(const struct weft_cpu_row *row)
{
    return row->modes.user_ns + row->modes.kernel_ns + row->modes.unknown_ns;
}

static uint64_t busy_ns(const struct weft_cpu_row *row)
{
    return running_ns(row) + row->interrupted_ns;
}

static void cpu_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct cpus *cpus = context;
    const struct weft_cpu_row *row = &cpus->table->rows[index];
    const uint64_t window_ns = cpus->table->to_ns - cpus->table->from_ns;
    cells[0].number = row->host_id;
    cells[1].number = (uint64_t)row->cpu;
    cells[2] = (struct weft_cell){ .real = (double)busy_ns(row) / (double)window_ns,
                                   .is_null = window_ns == 0 };
    cells[3].number = running_ns(row);
    weft_mode_cells(&row->modes, &cells[4]);
    struct weft_cell *const rest = &cells[4 + WEFT_MODE_CELLS];
    rest[0] = (struct weft_cell){ .number = row->interrupted_ns, .is_null = !cpus->has_interrupts };
    rest[1] = (struct weft_cell){ .number = row->idle_ns, .is_null = !row->has_idle_task };
    rest[2].number = row->unknown_ns;
    rest[3].number = row->count;
    rest[4].number = row->migrations;
    rest[5].number = row->n_threads;
}

static const struct weft_column thread_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },         { "thread", "thread", WEFT_CELL_TEXT },
    { "run_ns", "time", WEFT_CELL_NS },     { "share", "of window", WEFT_CELL_SHARE },
    { "cpu_ns", "CPU time", WEFT_CELL_NS }, { "runs", "runs", WEFT_CELL_COUNT },
};

static void thread_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct cpus *cpus = context;
    const struct weft_cpu_share *share = &cpus->table->rows[cpus->row].threads[index];
    const struct weft_thread_info *info =
        &weft_trace_thread(cpus->view->trace, share->thread_id)->info;
    const uint64_t window_ns = cpus->table->to_ns - cpus->table->from_ns;
    cells[0].number = info->tid;
    cells[1].text = info->name;
    cells[2].number = share->run_ns;
    cells[3] = (struct weft_cell){ .real = (double)share->run_ns / (double)window_ns,
                                   .is_null = window_ns == 0 };
    cells[4].number = share->cpu_ns;
    cells[5].number = share->count;
}

static struct weft_table thread_table(const struct cpus *cpus)
{
    const size_t n = cpus->table->rows[cpus->row].n_threads;
    const uint64_t limit = cpus->opts->limit;
    return (struct weft_table){ .columns = thread_columns,
                                .n_columns = sizeof thread_columns / sizeof *thread_columns,
                                .n_rows = limit > 0 && n > limit ? (size_t)limit : n,
                                .row = thread_row,
                                .context = cpus };
}

static void print_text(struct cpus *cpus, const struct weft_table *rows)
{
    const struct weft_view *view = cpus->view;
    weft_view_head(view);
    weft_output_printf(view->out, "  %s, %s\n",
                       weft_human_plural(cpus->table->n_rows, "processor").text,
                       weft_human_ns(cpus->table->to_ns - cpus->table->from_ns).text);
    if (!cpus->table->is_known)
        weft_view_dim(view, WEFT_STATES_UNKNOWN);
    if (cpus->table->n_rows == 0)
        return;
    weft_output_text(view->out, "\n");
    weft_table_text(rows, &view->style, view->out);
    for (size_t i = 0; i < cpus->table->n_rows && cpus->opts->with_threads; i++) {
        cpus->row = i;
        const struct weft_table threads = thread_table(cpus);
        if (threads.n_rows == 0)
            continue;
        weft_output_printf(view->out, "\nprocessor %" PRId32 ":\n", cpus->table->rows[i].cpu);
        weft_table_text(&threads, &view->style, view->out);
    }
}

static void json_threads(const void *context, size_t row, struct weft_json *json)
{
    struct cpus cpus = *(const struct cpus *)context;
    cpus.row = row;
    const struct weft_table threads = thread_table(&cpus);
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
    struct cpus cpus = { .view = view, .table = table, .opts = opts };
    for (size_t i = 0; i < table->n_rows; i++) /* contexts of wakeups alone last no time */
        cpus.has_interrupts |= table->rows[i].interrupted_ns > 0;
    struct weft_table rows = { .columns = cpu_columns,
                               .n_columns = sizeof cpu_columns / sizeof *cpu_columns,
                               .n_rows = table->n_rows,
                               .row = cpu_row,
                               .context = &cpus };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&cpus, &rows);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&rows, view->out);
    else
        print_text(&cpus, &rows);
}
