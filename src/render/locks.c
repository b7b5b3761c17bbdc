/* SPDX-License-Identifier: MIT
 *
 * Locks: a list of them, and lists of call sites, blockers, what these did, orders and convoys.
 */
#include "render/human.h"
#include "render/lock_label.h"
#include "render/render.h"

#include <inttypes.h>
#include <stdio.h>

struct locks {
    const struct weft_view *view;
    const struct weft_locks_table *table;
    const struct weft_locks_view *opts;
    struct weft_lock_label *labels;  /* by row */
    struct weft_lock_label *sources; /* by row */
};

static const struct weft_thread_info *thread_of(const struct locks *locks, uint32_t thread_id)
{
    return &weft_trace_thread(locks->view->trace, thread_id)->info;
}

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

static struct weft_cell text_cell(struct weft_str text)
{
    return (struct weft_cell){ .text = text, .is_null = text.n_bytes == 0 };
}

static void lock_cells(const struct locks *locks, uint32_t lock, struct weft_cell *cells)
{
    cells[0].number = lock;
    cells[1].text = weft_str_of(locks->labels[lock].text);
}

static void thread_cells(const struct locks *locks, uint32_t thread_id, struct weft_cell *cells)
{
    cells[0].number = thread_of(locks, thread_id)->tid;
    cells[1].text = thread_of(locks, thread_id)->name;
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
};

static void lock_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct locks *locks = context;
    const struct weft_locks_row *row = &locks->table->rows[index];
    const bool is_held =
        row->object.kind == WEFT_LOCK_MUTEX || row->object.kind == WEFT_LOCK_RWLOCK;
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
    cells[2] = text_cell(row->name);
    cells[3].number = row->acquisitions;
    cells[4].number = row->contended;
    cells[5].number = row->wait_ns;
    cells[6].number = row->longest_wait_ns;
    cells[7].number = row->hold_ns;
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
    thread_cells(locks, row->blocker_id, cells + 2);
    thread_cells(locks, row->waiter_id, cells + 4);
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
    thread_cells(locks, row->thread_id, cells + 2);
    cells[4] = text_cell(row->name);
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

/* ---- lists ----------------------------------------------------------------------------------- */

struct list {
    const char *key, *title;
    const struct weft_column *columns;
    size_t n_columns;
    void (*row)(const void *context, size_t row, struct weft_cell *cells);
};

#define COLUMNS(columns) (columns), sizeof(columns) / sizeof *(columns)

static const struct list lists[WEFT_LOCKS_LISTS] = {
    [WEFT_LOCKS_LOCKS] = { "locks", "locks", COLUMNS(lock_columns), lock_row },
    [WEFT_LOCKS_SITES] = { "sites", "where they are asked for", COLUMNS(site_columns), site_row },
    [WEFT_LOCKS_BLOCKERS] = { "blockers", "who made whom wait", COLUMNS(pair_columns), pair_row },
    [WEFT_LOCKS_CONTEXTS] = { "contexts", "what those did meanwhile", COLUMNS(context_columns),
                              context_row },
    [WEFT_LOCKS_ORDERS] = { "orders", "taken while another one is held", COLUMNS(order_columns),
                            order_row },
    [WEFT_LOCKS_CONVOYS] = { "convoys", "convoys: each waited for the one before",
                             COLUMNS(convoy_columns), convoy_row },
};

static size_t n_rows_of(const struct weft_locks_table *table, enum weft_locks_list list)
{
    const size_t n_rows[WEFT_LOCKS_LISTS] = {
        [WEFT_LOCKS_LOCKS] = table->n_rows,     [WEFT_LOCKS_SITES] = table->n_sites,
        [WEFT_LOCKS_BLOCKERS] = table->n_pairs, [WEFT_LOCKS_CONTEXTS] = table->n_contexts,
        [WEFT_LOCKS_ORDERS] = table->n_orders,  [WEFT_LOCKS_CONVOYS] = table->n_convoys,
    };
    return n_rows[list];
}

static struct weft_table table_of(const struct locks *locks, enum weft_locks_list list)
{
    const size_t n_rows = n_rows_of(locks->table, list);
    const uint64_t limit = locks->opts->limit;
    return (struct weft_table){ .columns = lists[list].columns,
                                .n_columns = lists[list].n_columns,
                                .n_rows = limit && n_rows > limit ? (size_t)limit : n_rows,
                                .row = lists[list].row,
                                .context = locks };
}

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
    weft_output_text(out, has_any ? "\n" : "nothing tells of locks\n");
    if (locks->table->unmatched)
        weft_output_printf(out, "%s of what nobody was seen to have\n",
                           weft_human_plural(locks->table->unmatched, "release").text);
}

static void print_text(const struct locks *locks)
{
    const struct weft_view *view = locks->view;
    weft_view_bold(view, view->path);
    weft_output_printf(view->out, "  %s\n", weft_human_plural(locks->table->n_rows, "lock").text);
    print_sources(locks);
    for (unsigned list = 0; list < WEFT_LOCKS_LISTS; list++) {
        const struct weft_table table = table_of(locks, list);
        const size_t n_rows = n_rows_of(locks->table, list);
        if (n_rows == 0)
            continue;
        weft_output_text(view->out, "\n");
        weft_view_bold(view, lists[list].title);
        weft_output_text(view->out, "\n");
        weft_table_text(&table, &view->style, view->out);
        if (table.n_rows < n_rows)
            weft_output_printf(view->out, "%s more; --limit 0 shows all\n",
                               weft_human_count(n_rows - table.n_rows).text);
    }
}

static void print_json(const struct locks *locks)
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
    weft_json_bool(json, "has_kernel", locks->table->has_switches);
    for (unsigned list = 0; list < WEFT_LOCKS_LISTS; list++) {
        const struct weft_table table = table_of(locks, list);
        weft_table_json(&table, lists[list].key, json);
    }
    weft_json_end_object(json);
    weft_view_json_end(locks->view, json);
}

static void print(const struct locks *locks)
{
    if (locks->view->format == WEFT_FORMAT_JSON) {
        print_json(locks);
    } else if (locks->view->format == WEFT_FORMAT_CSV) {
        const struct weft_table table = table_of(locks, locks->opts->list);
        weft_table_csv(&table, locks->view->out);
    } else {
        print_text(locks);
    }
}

void weft_render_locks(const struct weft_view *view, const struct weft_locks_table *table,
                       const struct weft_locks_view *opts)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct locks locks = { .view = view, .table = table, .opts = opts };
    locks.labels = arena ? WEFT_ARENA_NEW(arena, table->n_rows, struct weft_lock_label) : NULL;
    locks.sources = arena ? WEFT_ARENA_NEW(arena, table->n_rows, struct weft_lock_label) : NULL;
    if (locks.labels && locks.sources) {
        for (size_t i = 0; i < table->n_rows; i++) {
            weft_lock_label_make(view->trace, &table->rows[i].object, &locks.labels[i]);
            label_sources(&table->rows[i].object, &locks.sources[i]);
        }
        print(&locks);
    } else {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for locks");
        weft_output_fail(view->out, &err);
    }
    if (arena)
        weft_arena_free(arena);
}
