/* SPDX-License-Identifier: MIT */
#include "render/text/compare.h"

#include "analysis/compare/verdict.h"
#include "render/text/compare_words.h"
#include "render/text/confidence.h"
#include "render/text/gate.h"
#include "render/text/tables.h"
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
                       size_t n_most, uint32_t *picked, struct weft_output *out)
{
    struct by_duration *sorted = calloc(n_items + 1, sizeof *sorted);
    const size_t n = n_items < n_most ? n_items : n_most;
    struct weft_err err = { 0 };
    if (!sorted) {
        (void)weft_no_memory(&err, "executions to be listed");
        weft_output_fail(out, &err);
        return 0;
    }
    for (size_t i = 0; i < n_items; i++) {
        const struct weft_execution_item *item = &matrix->items[items[i]];
        sorted[i] = (struct by_duration){ .ns = item->end_ns - item->start_ns, .item = items[i] };
    }
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

/* ---- texts of cells -------------------------------------------------------------------------- */

/* What the page's scratch holds; it is empty then. */
static void take(const struct weft_table_context *context, struct weft_cell *cell)
{
    const struct page *page = context->of;
    cell->text = weft_words_take(page->scratch, context->arena);
}

static void put_human(const struct weft_table_context *context, struct weft_human text,
                      struct weft_cell *cell)
{
    cell->text = weft_arena_copy(context->arena, weft_str_of(text.text));
}

static double real_at(const struct weft_field *field, const void *row)
{
    double value;
    memcpy(&value, (const char *)row + field->offset, sizeof value);
    return value;
}

static WEFT_GET(get_change)
{
    put_human(context, weft_human_change(real_at(field, row)), cell);
}

static WEFT_GET(get_mean)
{
    put_human(context, weft_human_mean(real_at(field, row)), cell);
}

static WEFT_GET(get_p)
{
    put_human(context, weft_human_p(real_at(field, row)), cell);
}

/* A number of programs. */
#define REAL(key, member, doc) WEFT_FIELD(key, NULL, RATIO, member, doc, WEFT_AND_COLUMN(F64, key))
/* The same for people. */
#define WORDS(head, getter, member, ...)                                                           \
    WEFT_GETTER(NULL, head, TEXT, getter, __VA_ARGS__, .offset = offsetof(ROW, member))

/* ---- lists of executions --------------------------------------------------------------------- */

#define ROW struct weft_execution_item

static WEFT_GET(get_source)
{
    const struct page *page = context->of;
    const struct weft_ecct_matrix *matrix = page->opts->matrix;
    const ROW *item = row;
    cell->text =
        field->arg ? matrix->sources[item->source].tag : matrix->sources[item->source].path;
}

static WEFT_GET(get_command)
{
    const struct page *page = context->of;
    weft_render_open_command(page->scratch, page->opts->matrix, (uint32_t)context->place);
    take(context, cell);
}

static const struct weft_field item_fields[] = {
    WEFT_FIELD("id", NULL, ID, id, "its id in the database"),
    WEFT_GETTER("trace", "trace", TEXT, get_source, "file of its trace"),
    WEFT_GETTER("tag", NULL, TEXT, get_source, "tag of its trace", .arg = 1),
    WEFT_FIELD("tid", "tid", ID, tid, "tid of its thread"),
    WEFT_FIELD("thread", "thread", TEXT, thread, "name of its thread"),
    WEFT_FIELD("start_ns", "start", AT, start_ns, "its start"),
    WEFT_DURATION("duration_ns", "duration", start_ns, end_ns, "its duration"),
    WEFT_GETTER("command", "to open it", TEXT, get_command, "the command that opens it",
                .is_below = true, .is_whole = true),
};

const struct weft_table_type weft_compare_items_type =
    WEFT_TABLE_TYPE("compare_executions", "executions of a group", item_fields, ROW);

static struct weft_table item_table(struct page *page, const uint32_t *items, size_t n_items,
                                    size_t n_most)
{
    uint32_t *picked = WEFT_ARENA_NEW(page->arena, n_most, uint32_t);
    return (struct weft_table){ .type = &weft_compare_items_type,
                                .rows = page->opts->matrix->items,
                                .n_rows =
                                    picked ? weft_pick_items(page->opts->matrix, items, n_items,
                                                             n_most, picked, page->view->out)
                                           : 0, /* its arena has failed, and so does the output */
                                .order = picked,
                                .in = weft_view_context(page->view, page) };
}

/* ---- differences ----------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_compare_node

static WEFT_GET(get_interval)
{
    const struct page *page = context->of;
    const struct weft_interval_ns *interval = &((const ROW *)row)->interval;
    weft_output_printf(page->scratch, "%s to %s", weft_human_change(interval->low_ns).text,
                       weft_human_change(interval->high_ns).text);
    take(context, cell);
}

static double share_of(const struct weft_table_context *context, const ROW *node)
{
    const struct page *page = context->of;
    const struct weft_compare_metric *duration = duration_of(page->opts->table);
    return duration ? node->difference_ns / duration->difference : (double)NAN;
}

/* Of the difference of durations. */
static WEFT_GET(get_share)
{
    const struct page *page = context->of;
    const double share = share_of(context, row);
    cell->real = share;
    if (field->unit != WEFT_UNIT_TEXT) {
        cell->is_null = !isfinite(share);
        return;
    }
    if (isfinite(share))
        weft_output_printf(page->scratch, "%+.3g %%", 100 * share);
    else
        weft_output_text(page->scratch, "-");
    take(context, cell);
}

enum of_node { NODE_THREADS, NODE_CONFIDENCE, NODE_PATH, NODE_WHERE };

/* Of the node whose place in the matrix is the member. */
static WEFT_GET(get_node)
{
    const struct page *page = context->of;
    const struct weft_ecct_matrix *matrix = page->opts->matrix;
    const uint32_t node = ((const ROW *)row)->node;
    if (field->arg == NODE_CONFIDENCE) {
        cell->text =
            weft_str_of(weft_confidence_name((enum weft_confidence)matrix->nodes[node].confidence));
        return;
    }
    if (field->arg == NODE_THREADS)
        weft_words_threads(page->scratch, matrix, node);
    else if (field->arg == NODE_PATH)
        weft_words_path(page->scratch, matrix, node, ";");
    else
        weft_words_where(page->scratch, matrix, node);
    take(context, cell);
}

static const struct weft_field node_fields[] = {
    WEFT_FIELD("node", NULL, ID, node, "the node of the tree", WEFT_AND_COLUMN(U32, "node")),
    REAL("difference_ns", difference_ns, "difference of the exclusive time, B - A"),
    WORDS("B - A", get_change, difference_ns, "the same"),
    REAL("low_ns", interval.low_ns, "lower bound of it, 95 %"),
    REAL("high_ns", interval.high_ns, "upper bound of it, 95 %"),
    WEFT_GETTER(NULL, "95 %", TEXT, get_interval, "the interval", .is_whole = true),
    REAL("mean_a_ns", mean_a_ns, "mean of A"),
    REAL("mean_b_ns", mean_b_ns, "mean of B"),
    WORDS("mean A", get_mean, mean_a_ns, "mean of A"),
    WORDS("mean B", get_mean, mean_b_ns, "mean of B"),
    WEFT_FIELD("sd_a_ns", NULL, RATIO, sd_a_ns, "standard deviation of A"),
    WEFT_FIELD("sd_b_ns", NULL, RATIO, sd_b_ns, "standard deviation of B"),
    REAL("total_a_ns", total_a_ns, "inclusive mean of A"),
    REAL("total_b_ns", total_b_ns, "inclusive mean of B"),
    WEFT_FIELD("n_a", "in A", COUNT, n_a, "executions of A that have it", .is_detail = true,
               WEFT_AND_COLUMN(U32, "n_a")),
    WEFT_FIELD("n_b", "in B", COUNT, n_b, "executions of B that have it", .is_detail = true,
               WEFT_AND_COLUMN(U32, "n_b")),
    REAL("t", t, "Welch's t"),
    REAL("df", df, "degrees of freedom"),
    REAL("p", p, "p-value"),
    REAL("p_adjusted", p_adjusted, "p-value, Benjamini-Hochberg"),
    WORDS("adjusted", get_p, p_adjusted, "the same"),
    REAL("effect", effect, "Hedges' g"),
    WEFT_FIELD("sure", "sure", BOOL, is_sure, "significant", WEFT_AND_COLUMN(U8, "is_sure")),
    WEFT_GETTER("threads", NULL, TEXT, get_node, "other threads of the path", .arg = NODE_THREADS),
    WEFT_GETTER("confidence", NULL, TEXT, get_node, "of the path", .arg = NODE_CONFIDENCE),
    WEFT_GETTER("path", NULL, TEXT, get_node, "its frames from the root", .arg = NODE_PATH),
    WEFT_GETTER("share", NULL, RATIO, get_share, "share of the difference of durations"),
    WEFT_GETTER(NULL, "share", TEXT, get_share, "the same"),
    WEFT_GETTER(NULL, "where", TEXT, get_node, "its frames for people", .arg = NODE_WHERE,
                .is_below = true),
};

const struct weft_table_type weft_compare_nodes_type =
    WEFT_TABLE_TYPE("compare_differences", "differences of exclusive time", node_fields, ROW);

static struct weft_table node_table(const struct page *page)
{
    return (struct weft_table){ .type = &weft_compare_nodes_type,
                                .rows = page->opts->table->nodes,
                                .n_rows = limited(page->opts->limit, page->opts->table->n_ranked),
                                .order = page->opts->table->ranked,
                                .in = weft_view_context(page->view, page) };
}

/* ---- metrics --------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_compare_metric

static const struct weft_metric *metric_of(const struct weft_table_context *context,
                                           const void *row)
{
    const struct page *page = context->of;
    return &page->opts->matrix->metrics[((const ROW *)row)->metric];
}

static WEFT_GET(get_name)
{
    cell->text = metric_of(context, row)->name;
}

static WEFT_GET(get_value)
{
    put_human(context, weft_human_metric(real_at(field, row), metric_of(context, row)->unit), cell);
}

static WEFT_GET(get_metric_change)
{
    const struct page *page = context->of;
    weft_words_change(page->scratch, row, metric_of(context, row)->unit);
    take(context, cell);
}

static const struct weft_field metric_fields[] = {
    WEFT_COLUMN("metric", U32, metric),
    WEFT_GETTER("metric", "metric", TEXT, get_name, "the metric"),
    REAL("mean_a", mean_a, "mean of A"),
    REAL("mean_b", mean_b, "mean of B"),
    WORDS("mean A", get_value, mean_a, "mean of A"),
    WORDS("mean B", get_value, mean_b, "mean of B"),
    REAL("sd_a", sd_a, "standard deviation of A"),
    REAL("sd_b", sd_b, "standard deviation of B"),
    REAL("p50_a", p50_a, "median of A"),
    REAL("p50_b", p50_b, "median of B"),
    WORDS("p50 A", get_value, p50_a, "median of A", .is_detail = true),
    WORDS("p50 B", get_value, p50_b, "median of B", .is_detail = true),
    REAL("p99_a", p99_a, "99th percentile of A"),
    REAL("p99_b", p99_b, "99th percentile of B"),
    WORDS("p99 A", get_value, p99_a, "99th percentile of A", .is_detail = true),
    WORDS("p99 B", get_value, p99_b, "99th percentile of B", .is_detail = true),
    REAL("difference", difference, "difference of the means, B - A"),
    REAL("low", low, "lower bound of it, 95 %"),
    REAL("high", high, "upper bound of it, 95 %"),
    WEFT_GETTER(NULL, "B - A", TEXT, get_metric_change, "the difference", .is_whole = true),
    REAL("t", t, "Welch's t"),
    REAL("df", df, "degrees of freedom"),
    REAL("p", p, "p-value"),
    REAL("p_adjusted", p_adjusted, "p-value, Benjamini-Hochberg"),
    WORDS("adjusted", get_p, p_adjusted, "the same"),
    REAL("effect", effect, "Hedges' g"),
};

const struct weft_table_type weft_compare_metrics_type =
    WEFT_TABLE_TYPE("compare_metrics", "metrics of two groups", metric_fields, ROW);

static bool is_zero(const struct weft_compare_metric *metric)
{
    return metric->mean_a == 0 && metric->mean_b == 0 && metric->sd_a == 0 && metric->sd_b == 0;
}

/* Text shows no metrics that are 0 everywhere. */
static struct weft_table metric_table(struct page *page)
{
    const struct weft_compare_table *table = page->opts->table;
    uint32_t *shown = WEFT_ARENA_NEW(page->arena, table->n_metrics, uint32_t);
    size_t n_shown = 0;
    for (uint32_t i = 0; shown && i < table->n_metrics; i++)
        if (page->view->format != WEFT_FORMAT_TEXT || !is_zero(&table->metrics[i]))
            shown[n_shown++] = i;
    return (struct weft_table){ .type = &weft_compare_metrics_type,
                                .rows = table->metrics,
                                .n_rows = n_shown,
                                .order = shown,
                                .in = weft_view_context(page->view, page) };
}

/* ---- causes ---------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_compare_cause

static WEFT_GET(get_cause)
{
    const struct page *page = context->of;
    const uint32_t node = ((const ROW *)row)->node;
    if (field->arg == NODE_PATH)
        weft_words_path(page->scratch, page->opts->matrix, node, ";");
    else
        weft_words_cause(page->scratch, page->opts->matrix, node);
    take(context, cell);
}

static WEFT_GET(get_example)
{
    const struct page *page = context->of;
    const uint32_t example = ((const ROW *)row)->example;
    cell->number = page->opts->matrix->items[example].id;
    if (field->unit != WEFT_UNIT_TEXT)
        return;
    weft_render_open_command(page->scratch, page->opts->matrix, example);
    take(context, cell);
}

static const struct weft_field cause_fields[] = {
    WEFT_FIELD("executions", "executions", COUNT, n_items, "executions with this cause",
               WEFT_AND_COLUMN(U32, "n_items")),
    REAL("duration_ns", duration_ns, "their mean duration"),
    WORDS("mean", get_mean, duration_ns, "the same"),
    REAL("difference_ns", difference_ns, "how much slower they are there"),
    WORDS("slower there", get_change, difference_ns, "the same"),
    WEFT_FIELD("node", NULL, ID, node, "the node", .as = WEFT_AS_ID, WEFT_AND_COLUMN(I32, "node")),
    WEFT_FIELD("context", NULL, ID, context, "the node above it that has half of the difference",
               WEFT_AND_COLUMN(I32, "context")),
    REAL("context_ns", context_ns, "the difference there"),
    WEFT_GETTER("cause", "because", TEXT, get_cause, "the cause", .is_below = true),
    WEFT_GETTER("path", NULL, TEXT, get_cause, "frames from the root", .arg = NODE_PATH),
    WEFT_COLUMN("example", U32, example),
    WEFT_GETTER("example", NULL, ID, get_example, "an execution in the middle"),
    WEFT_GETTER("command", "an example", TEXT, get_example, "the command that opens it",
                .is_below = true, .is_whole = true),
};

const struct weft_table_type weft_compare_causes_type =
    WEFT_TABLE_TYPE("compare_causes", "what makes executions of B slow", cause_fields, ROW);

static struct weft_table cause_table(const struct page *page)
{
    return (struct weft_table){ .type = &weft_compare_causes_type,
                                .rows = page->opts->table->causes,
                                .n_rows = limited(page->opts->limit, page->opts->table->n_causes),
                                .in = weft_view_context(page->view, page) };
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
    const struct weft_str verdict = weft_output_held(page->scratch);
    weft_view_bold(page->view, verdict.n_bytes > 0 ? verdict.bytes : ""); /* or it has failed */
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
        weft_output_printf(out, "%s more %s: --limit 0\n",
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
    weft_view_headline(page->view,
                       weft_human_plural(page->opts->matrix->n_items, "execution").text);
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
    weft_json_u64(json, "damaged_facts", page->opts->matrix->n_damaged_facts);
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
        (void)weft_no_memory(&err, "a comparison");
        weft_output_fail(view->out, &err);
    } else if (view->format == WEFT_FORMAT_JSON) {
        print_json(&page);
    } else if (view->format == WEFT_FORMAT_CSV) {
        const struct weft_table nodes = node_table(&page);
        weft_table_csv(&nodes, view->out);
    } else {
        print_text(&page);
    }
    weft_output_drop(page.scratch, view->out);
    weft_output_release(view->out, page.arena);
}
