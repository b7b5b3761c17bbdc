/* SPDX-License-Identifier: MIT
 *
 * Waits: one row a thread, and what each thread's time went to.
 */
#include "render/human.h"
#include "render/text/modes.h"
#include "render/text/render.h"

#include <inttypes.h>

struct waits {
    const struct weft_view *view;
    const struct weft_waits_table *table;
    const struct weft_waits_view *opts;
    size_t thread; /* whose causes are shown */
    /* What the trace contains; cells of the rest are null. */
    bool has_wakeups, has_interrupts, has_calls;
};

static const struct weft_column thread_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "thread", "thread", WEFT_CELL_TEXT },
    { "first_ns", NULL, WEFT_CELL_AT },
    { "last_ns", NULL, WEFT_CELL_AT },
    { "life_ns", "life", WEFT_CELL_NS },
    { "cpu_ns", "CPU time", WEFT_CELL_NS },
    { "cpu_clocked_ns", NULL, WEFT_CELL_NS },
    { "running_ns", NULL, WEFT_CELL_NS },
    WEFT_MODE_COLUMNS("running_user_ns", "running_kernel_ns"),
    { "interrupted_ns", "irq", WEFT_CELL_NS },
    { "preempted_ns", "preempted", WEFT_CELL_NS },
    { "blocked_ns", "blocked", WEFT_CELL_NS },
    { "unknown_ns", "unknown", WEFT_CELL_NS },
    { "timer_ns", "timer", WEFT_CELL_NS },
    { "network_ns", "network", WEFT_CELL_NS },
    { "block_device_ns", "disk", WEFT_CELL_NS },
    { "device_ns", "device", WEFT_CELL_NS },
    { "ipi_ns", NULL, WEFT_CELL_NS },
    { "woken_by_thread_ns", "thread", WEFT_CELL_NS },
    { "unexplained_ns", "unexplained", WEFT_CELL_NS },
    { "futex_ns", "in futex", WEFT_CELL_NS },
    { "preempted", NULL, WEFT_CELL_COUNT },
    { "blocked", NULL, WEFT_CELL_COUNT },
    { "unexplained_share", NULL, WEFT_CELL_SHARE },
};

enum { N_COLUMNS = sizeof thread_columns / sizeof *thread_columns };

/* From "interrupted_ns" on. Reasons are known by wakeups, and those of interrupts by these. */
static void state_cells(const struct waits *waits, const struct weft_waits_thread *thread,
                        struct weft_cell *cells)
{
    cells[0] = (struct weft_cell){ .number = thread->kind_ns[WEFT_STATE_INTERRUPTED],
                                   .is_null = !waits->has_interrupts };
    cells[1].number = thread->kind_ns[WEFT_STATE_PREEMPTED];
    cells[2].number = thread->kind_ns[WEFT_STATE_BLOCKED];
    cells[3].number = thread->kind_ns[WEFT_STATE_UNKNOWN];
    for (size_t reason = WEFT_WAIT_TIMER; reason < WEFT_WAIT_REASONS; reason++) {
        struct weft_cell *cell = &cells[4 + reason - WEFT_WAIT_TIMER];
        cell->number = thread->reason_ns[reason];
        cell->is_null = !waits->has_wakeups && reason != WEFT_WAIT_UNKNOWN;
    }
    cells[11] = (struct weft_cell){ .number = thread->futex_ns, .is_null = !waits->has_calls };
    cells[12].number = thread->kind_count[WEFT_STATE_PREEMPTED];
    cells[13].number = thread->kind_count[WEFT_STATE_BLOCKED];
}

static void thread_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct waits *waits = context;
    const struct weft_waits_thread *thread = &waits->table->threads[index];
    const struct weft_thread_info *info =
        &weft_trace_thread(waits->view->trace, thread->thread_id)->info;
    const uint64_t life_ns = thread->last_ns - thread->first_ns;
    const uint64_t unexplained_ns =
        thread->reason_ns[WEFT_WAIT_UNKNOWN] + thread->kind_ns[WEFT_STATE_UNKNOWN];
    cells[0].number = info->tid;
    cells[1].text = info->name;
    cells[2].number = thread->first_ns;
    cells[3].number = thread->last_ns;
    cells[4].number = life_ns;
    cells[5].number = thread->cpu_ns;
    cells[6] =
        (struct weft_cell){ .number = thread->clocked_ns, .is_null = thread->clocked_ns == 0 };
    cells[7].number = thread->modes.user_ns + thread->modes.kernel_ns + thread->modes.unknown_ns;
    weft_mode_cells(&thread->modes, &cells[8]);
    state_cells(waits, thread, &cells[8 + WEFT_MODE_CELLS]);
    cells[N_COLUMNS - 1] =
        (struct weft_cell){ .real = life_ns ? (double)unexplained_ns / (double)life_ns : 0,
                            .is_null = life_ns == 0 };
    for (size_t k = 5; !waits->table->is_known && k < N_COLUMNS; k++)
        cells[k].is_null = true;
}

static const struct weft_column cause_columns[] = {
    { "tid", NULL, WEFT_CELL_ID },           { "state", "state", WEFT_CELL_TEXT },
    { "reason", "reason", WEFT_CELL_TEXT },  { "name", "in", WEFT_CELL_TEXT },
    { "other_tid", "other", WEFT_CELL_ID },  { "other", "thread", WEFT_CELL_TEXT },
    { "count", "count", WEFT_CELL_COUNT },   { "sum_ns", "time", WEFT_CELL_NS },
    { "share", "of life", WEFT_CELL_SHARE }, { "longest_ns", "longest", WEFT_CELL_NS },
    { "longest_at_ns", "at", WEFT_CELL_AT },
};

static void cause_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct waits *waits = context;
    const struct weft_trace *trace = waits->view->trace;
    const struct weft_waits_thread *thread = &waits->table->threads[waits->thread];
    const struct weft_waits_row *row = &thread->rows[index];
    const bool has_other = row->other_id < weft_trace_n_threads(trace);
    cells[0].number = weft_trace_thread(trace, thread->thread_id)->info.tid;
    cells[1].text = weft_str_of(weft_state_kind_name(row->kind));
    cells[2] = (struct weft_cell){ .text = weft_str_of(weft_wait_reason_name(row->reason)),
                                   .is_null = row->kind != WEFT_STATE_BLOCKED };
    cells[3] = (struct weft_cell){ .text = row->name, .is_null = row->name.n_bytes == 0 };
    cells[4].is_null = cells[5].is_null = !has_other;
    if (has_other) {
        cells[4].number = weft_trace_thread(trace, row->other_id)->info.tid;
        cells[5].text = weft_trace_thread(trace, row->other_id)->info.name;
    }
    cells[6].number = row->count;
    cells[7].number = row->sum_ns;
    cells[8].real = (double)row->sum_ns / (double)(thread->last_ns - thread->first_ns);
    cells[9].number = row->longest_ns;
    cells[10].number = row->longest_at_ns;
}

static size_t n_shown(const struct waits *waits)
{
    const size_t n_rows = waits->table->threads[waits->thread].n_rows;
    const uint64_t limit = waits->opts->limit;
    return limit > 0 && n_rows > limit ? (size_t)limit : n_rows;
}

static struct weft_table cause_table(const struct waits *waits)
{
    return (struct weft_table){ .columns = cause_columns,
                                .n_columns = sizeof cause_columns / sizeof *cause_columns,
                                .n_rows = n_shown(waits),
                                .row = cause_row,
                                .context = waits };
}

static void print_text(struct waits *waits, const struct weft_table *threads)
{
    const struct weft_view *view = waits->view;
    weft_view_head(view);
    weft_output_printf(view->out, "  %s\n",
                       weft_human_plural(waits->table->n_threads, "thread").text);
    weft_view_left_out(view);
    if (!waits->table->is_known)
        weft_view_dim(view, WEFT_STATES_UNKNOWN);
    if (waits->table->n_threads == 0)
        return;
    weft_output_text(view->out, "\n");
    weft_table_text(threads, &view->style, view->out);
    for (size_t i = 0; i < waits->table->n_threads && waits->opts->with_causes; i++) {
        waits->thread = i;
        const struct weft_waits_thread *thread = &waits->table->threads[i];
        const struct weft_thread_info *info =
            &weft_trace_thread(view->trace, thread->thread_id)->info;
        const struct weft_table causes = cause_table(waits);
        weft_output_printf(view->out, "\n%" PRIu64 " %.*s, %s:\n", info->tid,
                           (int)info->name.n_bytes, info->name.bytes,
                           weft_human_ns(thread->last_ns - thread->first_ns).text);
        weft_table_text(&causes, &view->style, view->out);
    }
}

static void print_csv(struct waits *waits, struct weft_table *threads)
{
    if (!waits->opts->with_causes) {
        weft_table_csv(threads, waits->view->out);
        return;
    }
    for (size_t i = 0; i < waits->table->n_threads; i++) {
        waits->thread = i;
        struct weft_table causes = cause_table(waits);
        causes.without_head = i > 0;
        weft_table_csv(&causes, waits->view->out);
    }
}

static void json_causes(const void *context, size_t row, struct weft_json *json)
{
    struct waits waits = *(const struct waits *)context;
    waits.thread = row;
    const struct weft_table causes = cause_table(&waits);
    if (waits.view->has_ids)
        weft_json_u64(json, "thread_id", waits.table->threads[row].thread_id);
    weft_table_json(&causes, "causes", json);
}

static void print_json(const struct waits *waits, struct weft_table *threads)
{
    struct weft_json *json = weft_view_json(waits->view);
    if (!json)
        return;
    threads->more = json_causes;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "from_ns", waits->table->from_ns);
    weft_json_u64(json, "to_ns", waits->table->to_ns);
    weft_json_bool(json, "known", waits->table->is_known);
    weft_view_left_out_json(waits->view, json);
    weft_table_json(threads, "threads", json);
    weft_json_end_object(json);
    weft_view_json_end(waits->view, json);
}

void weft_render_waits(const struct weft_view *view, const struct weft_waits_table *table,
                       const struct weft_waits_view *opts)
{
    const uint64_t *of_kind = weft_trace_meta(view->trace)->events_of_kind;
    struct waits waits = { .view = view, .table = table, .opts = opts };
    waits.has_wakeups = of_kind[WEFT_EVENT_WAKING] + of_kind[WEFT_EVENT_WOKEN] > 0;
    waits.has_calls = weft_trace_has_calls(view->trace);
    /* Contexts of wakeups alone last no time. */
    for (size_t i = 0; i < table->n_threads; i++)
        waits.has_interrupts |= table->threads[i].kind_ns[WEFT_STATE_INTERRUPTED] > 0;
    struct weft_table threads = { .columns = thread_columns,
                                  .n_columns = N_COLUMNS,
                                  .n_rows = table->n_threads,
                                  .row = thread_row,
                                  .context = &waits };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&waits, &threads);
    else if (view->format == WEFT_FORMAT_CSV)
        print_csv(&waits, &threads);
    else
        print_text(&waits, &threads);
}
