/* SPDX-License-Identifier: MIT
 *
 * Waits: one row a thread, and what each thread's time went to.
 */
#include "render/human.h"
#include "render/text/render.h"
#include "schema/states.h"
#include "schema/tables.h"

#include <inttypes.h>

struct waits {
    const struct weft_view *view;
    const struct weft_waits_table *table;
    const struct weft_waits_view *opts;
};

static struct weft_table cause_table(const struct waits *waits, size_t index)
{
    const struct weft_waits_thread *thread = &waits->table->threads[index];
    const uint64_t limit = waits->opts->limit;
    return (struct weft_table){ .type = &weft_waits_causes_type,
                                .rows = thread->rows,
                                .n_rows = limit > 0 && thread->n_rows > limit ? (size_t)limit
                                                                              : thread->n_rows,
                                .in = weft_view_context(waits->view, thread) };
}

static void print_text(const struct waits *waits, const struct weft_table *threads)
{
    const struct weft_view *view = waits->view;
    weft_view_headline(view, "time of threads by state");
    weft_view_left_out(view);
    if (!waits->table->is_known)
        weft_view_dim(view, WEFT_STATES_UNKNOWN);
    if (waits->table->n_threads == 0)
        return;
    weft_output_text(view->out, "\n");
    weft_table_text(threads, &view->style, view->out);
    for (size_t i = 0; i < waits->table->n_threads && waits->opts->with_causes; i++) {
        const struct weft_waits_thread *thread = &waits->table->threads[i];
        const struct weft_thread_info *info =
            &weft_trace_thread(view->trace, thread->thread_id)->info;
        const struct weft_table causes = cause_table(waits, i);
        weft_output_printf(view->out, "\n%" PRIu64 " %.*s, %s:\n", info->tid,
                           (int)info->name.n_bytes, info->name.bytes,
                           weft_human_ns(thread->last_ns - thread->first_ns).text);
        weft_table_text(&causes, &view->style, view->out);
    }
}

static void print_csv(const struct waits *waits, struct weft_table *threads)
{
    if (!waits->opts->with_causes) {
        weft_table_csv(threads, waits->view->out);
        return;
    }
    for (size_t i = 0; i < waits->table->n_threads; i++) {
        struct weft_table causes = cause_table(waits, i);
        causes.without_head = i > 0;
        weft_table_csv(&causes, waits->view->out);
    }
}

static void json_causes(const void *context, size_t row, struct weft_json *json)
{
    const struct waits *waits = context;
    const struct weft_table causes = cause_table(waits, row);
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

/* Reasons are known by wakeups, and those of interrupts by these. */
static uint32_t known_of(const struct weft_view *view, const struct weft_waits_table *table)
{
    const uint64_t *of_kind = weft_trace_meta(view->trace)->events_of_kind;
    uint64_t interrupted_ns = 0; /* contexts of wakeups alone last no time */
    for (size_t i = 0; i < table->n_threads; i++)
        interrupted_ns |= table->threads[i].kind_ns[WEFT_STATE_INTERRUPTED];
    if (!table->is_known)
        return 0;
    return WEFT_WAITS_STATES | (interrupted_ns ? WEFT_WAITS_INTERRUPTS : 0) |
           (of_kind[WEFT_EVENT_WAKING] + of_kind[WEFT_EVENT_WOKEN] ? WEFT_WAITS_WAKEUPS : 0) |
           (weft_trace_has_calls(view->trace) ? WEFT_WAITS_CALLS : 0);
}

void weft_render_waits(const struct weft_view *view, const struct weft_waits_table *table,
                       const struct weft_waits_view *opts)
{
    const struct waits waits = { .view = view, .table = table, .opts = opts };
    struct weft_table threads = { .type = &weft_waits_threads_type,
                                  .rows = table->threads,
                                  .n_rows = table->n_threads,
                                  .in = weft_view_context(view, table),
                                  .context = &waits };
    threads.in.known = known_of(view, table);
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&waits, &threads);
    else if (view->format == WEFT_FORMAT_CSV)
        print_csv(&waits, &threads);
    else
        print_text(&waits, &threads);
}
