/* SPDX-License-Identifier: MIT
 *
 * Executions: statistics of each type, and the list.
 */
#include "schema/executions.h"

#include "base/runs.h"
#include "base/spool.h"
#include "render/human.h"
#include "render/text/render.h"
#include "render/text/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns before those of the metrics. */
enum { FIXED = 9 };

/* What the list shows of an execution: those of the table in its order, or copies in another. */
struct listed {
    struct weft_execution_row row;
    uint64_t place;  /* in the table */
    double values[]; /* of metrics */
};

struct list {
    const struct weft_view *view;
    const struct weft_executions_table *table;
    const struct weft_executions_view *opts;
    struct weft_spool *spool;
    uint8_t *listed; /* n_rows; NULL: the first ones of the table */
    size_t listed_bytes;
    size_t n_rows, n_slow;
    struct weft_field fields[WEFT_TABLE_COLUMNS_MAX]; /* the fixed ones, then metrics */
    struct weft_table_type type;                      /* of the list */
    struct type_times *times;                         /* by type */
    bool *has_keys;                                   /* by type */
};

enum { SPOOL_BYTES = 8 << 20, LISTED_AT_ONCE = 1 << 14 };

/* ---- types ----------------------------------------------------------------------------------- */

/* Statistics of durations. */
struct type_times {
    struct weft_execution_type type;
    size_t n;
    uint64_t sum_ns, min_ns, p50_ns, p90_ns, p99_ns, max_ns;
    double squares; /* of differences from the mean */
};

struct type_time {
    uint64_t ns;
    uint32_t type;
};

static int by_type_and_time(const void *a, const void *b, void *context)
{
    const struct type_time *x = a, *y = b;
    (void)context;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static uint64_t length_of(const struct weft_execution_row *row)
{
    return row->end_ns - row->start_ns;
}

static void take_keys(struct list *list)
{
    for (size_t i = 0; i < list->table->n_rows; i++) {
        list->has_keys[list->table->rows[i].type] |= list->table->rows[i].key != 0;
        weft_executions_passed(list->table, i);
    }
}

/* Times of what is cut at either end would be too short. */
static enum weft_code add_times(struct list *list, struct weft_runs *runs, struct weft_err *err)
{
    const struct weft_executions_table *table = list->table;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < table->n_rows && code == WEFT_OK; i++) {
        const struct weft_execution_row *row = &table->rows[i];
        struct type_times *times = &list->times[row->type];
        const struct type_time time = { length_of(row), row->type };
        weft_executions_passed(table, i);
        if (row->flags & (WEFT_EXECUTION_CUT_START | WEFT_EXECUTION_UNFINISHED))
            continue;
        times->n++;
        times->sum_ns += time.ns;
        code = weft_runs_add(runs, &time, err);
    }
    return code == WEFT_OK ? weft_runs_seal(runs, err) : code;
}

/* The place of the smallest duration that at least so many in a thousand do not exceed. */
static size_t place_of(const struct type_times *times, uint64_t per_mille)
{
    const size_t rank = (times->n * per_mille + 999) / 1000;
    return rank ? rank - 1 : 0;
}

/* The next duration of a type, in ascending order. */
static void see_time(struct type_times *times, size_t place, uint64_t ns)
{
    const double difference = (double)ns - (double)times->sum_ns / (double)times->n;
    times->squares += difference * difference;
    times->min_ns = place == 0 ? ns : times->min_ns;
    times->p50_ns = place == place_of(times, 500) ? ns : times->p50_ns;
    times->p90_ns = place == place_of(times, 900) ? ns : times->p90_ns;
    times->p99_ns = place == place_of(times, 990) ? ns : times->p99_ns;
    times->max_ns = ns;
}

static enum weft_code sum_times(struct list *list, struct weft_runs *runs, struct weft_err *err)
{
    const struct type_time *time;
    uint32_t type = 0;
    size_t n_seen = 0, first = 0; /* of the type */
    const enum weft_code code = add_times(list, runs, err);
    while (code == WEFT_OK && (time = weft_runs_next(runs))) {
        first = time->type == type ? first : n_seen;
        type = time->type;
        see_time(&list->times[type], n_seen - first, time->ns);
        if (++n_seen % WEFT_EXECUTIONS_AT_ONCE == 0)
            weft_spool_forget(list->spool);
    }
    return code;
}

static enum weft_code take_times(struct list *list, struct weft_err *err)
{
    const struct weft_runs_opts opts = { .record_bytes = sizeof(struct type_time),
                                         .compare = by_type_and_time };
    struct weft_runs *runs = weft_runs_new(list->spool, &opts);
    const enum weft_code code =
        runs ? sum_times(list, runs, err) : weft_no_memory(err, "executions");
    weft_runs_free(runs);
    return code;
}

#define ROW struct type_times

static WEFT_GET(get_mean)
{
    const ROW *times = row;
    cell->number = times->sum_ns / times->n;
}

static WEFT_GET(get_deviation)
{
    const ROW *times = row;
    if (times->n > 1)
        cell->number = (uint64_t)sqrt(times->squares / (double)(times->n - 1));
}

#define IF_ANY .given = WEFT_MEMBER(ROW, n)

static const struct weft_field type_fields[] = {
    WEFT_FIELD("type", "type", TEXT, type.name, "the type"),
    WEFT_FIELD("count", "count", COUNT, type.count, "its executions"),
    WEFT_FIELD("unfinished", "unfinished", COUNT, type.unfinished, "whose end is not in the trace",
               .is_bad = true),
    WEFT_FIELD("lossy", NULL, COUNT, type.lossy, "with events of their time lost"),
    WEFT_FIELD("left_out", NULL, COUNT, type.left_out, "omitted by the condition of the rule"),
    WEFT_FIELD("ends_unmatched", NULL, COUNT, type.ends_unmatched, "ends without a start"),
    WEFT_FIELD("sum_ns", "total", NS, sum_ns, "time of all whole ones"),
    WEFT_GETTER("mean_ns", "mean", NS, get_mean, "mean", IF_ANY),
    WEFT_GETTER("sd_ns", "sd", NS, get_deviation, "standard deviation", IF_ANY),
    WEFT_FIELD("min_ns", "min", NS, min_ns, "shortest", IF_ANY),
    WEFT_FIELD("p50_ns", "p50", NS, p50_ns, "median", IF_ANY),
    WEFT_FIELD("p90_ns", "p90", NS, p90_ns, "90th percentile", IF_ANY),
    WEFT_FIELD("p99_ns", "p99", NS, p99_ns, "99th percentile", IF_ANY),
    WEFT_FIELD("max_ns", "max", NS, max_ns, "longest", IF_ANY),
};

const struct weft_table_type weft_execution_types_type =
    WEFT_TABLE_TYPE("execution_types", "durations of each type of executions", type_fields, ROW);

static struct weft_table type_table(const struct list *list)
{
    return (struct weft_table){ .type = &weft_execution_types_type,
                                .rows = list->times,
                                .n_rows = list->table->n_types };
}

/* ---- the list -------------------------------------------------------------------------------- */

/* The flags of an execution as words; there are no more than 16 combinations. */
static const char *flag_words(unsigned flags)
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
    return words[flags & 15];
}

static const struct listed *listed_at(const struct list *list, size_t index)
{
    return (const void *)(list->listed + index * list->listed_bytes);
}

static const struct weft_execution_row *row_at(const struct list *list, size_t index)
{
    return list->listed ? &listed_at(list, index)->row : &list->table->rows[index];
}

static double value_at(const struct list *list, size_t index, size_t metric)
{
    return list->listed ? listed_at(list, index)->values[metric]
                        : list->table->metrics[metric].values[index];
}

/* Who goes through the list calls this for each. */
static void passed(const void *context, size_t index)
{
    const struct list *list = context;
    weft_executions_passed(list->table, index);
    if (list->listed && index % LISTED_AT_ONCE == LISTED_AT_ONCE - 1)
        weft_spool_forget(list->spool);
}

#undef ROW
#define ROW struct weft_execution_row

/* Of a type that has keys. */
static WEFT_GET(get_key)
{
    const struct list *list = context->of;
    weft_field_read(field, context, row, cell);
    cell->is_null = !list->has_keys[((const ROW *)row)->type];
}

static WEFT_GET(get_type)
{
    const struct list *list = context->of;
    cell->text = list->table->types[((const ROW *)row)->type].name;
}

/* The metric at field->arg. */
static WEFT_GET(get_metric)
{
    const double value = value_at(context->of, context->place, field->arg);
    cell->real = value;
    cell->is_null = isnan(value);
    if (!weft_unit_is_real(field->unit) && value >= 0 && value < 0x1p64)
        cell->number = (uint64_t)value;
}

static const struct weft_field fixed_fields[FIXED] = {
    WEFT_FIELD("start_ns", "start", AT, start_ns, "its start"),
    WEFT_FIELD("end_ns", NULL, AT, end_ns, "its end"),
    WEFT_FIELD("type", "type", TEXT, type, "its type", .get = get_type),
    WEFT_FIELD("key", "key", ID, key, "value of the matched field", .get = get_key),
    WEFT_FIELD_THREAD("tid", "tid", "thread", "thread", thread_id, "the thread that began it"),
    WEFT_FIELD("end_tid", NULL, ID, end_thread_id, "tid of the thread that ended it",
               .as = WEFT_AS_TID),
    WEFT_FIELD("flags", "", TEXT, flags, "cut_start, unfinished, nested, lossy", .as = WEFT_AS_NAME,
               .name = flag_words),
    WEFT_DURATION("duration_ns", "duration", start_ns, end_ns, "its duration"),
};

/* And a column for each metric. */
const struct weft_table_type weft_executions_type =
    WEFT_TABLE_TYPE("executions", "executions and their metrics", fixed_fields, ROW);

/* Text shows no metrics that are 0 everywhere. */
static bool is_shown(const struct list *list, size_t metric)
{
    if (list->view->format != WEFT_FORMAT_TEXT)
        return true;
    for (size_t i = 0; i < list->n_rows; i++) {
        const double value = value_at(list, i, metric);
        if (value != 0 && !isnan(value))
            return true;
        passed(list, i);
    }
    return false;
}

/* Metrics, but for the duration and the start, which are there already. */
static void choose_columns(struct list *list)
{
    static const enum weft_unit units[] = { WEFT_UNIT_NS, WEFT_UNIT_COUNT, WEFT_UNIT_BYTES,
                                            WEFT_UNIT_RATIO };
    list->type = weft_executions_type;
    list->type.fields = list->fields;
    memcpy(list->fields, fixed_fields, sizeof fixed_fields);
    for (size_t i = 2; i < list->table->n_metrics && list->type.n_fields < WEFT_TABLE_COLUMNS_MAX;
         i++) {
        const struct weft_metric *metric = &list->table->metrics[i];
        if (is_shown(list, i))
            list->fields[list->type.n_fields++] = (struct weft_field){
                .key = metric->name.bytes, /* ends with NUL */
                .head = metric->name.bytes,
                .unit = units[metric->unit],
                .get = get_metric,
                .arg = (uint32_t)i,
            };
    }
}

static int longest_first(const void *a, const void *b, void *context)
{
    const struct listed *x = a, *y = b;
    (void)context;
    const uint64_t length_x = length_of(&x->row), length_y = length_of(&y->row);
    if (length_x != length_y)
        return length_x > length_y ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int in_order(const void *a, const void *b, void *context)
{
    const struct listed *x = a, *y = b;
    (void)context;
    return (x->place > y->place) - (x->place < y->place);
}

/* Those that take long enough; `listed`: memory for one. */
static enum weft_code choose_slow(struct list *list, struct weft_runs *runs, struct listed *listed,
                                  struct weft_err *err)
{
    const struct weft_executions_table *table = list->table;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < table->n_rows && code == WEFT_OK; i++) {
        weft_executions_passed(table, i);
        if (length_of(&table->rows[i]) < list->opts->slower_than_ns)
            continue;
        listed->row = table->rows[i];
        listed->place = i;
        for (size_t m = 0; m < table->n_metrics; m++)
            listed->values[m] = table->metrics[m].values[i];
        code = weft_runs_add(runs, listed, err);
    }
    return code == WEFT_OK ? weft_runs_seal(runs, err) : code;
}

static enum weft_code list_slow(struct list *list, struct weft_runs *runs, struct listed *listed,
                                struct weft_err *err)
{
    const void *next;
    enum weft_code code = choose_slow(list, runs, listed, err);
    list->n_slow = (size_t)weft_runs_count(runs);
    list->n_rows = list->opts->limit && list->n_slow > list->opts->limit ? (size_t)list->opts->limit
                                                                         : list->n_slow;
    WEFT_THEN(code,
              weft_spool_array(list->spool, list->n_rows, list->listed_bytes, &list->listed, err));
    for (size_t i = 0; code == WEFT_OK && (next = weft_runs_next(runs)); i++) {
        memcpy(list->listed + i * list->listed_bytes, next, list->listed_bytes);
        passed(list, i);
    }
    return code;
}

static enum weft_code copy_rows(struct list *list, struct weft_err *err)
{
    list->listed_bytes = sizeof(struct listed) + list->table->n_metrics * sizeof(double);
    const struct weft_runs_opts opts = { .record_bytes = list->listed_bytes,
                                         .compare =
                                             list->opts->longest_first ? longest_first : in_order,
                                         .n_most = list->opts->limit };
    struct weft_runs *runs = weft_runs_new(list->spool, &opts);
    struct listed *listed = calloc(1, list->listed_bytes);
    const enum weft_code code =
        runs && listed ? list_slow(list, runs, listed, err) : weft_no_memory(err, "executions");
    weft_runs_free(runs);
    free(listed);
    return code;
}

static enum weft_code choose_rows(struct list *list, struct weft_err *err)
{
    const size_t n = list->table->n_rows;
    if (list->opts->longest_first || list->opts->slower_than_ns)
        return copy_rows(list, err);
    list->n_slow = n;
    list->n_rows = list->opts->limit && n > list->opts->limit ? (size_t)list->opts->limit : n;
    return WEFT_OK;
}

static struct weft_table execution_table(const struct list *list)
{
    return (struct weft_table){ .type = &list->type,
                                .rows =
                                    list->listed ? (const void *)list->listed : list->table->rows,
                                .row_bytes = list->listed ? list->listed_bytes : 0,
                                .n_rows = list->n_rows,
                                .in = weft_view_context(list->view, list),
                                .context = list,
                                .passed = passed };
}

/* ---- text, JSON ------------------------------------------------------------------------------ */

/* What the times of a type do not tell: damage, and ends that found no begin, though some are
 * open: of another thread, or with another value of the field that they have to agree in. */
static void put_type_remarks(struct weft_output *out, const struct weft_execution_type *type,
                             const char *front)
{
    const int n_bytes = (int)type->name.n_bytes;
    if (type->lossy) {
        weft_output_text(out, front);
        weft_output_printf(out, "%.*s: %s of %s with records of their time lost\n", n_bytes,
                           type->name.bytes, weft_human_count(type->lossy).text,
                           weft_human_count(type->count).text);
    }
    if (type->count == 0 || type->unfinished < type->count || type->left_out)
        return;
    weft_output_text(out, front);
    weft_output_printf(out, "%.*s: %s began and none ended: ", n_bytes, type->name.bytes,
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
    if (table->ends_unmatched) {
        weft_output_text(out, front);
        weft_output_printf(out, "%s without a begin\n",
                           weft_human_plural(table->ends_unmatched, "end").text);
    }
    for (size_t i = 0; i < table->n_types; i++)
        put_type_remarks(out, &table->types[i], front);
    if (table->n_rows > 0)
        return;
    weft_output_text(out, front);
    weft_output_text(out, "nothing matches the rules: names are compared whole, * stands for "
                          "anything, and\na field to match has to be there; without rules, weft "
                          "executions proposes some\n");
}

static void print_text(const struct list *list)
{
    const struct weft_view *view = list->view;
    const struct weft_table types = type_table(list), rows = execution_table(list);
    weft_view_headline(view, weft_human_plural(list->table->n_rows, "execution").text);
    weft_output_text(view->out, "\n");
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
        weft_output_printf(view->out, "%s of %s; all: --limit 0\n",
                           weft_human_count(list->n_rows).text,
                           weft_human_count(list->n_slow).text);
}

static void json_metrics(const void *context, size_t index, struct weft_json *json)
{
    const struct list *list = context;
    weft_json_begin_object(json, "metrics");
    for (size_t i = 2; i < list->table->n_metrics; i++) {
        const struct weft_metric *metric = &list->table->metrics[i];
        const double value = value_at(list, index, i);
        if (metric->unit != WEFT_METRIC_NUMBER && value >= 0 && value < 0x1p64)
            weft_json_u64(json, metric->name.bytes, (uint64_t)value);
        else
            weft_json_real(json, metric->name.bytes, value);
    }
    weft_json_end_object(json);
    if (list->view->has_ids)
        weft_json_u64(json, "thread_id", row_at(list, index)->thread_id);
}

static void print_json(const struct list *list)
{
    struct weft_json *json = weft_view_json(list->view);
    const struct weft_table types = type_table(list);
    struct weft_table rows = execution_table(list);
    if (!json)
        return;
    rows.type = &weft_executions_type;
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

/* CSV has no statistics of types. */
static enum weft_code prepare(struct list *list, struct weft_err *err)
{
    const size_t n_types = list->table->n_types;
    list->spool = weft_spool_new(SPOOL_BYTES);
    list->times = calloc(n_types + 1, sizeof *list->times);
    list->has_keys = calloc(n_types + 1, sizeof *list->has_keys);
    if (!list->spool || !list->times || !list->has_keys)
        return weft_no_memory(err, "executions");
    for (size_t i = 0; i < n_types; i++)
        list->times[i].type = list->table->types[i];
    take_keys(list);
    enum weft_code code = list->view->format == WEFT_FORMAT_CSV ? WEFT_OK : take_times(list, err);
    WEFT_THEN(code, choose_rows(list, err));
    if (code == WEFT_OK)
        choose_columns(list);
    return code;
}

void weft_render_executions(const struct weft_view *view, const struct weft_executions_table *table,
                            const struct weft_executions_view *opts)
{
    struct list list = { .view = view, .table = table, .opts = opts };
    struct weft_err err = { 0 };
    const enum weft_code code = prepare(&list, &err);
    const struct weft_table rows = execution_table(&list);
    if (code != WEFT_OK)
        weft_output_fail(view->out, &err);
    else if (view->format == WEFT_FORMAT_JSON)
        print_json(&list);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&rows, view->out);
    else
        print_text(&list);
    weft_spool_free(list.spool);
    free(list.times);
    free(list.has_keys);
}
