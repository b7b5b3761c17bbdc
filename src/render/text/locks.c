/* SPDX-License-Identifier: MIT
 *
 * Locks: a list of them, and lists of call sites, blockers, what these did, orders and convoys.
 */
#include "render/human.h"
#include "render/text/lists.h"
#include "schema/tables.h"

#include <inttypes.h>

struct locks {
    const struct weft_view *view;
    const struct weft_locks_table *table;
    struct weft_table_context in;
};

/* ---- lists ----------------------------------------------------------------------------------- */

static const struct weft_list lists[WEFT_LOCKS_LISTS] = {
    [WEFT_LOCKS_LOCKS] = { "locks", "locks", &weft_locks_type },
    [WEFT_LOCKS_SITES] = { "sites", "acquisition sites", &weft_lock_sites_type },
    [WEFT_LOCKS_BLOCKERS] = { "blockers", "blocking pairs", &weft_lock_pairs_type },
    [WEFT_LOCKS_CONTEXTS] = { "contexts", "holders' activity while others waited",
                              &weft_lock_contexts_type },
    [WEFT_LOCKS_ORDERS] = { "orders", "acquired while another one is held",
                            &weft_lock_orders_type },
    [WEFT_LOCKS_CONVOYS] = { "convoys", "convoys: each acquisition waited for the one before",
                             &weft_lock_convoys_type },
    [WEFT_LOCKS_OPEN] = { "open", "open: waits that did not end", &weft_lock_opens_type },
};

/* ---- renderings ------------------------------------------------------------------------------ */

static void print_sources(const struct locks *locks)
{
    static const char *const texts[WEFT_LOCK_N_SOURCES] = { "lock events", "calls",
                                                            "futex syscalls" };
    struct weft_output *out = locks->view->out;
    bool has_any = false;
    for (unsigned bit = 0; bit < WEFT_LOCK_N_SOURCES; bit++) {
        if (!locks->table->operations[bit])
            continue;
        weft_output_printf(out, "%s%s from %s", has_any ? ", " : "source: ",
                           weft_human_count(locks->table->operations[bit]).text, texts[bit]);
        has_any = true;
    }
    weft_output_text(out, has_any ? "\n"
                          : locks->table->has_others
                              ? "no lock operations of these threads in this time\n"
                              : "no lock operations recorded\n");
    if (locks->table->unmatched)
        weft_output_printf(out, "%s without a recorded acquisition\n",
                           weft_human_plural(locks->table->unmatched, "release").text);
}

/* A line for each wait of a cycle: "  worker_main (tid 71) waits for m1, held by main (tid 72)". */
static void print_open(const struct locks *locks, const struct weft_locks_open *open)
{
    const struct weft_lock_object *lock = &locks->table->rows[open->lock].object;
    const bool is_join = lock->kind == WEFT_LOCK_JOIN;
    const struct weft_thread_info *waiter = locks->in.thread(locks->in.trace, open->waiter_id);
    const struct weft_thread_info *holder = locks->in.thread(locks->in.trace, open->holder_id);
    struct weft_output *out = locks->view->out;
    char label[WEFT_LOCK_LABEL_BYTES];
    weft_lock_label(&locks->in, lock, label);
    weft_output_text(out, "  ");
    weft_output_plain(out, waiter->name);
    weft_output_printf(out, " (tid %" PRIu64 ") waits for %s", waiter->tid,
                       is_join ? "the end of " : "");
    if (!is_join) {
        weft_output_plain(out, weft_str_of(label));
        weft_output_text(out, ", held by ");
    }
    weft_output_plain(out, holder->name);
    weft_output_printf(out, " (tid %" PRIu64 ")\n", holder->tid);
}

static void print_deadlocks(const struct locks *locks)
{
    const struct weft_locks_table *table = locks->table;
    for (size_t i = 0; i < table->n_opens && table->opens[i].deadlock; i++) {
        if (i == 0 || table->opens[i - 1].deadlock != table->opens[i].deadlock)
            weft_output_text(locks->view->out, "deadlock:\n");
        print_open(locks, &table->opens[i]);
    }
}

/* "Contention: mutex in kv_put blocked others for 185 ms", or that nothing did. */
static void print_answer(const struct locks *locks)
{
    const struct weft_locks_table *table = locks->table;
    if (table->n_rows == 0)
        return;
    struct weft_output *out = weft_view_line(locks->view);
    const struct weft_locks_row *worst = &table->rows[0];
    char label[WEFT_LOCK_LABEL_BYTES];
    weft_lock_label(&locks->in, &worst->object, label);
    if (worst->blame_ns == 0) {
        weft_output_text(out, worst->wait_ns > worst->idle_ns
                                  ? "No contention on held locks."
                                  : "No contention: all waits are idle.");
        weft_view_line_end(locks->view, out, 0);
        return;
    }
    weft_output_printf(out, "Most blame: ");
    weft_output_plain(out, weft_str_of(label));
    weft_output_printf(out, " blocked others for %s in %s, longest %s.",
                       weft_human_ns(worst->blame_ns).text,
                       weft_human_plural(worst->contended, "wait").text,
                       weft_human_ns(worst->longest_wait_ns).text);
    weft_view_line_end(locks->view, out, 0);
}

static void print_text(const struct locks *locks, const struct weft_lists *all)
{
    const struct weft_view *view = locks->view;
    weft_view_headline(view, weft_human_plural(locks->table->n_rows, "lock").text);
    print_deadlocks(locks);
    print_answer(locks);
    print_sources(locks);
    weft_left_out_text(view, &locks->table->left_out);
    weft_lists_text(all, view);
}

static void print_json(const struct locks *locks, const struct weft_lists *all)
{
    struct weft_json *json = weft_view_json(locks->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "from_ns", locks->table->from_ns);
    weft_json_u64(json, "to_ns", locks->table->to_ns);
    for (unsigned bit = 0; bit < WEFT_LOCK_N_SOURCES; bit++)
        weft_json_u64(json, weft_lock_source_name(bit), locks->table->operations[bit]);
    weft_json_u64(json, "unmatched_releases", locks->table->unmatched);
    weft_json_u64(json, "deadlocks", locks->table->n_deadlocks);
    weft_json_bool(json, "has_kernel", locks->table->has_switches);
    weft_left_out_json(locks->view, &locks->table->left_out, json);
    weft_lists_json(all, json);
    weft_json_end_object(json);
    weft_view_json_end(locks->view, json);
}

void weft_render_locks(const struct weft_view *view, const struct weft_locks_table *table,
                       const struct weft_locks_view *opts)
{
    struct locks locks = { view, table, weft_view_context(view, table) };
    locks.in.is_text = view->format == WEFT_FORMAT_TEXT;
    const struct weft_list_rows rows[WEFT_LOCKS_LISTS] = {
        [WEFT_LOCKS_LOCKS] = { table->rows, table->n_rows },
        [WEFT_LOCKS_SITES] = { table->sites, table->n_sites },
        [WEFT_LOCKS_BLOCKERS] = { table->pairs, table->n_pairs },
        [WEFT_LOCKS_CONTEXTS] = { table->contexts, table->n_contexts },
        [WEFT_LOCKS_ORDERS] = { table->orders, table->n_orders },
        [WEFT_LOCKS_CONVOYS] = { table->convoys, table->n_convoys },
        [WEFT_LOCKS_OPEN] = { table->opens, table->n_opens },
    };
    const struct weft_lists all = {
        .items = lists, .rows = rows, .n = WEFT_LOCKS_LISTS, .limit = opts->limit, .in = locks.in
    };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&locks, &all);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_lists_csv(&all, opts->list, view->out);
    else
        print_text(&locks, &all);
}
