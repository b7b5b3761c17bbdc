/* SPDX-License-Identifier: MIT
 *
 * Shapes: what the views share, and the choice among them.
 */
#include "render/text/shapes.h"

#include "base/plain.h"
#include "render/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INDENT_MAX = 40 };

const struct weft_function *weft_shapes_function(const struct weft_shapes_page *page, uint32_t id)
{
    return weft_trace_function(page->view->trace, id);
}

struct weft_str weft_shapes_name(const struct weft_shapes_page *page, uint32_t shape_id)
{
    return weft_shapes_function(page, page->table->shapes[shape_id].function_id)->name;
}

static uint64_t tid_of(const struct weft_shapes_page *page, uint32_t thread_id)
{
    return weft_trace_thread(page->view->trace, thread_id)->info.tid;
}

struct weft_human weft_shapes_distance_text(uint32_t halves)
{
    struct weft_human out;
    snprintf(out.text, sizeof out.text, "%" PRIu32 "%s", halves / 2, halves % 2 ? ".5" : "");
    return out;
}

struct weft_str weft_shapes_indented(const struct weft_shapes_page *page, uint32_t level,
                                     struct weft_str text)
{
    const size_t n_indent = 2 * (size_t)(level < INDENT_MAX ? level : INDENT_MAX);
    char *bytes = weft_arena_alloc(page->arena, n_indent + text.n_bytes, 1);
    if (!bytes)
        return text;
    memset(bytes, ' ', n_indent);
    memcpy(bytes + n_indent, text.bytes, text.n_bytes);
    return (struct weft_str){ .bytes = bytes, .n_bytes = n_indent + text.n_bytes };
}

/* ---- occurrences ----------------------------------------------------------------------------- */

void weft_shapes_occurrence_json(const struct weft_shapes_page *page, const char *key,
                                 const struct weft_shape_occurrence *at, struct weft_json *json)
{
    weft_json_begin_object(json, key);
    weft_json_u64(json, "tid", tid_of(page, at->thread_id));
    weft_json_u64(json, "start_ns", at->start_ns);
    weft_json_u64(json, "duration_ns", weft_shapes_duration(at));
    weft_json_u64(json, "shape", at->shape_id);
    weft_json_end_object(json);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("/._-+:@%,=", c) != NULL;
}

/* As a shell takes it for one word. */
static void print_word(const struct weft_shapes_page *page, const char *word)
{
    struct weft_output *out = page->view->out;
    struct weft_str text = weft_plain(page->arena, weft_str_of(word));
    size_t n_plain = 0;
    while (n_plain < text.n_bytes && text.bytes[n_plain] && is_plain(text.bytes[n_plain]))
        n_plain++;
    const bool needs_quotes = n_plain < text.n_bytes || text.n_bytes == 0;
    weft_output_text(out, needs_quotes ? "'" : "");
    for (size_t i = 0; i < text.n_bytes; i++)
        if (text.bytes[i] == '\'')
            weft_output_text(out, "'\\''");
        else
            weft_output_write(out, &text.bytes[i], 1);
    weft_output_text(out, needs_quotes ? "'" : "");
}

void weft_shapes_print_occurrence(const struct weft_shapes_page *page, const char *what,
                                  const struct weft_shape_occurrence *at)
{
    struct weft_output *out = page->view->out;
    /* An interval without length holds nothing. */
    const uint64_t to_ns = at->end_ns > at->start_ns ? at->end_ns : at->start_ns + 1;
    const uint64_t tid = tid_of(page, at->thread_id);
    weft_output_printf(out, "  %-8s thread %" PRIu64 " at %s for %s\n    ", what, tid,
                       weft_human_at(at->start_ns).text,
                       weft_human_ns(weft_shapes_duration(at)).text);
    weft_output_printf(out, "weft interval --from %" PRIu64 "ns --to %" PRIu64 "ns --tid %" PRIu64,
                       at->start_ns, to_ns, tid);
    weft_output_text(out, " ");
    print_word(page, page->view->path);
    weft_output_text(out, "\n");
}

/* ---- lists ----------------------------------------------------------------------------------- */

bool weft_shapes_no_memory(const struct weft_shapes_page *page, size_t n_rows)
{
    struct weft_err err = { 0 };
    (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu rows", n_rows);
    weft_output_fail(page->view->out, &err);
    return false;
}

bool weft_shapes_take_rows(struct weft_shapes_page *page, size_t n)
{
    page->rows = WEFT_ARENA_NEW(page->arena, n, uint32_t);
    page->n_rows = page->n_shown = page->rows ? n : 0;
    for (size_t i = 0; i < page->n_rows; i++)
        page->rows[i] = (uint32_t)i;
    return page->rows || weft_shapes_no_memory(page, n);
}

bool weft_shapes_is_wanted(const struct weft_shapes_page *page, uint32_t shape_id)
{
    return !page->opts->is_listed || page->opts->is_listed[shape_id];
}

bool weft_shapes_is_wanted_cluster(const struct weft_shapes_page *page, uint32_t cluster_id)
{
    const struct weft_shape_cluster *cluster = &page->table->clusters[cluster_id];
    bool is_wanted = !page->opts->is_listed;
    for (uint32_t i = 0; i < cluster->n_shapes && !is_wanted; i++)
        is_wanted = page->opts->is_listed[cluster->shape_ids[i]];
    return is_wanted;
}

void weft_shapes_apply_limit(struct weft_shapes_page *page)
{
    const uint64_t limit = page->opts->limit;
    page->n_shown = limit > 0 && limit < page->n_rows ? (size_t)limit : page->n_rows;
}

void weft_shapes_print_more(const struct weft_shapes_page *page, const char *what)
{
    if (page->n_shown < page->n_rows)
        weft_output_printf(page->view->out, "%s more %s: --limit 0\n",
                           weft_human_count(page->n_rows - page->n_shown).text, what);
}

struct weft_table weft_shapes_rows(const struct weft_shapes_page *page,
                                   const struct weft_table_type *type, const void *rows, size_t n)
{
    return (struct weft_table){ .type = type,
                                .rows = rows,
                                .n_rows = n,
                                .in = weft_view_context(page->view, page->table),
                                .context = page };
}

static void json_settings(const struct weft_shapes_page *page, struct weft_json *json)
{
    const struct weft_shapes_opts *settings = page->opts->settings;
    weft_json_begin_object(json, "settings");
    weft_json_real(json, "threshold", page->table->threshold_halves / 2.0);
    weft_json_u64(json, "min_count", settings->min_count);
    if (page->opts->excluded)
        weft_json_text(json, "exclude", page->opts->excluded);
    else
        weft_json_null(json, "exclude");
    weft_json_u64(json, "excluded_functions", page->opts->n_excluded);
    weft_json_real(json, "spike_factor", settings->spike_factor);
    weft_json_real(json, "drop_fraction", settings->drop_fraction);
    weft_json_u64(json, "windows", settings->n_windows);
    weft_json_end_object(json);
}

void weft_shapes_json_head(const struct weft_shapes_page *page, struct weft_json *json)
{
    const struct weft_shapes_table *table = page->table;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        { "from_ns", table->from_ns },
        { "to_ns", table->to_ns },
        { "shapes", table->n_shapes - table->n_trivial_shapes },
        { "clusters", table->n_clusters - table->n_trivial_clusters },
        { "ribbons", table->n_ribbons },
        { "shapes_with_trivial", table->n_shapes },
        { "clusters_with_trivial", table->n_clusters },
        { "calls", table->calls },
        { "cut_calls", table->cut_calls },
        { "repaired_calls", table->repaired_calls },
        { "excluded_calls", table->excluded_calls },
        { "limited_calls", table->limited_calls },
        { "unclustered_shapes", table->unclustered_shapes },
        { "rare_clusters", table->n_rare_clusters },
        { "spikes_found", table->spikes_found },
        { "drops_found", table->drops_found },
    };
    json_settings(page, json);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        weft_json_u64(json, numbers[i].key, numbers[i].value);
}

static void (*const parts[])(struct weft_shapes_page *page) = {
    [WEFT_SHAPES_SUMMARY] = weft_shapes_render_summary,
    [WEFT_SHAPES_THREADS] = weft_shapes_render_threads,
    [WEFT_SHAPES_LIST] = weft_shapes_render_list,
    [WEFT_SHAPES_NEAR] = weft_shapes_render_near,
    [WEFT_SHAPES_SPIKES] = weft_shapes_render_spikes,
    [WEFT_SHAPES_DROPS] = weft_shapes_render_drops,
    [WEFT_SHAPES_RARE] = weft_shapes_render_rare,
    [WEFT_SHAPES_CLUSTER] = weft_shapes_render_cluster,
    [WEFT_SHAPES_DIFF] = weft_shapes_render_diff,
    [WEFT_SHAPES_VERIFY] = weft_shapes_render_verify,
};

void weft_render_shapes(const struct weft_view *view, const struct weft_shapes_table *table,
                        const struct weft_shapes_view *opts)
{
    struct weft_shapes_page page = {
        .view = view, .table = table, .opts = opts, .arena = weft_arena_new(0)
    };
    if (page.arena && view->format == WEFT_FORMAT_TEXT)
        weft_view_headline(view, "call patterns");
    if (page.arena) {
        parts[opts->part](&page);
    } else {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu shapes",
                        table->n_shapes);
        weft_output_fail(view->out, &err);
    }
    weft_output_release(view->out, page.arena);
}
