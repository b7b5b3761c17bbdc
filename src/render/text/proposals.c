/* SPDX-License-Identifier: MIT
 *
 * The types of executions that a trace suggests, as options that find them.
 */
#include "render/human.h"
#include "render/text/compare_words.h"
#include "render/text/render.h"

static const struct weft_column proposal_columns[] = {
    { "type", "type", WEFT_CELL_TEXT },       { "count", "count", WEFT_CELL_COUNT },
    { "why", "because", WEFT_CELL_TEXT },     { "begin", "--begin", WEFT_CELL_TEXT },
    { "end", "--end", WEFT_CELL_TEXT },       { "match", "--match", WEFT_CELL_TEXT },
    { "within", "--within", WEFT_CELL_TEXT },
};

static struct weft_cell maybe(struct weft_str text)
{
    return (struct weft_cell){ .text = text, .is_null = text.n_bytes == 0 };
}

static void proposal_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct weft_execution_proposal *proposal =
        &((const struct weft_execution_proposal *)context)[index];
    cells[0].text = proposal->name;
    cells[1].number = proposal->count;
    cells[2].text = weft_str_of(weft_proposal_why(proposal->kind));
    cells[3].text = proposal->begin;
    cells[4] = maybe(proposal->end);
    cells[5] = maybe(proposal->match);
    cells[6] = maybe(proposal->within);
}

static void print_argument(struct weft_output *out, const char *option, struct weft_str text)
{
    if (text.n_bytes == 0)
        return;
    weft_output_printf(out, " %s ", option);
    weft_words_argument(out, text);
}

static void print_proposals(const struct weft_view *view, const struct weft_table *table)
{
    const struct weft_execution_proposal *first = table->context;
    weft_view_head(view);
    if (table->n_rows == 0) {
        weft_output_text(view->out, "  nothing in it repeats that has a name for its begin and its "
                                    "end; say it with --begin and --end\n");
        return;
    }
    weft_output_printf(view->out, "  %s of executions that it suggests\n\n",
                       weft_human_plural(table->n_rows, "type").text);
    weft_table_text(table, &view->style, view->out);
    weft_output_text(view->out, "\nweft executions ");
    weft_words_argument(view->out, weft_str_of(view->path));
    print_argument(view->out, "--type", first->name);
    print_argument(view->out, "--begin", first->begin);
    print_argument(view->out, "--end", first->end);
    print_argument(view->out, "--match", first->match);
    print_argument(view->out, "--within", first->within);
    weft_output_text(view->out, "\n");
}

void weft_render_proposals(const struct weft_view *view,
                           const struct weft_execution_proposal *proposals, size_t n_proposals)
{
    const struct weft_table table = { .columns = proposal_columns,
                                      .n_columns =
                                          sizeof proposal_columns / sizeof *proposal_columns,
                                      .n_rows = n_proposals,
                                      .row = proposal_row,
                                      .context = proposals };
    if (view->format == WEFT_FORMAT_CSV) {
        weft_table_csv(&table, view->out);
    } else if (view->format == WEFT_FORMAT_TEXT) {
        print_proposals(view, &table);
    } else {
        struct weft_json *json = weft_view_json(view);
        if (!json)
            return;
        weft_json_begin_object(json, NULL);
        weft_table_json(&table, "proposals", json);
        weft_json_end_object(json);
        weft_view_json_end(view, json);
    }
}
