/* SPDX-License-Identifier: MIT
 *
 * The interplay of threads: in one sentence who waits for whom most, then lists of threads, the
 * matrix, functions, objects, patterns and waits.
 */
#include "schema/interplay.h"

#include "render/human.h"
#include "render/text/lists.h"
#include "schema/tables.h"

#include <inttypes.h>

struct interplay {
    const struct weft_view *view;
    const struct weft_interplay_table *table;
};

static const struct weft_thread_info *info_of(const struct interplay *interplay, uint32_t thread_id)
{
    return &weft_trace_thread(interplay->view->trace, thread_id)->info;
}

static bool is_known(const struct interplay *interplay, uint32_t known)
{
    return (interplay->table->known & known) != 0;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static const struct weft_list lists[WEFT_INTERPLAY_LISTS] = {
    [WEFT_INTERPLAY_PATTERNS] = { "patterns", "patterns", &weft_interplay_patterns_type },
    [WEFT_INTERPLAY_THREADS] = { "threads", "threads", &weft_interplay_threads_type },
    [WEFT_INTERPLAY_MATRIX] = { "matrix", "who waits for whom", &weft_interplay_cells_type },
    [WEFT_INTERPLAY_PAIRS] = { "pairs", "where they wait, and from where they go on",
                               &weft_interplay_pairs_type },
    [WEFT_INTERPLAY_OBJECTS] = { "objects", "for what", &weft_interplay_objects_type },
    [WEFT_INTERPLAY_WAITS] = { "waits", "the longest waits", &weft_interplay_waits_type },
    [WEFT_INTERPLAY_LOSSES] = { "losses", "where records are lost", &weft_interplay_losses_type },
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
        weft_human_share(weft_share_of(most->sum_ns, table->wait_ns)).text);
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
    put_known(json, "n_waits", table->n_waits, is_known(interplay, WEFT_KNOWN_WAITS));
    put_known(json, "wait_ns", table->wait_ns, is_known(interplay, WEFT_KNOWN_WAITS));
    put_known(json, "joined", table->n_joined, is_known(interplay, WEFT_KNOWN_WAITS));
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
    const struct weft_list_rows rows[WEFT_INTERPLAY_LISTS] = {
        [WEFT_INTERPLAY_PATTERNS] = { table->patterns, table->n_patterns },
        [WEFT_INTERPLAY_THREADS] = { table->threads, table->n_threads },
        [WEFT_INTERPLAY_MATRIX] = { table->cells, table->n_cells },
        [WEFT_INTERPLAY_PAIRS] = { table->pairs, table->n_pairs },
        [WEFT_INTERPLAY_OBJECTS] = { table->objects, table->n_objects },
        [WEFT_INTERPLAY_WAITS] = { table->rows, table->n_rows },
        [WEFT_INTERPLAY_LOSSES] = { table->losses, table->n_losses },
    };
    struct weft_lists all = { .items = lists,
                              .rows = rows,
                              .n = WEFT_INTERPLAY_LISTS,
                              .shown = opts->lists,
                              .limit = opts->limit,
                              .in = weft_view_context(view, table) };
    all.in.known = table->known;
    if (view->format == WEFT_FORMAT_JSON)
        print_json(&interplay, &all);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_lists_csv(&all, opts->list, view->out);
    else
        print_text(&interplay, &all);
}
