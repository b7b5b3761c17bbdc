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
    [WEFT_LOCKS_SITES] = { "sites", "where they are asked for", &weft_lock_sites_type },
    [WEFT_LOCKS_BLOCKERS] = { "blockers", "who made whom wait", &weft_lock_pairs_type },
    [WEFT_LOCKS_CONTEXTS] = { "contexts", "what those did meanwhile", &weft_lock_contexts_type },
    [WEFT_LOCKS_ORDERS] = { "orders", "taken while another one is held", &weft_lock_orders_type },
    [WEFT_LOCKS_CONVOYS] = { "convoys", "convoys: each waited for the one before",
                             &weft_lock_convoys_type },
    [WEFT_LOCKS_OPEN] = { "open", "open: still waiting at the end of the thread or the trace",
                          &weft_lock_opens_type },
};

/* ---- renderings ------------------------------------------------------------------------------ */

static void print_sources(const struct locks *locks)
{
    static const char *const texts[WEFT_LOCK_N_SOURCES] = { "events of a lock library",
                                                            "calls of functions",
                                                            "futex system calls" };
    struct weft_output *out = locks->view->out;
    bool has_any = false;
    for (unsigned bit = 0; bit < WEFT_LOCK_N_SOURCES; bit++) {
        if (!locks->table->operations[bit])
            continue;
        weft_output_printf(out, "%s%s by %s", has_any ? ", " : "told: ",
                           weft_human_count(locks->table->operations[bit]).text, texts[bit]);
        has_any = true;
    }
    weft_output_text(out, has_any ? "\n"
                          : locks->table->has_others
                              ? "operations on locks are of other threads or times\n"
                              : "nothing tells of locks\n");
    if (locks->table->unmatched)
        weft_output_printf(out, "%s of what nobody was seen to have\n",
                           weft_human_plural(locks->table->unmatched, "release").text);
}

/* "deadlock: 71 A waits for m1 held by 72 B, 72 B waits for m2 held by 71 A": a line a circle. */
static void print_deadlocks(const struct locks *locks)
{
    const struct weft_locks_table *table = locks->table;
    struct weft_output *out = locks->view->out;
    for (size_t i = 0; i < table->n_opens && table->opens[i].deadlock; i++) {
        const struct weft_locks_open *open = &table->opens[i];
        const struct weft_lock_object *lock = &table->rows[open->lock].object;
        const bool is_join = lock->kind == WEFT_LOCK_JOIN;
        const struct weft_thread_info *waiter = locks->in.thread(locks->in.trace, open->waiter_id);
        const struct weft_thread_info *holder = locks->in.thread(locks->in.trace, open->holder_id);
        char label[WEFT_LOCK_LABEL_BYTES];
        weft_lock_label(&locks->in, lock, label);
        weft_output_printf(out, "%s%" PRIu64 " %.*s waits for ",
                           open->order ? ", " : "deadlock: ", waiter->tid,
                           (int)waiter->name.n_bytes, waiter->name.bytes);
        if (!is_join)
            weft_output_printf(out, "%s held by ", label);
        weft_output_printf(out, "%s%" PRIu64 " %.*s", is_join ? "the end of " : "", holder->tid,
                           (int)holder->name.n_bytes, holder->name.bytes);
        if (i + 1 == table->n_opens || table->opens[i + 1].deadlock != open->deadlock)
            weft_output_text(out, "\n");
    }
}

static void print_text(const struct locks *locks, const struct weft_lists *all)
{
    const struct weft_view *view = locks->view;
    weft_view_head(view);
    weft_output_printf(view->out, "  %s\n", weft_human_plural(locks->table->n_rows, "lock").text);
    print_sources(locks);
    weft_left_out_text(view, &locks->table->left_out);
    print_deadlocks(locks);
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
    const struct locks locks = { view, table, weft_view_context(view, table) };
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
