/* SPDX-License-Identifier: MIT
 *
 * Locks: a list of them, and lists of call sites, blockers, what these did, orders and convoys.
 */
#include "render/human.h"
#include "render/text/lists.h"
#include "render/text/lock_label.h"

#include <inttypes.h>
#include <stdio.h>

struct locks {
    const struct weft_view *view;
    const struct weft_locks_table *table;
    struct weft_lock_label *labels;  /* by row */
    struct weft_lock_label *sources; /* by row */
    struct weft_lock_label *addresses;
};

/* ---- names ----------------------------------------------------------------------------------- */

static void label_sources(const struct weft_lock_object *object, struct weft_lock_label *label)
{
    size_t n = 0;
    label->text[0] = '\0';
    for (unsigned bit = 0; bit < WEFT_LOCK_N_SOURCES; bit++)
        if (object->sources >> bit & 1)
            n += (size_t)snprintf(label->text + n, sizeof label->text - n, "%s%s", n ? "+" : "",
                                  weft_lock_source_name(bit));
}

static void label_address(const struct weft_lock_object *object, struct weft_lock_label *label)
{
    label->text[0] = '\0';
    if (object->address)
        (void)snprintf(label->text, sizeof label->text, "0x%" PRIx64, object->address);
}

static void lock_cells(const struct locks *locks, uint32_t lock, struct weft_cell *cells)
{
    cells[0].number = lock;
    cells[1].text = weft_str_of(locks->labels[lock].text);
}

/* ---- columns --------------------------------------------------------------------------------- */

static const struct weft_column lock_columns[] = {
    { "lock_id", "id", WEFT_CELL_ID },
    { "lock", "lock", WEFT_CELL_TEXT },
    { "kind", "kind", WEFT_CELL_TEXT },
    { "sources", "told by", WEFT_CELL_TEXT },
    { "pid", NULL, WEFT_CELL_ID },
    { "acquisitions", "got", WEFT_CELL_COUNT },
    { "contended", "waited for", WEFT_CELL_COUNT },
    { "failed", NULL, WEFT_CELL_COUNT },
    { "threads", "threads", WEFT_CELL_COUNT },
    { "wait_ns", "waits", WEFT_CELL_NS },
    { "longest_wait_ns", "longest", WEFT_CELL_NS },
    { "longest_wait_at_ns", NULL, WEFT_CELL_AT },
    { "p99_wait_ns", "p99", WEFT_CELL_NS },
    { "blocking_ns", "explained", WEFT_CELL_NS },
    { "hold_ns", "holds", WEFT_CELL_NS },
    { "longest_hold_ns", "longest", WEFT_CELL_NS },
    { "partial", NULL, WEFT_CELL_COUNT },
    { "convoys", "convoys", WEFT_CELL_COUNT },
    { "longest_convoy", NULL, WEFT_CELL_COUNT },
    { "address", NULL, WEFT_CELL_TEXT },
    { "open", NULL, WEFT_CELL_COUNT },
};

/* Others are waited for, but not held. */
static void lock_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct locks *locks = context;
    const struct weft_locks_row *row = &locks->table->rows[index];
    const bool is_held = weft_lock_is_held(row->object.kind);
    lock_cells(locks, (uint32_t)index, cells);
    cells[2].text = weft_str_of(weft_lock_kind_name(row->object.kind));
    cells[3].text = weft_str_of(locks->sources[index].text);
    cells[4] = (struct weft_cell){ .number = row->object.pid, .is_null = row->object.pid == 0 };
    cells[5].number = row->acquisitions;
    cells[6].number = row->contended;
    cells[7].number = row->failed;
    cells[8].number = row->threads;
    cells[9].number = row->wait_ns;
    cells[10].number = row->longest_wait_ns;
    cells[11] =
        (struct weft_cell){ .number = row->longest_wait_at_ns, .is_null = row->contended == 0 };
    cells[12].number = row->p99_wait_ns;
    cells[13].number = row->blocking_ns;
    cells[14] = (struct weft_cell){ .number = row->hold_ns, .is_null = !is_held };
    cells[15] = (struct weft_cell){ .number = row->longest_hold_ns, .is_null = !is_held };
    cells[16].number = row->partial;
    cells[17] = (struct weft_cell){ .number = row->convoys, .is_null = !is_held };
    cells[18] = (struct weft_cell){ .number = row->longest_convoy, .is_null = !is_held };
    cells[19] = weft_text_cell(weft_str_of(locks->addresses[index].text));
    cells[20].number = row->open;
}

static const struct weft_column site_columns[] = {
    { "lock_id", "id", WEFT_CELL_ID },
    { "lock", "lock", WEFT_CELL_TEXT },
    { "function", "function", WEFT_CELL_TEXT },
    { "acquisitions", "got", WEFT_CELL_COUNT },
    { "contended", "waited", WEFT_CELL_COUNT },
    { "wait_ns", "waits", WEFT_CELL_NS },
    { "longest_wait_ns", "longest", WEFT_CELL_NS },
    { "hold_ns", "holds", WEFT_CELL_NS },
};

static void site_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct locks *locks = context;
    const struct weft_locks_site *row = &locks->table->sites[index];
    lock_cells(locks, row->lock, cells);
    cells[2] = weft_text_cell(row->name);
    cells[3].number = row->acquisitions;
    cells[4].number = row->contended;
    cells[5].number = row->wait_ns;
    cells[6].number = row->longest_wait_ns;
    cells[7] = (struct weft_cell){ .number = row->hold_ns,
                                   .is_null = !weft_lock_is_held(
                                       locks->table->rows[row->lock].object.kind) };
}

static const struct weft_column pair_columns[] = {
    { "lock_id", "id", WEFT_CELL_ID },         { "lock", "lock", WEFT_CELL_TEXT },
    { "blocker_tid", "tid", WEFT_CELL_ID },    { "blocker", "had it", WEFT_CELL_TEXT },
    { "waiter_tid", "tid", WEFT_CELL_ID },     { "waiter", "waited", WEFT_CELL_TEXT },
    { "count", "count", WEFT_CELL_COUNT },     { "sum_ns", "time", WEFT_CELL_NS },
    { "longest_ns", "longest", WEFT_CELL_NS }, { "longest_at_ns", "at", WEFT_CELL_AT },
};

static void pair_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct locks *locks = context;
    const struct weft_locks_pair *row = &locks->table->pairs[index];
    lock_cells(locks, row->lock, cells);
    weft_thread_cells(locks->view, row->blocker_id, cells + 2);
    weft_thread_cells(locks->view, row->waiter_id, cells + 4);
    cells[6].number = row->count;
    cells[7].number = row->sum_ns;
    cells[8].number = row->longest_ns;
    cells[9].number = row->longest_at_ns;
}

static const struct weft_column context_columns[] = {
    { "lock_id", "id", WEFT_CELL_ID },       { "lock", "lock", WEFT_CELL_TEXT },
    { "tid", "tid", WEFT_CELL_ID },          { "thread", "had it", WEFT_CELL_TEXT },
    { "function", "in", WEFT_CELL_TEXT },    { "sum_ns", "time", WEFT_CELL_NS },
    { "share", "of lock", WEFT_CELL_SHARE },
};

static void context_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct locks *locks = context;
    const struct weft_locks_context *row = &locks->table->contexts[index];
    const uint64_t all_ns = locks->table->rows[row->lock].blocking_ns;
    lock_cells(locks, row->lock, cells);
    weft_thread_cells(locks->view, row->thread_id, cells + 2);
    cells[4] = weft_text_cell(row->name);
    cells[5].number = row->sum_ns;
    cells[6].real = all_ns ? (double)row->sum_ns / (double)all_ns : 0;
}

static const struct weft_column order_columns[] = {
    { "first_id", "id", WEFT_CELL_ID },
    { "first", "has", WEFT_CELL_TEXT },
    { "second_id", "id", WEFT_CELL_ID },
    { "second", "gets", WEFT_CELL_TEXT },
    { "count", "count", WEFT_CELL_COUNT },
    { "first_at_ns", "first at", WEFT_CELL_AT },
    { "inverse", "the other way", WEFT_CELL_COUNT },
};

static void order_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct locks *locks = context;
    const struct weft_locks_order *row = &locks->table->orders[index];
    lock_cells(locks, row->first, cells);
    lock_cells(locks, row->second, cells + 2);
    cells[4].number = row->count;
    cells[5].number = row->first_at_ns;
    cells[6] = (struct weft_cell){ .number = row->inverse, .is_bad = row->inverse > 0 };
}

static const struct weft_column convoy_columns[] = {
    { "lock_id", "id", WEFT_CELL_ID },
    { "lock", "lock", WEFT_CELL_TEXT },
    { "start_ns", "at", WEFT_CELL_AT },
    { "end_ns", NULL, WEFT_CELL_AT },
    { NULL, "time", WEFT_CELL_NS },
    { "acquisitions", "got", WEFT_CELL_COUNT },
    { "threads", "threads", WEFT_CELL_COUNT },
    { "wait_ns", "waits", WEFT_CELL_NS },
};

static void convoy_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct locks *locks = context;
    const struct weft_locks_convoy *row = &locks->table->convoys[index];
    lock_cells(locks, row->lock, cells);
    cells[2].number = row->start_ns;
    cells[3].number = row->end_ns;
    cells[4].number = row->end_ns - row->start_ns;
    cells[5].number = row->acquisitions;
    cells[6].number = row->threads;
    cells[7].number = row->wait_ns;
}

static const struct weft_column open_columns[] = {
    { "lock_id", "id", WEFT_CELL_ID },           { "lock", "lock", WEFT_CELL_TEXT },
    { "kind", "kind", WEFT_CELL_TEXT },          { "waiter_tid", "tid", WEFT_CELL_ID },
    { "waiter", "waiter", WEFT_CELL_TEXT },      { "function", "function", WEFT_CELL_TEXT },
    { "start_ns", "since", WEFT_CELL_AT },       { "wait_ns", "waited", WEFT_CELL_NS },
    { "holder_tid", "tid", WEFT_CELL_ID },       { "holder", "holder", WEFT_CELL_TEXT },
    { "deadlock", "deadlock", WEFT_CELL_COUNT }, { "open", NULL, WEFT_CELL_BOOL },
};

static void open_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct locks *locks = context;
    const struct weft_locks_open *row = &locks->table->opens[index];
    lock_cells(locks, row->lock, cells);
    cells[2].text = weft_str_of(weft_lock_kind_name(locks->table->rows[row->lock].object.kind));
    weft_thread_cells(locks->view, row->waiter_id, cells + 3);
    cells[5] = weft_text_cell(row->function);
    cells[6].number = row->start_ns;
    cells[7].number = row->wait_ns;
    weft_thread_cells(locks->view, row->holder_id, cells + 8);
    cells[10] = (struct weft_cell){ .number = row->deadlock,
                                    .is_null = row->deadlock == 0,
                                    .is_bad = row->deadlock != 0 };
    cells[11].number = true;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static const struct weft_list lists[WEFT_LOCKS_LISTS] = {
    [WEFT_LOCKS_LOCKS] = { "locks", "locks", WEFT_LIST_COLUMNS(lock_columns), lock_row },
    [WEFT_LOCKS_SITES] = { "sites", "where they are asked for", WEFT_LIST_COLUMNS(site_columns),
                           site_row },
    [WEFT_LOCKS_BLOCKERS] = { "blockers", "who made whom wait", WEFT_LIST_COLUMNS(pair_columns),
                              pair_row },
    [WEFT_LOCKS_CONTEXTS] = { "contexts", "what those did meanwhile",
                              WEFT_LIST_COLUMNS(context_columns), context_row },
    [WEFT_LOCKS_ORDERS] = { "orders", "taken while another one is held",
                            WEFT_LIST_COLUMNS(order_columns), order_row },
    [WEFT_LOCKS_CONVOYS] = { "convoys", "convoys: each waited for the one before",
                             WEFT_LIST_COLUMNS(convoy_columns), convoy_row },
    [WEFT_LOCKS_OPEN] = { "open", "open: still waiting at the end of the thread or the trace",
                          WEFT_LIST_COLUMNS(open_columns), open_row },
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
        const bool is_join = table->rows[open->lock].object.kind == WEFT_LOCK_JOIN;
        struct weft_cell cells[4];
        weft_thread_cells(locks->view, open->waiter_id, cells);
        weft_thread_cells(locks->view, open->holder_id, cells + 2);
        weft_output_printf(out, "%s%" PRIu64 " %.*s waits for ",
                           open->order ? ", " : "deadlock: ", cells[0].number,
                           (int)cells[1].text.n_bytes, cells[1].text.bytes);
        if (!is_join)
            weft_output_printf(out, "%s held by ", locks->labels[open->lock].text);
        weft_output_printf(out, "%s%" PRIu64 " %.*s", is_join ? "the end of " : "", cells[2].number,
                           (int)cells[3].text.n_bytes, cells[3].text.bytes);
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

static void print(const struct locks *locks, const struct weft_locks_view *opts)
{
    const struct weft_locks_table *table = locks->table;
    const size_t n_rows[WEFT_LOCKS_LISTS] = {
        [WEFT_LOCKS_LOCKS] = table->n_rows,     [WEFT_LOCKS_SITES] = table->n_sites,
        [WEFT_LOCKS_BLOCKERS] = table->n_pairs, [WEFT_LOCKS_CONTEXTS] = table->n_contexts,
        [WEFT_LOCKS_ORDERS] = table->n_orders,  [WEFT_LOCKS_CONVOYS] = table->n_convoys,
        [WEFT_LOCKS_OPEN] = table->n_opens,
    };
    const struct weft_lists all = { .items = lists,
                                    .n_rows = n_rows,
                                    .n = WEFT_LOCKS_LISTS,
                                    .limit = opts->limit,
                                    .context = locks };
    if (locks->view->format == WEFT_FORMAT_JSON)
        print_json(locks, &all);
    else if (locks->view->format == WEFT_FORMAT_CSV)
        weft_lists_csv(&all, opts->list, locks->view->out);
    else
        print_text(locks, &all);
}

void weft_render_locks(const struct weft_view *view, const struct weft_locks_table *table,
                       const struct weft_locks_view *opts)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct locks locks = { .view = view, .table = table };
    locks.labels = arena ? WEFT_ARENA_NEW(arena, table->n_rows, struct weft_lock_label) : NULL;
    locks.sources = arena ? WEFT_ARENA_NEW(arena, table->n_rows, struct weft_lock_label) : NULL;
    locks.addresses = arena ? WEFT_ARENA_NEW(arena, table->n_rows, struct weft_lock_label) : NULL;
    if (locks.labels && locks.sources && locks.addresses) {
        for (size_t i = 0; i < table->n_rows; i++) {
            weft_lock_label_make(view->trace, &table->rows[i].object, &locks.labels[i]);
            label_sources(&table->rows[i].object, &locks.sources[i]);
            label_address(&table->rows[i].object, &locks.addresses[i]);
        }
        print(&locks, opts);
    } else {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for locks");
        weft_output_fail(view->out, &err);
    }
    weft_output_release(view->out, arena);
}
