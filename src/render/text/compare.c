/* SPDX-License-Identifier: MIT */
#include "render/text/compare.h"

#include "analysis/compare/verdict.h"
#include "render/text/compare_words.h"
#include "render/text/confidence.h"
#include "render/text/gate.h"
#include "schema/event.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 5, CAUSE_SAMPLES = 1, BAR_COLUMNS = 24 };

/* What tables of this page need: their texts live in the arena. */
struct page {
    const struct weft_view *view;
    const struct weft_comparison_view *opts;
    struct weft_arena *arena;
    struct weft_output *scratch;
    const uint32_t *items; /* of the list of executions shown */
    size_t n_items;
    size_t *metrics; /* places in the table of those that are shown */
    size_t n_metrics;
};

static const struct weft_compare_metric *duration_of(const struct weft_compare_table *table)
{
    return table->n_metrics > 0 ? &table->metrics[0] : NULL;
}

static uint64_t limited(uint64_t limit, size_t n)
{
    return limit > 0 && limit < n ? limit : n;
}

/* ---- executions ------------------------------------------------------------------------------ */

struct by_duration {
    uint64_t ns;
    uint32_t item;
};

static int by_duration(const void *a, const void *b)
{
    const struct by_duration *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

size_t weft_pick_items(const struct weft_ecct_matrix *matrix, const uint32_t *items, size_t n_items,
                       size_t n_most, uint32_t *picked)
{
    struct by_duration *sorted = calloc(n_items + 1, sizeof *sorted);
    const size_t n = !sorted ? 0 : n_items < n_most ? n_items : n_most;
    for (size_t i = 0; sorted && i < n_items; i++) {
        const struct weft_execution_item *item = &matrix->items[items[i]];
        sorted[i] = (struct by_duration){ .ns = item->end_ns - item->start_ns, .item = items[i] };
    }
    if (sorted)
        qsort(sorted, n_items, sizeof *sorted, by_duration);
    for (size_t i = 0; i < n; i++)
        picked[i] = sorted[n > 1 ? i * (n_items - 1) / (n - 1) : n_items / 2].item;
    free(sorted);
    return n;
}

void weft_render_open_command(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                              uint32_t item)
{
    const struct weft_execution_item *row = &matrix->items[item];
    weft_output_text(out, "weft path ");
    weft_words_argument(out, matrix->sources[row->source].path);
    weft_output_printf(out, " --thread %" PRIu64 " --from %" PRIu64 "ns --to %" PRIu64 "ns",
                       row->tid, row->start_ns, row->end_ns);
    if (matrix->sources[row->source].rules.n_bytes > 0) {
        weft_output_text(out, " --rules ");
        weft_words_argument(out, matrix->sources[row->source].rules);
    }
}

static const struct weft_column item_columns[] = {
    { "id", NULL, WEFT_CELL_ID },
    { "trace", "trace", WEFT_CELL_TEXT },
    { "tag", NULL, WEFT_CELL_TEXT },
    { "tid", "tid", WEFT_CELL_ID },
    { "thread", "thread", WEFT_CELL_TEXT },
    { "start_ns", "start", WEFT_CELL_AT },
    { "duration_ns", "duration", WEFT_CELL_NS },
    { "command", "to open it", WEFT_CELL_TEXT },
};

static void item_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct page *page = context;
    const struct weft_ecct_matrix *matrix = page->opts->matrix;
    const struct weft_execution_item *item = &matrix->items[page->items[index]];
    cells[0].number = item->id;
    cells[1].text = matrix->sources[item->source].path;
    cells[2].text = matrix->sources[item->source].tag;
    cells[3].number = item->tid;
    cells[4].text = item->thread;
    cells[5].number = item->start_ns;
    cells[6].number = item->end_ns - item->start_ns;
    weft_render_open_command(page->scratch, matrix, page->items[index]);
    cells[7].text = weft_words_take(page->scratch, page->arena);
}

static struct weft_table item_table(struct page *page, const uint32_t *items, size_t n_items,
                                    size_t n_most)
{
    uint32_t *picked = WEFT_ARENA_NEW(page->arena, n_most, uint32_t);
    page->n_items =
        picked ? weft_pick_items(page->opts->matrix, items, n_items, n_most, picked) : 0;
    page->items = picked;
    return (struct weft_table){ .columns = item_columns,
                                .n_columns = sizeof item_columns / sizeof *item_columns,
                                .n_rows = page->n_items,
                                .row = item_row,
                                .context = page };
}

/* ---- differences ----------------------------------------------------------------------------- */

static const struct weft_column node_columns[] = {
    { "node", NULL, WEFT_CELL_ID },          { "difference_ns", NULL, WEFT_CELL_RATIO },
    { NULL, "B - A", WEFT_CELL_TEXT },       { "low_ns", NULL, WEFT_CELL_RATIO },
    { "high_ns", NULL, WEFT_CELL_RATIO },    { NULL, "95 %", WEFT_CELL_TEXT },
    { "mean_a_ns", NULL, WEFT_CELL_RATIO },  { "mean_b_ns", NULL, WEFT_CELL_RATIO },
    { NULL, "mean A", WEFT_CELL_TEXT },      { NULL, "mean B", WEFT_CELL_TEXT },
    { "sd_a_ns", NULL, WEFT_CELL_RATIO },    { "sd_b_ns", NULL, WEFT_CELL_RATIO },
    { "total_a_ns", NULL, WEFT_CELL_RATIO }, { "total_b_ns", NULL, WEFT_CELL_RATIO },
    { "n_a", "in A", WEFT_CELL_COUNT },      { "n_b", "in B", WEFT_CELL_COUNT },
    { "t", NULL, WEFT_CELL_RATIO },          { "df", NULL, WEFT_CELL_RATIO },
    { "p", NULL, WEFT_CELL_RATIO },          { "p_adjusted", NULL, WEFT_CELL_RATIO },
    { NULL, "adjusted", WEFT_CELL_TEXT },    { "effect", NULL, WEFT_CELL_RATIO },
    { "sure", "sure", WEFT_CELL_BOOL },      { "threads", NULL, WEFT_CELL_TEXT },
    { "confidence", NULL, WEFT_CELL_TEXT },  { "path", NULL, WEFT_CELL_TEXT },
    { "share", NULL, WEFT_CELL_RATIO },      { NULL, "share", WEFT_CELL_TEXT },
    { NULL, "where", WEFT_CELL_TEXT },
};

static struct weft_cell real(double value)
{
    return (struct weft_cell){ .real = value, .is_null = !isfinite(value) };
}

static struct weft_cell human(struct page *page, struct weft_human text)
{
    return (struct weft_cell){ .text = weft_arena_copy(page->arena, weft_str_of(text.text)) };
}

static void node_row(const void *context, size_t index, struct weft_cell *cells)
{
    struct page *page = (struct page *)(uintptr_t)context;
    const struct weft_compare_table *table = page->opts->table;
    const struct weft_ecct_matrix *matrix = page->opts->matrix;
    const struct weft_compare_node *row = &table->nodes[table->ranked[index]];
    const double reals[] = { row->mean_a_ns, row->mean_b_ns,  row->sd_a_ns,
                             row->sd_b_ns,   row->total_a_ns, row->total_b_ns };
    cells[0].number = row->node;
    cells[1] = real(row->difference_ns);
    cells[2] = human(page, weft_human_change(row->difference_ns));
    cells[3] = real(row->interval.low_ns);
    cells[4] = real(row->interval.high_ns);
    weft_output_printf(page->scratch, "%s to %s", weft_human_change(row->interval.low_ns).text,
                       weft_human_change(row->interval.high_ns).text);
    cells[5].text = weft_words_take(page->scratch, page->arena);
    cells[6] = real(reals[0]);
    cells[7] = real(reals[1]);
    cells[8] = human(page, weft_human_mean(row->mean_a_ns));
    cells[9] = human(page, weft_human_mean(row->mean_b_ns));
    for (size_t i = 2; i < sizeof reals / sizeof *reals; i++)
        cells[8 + i] = real(reals[i]);
    cells[14].number = row->n_a;
    cells[15].number = row->n_b;
    cells[16] = real(row->t);
    cells[17] = real(row->df);
    cells[18] = real(row->p);
    cells[19] = real(row->p_adjusted);
    cells[20] = human(page, weft_human_p(row->p_adjusted));
    cells[21] = real(row->effect);
    cells[22].number = row->is_sure;
    weft_words_threads(page->scratch, matrix, row->node);
    cells[23].text = weft_words_take(page->scratch, page->arena);
    cells[24].text = weft_str_of(
        weft_confidence_name((enum weft_confidence)matrix->nodes[row->node].confidence));
    weft_words_path(page->scratch, matrix, row->node, ";");
    cells[25].text = weft_words_take(page->scratch, page->arena);
    const struct weft_compare_metric *duration = duration_of(table);
    const double share = duration ? row->difference_ns / duration->difference : (double)NAN;
    cells[26] = real(share);
    if (isfinite(share))
        weft_output_printf(page->scratch, "%+.3g %%", 100 * share);
    else
        weft_output_text(page->scratch, "-");
    cells[27].text = weft_words_take(page->scratch, page->arena);
    weft_words_where(page->scratch, matrix, row->node);
    cells[28].text = weft_words_take(page->scratch, page->arena);
}

static struct weft_table node_table(const struct page *page)
{
    return (struct weft_table){ .columns = node_columns,
                                .n_columns = sizeof node_columns / sizeof *node_columns,
                                .n_rows = limited(page->opts->limit, page->opts->table->n_ranked),
                                .row = node_row,
                                .context = page };
}

/* ---- metrics --------------------------------------------------------------------------------- */

static const struct weft_column metric_columns[] = {
    { "metric", "metric", WEFT_CELL_TEXT },  { "mean_a", NULL, WEFT_CELL_RATIO },
    { "mean_b", NULL, WEFT_CELL_RATIO },     { NULL, "mean A", WEFT_CELL_TEXT },
    { NULL, "mean B", WEFT_CELL_TEXT },      { "sd_a", NULL, WEFT_CELL_RATIO },
    { "sd_b", NULL, WEFT_CELL_RATIO },       { "p50_a", NULL, WEFT_CELL_RATIO },
    { "p50_b", NULL, WEFT_CELL_RATIO },      { NULL, "p50 A", WEFT_CELL_TEXT },
    { NULL, "p50 B", WEFT_CELL_TEXT },       { "p99_a", NULL, WEFT_CELL_RATIO },
    { "p99_b", NULL, WEFT_CELL_RATIO },      { NULL, "p99 A", WEFT_CELL_TEXT },
    { NULL, "p99 B", WEFT_CELL_TEXT },       { "difference", NULL, WEFT_CELL_RATIO },
    { "low", NULL, WEFT_CELL_RATIO },        { "high", NULL, WEFT_CELL_RATIO },
    { NULL, "B - A", WEFT_CELL_TEXT },       { "t", NULL, WEFT_CELL_RATIO },
    { "df", NULL, WEFT_CELL_RATIO },         { "p", NULL, WEFT_CELL_RATIO },
    { "p_adjusted", NULL, WEFT_CELL_RATIO }, { NULL, "adjusted", WEFT_CELL_TEXT },
    { "effect", NULL, WEFT_CELL_RATIO },
};

static void metric_row(const void *context, size_t index, struct weft_cell *cells)
{
    struct page *page = (struct page *)(uintptr_t)context;
    const struct weft_compare_metric *row = &page->opts->table->metrics[page->metrics[index]];
    const struct weft_metric *metric = &page->opts->matrix->metrics[row->metric];
    cells[0].text = metric->name;
    cells[1] = real(row->mean_a);
    cells[2] = real(row->mean_b);
    cells[3] = human(page, weft_human_metric(row->mean_a, metric->unit));
    cells[4] = human(page, weft_human_metric(row->mean_b, metric->unit));
    cells[5] = real(row->sd_a);
    cells[6] = real(row->sd_b);
    cells[7] = real(row->p50_a);
    cells[8] = real(row->p50_b);
    cells[9] = human(page, weft_human_metric(row->p50_a, metric->unit));
    cells[10] = human(page, weft_human_metric(row->p50_b, metric->unit));
    cells[11] = real(row->p99_a);
    cells[12] = real(row->p99_b);
    cells[13] = human(page, weft_human_metric(row->p99_a, metric->unit));
    cells[14] = human(page, weft_human_metric(row->p99_b, metric->unit));
    cells[15] = real(row->difference);
    cells[16] = real(row->low);
    cells[17] = real(row->high);
    weft_words_change(page->scratch, row, metric->unit);
    cells[18].text = weft_words_take(page->scratch, page->arena);
    cells[19] = real(row->t);
    cells[20] = real(row->df);
    cells[21] = real(row->p);
    cells[22] = real(row->p_adjusted);
    cells[23] = human(page, weft_human_p(row->p_adjusted));
    cells[24] = real(row->effect);
}

static bool is_zero(const struct weft_compare_metric *metric)
{
    return metric->mean_a == 0 && metric->mean_b == 0 && metric->sd_a == 0 && metric->sd_b == 0;
}

/* Text shows no metrics that are 0 everywhere. */
static struct weft_table metric_table(struct page *page)
{
    const struct weft_compare_table *table = page->opts->table;
    page->n_metrics = 0;
    page->metrics = WEFT_ARENA_NEW(page->arena, table->n_metrics, size_t);
    for (size_t i = 0; page->metrics && i < table->n_metrics; i++)
        if (page->view->format != WEFT_FORMAT_TEXT || !is_zero(&table->metrics[i]))
            page->metrics[page->n_metrics++] = i;
    return (struct weft_table){ .columns = metric_columns,
                                .n_columns = sizeof metric_columns / sizeof *metric_columns,
                                .n_rows = page->n_metrics,
                                .row = metric_row,
                                .context = page };
}

/* ---- causes ---------------------------------------------------------------------------------- */

static const struct weft_column cause_columns[] = {
    { "executions", "executions", WEFT_CELL_COUNT },
    { "duration_ns", NULL, WEFT_CELL_RATIO },
    { NULL, "mean", WEFT_CELL_TEXT },
    { "difference_ns", NULL, WEFT_CELL_RATIO },
    { NULL, "slower there", WEFT_CELL_TEXT },
    { "node", NULL, WEFT_CELL_ID },
    { "context", NULL, WEFT_CELL_ID },
    { "context_ns", NULL, WEFT_CELL_RATIO },
    { "cause", "because", WEFT_CELL_TEXT },
    { "path", NULL, WEFT_CELL_TEXT },
    { "example", NULL, WEFT_CELL_ID },
    { "command", "an example", WEFT_CELL_TEXT },
};

static void cause_row(const void *context, size_t index, struct weft_cell *cells)
{
    struct page *page = (struct page *)(uintptr_t)context;
    const struct weft_ecct_matrix *matrix = page->opts->matrix;
    const struct weft_compare_cause *cause = &page->opts->table->causes[index];
    cells[0].number = cause->n_items;
    cells[1] = real(cause->duration_ns);
    cells[2] = human(page, weft_human_mean(cause->duration_ns));
    cells[3] = real(cause->difference_ns);
    cells[4] = human(page, weft_human_change(cause->difference_ns));
    cells[5] = (struct weft_cell){ .number = cause->node, .is_null = cause->node == WEFT_ID_NONE };
    cells[6].number = cause->context;
    cells[7] = real(cause->context_ns);
    weft_words_cause(page->scratch, matrix, cause->node);
    cells[8].text = weft_words_take(page->scratch, page->arena);
    weft_words_path(page->scratch, matrix, cause->node, ";");
    cells[9].text = weft_words_take(page->scratch, page->arena);
    cells[10].number = matrix->items[cause->example].id;
    weft_render_open_command(page->scratch, matrix, cause->example);
    cells[11].text = weft_words_take(page->scratch, page->arena);
}

static struct weft_table cause_table(const struct page *page)
{
    return (struct weft_table){ .columns = cause_columns,
                                .n_columns = sizeof cause_columns / sizeof *cause_columns,
                                .n_rows = limited(page->opts->limit, page->opts->table->n_causes),
                                .row = cause_row,
                                .context = page };
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_bar(struct weft_output *out, uint32_t count, uint32_t most)
{
    static const char *const eighths[] = { "",
                                           "\xe2\x96\x8f",
                                           "\xe2\x96\x8e",
                                           "\xe2\x96\x8d",
                                           "\xe2\x96\x8c",
                                           "\xe2\x96\x8b",
                                           "\xe2\x96\x8a",
                                           "\xe2\x96\x89" };
    size_t n = most > 0 ? (size_t)((uint64_t)count * BAR_COLUMNS * 8 / most) : 0;
    n = count > 0 && n == 0 ? 1 : n;
    weft_output_repeat(out, "\xe2\x96\x88", n / 8);
    weft_output_text(out, eighths[n % 8]);
    weft_output_repeat(out, " ", BAR_COLUMNS - n / 8 - (n % 8 > 0));
}

static uint32_t most_of(const uint32_t *counts, size_t n)
{
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = counts[i] > most ? counts[i] : most;
    return most;
}

/* A label for a line whose unit has a byte more than columns. */
static void put_padded(struct weft_output *out, const char *text, size_t n_columns)
{
    size_t n = 0;
    for (const char *at = text; *at; at++)
        n += ((unsigned char)*at & 0xc0) != 0x80;
    weft_output_repeat(out, " ", n < n_columns ? n_columns - n : 0);
    weft_output_text(out, text);
}

static void print_histogram(const struct page *page)
{
    const struct weft_metric_histogram *histogram = page->opts->histogram;
    struct weft_output *out = page->view->out;
    if (!histogram)
        return;
    const uint32_t most_a = most_of(histogram->a, histogram->n_bins);
    const uint32_t most_b = most_of(histogram->b, histogram->n_bins);
    weft_output_text(out, "\nduration from        A");
    weft_output_repeat(out, " ", BAR_COLUMNS + 9);
    weft_output_text(out, "B\n");
    for (size_t bin = 0; bin < histogram->n_bins; bin++) {
        put_padded(out, weft_human_mean(weft_metric_histogram_edge(histogram, bin)).text, 13);
        weft_output_printf(out, "%7" PRIu32 " ", histogram->a[bin]);
        put_bar(out, histogram->a[bin], most_a);
        weft_output_printf(out, " %7" PRIu32 " ", histogram->b[bin]);
        put_bar(out, histogram->b[bin], most_b);
        weft_output_text(out, "\n");
    }
}

static void print_head(const struct page *page)
{
    const struct weft_compare_table *table = page->opts->table;
    struct weft_output *out = page->view->out;
    weft_render_verdict(page->scratch, page->opts);
    weft_output_write(page->scratch, "", 1);
    weft_view_bold(page->view, weft_output_held(page->scratch).bytes);
    weft_output_clear(page->scratch);
    weft_output_text(out, "\n\n");
    weft_output_printf(
        out, "A: %s, %s\nB: %s, %s\n", weft_human_plural(table->n_a, "execution").text,
        *page->opts->a ? page->opts->a : "all", weft_human_plural(table->n_b, "execution").text,
        *page->opts->b ? page->opts->b : "all");
    weft_output_printf(out, "in neither: %s, in both: %s\n",
                       weft_human_count(table->n_neither).text,
                       weft_human_count(table->n_both).text);
}

static void print_list(const struct page *page, const char *head, const struct weft_table *table,
                       size_t n_all, const char *what)
{
    struct weft_output *out = page->view->out;
    if (table->n_rows == 0)
        return;
    weft_output_printf(out, "\n%s\n", head);
    weft_table_text(table, &page->view->style, out);
    if (table->n_rows < n_all)
        weft_output_printf(out, "%s more %s; --limit 0 shows all\n",
                           weft_human_count(n_all - table->n_rows).text, what);
}

static void print_items(struct page *page, const char *head, const uint32_t *items, size_t n)
{
    const struct weft_table table = item_table(page, items, n, SAMPLES);
    print_list(page, head, &table, 0, "");
}

static void print_text(struct page *page)
{
    const struct weft_compare_table *table = page->opts->table;
    print_head(page);
    print_histogram(page);
    const struct weft_table metrics = metric_table(page), nodes = node_table(page);
    const struct weft_table causes = cause_table(page);
    print_list(page, "metrics", &metrics, 0, "");
    print_list(page, "differences of exclusive time, sure ones first", &nodes, table->n_ranked,
               "differences");
    print_list(page, "what makes executions of B slow", &causes, table->n_causes, "causes");
    print_items(page, "executions of A", table->items_a, table->n_a);
    print_items(page, "executions of B", table->items_b, table->n_b);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_counts(struct weft_json *json, const char *key, const uint32_t *counts, size_t n)
{
    weft_json_begin_array(json, key);
    for (size_t i = 0; i < n; i++)
        weft_json_u64(json, NULL, counts[i]);
    weft_json_end_array(json);
}

static void json_histogram(const struct page *page, struct weft_json *json)
{
    const struct weft_metric_histogram *histogram = page->opts->histogram;
    if (!histogram)
        return;
    weft_json_begin_object(json, "duration");
    weft_json_begin_array(json, "edges_ns");
    for (size_t bin = 0; bin <= histogram->n_bins; bin++)
        weft_json_real(json, NULL, weft_metric_histogram_edge(histogram, bin));
    weft_json_end_array(json);
    json_counts(json, "a", histogram->a, histogram->n_bins);
    json_counts(json, "b", histogram->b, histogram->n_bins);
    weft_json_end_object(json);
}

static void json_items(struct page *page, const char *key, const uint32_t *items, size_t n,
                       struct weft_json *json)
{
    const struct weft_table table = item_table(page, items, n, SAMPLES);
    weft_table_json(&table, key, json);
}

static void print_json(struct page *page)
{
    const struct weft_compare_table *table = page->opts->table;
    struct weft_json *json = weft_view_json(page->view);
    if (!json)
        return;
    const struct weft_table metrics = metric_table(page), nodes = node_table(page);
    const struct weft_table causes = cause_table(page);
    weft_render_verdict(page->scratch, page->opts);
    weft_json_begin_object(json, NULL);
    weft_json_str(json, "verdict", weft_output_held(page->scratch));
    weft_output_clear(page->scratch);
    const struct weft_confidence_basis basis =
        weft_compare_verdict_of(page->opts->matrix, page->opts->table).confidence;
    weft_confidence_json(json, &basis, page->scratch);
    weft_json_text(json, "filter_a", page->opts->a);
    weft_json_text(json, "filter_b", page->opts->b);
    weft_json_u64(json, "n_a", table->n_a);
    weft_json_u64(json, "n_b", table->n_b);
    weft_json_u64(json, "n_neither", table->n_neither);
    weft_json_u64(json, "n_both", table->n_both);
    weft_json_u64(json, "runs_a", table->n_runs_a);
    weft_json_u64(json, "runs_b", table->n_runs_b);
    weft_json_bool(json, "by_runs", table->is_by_runs);
    weft_json_bool(json, "too_small", table->is_small);
    weft_json_u64(json, "damaged", page->opts->matrix->n_damaged);
    weft_json_u64(json, "damaged_metrics", page->opts->matrix->n_damaged_metrics);
    weft_json_u64(json, "partial_runs", page->opts->matrix->n_partial);
    weft_json_u64(json, "unfinished", weft_ecct_matrix_unfinished(page->opts->matrix));
    weft_json_u64(json, "n_differences", table->n_ranked);
    weft_json_u64(json, "seed", table->seed);
    if (page->opts->gate)
        weft_render_gate_json(json, page->opts->gate);
    json_histogram(page, json);
    weft_table_json(&metrics, "metrics", json);
    weft_table_json(&nodes, "differences", json);
    weft_table_json(&causes, "causes", json);
    json_items(page, "executions_a", table->items_a, table->n_a, json);
    json_items(page, "executions_b", table->items_b, table->n_b, json);
    weft_json_end_object(json);
    weft_view_json_end(page->view, json);
}

void weft_render_comparison(const struct weft_view *view,
                            const struct weft_comparison_view *comparison)
{
    struct weft_err err = { 0 };
    struct page page = { .view = view, .opts = comparison, .arena = weft_arena_new(0) };
    if (!page.arena || weft_output_to_memory(&page.scratch, &err) != WEFT_OK) {
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a comparison");
        weft_output_fail(view->out, &err);
    } else if (view->format == WEFT_FORMAT_JSON) {
        print_json(&page);
    } else if (view->format == WEFT_FORMAT_CSV) {
        const struct weft_table nodes = node_table(&page);
        weft_table_csv(&nodes, view->out);
    } else {
        print_text(&page);
    }
    weft_output_abort(page.scratch);
    weft_output_release(view->out, page.arena);
}
