/* SPDX-License-Identifier: MIT
 *
 * Executions: statistics of each type, and the list.
 */
#include "render/human.h"
#include "render/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns before those of the metrics. */
enum { FIXED = 9, METRICS_MAX = WEFT_TABLE_COLUMNS_MAX - FIXED };

struct list {
    const struct weft_view *view;
    const struct weft_executions_table *table;
    const struct weft_executions_view *opts;
    size_t *rows; /* places in the table, in order */
    size_t n_rows, n_slow;
    struct weft_column columns[WEFT_TABLE_COLUMNS_MAX];
    size_t metrics[METRICS_MAX]; /* places in the table */
    size_t n_columns, n_metrics;
    struct type_times *times; /* by type */
    bool *has_keys;           /* by type */
};

/* ---- types ----------------------------------------------------------------------------------- */

struct type_times {
    uint64_t *ns; /* ascending */
    size_t n;
    uint64_t sum_ns;
};

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t length_of(const struct weft_execution_row *row)
{
    return row->end_ns - row->start_ns;
}

/* Times of what is cut at either end would be too short. False without memory. */
static bool take_times(struct list *list)
{
    const struct weft_executions_table *table = list->table;
    list->times = calloc(table->n_types + 1, sizeof *list->times);
    list->has_keys = calloc(table->n_types + 1, sizeof *list->has_keys);
    if (!list->times || !list->has_keys)
        return false;
    for (size_t t = 0; t < table->n_types; t++) {
        list->times[t].ns = calloc(table->types[t].count + 1, sizeof *list->times[t].ns);
        if (!list->times[t].ns)
            return false;
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        struct type_times *times = &list->times[table->rows[i].type];
        list->has_keys[table->rows[i].type] |= table->rows[i].key != 0;
        if (table->rows[i].flags & (WEFT_EXECUTION_CUT_START | WEFT_EXECUTION_UNFINISHED))
            continue;
        times->ns[times->n++] = length_of(&table->rows[i]);
        times->sum_ns += length_of(&table->rows[i]);
    }
    for (size_t t = 0; t < table->n_types; t++)
        qsort(list->times[t].ns, list->times[t].n, sizeof *list->times[t].ns, by_number);
    return true;
}

/* The smallest duration that at least so many in a thousand do not exceed. */
static uint64_t quantile(const struct type_times *times, uint64_t per_mille)
{
    const size_t rank = (times->n * per_mille + 999) / 1000;
    return times->ns[rank ? rank - 1 : 0];
}

static double deviation(const struct type_times *times)
{
    const double mean = (double)times->sum_ns / (double)times->n;
    double sum = 0;
    for (size_t i = 0; i < times->n; i++)
        sum += ((double)times->ns[i] - mean) * ((double)times->ns[i] - mean);
    return times->n > 1 ? sqrt(sum / (double)(times->n - 1)) : 0;
}

static const struct weft_column type_columns[] = {
    { "type", "type", WEFT_CELL_TEXT },
    { "count", "count", WEFT_CELL_COUNT },
    { "unfinished", "unfinished", WEFT_CELL_COUNT },
    { "lossy", NULL, WEFT_CELL_COUNT },
    { "left_out", NULL, WEFT_CELL_COUNT },
    { "ends_unmatched", NULL, WEFT_CELL_COUNT },
    { "sum_ns", "total", WEFT_CELL_NS },
    { "mean_ns", "mean", WEFT_CELL_NS },
    { "sd_ns", "sd", WEFT_CELL_NS },
    { "min_ns", "min", WEFT_CELL_NS },
    { "p50_ns", "p50", WEFT_CELL_NS },
    { "p90_ns", "p90", WEFT_CELL_NS },
    { "p99_ns", "p99", WEFT_CELL_NS },
    { "max_ns", "max", WEFT_CELL_NS },
};

static void type_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct list *list = context;
    const struct weft_execution_type *type = &list->table->types[index];
    const struct type_times *times = &list->times[index];
    cells[0].text = type->name;
    cells[1].number = type->count;
    cells[2] = (struct weft_cell){ .number = type->unfinished, .is_bad = type->unfinished > 0 };
    cells[3].number = type->lossy;
    cells[4].number = type->left_out;
    cells[5].number = type->ends_unmatched;
    cells[6].number = times->sum_ns;
    for (size_t i = 7; i < sizeof type_columns / sizeof *type_columns; i++)
        cells[i].is_null = times->n == 0;
    if (times->n == 0)
        return;
    cells[7].number = times->sum_ns / times->n;
    cells[8].number = (uint64_t)deviation(times);
    cells[9].number = times->ns[0];
    cells[10].number = quantile(times, 500);
    cells[11].number = quantile(times, 900);
    cells[12].number = quantile(times, 990);
    cells[13].number = times->ns[times->n - 1];
}

static struct weft_table type_table(const struct list *list)
{
    return (struct weft_table){ .columns = type_columns,
                                .n_columns = sizeof type_columns / sizeof *type_columns,
                                .n_rows = list->table->n_types,
                                .row = type_row,
                                .context = list };
}

/* ---- the list -------------------------------------------------------------------------------- */

static const struct weft_column fixed_columns[FIXED] = {
    { "start_ns", "start", WEFT_CELL_AT },
    { "end_ns", NULL, WEFT_CELL_AT },
    { "type", "type", WEFT_CELL_TEXT },
    { "key", "key", WEFT_CELL_ID },
    { "tid", "tid", WEFT_CELL_ID },
    { "thread", "thread", WEFT_CELL_TEXT },
    { "end_tid", NULL, WEFT_CELL_ID },
    { "flags", "", WEFT_CELL_TEXT },
    { "duration_ns", "duration", WEFT_CELL_NS },
};

/* The flags of an execution as words; there are no more than 16 combinations. */
static struct weft_str flag_words(uint32_t flags)
{
    static const char *const words[] = { "",
                                         "cut_start",
                                         "unfinished",
                                         "cut_start unfinished",
                                         "nested",
                                         "cut_start nested",
                                         "unfinished nested",
                                         "cut_start unfinished nested",
                                         "lossy",
                                         "cut_start lossy",
                                         "unfinished lossy",
                                         "cut_start unfinished lossy",
                                         "nested lossy",
                                         "cut_start nested lossy",
                                         "unfinished nested lossy",
                                         "cut_start unfinished nested lossy" };
    return weft_str_of(words[flags & 15]);
}

static const struct weft_thread_info *thread_info(const struct list *list, uint32_t thread_id)
{
    return &weft_trace_thread(list->view->trace, thread_id)->info;
}

static struct weft_cell metric_cell(const struct weft_metric *metric, size_t row)
{
    const double value = metric->values[row];
    struct weft_cell cell = { .real = value, .is_null = isnan(value) };
    if (metric->unit != WEFT_METRIC_NUMBER && !cell.is_null && value >= 0 && value < 0x1p64)
        cell.number = (uint64_t)value;
    return cell;
}

static void execution_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct list *list = context;
    const size_t place = list->rows[index];
    const struct weft_execution_row *row = &list->table->rows[place];
    cells[0].number = row->start_ns;
    cells[1].number = row->end_ns;
    cells[2].text = list->table->types[row->type].name;
    cells[3] = (struct weft_cell){ .number = row->key, .is_null = !list->has_keys[row->type] };
    cells[4].number = thread_info(list, row->thread_id)->tid;
    cells[5].text = thread_info(list, row->thread_id)->name;
    cells[6].number = thread_info(list, row->end_thread_id)->tid;
    cells[7].text = flag_words(row->flags);
    cells[8].number = length_of(row);
    for (size_t i = 0; i < list->n_metrics; i++)
        cells[FIXED + i] = metric_cell(&list->table->metrics[list->metrics[i]], place);
}

/* Text shows no metrics that are 0 everywhere. */
static bool is_shown(const struct list *list, const struct weft_metric *metric)
{
    if (list->view->format != WEFT_FORMAT_TEXT)
        return true;
    for (size_t i = 0; i < list->n_rows; i++)
        if (metric->values[list->rows[i]] != 0 && !isnan(metric->values[list->rows[i]]))
            return true;
    return false;
}

/* Metrics, but for the duration and the start, which are there already. */
static void choose_columns(struct list *list)
{
    static const enum weft_cell_kind kinds[] = { WEFT_CELL_NS, WEFT_CELL_COUNT, WEFT_CELL_BYTES,
                                                 WEFT_CELL_RATIO };
    memcpy(list->columns, fixed_columns, sizeof fixed_columns);
    for (size_t i = 2; i < list->table->n_metrics && list->n_metrics < METRICS_MAX; i++) {
        const struct weft_metric *metric = &list->table->metrics[i];
        if (!is_shown(list, metric))
            continue;
        list->columns[FIXED + list->n_metrics] = (struct weft_column){
            .key = metric->name.bytes, /* ends with NUL */
            .head = metric->name.bytes,
            .kind = kinds[metric->unit],
        };
        list->metrics[list->n_metrics++] = i;
    }
    list->n_columns = FIXED + list->n_metrics;
}

static int longest_first(const void *a, const void *b, void *table_void)
{
    const struct weft_executions_table *table = table_void;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const uint64_t length_x = length_of(&table->rows[x]), length_y = length_of(&table->rows[y]);
    if (length_x != length_y)
        return length_x > length_y ? -1 : 1;
    return (x > y) - (x < y);
}

/* False without memory. */
static bool choose_rows(struct list *list)
{
    const struct weft_executions_table *table = list->table;
    union { /* qsort_r takes no const context */
        const struct weft_executions_table *given;
        struct weft_executions_table *taken;
    } context = { .given = table };
    list->rows = calloc(table->n_rows + 1, sizeof *list->rows);
    for (size_t i = 0; list->rows && i < table->n_rows; i++)
        if (length_of(&table->rows[i]) >= list->opts->slower_than_ns)
            list->rows[list->n_slow++] = i;
    if (list->rows && list->n_slow && list->opts->longest_first)
        qsort_r(list->rows, list->n_slow, sizeof *list->rows, longest_first, context.taken);
    list->n_rows = list->n_slow;
    if (list->opts->limit && list->n_rows > list->opts->limit)
        list->n_rows = (size_t)list->opts->limit;
    return list->rows != NULL;
}

static struct weft_table execution_table(const struct list *list)
{
    return (struct weft_table){ .columns = list->columns,
                                .n_columns = list->n_columns,
                                .n_rows = list->n_rows,
                                .row = execution_row,
                                .context = list };
}

/* ---- text, JSON ------------------------------------------------------------------------------ */

/* What the times of a type do not tell: damage, and ends that found no begin, though some are
 * open: of another thread, or with another value of the field that they have to agree in. */
static void put_type_remarks(struct weft_output *out, const struct weft_execution_type *type,
                             const char *front)
{
    const int n_bytes = (int)type->name.n_bytes;
    if (type->lossy)
        weft_output_printf(out, "%s%.*s: %s of %s with records of their time lost\n", front,
                           n_bytes, type->name.bytes, weft_human_count(type->lossy).text,
                           weft_human_count(type->count).text);
    if (type->count == 0 || type->unfinished < type->count || type->left_out)
        return;
    weft_output_printf(out, "%s%.*s: %s began and none ended: ", front, n_bytes, type->name.bytes,
                       weft_human_count(type->count).text);
    if (type->ends_unmatched)
        weft_output_printf(out, "%s of the rule %s no begin: see --match and --within\n",
                           weft_human_plural(type->ends_unmatched, "end").text,
                           type->ends_unmatched == 1 ? "has" : "have");
    else
        weft_output_text(out, "nothing matches the rule of the end\n");
}

void weft_render_executions_remarks(struct weft_output *out,
                                    const struct weft_executions_table *table, const char *front)
{
    if (table->ends_unmatched)
        weft_output_printf(out, "%s%s without a begin\n", front,
                           weft_human_plural(table->ends_unmatched, "end").text);
    for (size_t i = 0; i < table->n_types; i++)
        put_type_remarks(out, &table->types[i], front);
    if (table->n_rows == 0)
        weft_output_printf(out,
                           "%snothing matches the rules: names are compared whole, * stands for "
                           "anything, and\na field to match has to be there; without rules, weft "
                           "executions proposes some\n",
                           front);
}

static void print_text(const struct list *list)
{
    const struct weft_view *view = list->view;
    const struct weft_table types = type_table(list), rows = execution_table(list);
    weft_view_bold(view, view->path);
    weft_output_printf(view->out, "  %s\n\n",
                       weft_human_plural(list->table->n_rows, "execution").text);
    weft_table_text(&types, &view->style, view->out);
    weft_render_executions_remarks(view->out, list->table, "\n");
    if (list->opts->slower_than_ns)
        weft_output_printf(view->out, "\n%s take %s or more\n",
                           weft_human_plural(list->n_slow, "execution").text,
                           weft_human_ns(list->opts->slower_than_ns).text);
    if (list->n_rows == 0)
        return;
    weft_output_text(view->out, "\n");
    weft_table_text(&rows, &view->style, view->out);
    if (list->n_rows < list->n_slow)
        weft_output_printf(view->out, "%s of %s; --limit 0 shows all\n",
                           weft_human_count(list->n_rows).text,
                           weft_human_count(list->n_slow).text);
}

static void json_metrics(const void *context, size_t index, struct weft_json *json)
{
    const struct list *list = context;
    const size_t place = list->rows[index];
    weft_json_begin_object(json, "metrics");
    for (size_t i = 2; i < list->table->n_metrics; i++) {
        const struct weft_metric *metric = &list->table->metrics[i];
        const double value = metric->values[place];
        if (metric->unit != WEFT_METRIC_NUMBER && value >= 0 && value < 0x1p64)
            weft_json_u64(json, metric->name.bytes, (uint64_t)value);
        else
            weft_json_real(json, metric->name.bytes, value);
    }
    weft_json_end_object(json);
    if (list->view->has_ids)
        weft_json_u64(json, "thread_id", list->table->rows[place].thread_id);
}

static void print_json(const struct list *list)
{
    struct weft_json *json = weft_view_json(list->view);
    const struct weft_table types = type_table(list);
    struct weft_table rows = execution_table(list);
    if (!json)
        return;
    rows.n_columns = FIXED;
    rows.more = json_metrics;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "ends_unmatched", list->table->ends_unmatched);
    weft_json_u64(json, "slower_than_ns", list->opts->slower_than_ns);
    weft_json_u64(json, "found", list->n_slow);
    weft_table_json(&types, "types", json);
    weft_json_begin_array(json, "metrics");
    for (size_t i = 0; i < list->table->n_metrics; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "name", list->table->metrics[i].name);
        weft_json_text(json, "unit", weft_metric_unit_name(list->table->metrics[i].unit));
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
    weft_table_json(&rows, "executions", json);
    weft_json_end_object(json);
    weft_view_json_end(list->view, json);
}

void weft_render_executions(const struct weft_view *view, const struct weft_executions_table *table,
                            const struct weft_executions_view *opts)
{
    struct list list = { .view = view, .table = table, .opts = opts };
    struct weft_err err = { 0 };
    if (take_times(&list) && choose_rows(&list)) {
        choose_columns(&list);
        const struct weft_table rows = execution_table(&list);
        if (view->format == WEFT_FORMAT_JSON)
            print_json(&list);
        else if (view->format == WEFT_FORMAT_CSV)
            weft_table_csv(&rows, view->out);
        else
            print_text(&list);
    } else {
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for executions");
        weft_output_fail(view->out, &err);
    }
    for (size_t t = 0; list.times && t < table->n_types; t++)
        free(list.times[t].ns);
    free(list.times);
    free(list.has_keys);
    free(list.rows);
}
