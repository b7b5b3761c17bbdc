/* SPDX-License-Identifier: MIT
 *
 * The paper's tables 1 and 2, a row a thread, and the list of clusters.
 */
#include "render/human.h"
#include "render/text/shapes.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- threads --------------------------------------------------------------------------------- */

static void thread_more(const void *context, size_t row, struct weft_json *json)
{
    const struct weft_shapes_page *page = context;
    const struct weft_shape_thread *thread = &page->table->threads[row];
    const struct weft_table table =
        weft_shapes_rows(page, &weft_shape_presences_type, thread->presences, thread->n_presences);
    weft_table_json(&table, "presences", json);
}

static bool sum_threads(struct weft_shapes_page *page)
{
    struct weft_shapes_sum sum = { 0 };
    page->sums = WEFT_ARENA_NEW(page->arena, page->table->n_threads, struct weft_shapes_sum);
    for (size_t i = 0; page->sums && i < page->table->n_threads; i++) {
        sum.n_shapes += page->table->threads[i].n_new_shapes;
        sum.n_clusters += page->table->threads[i].n_new_clusters;
        page->sums[i] = sum;
    }
    return page->sums || weft_shapes_no_memory(page, page->table->n_threads);
}

static struct weft_table threads_table(const struct weft_shapes_page *page)
{
    struct weft_table table = weft_shapes_rows(page, &weft_shape_threads_type, page->table->threads,
                                               page->table->n_threads);
    table.in.of = page->sums;
    table.more = thread_more;
    return table;
}

/* ---- clusters -------------------------------------------------------------------------------- */

static uint64_t sort_key(const struct weft_shape_cluster *cluster, enum weft_shapes_sort sort)
{
    switch (sort) {
    case WEFT_SHAPES_BY_TIME:
        return cluster->times.sum_ns;
    case WEFT_SHAPES_BY_COUNT:
        return cluster->times.count;
    case WEFT_SHAPES_BY_MEAN:
        return weft_shapes_mean(cluster->times.sum_ns, cluster->times.count);
    case WEFT_SHAPES_BY_MAX:
        return cluster->times.max_ns;
    case WEFT_SHAPES_BY_THREADS:
        return cluster->n_threads;
    case WEFT_SHAPES_BY_FIRST:
        return UINT64_MAX - cluster->first.start_ns;
    case WEFT_SHAPES_BY_DEPTH:
        return cluster->depth;
    case WEFT_SHAPES_BY_P50:
        return cluster->times.p50_ns;
    case WEFT_SHAPES_BY_P99:
        return cluster->times.p99_ns;
    case WEFT_SHAPES_BY_SHAPES:
        return cluster->n_shapes;
    case WEFT_SHAPES_BY_SURPRISE:
        /* Never negative, and of bits: a millionth is fine enough for an order. */
        return (uint64_t)(cluster->surprise * 1e6);
    case WEFT_SHAPES_BY_ID:
        break;
    }
    return 0;
}

static int compare_clusters(const void *a_ptr, const void *b_ptr, void *context)
{
    const struct weft_shapes_page *page = context;
    const uint32_t a = *(const uint32_t *)a_ptr, b = *(const uint32_t *)b_ptr;
    const uint64_t key_a = sort_key(&page->table->clusters[a], page->opts->sort);
    const uint64_t key_b = sort_key(&page->table->clusters[b], page->opts->sort);
    if (key_a != key_b)
        return key_a > key_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool choose_clusters(struct weft_shapes_page *page)
{
    size_t n_kept = 0;
    if (!weft_shapes_take_rows(page, page->table->n_clusters))
        return false;
    for (size_t i = 0; i < page->n_rows; i++) {
        const struct weft_shape_cluster *cluster = &page->table->clusters[i];
        const bool is_rare = cluster->times.count < page->opts->settings->min_count;
        if (cluster->is_trivial)
            continue;
        if (!weft_shapes_is_wanted_cluster(page, (uint32_t)i))
            page->n_other++;
        else if (is_rare)
            page->n_hidden++;
        else
            page->rows[n_kept++] = (uint32_t)i;
    }
    page->n_rows = n_kept;
    qsort_r(page->rows, page->n_rows, sizeof *page->rows, compare_clusters, page);
    weft_shapes_apply_limit(page);
    return true;
}

static void cluster_more(const void *context, size_t row, struct weft_json *json)
{
    const struct weft_shapes_page *page = context;
    const struct weft_shape_cluster *cluster = &page->table->clusters[page->rows[row]];
    weft_json_begin_array(json, "shape_ids");
    for (uint32_t i = 0; i < cluster->n_shapes; i++)
        weft_json_u64(json, NULL, cluster->shape_ids[i]);
    weft_json_end_array(json);
}

static struct weft_table clusters_table(const struct weft_shapes_page *page)
{
    struct weft_table table =
        weft_shapes_rows(page, &weft_shape_clusters_type, page->table->clusters, page->n_shown);
    table.order = page->rows;
    table.more = cluster_more;
    return table;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_count(const struct weft_shapes_page *page, uint64_t count, const char *what)
{
    if (count > 0)
        weft_output_printf(page->view->out, "%s %s\n", weft_human_count(count).text, what);
}

/* What has no shape, or no place, and why. */
static void print_left_out(const struct weft_shapes_page *page)
{
    const struct weft_shapes_table *table = page->table;
    struct weft_output *out = page->view->out;
    print_count(page, table->cut_calls, "calls cut by the range boundaries, without a shape");
    print_count(page, table->repaired_calls,
                "calls without a recorded end: their shape is what was recorded");
    if (page->opts->excluded && page->opts->n_excluded == 0)
        weft_output_printf(out,
                           "no function matches '%s': nothing is excluded (write a regular "
                           "expression as /.../)\n",
                           page->opts->excluded);
    else if (page->opts->excluded)
        weft_output_printf(out,
                           "%s calls of %zu functions matching '%s' excluded: their callees count "
                           "as the caller's\n",
                           weft_human_count(table->excluded_calls).text, page->opts->n_excluded,
                           page->opts->excluded);
    print_count(
        page, table->limited_calls,
        "calls without a shape: too many shapes (limit them by --exclude, --tid, --from, --to)");
    print_count(page, table->unclustered_shapes,
                "shapes not compared: too many (limit them by --exclude, --tid, --from, --to)");
    if (page->n_other > 0)
        weft_output_printf(out, "%s %s not %s\n", weft_human_plural(page->n_other, "cluster").text,
                           page->n_other == 1 ? "is" : "are", page->opts->wanted);
    if (page->n_hidden > 0)
        weft_output_printf(out, "%s of fewer than %" PRIu64 " calls omitted\n",
                           weft_human_plural(page->n_hidden, "cluster").text,
                           page->opts->settings->min_count);
}

static void print_why_empty(const struct weft_shapes_page *page)
{
    const struct weft_shapes_table *table = page->table;
    struct weft_output *out = page->view->out;
    if (table->calls == 0 && table->excluded_calls > 0 && table->cut_calls == 0)
        weft_output_printf(out, "no shape: all functions match '%s'\n",
                           page->opts->excluded ? page->opts->excluded : "");
    else if (table->calls == 0 && table->cut_calls + table->limited_calls > 0)
        weft_output_text(out, "no shape: no call starts and ends in the range\n");
    else if (table->calls == 0)
        weft_output_printf(out, "no shape: %s no calls\n",
                           page->view->has_filter ? "these threads hold" : "there are");
    else if (page->n_hidden == 0 && page->n_other > 0)
        weft_output_printf(out, "no cluster of %s is %s\n", weft_human_count(page->n_other).text,
                           page->opts->wanted);
    else if (page->n_hidden == 0)
        weft_output_printf(out, "no cluster: none of %s calls calls anything%s\n",
                           weft_human_count(table->calls).text,
                           table->excluded_calls > 0 ? " that is not excluded" : "");
    else
        weft_output_printf(out, "no cluster has %" PRIu64 " calls\n",
                           page->opts->settings->min_count);
}

static void print_totals(const struct weft_shapes_page *page)
{
    const struct weft_shapes_table *table = page->table;
    weft_output_text(page->view->out, "\n");
    struct weft_output *out = weft_view_line(page->view);
    weft_output_printf(
        out, "%s: %s in %s, %s; ", weft_human_plural(table->calls, "call").text,
        weft_human_plural(table->n_shapes - table->n_trivial_shapes, "shape").text,
        weft_human_plural(table->n_clusters - table->n_trivial_clusters, "cluster").text,
        weft_human_plural(table->n_ribbons, "ribbon").text);
    weft_output_printf(out, "and %s of functions that call nothing",
                       weft_human_plural(table->n_trivial_shapes, "shape").text);
    weft_view_line_end(page->view, out, 0);
}

static void print_threads(struct weft_shapes_page *page)
{
    struct weft_table threads = threads_table(page);
    page->n_rows = threads.n_rows;
    weft_shapes_apply_limit(page);
    threads.n_rows = page->n_shown;
    weft_table_text(&threads, &page->view->style, page->view->out);
    weft_shapes_print_more(page, "threads");
}

/* What broke the pattern, and how to go on. */
static void print_outlook(const struct weft_shapes_page *page)
{
    const struct weft_shapes_table *table = page->table;
    const struct weft_shapes_opts *settings = page->opts->settings;
    struct weft_output *out = weft_view_line(page->view);
    weft_output_printf(
        out, "%s spikes (calls above %s times their cluster's median and its p99.9), ",
        weft_human_count(table->spikes_found).text, weft_human_ratio(settings->spike_factor).text);
    weft_output_printf(out, "%s drops (intervals below %s of the cluster's usual rate)",
                       weft_human_count(table->drops_found).text,
                       weft_human_share(settings->drop_fraction).text);
    weft_view_line_end(page->view, out, 0);
    weft_output_text(page->view->out, "more: --cluster ID, --spikes, --drops, --rare, "
                                      "--list-shapes\n");
}

static void print_text(struct weft_shapes_page *page)
{
    struct weft_output *out = page->view->out;
    print_threads(page);
    print_totals(page);
    if (!choose_clusters(page))
        return;
    if (page->n_rows == 0) {
        weft_output_text(out, "\n");
        print_why_empty(page);
        print_left_out(page);
        return;
    }
    struct weft_table clusters = clusters_table(page);
    weft_output_text(out, "\n");
    weft_table_text(&clusters, &page->view->style, out);
    weft_shapes_print_more(page, "clusters");
    weft_output_text(out, "\n");
    print_left_out(page);
    print_outlook(page);
}

/* ---- the views ------------------------------------------------------------------------------- */

void weft_shapes_render_threads(struct weft_shapes_page *page)
{
    if (!sum_threads(page))
        return;
    const struct weft_table threads = threads_table(page);
    if (page->view->format == WEFT_FORMAT_CSV) {
        weft_table_csv(&threads, page->view->out);
        return;
    }
    if (page->view->format == WEFT_FORMAT_TEXT) {
        print_threads(page);
        print_totals(page);
        return;
    }
    struct weft_json *json = weft_view_json(page->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_shapes_json_head(page, json);
    weft_table_json(&threads, "threads", json);
    weft_json_end_object(json);
    weft_view_json_end(page->view, json);
}

static void print_json(const struct weft_shapes_page *page)
{
    const struct weft_table threads = threads_table(page), clusters = clusters_table(page);
    const struct weft_table spikes = weft_shapes_spikes_table(page);
    const struct weft_table drops = weft_shapes_drops_table(page);
    struct weft_json *json = weft_view_json(page->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_shapes_json_head(page, json);
    weft_table_json(&threads, "threads", json);
    weft_table_json(&clusters, "cluster_list", json);
    weft_table_json(&spikes, "spikes", json);
    weft_table_json(&drops, "drops", json);
    weft_json_end_object(json);
    weft_view_json_end(page->view, json);
}

void weft_shapes_render_summary(struct weft_shapes_page *page)
{
    if (!sum_threads(page))
        return;
    if (page->view->format == WEFT_FORMAT_TEXT) {
        print_text(page);
        return;
    }
    if (!choose_clusters(page))
        return;
    const struct weft_table clusters = clusters_table(page);
    if (page->view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&clusters, page->view->out);
    else
        print_json(page);
}
