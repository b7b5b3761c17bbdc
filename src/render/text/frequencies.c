/* SPDX-License-Identifier: MIT
 *
 * What happens during executions: of each label how often, and how long, in slow ones and others.
 */
#include "schema/frequencies.h"

#include "render/human.h"
#include "render/text/compare_words.h"
#include "render/text/render.h"
#include "schema/compare.h"

#include <math.h>

enum {
    LABEL,
    ALL,
    SLOW,
    SLOW_EACH,
    OTHERS,
    OTHERS_EACH,
    SLOW_TIME,
    OTHERS_TIME,
    P,
    ADJUSTED,
    ADJUSTED_TEXT,
    COLUMNS
};

/* Of one group alone, those of the other are left out of text. */
static const struct weft_column columns[COLUMNS] = {
    [LABEL] = { "label", "what", WEFT_CELL_TEXT },
    [ALL] = { "count", "in all", WEFT_CELL_COUNT },
    [SLOW] = { "slow_count", "in slow", WEFT_CELL_COUNT },
    [SLOW_EACH] = { "slow_mean", "each", WEFT_CELL_RATIO },
    [OTHERS] = { "others_count", "in others", WEFT_CELL_COUNT },
    [OTHERS_EACH] = { "others_mean", "each", WEFT_CELL_RATIO },
    [SLOW_TIME] = { "slow_mean_ns", "time in slow", WEFT_CELL_NS },
    [OTHERS_TIME] = { "others_mean_ns", "in others", WEFT_CELL_NS },
    [P] = { "p", NULL, WEFT_CELL_RATIO },
    [ADJUSTED] = { "p_adjusted", NULL, WEFT_CELL_RATIO },
    [ADJUSTED_TEXT] = { NULL, "adjusted", WEFT_CELL_TEXT },
};

static const struct weft_column of_one_group[COLUMNS] = {
    [LABEL] = { "label", "what", WEFT_CELL_TEXT },
    [ALL] = { "count", "in all", WEFT_CELL_COUNT },
    [SLOW] = { "slow_count", "in executions", WEFT_CELL_COUNT },
    [SLOW_EACH] = { "slow_mean", "in each", WEFT_CELL_RATIO },
    [OTHERS] = { "others_count", NULL, WEFT_CELL_COUNT },
    [OTHERS_EACH] = { "others_mean", NULL, WEFT_CELL_RATIO },
    [SLOW_TIME] = { "slow_mean_ns", "time in each", WEFT_CELL_NS },
    [OTHERS_TIME] = { "others_mean_ns", NULL, WEFT_CELL_NS },
    [P] = { "p", NULL, WEFT_CELL_RATIO },
    [ADJUSTED] = { "p_adjusted", NULL, WEFT_CELL_RATIO },
    [ADJUSTED_TEXT] = { NULL, NULL, WEFT_CELL_TEXT },
};

static void put_group(const struct weft_frequencies_table *table,
                      const struct weft_frequency_row *row, enum weft_frequency_group group,
                      struct weft_cell *count, struct weft_cell *each, struct weft_cell *time)
{
    const uint64_t n = table->n_executions[group];
    count->number = row->count[group];
    each->is_null = time->is_null = n == 0;
    if (n == 0)
        return;
    each->real = (double)row->count[group] / (double)n;
    time->number = row->sum_ns[group] / n;
}

/* "p = 0.012", as long as the table is; "-" if it was not tested. */
static struct weft_str probability(const struct weft_frequencies_table *table,
                                   const struct weft_frequency_row *row)
{
    if (isnan(row->p_adjusted))
        return WEFT_STR("-");
    const struct weft_str text =
        weft_arena_copy(table->arena, weft_str_of(weft_human_p(row->p_adjusted).text));
    return text.bytes ? text : WEFT_STR("-");
}

static void frequency_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct weft_frequencies_table *table = context;
    const struct weft_frequency_row *row = &table->rows[index];
    cells[LABEL].text = row->label;
    cells[ALL].number = row->n_all;
    put_group(table, row, WEFT_FREQUENCY_SLOW, &cells[SLOW], &cells[SLOW_EACH], &cells[SLOW_TIME]);
    put_group(table, row, WEFT_FREQUENCY_OTHERS, &cells[OTHERS], &cells[OTHERS_EACH],
              &cells[OTHERS_TIME]);
    cells[P] = (struct weft_cell){ .real = row->p, .is_null = isnan(row->p) };
    cells[ADJUSTED] =
        (struct weft_cell){ .real = row->p_adjusted, .is_null = isnan(row->p_adjusted) };
    cells[ADJUSTED_TEXT].text = probability(table, row);
}

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
    weft_view_head(view);
    weft_output_text(out, table->is_of_paths ? "  on the paths of " : "  during ");
    if (table->slower_than_ns)
        weft_output_printf(
            out, "%s that take %s or more, and %s\n\n", weft_human_plural(n_slow, "execution").text,
            weft_human_ns(table->slower_than_ns).text, weft_human_plural(n_others, "other").text);
    else
        weft_output_printf(out, "%s\n\n", weft_human_plural(n_slow, "execution").text);
    if (rows->n_rows == 0)
        weft_output_text(out, "nothing of what is counted happens there\n");
    else
        weft_table_text(rows, &view->style, out);
    explain_untested(out, table);
    if (rows->n_rows < table->n_rows)
        weft_output_printf(out, "%s of %s; --limit 0 shows all\n",
                           weft_human_count(rows->n_rows).text,
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
        .columns = has_groups ? columns : of_one_group,
        .n_columns = COLUMNS,
        .n_rows = limit && limit < table->n_rows ? (size_t)limit : table->n_rows,
        .row = frequency_row,
        .context = table,
    };
    if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&rows, view->out);
    else if (view->format == WEFT_FORMAT_TEXT)
        print_text(view, table, &rows);
    else
        print_json(view, table, &rows);
}
