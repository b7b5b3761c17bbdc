/* SPDX-License-Identifier: MIT
 *
 * Thread interaction: the largest blocking relation in one sentence, patterns grouped by kind, then
 * lists of threads, the matrix, functions, objects and waits.
 */
#include "schema/interplay.h"

#include "base/utf8.h"
#include "render/human.h"
#include "render/text/compare_words.h"
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
    [WEFT_INTERPLAY_MATRIX] = { "matrix", "wait-for relations", &weft_interplay_cells_type },
    [WEFT_INTERPLAY_PAIRS] = { "pairs", "wait site -> wake site", &weft_interplay_pairs_type },
    [WEFT_INTERPLAY_OBJECTS] = { "objects", "objects waited for", &weft_interplay_objects_type },
    [WEFT_INTERPLAY_WAITS] = { "waits", "the longest waits", &weft_interplay_waits_type },
    [WEFT_INTERPLAY_LOSSES] = { "losses", "lost records", &weft_interplay_losses_type },
};

/* ---- renderings ------------------------------------------------------------------------------ */

static void put_thread(const struct interplay *interplay, uint32_t thread_id,
                       struct weft_output *out)
{
    const struct weft_thread_info *info = info_of(interplay, thread_id);
    weft_output_plain(out, info->name);
    weft_output_printf(out, " (tid %" PRIu64 ")", info->tid);
}

/* The largest wait-for relation that is not idle, in one sentence. */
static void put_headline(const struct interplay *interplay, struct weft_output *out)
{
    const struct weft_interplay_table *table = interplay->table;
    const struct weft_interplay_cell *most =
        table->headline == WEFT_ID_NONE ? NULL : &table->cells[table->headline];
    if (!most) {
        const bool is_idle = table->n_waits > 0 && table->n_joined > 0;
        weft_output_text(out, is_idle ? "All waits for other threads are idle: for work, or for "
                                        "the end of a thread."
                              : table->n_waits > 0 ? "Threads wait; releasers are unknown."
                                                   : "No thread waits for another one.");
        return;
    }
    weft_output_text(out, "Largest blocker: ");
    put_thread(interplay, most->releaser_id, out);
    weft_output_text(out, " blocks ");
    put_thread(interplay, most->waiter_id, out);
    weft_output_printf(out, " for %s, %s (%s of waiting).", weft_human_ns(most->sum_ns).text,
                       weft_human_plural(most->count, "wait").text,
                       weft_human_share(weft_share_of(most->sum_ns, table->wait_ns)).text);
}

/* "12,176 waits: releaser known for 924; 11,252 ended by a timer; 269,744 uncontended ..." */
static void put_counts(const struct interplay *interplay, struct weft_output *out)
{
    const struct weft_interplay_table *table = interplay->table;
    weft_output_printf(out, "%s: releaser known for %s",
                       weft_human_plural(table->n_waits, "wait").text,
                       weft_human_count(table->n_joined).text);
    bool has_any = false;
    for (unsigned i = WEFT_SURETY_WAKEUP; i < WEFT_SURETIES; i++) {
        if (!table->by_confidence[i])
            continue;
        weft_output_printf(out, "%s%s %s", has_any ? ", " : " (",
                           weft_human_count(table->by_confidence[i]).text,
                           weft_surety_name((enum weft_surety)i));
        has_any = true;
    }
    weft_output_text(out, has_any ? ")" : "");
    for (unsigned i = 0; i < WEFT_UNKNOWN_REASONS; i++)
        if (table->by_unknown[i])
            weft_output_printf(out, "; %s %s", weft_human_count(table->by_unknown[i]).text,
                               weft_unknown_reason_text((enum weft_unknown_reason)i));
    if (is_known(interplay, WEFT_KNOWN_UNCONTENDED))
        weft_output_printf(out, "; %s uncontended acquisition%s",
                           weft_human_count(table->uncontended).text,
                           table->uncontended == 1 ? "" : "s");
}

static void put_odds(const struct interplay *interplay, struct weft_output *out)
{
    const struct weft_interplay_table *table = interplay->table;
    if (table->never_released)
        weft_output_printf(out, "; %s never released",
                           weft_human_plural(table->never_released, "object").text);
    if (table->reused)
        weft_output_printf(out, "; %s at reused addresses",
                           weft_human_plural(table->reused, "object").text);
    if (table->n_lossy)
        weft_output_printf(out, "; %s uncertain: records are lost there",
                           weft_human_plural(table->n_lossy, "wait").text);
    if (table->lost)
        weft_output_printf(out, "; %s lost by the source",
                           weft_human_plural(table->lost, "record").text);
}

/* "Not recorded: hold times of uncontended locks; I/O calls" */
static void put_lacks(const struct interplay *interplay, struct weft_output *out)
{
    bool has_any = false;
    for (unsigned i = 0; i < WEFT_KNOWN_N; i++) {
        if (interplay->table->known >> i & 1)
            continue;
        weft_output_printf(out, "%s%s", has_any ? "; " : "Not recorded: ", weft_known_lack(i));
        has_any = true;
    }
}

static void print_wrapped(const struct interplay *interplay,
                          void (*put)(const struct interplay *interplay, struct weft_output *out))
{
    struct weft_output *line = weft_view_line(interplay->view);
    put(interplay, line);
    weft_view_line_end(interplay->view, line, 0);
}

static void put_all_counts(const struct interplay *interplay, struct weft_output *out)
{
    put_counts(interplay, out);
    put_odds(interplay, out);
}

/* ---- patterns by kind ------------------------------------------------------------------------ */

enum { KIND_COLUMNS = 13, FOUND_COLUMNS = 6, COST_COLUMNS = 8, GAP = 2 };

/* Patterns of one kind, and the first of them: that costs most. */
struct kind_group {
    const struct weft_interplay_pattern *first;
    uint64_t count, cost_ns;
};

static void put_right(struct weft_output *out, const char *text, size_t n_columns)
{
    const size_t n = weft_utf8_columns(weft_str_of(text));
    weft_output_repeat(out, " ", n < n_columns ? n_columns - n + GAP : GAP);
    weft_output_text(out, text);
}

/* A line: kind, how many (0: not printed), cost, and the evidence behind it. */
static void print_pattern(const struct interplay *interplay,
                          const struct weft_interplay_pattern *pattern, uint64_t count,
                          uint64_t cost_ns)
{
    struct weft_output *out = interplay->view->out;
    const size_t n_found = count ? FOUND_COLUMNS + GAP : 0;
    weft_output_printf(out, "%-*s", KIND_COLUMNS,
                       weft_pattern_kind_title((enum weft_pattern_kind)pattern->kind));
    if (count)
        put_right(out, weft_human_count(count).text, FOUND_COLUMNS);
    put_right(out, cost_ns ? weft_human_ns(cost_ns).text : "-", COST_COLUMNS);
    weft_output_repeat(out, " ", GAP);
    weft_words_wrapped(out, pattern->text, KIND_COLUMNS + n_found + COST_COLUMNS + 2 * GAP);
}

static void print_title(const struct interplay *interplay, const char *heads)
{
    weft_output_text(interplay->view->out, "\n");
    weft_view_bold(interplay->view, "patterns");
    weft_output_text(interplay->view->out, "\n");
    weft_view_dim(interplay->view, heads);
    weft_output_text(interplay->view->out, "\n");
}

/* Each pattern, at most `limit` of them; 0: all. */
static void print_each(const struct interplay *interplay, uint64_t limit)
{
    const struct weft_interplay_table *table = interplay->table;
    const size_t n = limit && limit < table->n_patterns ? (size_t)limit : table->n_patterns;
    if (n == 0)
        return;
    print_title(interplay, "kind               cost  evidence");
    for (size_t i = 0; i < n; i++)
        print_pattern(interplay, &table->patterns[i], 0, table->patterns[i].cost_ns);
    if (n < table->n_patterns)
        weft_output_printf(interplay->view->out, "%s more: --limit 0\n",
                           weft_human_count(table->n_patterns - n).text);
}

/* A line a kind, in the order of the list of patterns. */
static void print_groups(const struct interplay *interplay)
{
    const struct weft_interplay_table *table = interplay->table;
    struct kind_group groups[WEFT_PATTERNS] = { 0 };
    uint8_t order[WEFT_PATTERNS];
    size_t n = 0;
    for (size_t i = 0; i < table->n_patterns; i++) {
        struct kind_group *group = &groups[table->patterns[i].kind];
        if (!group->first) {
            order[n++] = table->patterns[i].kind;
            group->first = &table->patterns[i];
        }
        group->count++;
        group->cost_ns += table->patterns[i].cost_ns;
    }
    if (n == 0)
        return;
    print_title(interplay, "kind            found      cost  costliest");
    for (size_t i = 0; i < n; i++) {
        const struct kind_group *group = &groups[order[i]];
        print_pattern(interplay, group->first, group->count, group->cost_ns);
    }
    if (table->n_patterns > n)
        weft_output_printf(interplay->view->out, "all %s: --patterns\n",
                           weft_human_count(table->n_patterns).text);
}

static void print_text(const struct interplay *interplay, const struct weft_lists *all)
{
    const struct weft_view *view = interplay->view;
    struct weft_lists others = *all;
    weft_view_headline(view, weft_human_plural(interplay->table->n_waits, "wait").text);
    print_wrapped(interplay, put_headline);
    print_wrapped(interplay, put_all_counts);
    print_wrapped(interplay, put_lacks);
    weft_left_out_text(view, &interplay->table->left_out);
    if (!all->shown)
        print_groups(interplay);
    else if (all->shown & 1U << WEFT_INTERPLAY_PATTERNS)
        print_each(interplay, all->limit);
    others.shown = all->shown ? all->shown : (1U << WEFT_INTERPLAY_LISTS) - 1;
    others.shown &= ~(1U << WEFT_INTERPLAY_PATTERNS);
    if (others.shown)
        weft_lists_text(&others, view);
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
