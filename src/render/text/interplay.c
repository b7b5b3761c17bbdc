/* SPDX-License-Identifier: MIT
 *
 * The interplay of threads: in one sentence who waits for whom most, then lists of threads, the
 * matrix, functions, objects, patterns and waits.
 */
#include "schema/interplay.h"

#include "render/human.h"
#include "render/text/lists.h"
#include "schema/locks.h"

#include <inttypes.h>

struct interplay {
    const struct weft_view *view;
    const struct weft_interplay_table *table;
};

/* ---- cells ----------------------------------------------------------------------------------- */

static const struct weft_thread_info *info_of(const struct interplay *interplay, uint32_t thread_id)
{
    return &weft_trace_thread(interplay->view->trace, thread_id)->info;
}

static struct weft_cell function_cell(const struct interplay *interplay, uint32_t site)
{
    return site == WEFT_ID_NONE ? (struct weft_cell){ .is_null = true }
                                : weft_text_cell(interplay->table->sites[site].function);
}

static struct weft_cell kind_cell(uint8_t kind)
{
    return (struct weft_cell){ .text = weft_str_of(
                                   weft_shared_kind_name((enum weft_shared_kind)kind)) };
}

static double share_of(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

static bool is_known(const struct interplay *interplay, uint32_t known)
{
    return (interplay->table->known & known) != 0;
}

/* Without any of these no wait of a thread is known. */
enum { KNOWN_WAITS = WEFT_KNOWN_OBJECTS | WEFT_KNOWN_UNCONTENDED | WEFT_KNOWN_WAKEUPS };
/* And without these no call that releases. */
enum { KNOWN_RELEASES = WEFT_KNOWN_OBJECTS | WEFT_KNOWN_UNCONTENDED };

/* ---- columns --------------------------------------------------------------------------------- */

static const struct weft_column thread_columns[] = {
    { "tid", "tid", WEFT_CELL_ID },
    { "thread", "thread", WEFT_CELL_TEXT },
    { "waits", "waits", WEFT_CELL_COUNT },
    { "wait_ns", "waited", WEFT_CELL_NS },
    { "share", "of life", WEFT_CELL_SHARE },
    { "longest_wait_ns", "longest", WEFT_CELL_NS },
    { "longest_wait_at_ns", NULL, WEFT_CELL_AT },
    { "main_releaser_tid", "tid", WEFT_CELL_ID },
    { "main_releaser", "mostly for", WEFT_CELL_TEXT },
    { "main_releaser_ns", NULL, WEFT_CELL_NS },
    { "releasers", NULL, WEFT_CELL_COUNT },
    { "io", NULL, WEFT_CELL_COUNT },
    { "io_ns", "i/o", WEFT_CELL_NS },
    { "uncontended", "had at once", WEFT_CELL_COUNT },
    { "releases", "releases", WEFT_CELL_COUNT },
    { "released", "ended waits", WEFT_CELL_COUNT },
    { "released_ns", "of", WEFT_CELL_NS },
    { "failed", NULL, WEFT_CELL_COUNT },
    { "cut", NULL, WEFT_CELL_COUNT },
    { "least_release_depth", NULL, WEFT_CELL_COUNT },
    { "most_release_depth", NULL, WEFT_CELL_COUNT },
    { "never_waits", NULL, WEFT_CELL_BOOL },
    { "waits_all_along", NULL, WEFT_CELL_BOOL },
    { "first_ns", NULL, WEFT_CELL_AT },
    { "last_ns", NULL, WEFT_CELL_AT },
};

static void thread_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct interplay *interplay = context;
    const struct weft_interplay_thread *row = &interplay->table->threads[index];
    const bool has_depth = row->released > 0;
    weft_thread_cells(interplay->view, row->thread_id, cells);
    cells[2].number = row->waits;
    cells[3].number = row->wait_ns;
    cells[4].real = share_of(row->wait_ns, row->last_ns - row->first_ns);
    cells[5].number = row->longest_wait_ns;
    cells[6] = weft_known_cell(row->longest_wait_at_ns, row->waits > 0);
    weft_thread_cells(interplay->view, row->main_releaser_id, cells + 7);
    cells[9].number = row->main_releaser_ns;
    cells[10].number = row->n_releasers;
    cells[11].number = row->io;
    cells[12].number = row->io_ns;
    cells[13].number = row->uncontended;
    cells[14].number = row->releases;
    cells[15].number = row->released;
    cells[16].number = row->released_ns;
    cells[17].number = row->failed;
    cells[18].number = row->cut;
    cells[19] = weft_known_cell(row->least_depth, has_depth);
    cells[20] = weft_known_cell(row->most_depth, has_depth);
    cells[21].number = row->never_waits;
    cells[22].number = row->waits_all_along;
    cells[23].number = row->first_ns;
    cells[24].number = row->last_ns;
    cells[11].is_null = cells[12].is_null = !is_known(interplay, WEFT_KNOWN_IO);
    cells[13].is_null = !is_known(interplay, WEFT_KNOWN_UNCONTENDED);
    cells[14].is_null = !is_known(interplay, KNOWN_RELEASES);
    for (size_t k = 2; !is_known(interplay, KNOWN_WAITS) && k <= 22; k++)
        cells[k].is_null |= k < 11 || k > 14;
}

static const struct weft_column cell_columns[] = {
    { "waiter_tid", "tid", WEFT_CELL_ID },   { "waiter", "waits", WEFT_CELL_TEXT },
    { "releaser_tid", "tid", WEFT_CELL_ID }, { "releaser", "for", WEFT_CELL_TEXT },
    { "count", "count", WEFT_CELL_COUNT },   { "sum_ns", "time", WEFT_CELL_NS },
    { "share", "of all", WEFT_CELL_SHARE },  { "longest_ns", "longest", WEFT_CELL_NS },
    { "longest_at_ns", "at", WEFT_CELL_AT }, { "objects", "objects", WEFT_CELL_COUNT },
    { "object_id", NULL, WEFT_CELL_ID },     { "object", "mostly", WEFT_CELL_TEXT },
    { "object_kind", NULL, WEFT_CELL_TEXT },
};

static void cell_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct interplay *interplay = context;
    const struct weft_interplay_cell *row = &interplay->table->cells[index];
    const struct weft_shared_object *object = &interplay->table->objects[row->object];
    weft_thread_cells(interplay->view, row->waiter_id, cells);
    weft_thread_cells(interplay->view, row->releaser_id, cells + 2);
    cells[4].number = row->count;
    cells[5].number = row->sum_ns;
    cells[6].real = share_of(row->sum_ns, interplay->table->wait_ns);
    cells[7].number = row->longest_ns;
    cells[8].number = row->longest_at_ns;
    cells[9].number = row->n_objects;
    cells[10].number = object->id;
    cells[11] = weft_text_cell(object->name);
    cells[12] = kind_cell(object->kind);
}

static const struct weft_column pair_columns[] = {
    { "wait_function", "waits in", WEFT_CELL_TEXT },
    { "release_function", "goes on from", WEFT_CELL_TEXT },
    { "kind", "kind", WEFT_CELL_TEXT },
    { "count", "count", WEFT_CELL_COUNT },
    { "sum_ns", "time", WEFT_CELL_NS },
    { "longest_ns", "longest", WEFT_CELL_NS },
    { "longest_at_ns", "at", WEFT_CELL_AT },
    { "longest_tid", NULL, WEFT_CELL_ID },
    { "wait_path", NULL, WEFT_CELL_TEXT },
    { "release_path", NULL, WEFT_CELL_TEXT },
    { "confirmed", "confirmed", WEFT_CELL_COUNT },
    { "ambiguous", "ambiguous", WEFT_CELL_COUNT },
};

static void pair_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct interplay *interplay = context;
    const struct weft_interplay_pair *row = &interplay->table->pairs[index];
    cells[0] = function_cell(interplay, row->wait_site);
    cells[1] = function_cell(interplay, row->release_site);
    cells[2] = kind_cell(row->kind);
    cells[3].number = row->count;
    cells[4].number = row->sum_ns;
    cells[5].number = row->longest_ns;
    cells[6].number = row->longest_at_ns;
    cells[7].number = info_of(interplay, row->longest_waiter_id)->tid;
    cells[8] = row->wait_site == WEFT_ID_NONE
                   ? (struct weft_cell){ .is_null = true }
                   : weft_text_cell(interplay->table->sites[row->wait_site].path);
    cells[9] = row->release_site == WEFT_ID_NONE
                   ? (struct weft_cell){ .is_null = true }
                   : weft_text_cell(interplay->table->sites[row->release_site].path);
    cells[10].number = row->confidence[WEFT_SURETY_CONFIRMED];
    cells[11].number = row->confidence[WEFT_SURETY_AMBIGUOUS];
}

static const struct weft_column object_columns[] = {
    { "object_id", "id", WEFT_CELL_ID },
    { "object", "object", WEFT_CELL_TEXT },
    { "kind", "kind", WEFT_CELL_TEXT },
    { "pid", NULL, WEFT_CELL_ID },
    { "waits", "waits", WEFT_CELL_COUNT },
    { "wait_ns", "waited", WEFT_CELL_NS },
    { "waiters", "threads", WEFT_CELL_COUNT },
    { "uncontended", "had at once", WEFT_CELL_COUNT },
    { "releases", "releases", WEFT_CELL_COUNT },
    { "never_released", "never released", WEFT_CELL_BOOL },
    { "reused", "reused", WEFT_CELL_BOOL },
};

static void object_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct interplay *interplay = context;
    const struct weft_shared_object *row = &interplay->table->objects[index];
    cells[0].number = row->id;
    cells[1] = weft_text_cell(row->name);
    cells[2] = kind_cell(row->kind);
    cells[3] = weft_known_cell(row->pid, row->pid != 0);
    cells[4].number = row->waits;
    cells[5].number = row->wait_ns;
    cells[6].number = row->n_waiters;
    cells[7] = weft_known_cell(row->uncontended, is_known(interplay, WEFT_KNOWN_UNCONTENDED));
    cells[8] = weft_known_cell(row->releases, is_known(interplay, KNOWN_RELEASES));
    cells[9] =
        (struct weft_cell){ .number = row->is_never_released, .is_bad = row->is_never_released };
    cells[10] = (struct weft_cell){ .number = row->is_reused, .is_bad = row->is_reused };
}

static const struct weft_column pattern_columns[] = {
    { "pattern", "pattern", WEFT_CELL_TEXT }, { "tid", NULL, WEFT_CELL_ID },
    { "thread", NULL, WEFT_CELL_TEXT },       { "threads", NULL, WEFT_CELL_COUNT },
    { "object", NULL, WEFT_CELL_TEXT },       { "from_ns", NULL, WEFT_CELL_AT },
    { "to_ns", NULL, WEFT_CELL_AT },          { "count", NULL, WEFT_CELL_COUNT },
    { "value_ns", NULL, WEFT_CELL_NS },       { "before_ns", NULL, WEFT_CELL_NS },
    { "cost_ns", "cost", WEFT_CELL_NS },      { "share", NULL, WEFT_CELL_RATIO },
    { "text", "evidence", WEFT_CELL_TEXT },
};

static void pattern_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct interplay *interplay = context;
    const struct weft_interplay_pattern *row = &interplay->table->patterns[index];
    cells[0].text = weft_str_of(weft_pattern_kind_name((enum weft_pattern_kind)row->kind));
    weft_thread_cells(interplay->view, row->thread_id, cells + 1);
    cells[3].number = (uint64_t)row->n_others + 1;
    cells[4] = row->object == WEFT_ID_NONE
                   ? (struct weft_cell){ .is_null = true }
                   : weft_text_cell(interplay->table->objects[row->object].name);
    cells[5].number = row->from_ns;
    cells[6].number = row->to_ns;
    cells[7].number = row->count;
    cells[8].number = row->value_ns;
    cells[9].number = row->before_ns;
    cells[10] = (struct weft_cell){ .number = row->cost_ns, .is_null = row->cost_ns == 0 };
    cells[11].real = row->share;
    cells[12] = weft_text_cell(row->text);
}

static const struct weft_column wait_columns[] = {
    { "start_ns", "at", WEFT_CELL_AT },
    { "wait_ns", "waited", WEFT_CELL_NS },
    { "end_ns", NULL, WEFT_CELL_AT },
    { "release_ns", NULL, WEFT_CELL_AT },
    { "waiter_tid", "tid", WEFT_CELL_ID },
    { "waiter", "thread", WEFT_CELL_TEXT },
    { "wait_function", "in", WEFT_CELL_TEXT },
    { "wait_call", NULL, WEFT_CELL_TEXT },
    { "releaser_tid", "tid", WEFT_CELL_ID },
    { "releaser", "let go by", WEFT_CELL_TEXT },
    { "release_function", "from", WEFT_CELL_TEXT },
    { "release_call", NULL, WEFT_CELL_TEXT },
    { "object_id", NULL, WEFT_CELL_ID },
    { "object", "object", WEFT_CELL_TEXT },
    { "kind", "kind", WEFT_CELL_TEXT },
    { "mode", "for", WEFT_CELL_TEXT },
    { "awaited", "of", WEFT_CELL_COUNT },
    { "confidence", "sure", WEFT_CELL_TEXT },
    { "unknown", NULL, WEFT_CELL_TEXT },
    { "cut", NULL, WEFT_CELL_BOOL },
    { "failed", NULL, WEFT_CELL_BOOL },
    { "timed", NULL, WEFT_CELL_BOOL },
    { "lossy", NULL, WEFT_CELL_BOOL },
    { "open", NULL, WEFT_CELL_BOOL },
    { "holder_tid", NULL, WEFT_CELL_ID },
    { "holder", NULL, WEFT_CELL_TEXT },
};

static const struct weft_column loss_columns[] = {
    { "from_ns", "from", WEFT_CELL_AT },
    { "to_ns", "to", WEFT_CELL_AT },
    { "tid", "tid", WEFT_CELL_ID },
    { "thread", "thread", WEFT_CELL_TEXT },
    { "records", "records", WEFT_CELL_COUNT },
};

static void loss_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct interplay *interplay = context;
    const struct weft_interplay_loss *row = &interplay->table->losses[index];
    cells[0].number = row->from_ns;
    cells[1].number = row->to_ns;
    weft_thread_cells(interplay->view, row->thread_id, cells + 2);
    cells[4] = (struct weft_cell){ .number = row->n_records, .is_bad = true };
}

static struct weft_cell call_cell(const struct interplay *interplay, uint32_t site)
{
    return site == WEFT_ID_NONE ? (struct weft_cell){ .is_null = true }
                                : weft_text_cell(interplay->table->sites[site].call);
}

static void wait_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct interplay *interplay = context;
    const struct weft_correspondence *row = &interplay->table->rows[index];
    const struct weft_shared_object *object = &interplay->table->objects[row->object];
    const bool is_joined = row->releaser_id != WEFT_ID_NONE;
    cells[0].number = row->start_ns;
    cells[1].number = row->sum_ns;
    cells[2].number = row->end_ns;
    cells[3] = weft_known_cell(row->last_release_ns, is_joined);
    weft_thread_cells(interplay->view, row->waiter_id, cells + 4);
    cells[6] = function_cell(interplay, row->wait_site);
    cells[7] = call_cell(interplay, row->wait_site);
    weft_thread_cells(interplay->view, row->releaser_id, cells + 8);
    cells[10] = function_cell(interplay, row->release_site);
    cells[11] = call_cell(interplay, row->release_site);
    cells[12].number = object->id;
    cells[13] = weft_text_cell(object->name);
    cells[14] = kind_cell(row->kind);
    cells[15].text = weft_str_of(weft_wait_mode_name((enum weft_wait_mode)row->mode));
    cells[16] = weft_known_cell(row->n_awaited, row->n_awaited > 0);
    cells[17].text =
        weft_str_of(is_joined ? weft_surety_name((enum weft_surety)row->confidence)
                              : weft_unknown_reason_name((enum weft_unknown_reason)row->unknown));
    cells[18] = is_joined ? (struct weft_cell){ .is_null = true } : cells[17];
    cells[19].number = (row->flags & WEFT_CORRESPONDENCE_CUT_END) != 0;
    cells[20].number = (row->flags & WEFT_CORRESPONDENCE_FAILED) != 0;
    cells[21].number = (row->flags & WEFT_CORRESPONDENCE_TIMED) != 0;
    cells[22].number = (row->flags & WEFT_CORRESPONDENCE_LOSSY) != 0;
    cells[23].number = cells[19].number;
    weft_thread_cells(interplay->view, row->holder_id, cells + 24);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static const struct weft_list lists[WEFT_INTERPLAY_LISTS] = {
    [WEFT_INTERPLAY_PATTERNS] = { "patterns", "patterns", WEFT_LIST_COLUMNS(pattern_columns),
                                  pattern_row },
    [WEFT_INTERPLAY_THREADS] = { "threads", "threads", WEFT_LIST_COLUMNS(thread_columns),
                                 thread_row },
    [WEFT_INTERPLAY_MATRIX] = { "matrix", "who waits for whom", WEFT_LIST_COLUMNS(cell_columns),
                                cell_row },
    [WEFT_INTERPLAY_PAIRS] = { "pairs", "where they wait, and from where they go on",
                               WEFT_LIST_COLUMNS(pair_columns), pair_row },
    [WEFT_INTERPLAY_OBJECTS] = { "objects", "for what", WEFT_LIST_COLUMNS(object_columns),
                                 object_row },
    [WEFT_INTERPLAY_WAITS] = { "waits", "the longest waits", WEFT_LIST_COLUMNS(wait_columns),
                               wait_row },
    [WEFT_INTERPLAY_LOSSES] = { "losses", "where records are lost", WEFT_LIST_COLUMNS(loss_columns),
                                loss_row },
};

/* ---- renderings ------------------------------------------------------------------------------ */

/* Who waits for whom most, in one sentence. */
static void print_headline(const struct interplay *interplay)
{
    const struct weft_interplay_table *table = interplay->table;
    struct weft_output *out = interplay->view->out;
    const struct weft_interplay_cell *most =
        table->headline == WEFT_ID_NONE ? NULL : &table->cells[table->headline];
    if (!most) {
        weft_output_text(out, table->n_waits ? "threads wait, but nothing tells for whom\n"
                                             : "no thread waits for another one\n");
        return;
    }
    const struct weft_thread_info *waiter = info_of(interplay, most->waiter_id);
    const struct weft_thread_info *releaser = info_of(interplay, most->releaser_id);
    weft_output_printf(
        out, "%.*s (%" PRIu64 ") waits most for %.*s (%" PRIu64 "): %s in %s, %s of all\n",
        (int)waiter->name.n_bytes, waiter->name.bytes, waiter->tid, (int)releaser->name.n_bytes,
        releaser->name.bytes, releaser->tid, weft_human_ns(most->sum_ns).text,
        weft_human_plural(most->count, "wait").text,
        weft_human_share(share_of(most->sum_ns, table->wait_ns)).text);
}

static void print_counts(const struct interplay *interplay)
{
    const struct weft_interplay_table *table = interplay->table;
    struct weft_output *out = interplay->view->out;
    weft_output_printf(out, "%s, %s of them joined with what ended them",
                       weft_human_plural(table->n_waits, "wait").text,
                       weft_human_count(table->n_joined).text);
    bool has_any = false;
    for (unsigned i = WEFT_SURETY_WAKEUP; i < WEFT_SURETIES; i++) {
        if (!table->by_confidence[i])
            continue;
        weft_output_printf(out, "%s%s %s", has_any ? ", " : " (",
                           weft_surety_name((enum weft_surety)i),
                           weft_human_count(table->by_confidence[i]).text);
        has_any = true;
    }
    weft_output_text(out, has_any ? ")" : "");
    if (is_known(interplay, WEFT_KNOWN_UNCONTENDED))
        weft_output_printf(out, "; %s had at once", weft_human_count(table->uncontended).text);
    weft_output_text(out, "\n");
    for (unsigned i = 0; i < WEFT_UNKNOWN_REASONS; i++)
        if (table->by_unknown[i])
            weft_output_printf(out, "%s: %s\n",
                               weft_human_plural(table->by_unknown[i], "wait").text,
                               weft_unknown_reason_text((enum weft_unknown_reason)i));
    if (table->never_released)
        weft_output_printf(out, "%s: waited for, and never released\n",
                           weft_human_plural(table->never_released, "object").text);
    if (table->reused)
        weft_output_printf(out, "%s at addresses that were used again\n",
                           weft_human_plural(table->reused, "object").text);
    if (table->lost)
        weft_output_printf(out, "%s lost by the source\n",
                           weft_human_plural(table->lost, "record").text);
    if (table->n_lossy)
        weft_output_printf(out, "%s: what ended them is doubtful, as records are lost there\n",
                           weft_human_plural(table->n_lossy, "wait").text);
    for (unsigned i = 0; i < WEFT_KNOWN_N; i++)
        if (!(table->known >> i & 1))
            weft_output_printf(out, "not told: %s\n", weft_known_lack(i));
}

static void print_text(const struct interplay *interplay, const struct weft_lists *all)
{
    const struct weft_view *view = interplay->view;
    weft_view_head(view);
    weft_output_text(view->out, "  ");
    print_headline(interplay);
    print_counts(interplay);
    weft_left_out_text(view, &interplay->table->left_out);
    weft_lists_text(all, view);
}

/* null: not in the sources. */
static void put_known(struct weft_json *json, const char *key, uint64_t number, bool is_known)
{
    if (is_known)
        weft_json_u64(json, key, number);
    else
        weft_json_null(json, key);
}

static void print_numbers(const struct interplay *interplay, struct weft_json *json)
{
    const struct weft_interplay_table *table = interplay->table;
    weft_json_u64(json, "from_ns", table->from_ns);
    weft_json_u64(json, "to_ns", table->to_ns);
    put_known(json, "n_waits", table->n_waits, is_known(interplay, KNOWN_WAITS));
    put_known(json, "wait_ns", table->wait_ns, is_known(interplay, KNOWN_WAITS));
    put_known(json, "joined", table->n_joined, is_known(interplay, KNOWN_WAITS));
    put_known(json, "uncontended", table->uncontended, is_known(interplay, WEFT_KNOWN_UNCONTENDED));
    put_known(json, "io", table->io, is_known(interplay, WEFT_KNOWN_IO));
    put_known(json, "io_ns", table->io_ns, is_known(interplay, WEFT_KNOWN_IO));
    weft_json_begin_object(json, "calls");
    for (unsigned i = 0; i < WEFT_BLOCKING_KINDS; i++)
        weft_json_u64(json, weft_blocking_kind_name((enum weft_blocking_kind)i), table->calls[i]);
    weft_json_end_object(json);
    weft_json_begin_object(json, "confidence");
    for (unsigned i = 0; i < WEFT_SURETIES; i++)
        weft_json_u64(json, weft_surety_name((enum weft_surety)i), table->by_confidence[i]);
    weft_json_end_object(json);
    weft_json_begin_object(json, "unknown");
    for (unsigned i = 0; i < WEFT_UNKNOWN_REASONS; i++)
        weft_json_u64(json, weft_unknown_reason_name((enum weft_unknown_reason)i),
                      table->by_unknown[i]);
    weft_json_end_object(json);
    weft_json_begin_object(json, "known");
    for (unsigned i = 0; i < WEFT_KNOWN_N; i++)
        weft_json_bool(json, weft_known_name(i), table->known >> i & 1);
    weft_json_end_object(json);
    weft_json_u64(json, "never_released", table->never_released);
    weft_json_u64(json, "reused", table->reused);
    put_known(json, "lost", table->lost,
              table->lost > 0 || weft_trace_counts_losses(interplay->view->trace));
    weft_json_u64(json, "lossy", table->n_lossy);
}

static void print_json(const struct interplay *interplay, const struct weft_lists *all)
{
    struct weft_json *json = weft_view_json(interplay->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    print_numbers(interplay, json);
    weft_left_out_json(interplay->view, &interplay->table->left_out, json);
    weft_lists_json(all, json);
    weft_json_end_object(json);
    weft_view_json_end(interplay->view, json);
}

void weft_render_interplay(const struct weft_view *view, const struct weft_interplay_table *table,
                           const struct weft_interplay_view *opts)
{
    const struct interplay interplay = { .view = view, .table = table };
    const size_t n_rows[WEFT_INTERPLAY_LISTS] = {
        [WEFT_INTERPLAY_PATTERNS] = table->n_patterns, [WEFT_INTERPLAY_THREADS] = table->n_threads,
        [WEFT_INTERPLAY_MATRIX] = table->n_cells,      [WEFT_INTERPLAY_PAIRS] = table->n_pairs,
        [WEFT_INTERPLAY_OBJECTS] = table->n_objects,   [WEFT_INTERPLAY_WAITS] = table->n_rows,
        [WEFT_INTERPLAY_LOSSES] = table->n_losses,
    };
    const struct weft_lists all = { .items = lists,
                                    .n_rows = n_rows,
                                    .n = WEFT_INTERPLAY_LISTS,
                                    .shown = opts->lists,
                                    .limit = opts->limit,
                                    .context = &interplay };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&interplay, &all);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_lists_csv(&all, opts->list, view->out);
    else
        print_text(&interplay, &all);
}
