/* SPDX-License-Identifier: MIT
 *
 * What happens during executions: of each label how often, and how long, in slow ones and others.
 */
#include "schema/frequencies.h"

#include "render/human.h"
#include "render/text/compare_words.h"
#include "render/text/render.h"
#include "render/text/tables.h"
#include "schema/compare.h"

#include <math.h>

#define ROW struct weft_frequency_row

/* By execution of the group. */
static WEFT_GET(get_each)
{
    const struct weft_frequencies_table *table = context->of;
    const ROW *frequency = row;
    const uint64_t n = table->n_executions[field->arg];
    cell->is_null = n == 0;
    if (n == 0)
        return;
    cell->real = (double)frequency->count[field->arg] / (double)n;
    cell->number = frequency->sum_ns[field->arg] / n;
}

/* "p = 0.012"; "-" if it was not tested. */
static WEFT_GET(get_probability)
{
    const double p = ((const ROW *)row)->p_adjusted;
    cell->text = isnan(p) ? WEFT_STR("-")
                          : weft_arena_copy(context->arena, weft_str_of(weft_human_p(p).text));
}

#define SLOW(key, head, unit, ...)                                                                 \
    WEFT_GETTER(key, head, unit, get_each, __VA_ARGS__, .arg = WEFT_FREQUENCY_SLOW)
#define OTHERS(key, head, unit, ...)                                                               \
    WEFT_GETTER(key, head, unit, get_each, __VA_ARGS__, .arg = WEFT_FREQUENCY_OTHERS)

static const struct weft_field fields[] = {
    WEFT_FIELD("label", "what", TEXT, label, "what is counted"),
    WEFT_FIELD("count", "in all", COUNT, n_all, "how often in the trace"),
    WEFT_FIELD("slow_count", "in slow", COUNT, count[WEFT_FREQUENCY_SLOW],
               "how often in slow executions"),
    SLOW("slow_mean", "each", RATIO, "how often in each of them"),
    WEFT_FIELD("others_count", "in others", COUNT, count[WEFT_FREQUENCY_OTHERS],
               "how often in the others"),
    OTHERS("others_mean", "each", RATIO, "how often in each of them"),
    SLOW("slow_mean_ns", "time in slow", NS, "mean time in slow executions"),
    OTHERS("others_mean_ns", "in others", NS, "mean time in the others"),
    WEFT_FIELD("p", NULL, RATIO, p, "probability that the difference is chance"),
    WEFT_FIELD("p_adjusted", NULL, RATIO, p_adjusted, "the same, Benjamini-Hochberg"),
    WEFT_GETTER(NULL, "adjusted", TEXT, get_probability, "the same"),
};

const struct weft_table_type weft_frequencies_type =
    WEFT_TABLE_TYPE("frequencies", "what happens during executions", fields, ROW);

/* Of one group alone, those of the other are left out of text. */
static const char *const heads_of_one_group[] = {
    "what", "in all", "in executions", "in each", NULL, NULL, "time in each", NULL, NULL, NULL, NULL
};

/* Why there is no p: there is too much, or too little. */
static void explain_untested(struct weft_output *out, const struct weft_frequencies_table *table)
{
    if (table->n_rows == 0 || table->slower_than_ns == 0 || !isnan(table->rows[0].p))
        return;
    if (table->is_too_much)
        weft_output_text(out, "not tested: too many executions have too many of these\n");
    else
        weft_output_printf(out, "not tested: fewer than %d executions in a group prove nothing\n",
                           WEFT_TRUSTED_EXECUTIONS);
}

static void print_text(const struct weft_view *view, const struct weft_frequencies_table *table,
                       const struct weft_table *rows)
{
    const uint64_t n_slow = table->n_executions[WEFT_FREQUENCY_SLOW],
                   n_others = table->n_executions[WEFT_FREQUENCY_OTHERS];
    struct weft_output *out = view->out;
    weft_view_headline(view, "counted events");
    weft_output_text(out, table->is_of_paths ? "on the paths of " : "during ");
    if (table->slower_than_ns)
        weft_output_printf(
            out, "%s that take %s or more, and %s\n\n", weft_human_plural(n_slow, "execution").text,
            weft_human_ns(table->slower_than_ns).text, weft_human_plural(n_others, "other").text);
    else
        weft_output_printf(out, "%s\n\n", weft_human_plural(n_slow, "execution").text);
    if (rows->n_rows == 0)
        weft_output_text(out, "none of the counted events occur there\n");
    else
        weft_table_text(rows, &view->style, out);
    explain_untested(out, table);
    if (rows->n_rows < table->n_rows)
        weft_output_printf(out, "%s of %s; all: --limit 0\n", weft_human_count(rows->n_rows).text,
                           weft_human_count(table->n_rows).text);
}

static void print_json(const struct weft_view *view, const struct weft_frequencies_table *table,
                       const struct weft_table *rows)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "slower_than_ns", table->slower_than_ns);
    weft_json_bool(json, "of_paths", table->is_of_paths);
    weft_json_u64(json, "slow_executions", table->n_executions[WEFT_FREQUENCY_SLOW]);
    weft_json_u64(json, "other_executions", table->n_executions[WEFT_FREQUENCY_OTHERS]);
    weft_json_bool(json, "too_many_to_test", table->is_too_much);
    weft_table_json(rows, "frequencies", json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

void weft_render_frequencies(const struct weft_view *view,
                             const struct weft_frequencies_table *table, uint64_t limit)
{
    const bool has_groups = table->slower_than_ns || view->format != WEFT_FORMAT_TEXT;
    const struct weft_table rows = {
        .type = &weft_frequencies_type,
        .rows = table->rows,
        .n_rows = limit && limit < table->n_rows ? (size_t)limit : table->n_rows,
        .heads = has_groups ? NULL : heads_of_one_group,
        .in = weft_view_context(view, table),
    };
    if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&rows, view->out);
    else if (view->format == WEFT_FORMAT_TEXT)
        print_text(view, table, &rows);
    else
        print_json(view, table, &rows);
}
