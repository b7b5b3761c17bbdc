/* SPDX-License-Identifier: MIT
 *
 * The types of executions that a trace suggests, as options that find them.
 */
#include "render/human.h"
#include "render/text/compare_words.h"
#include "render/text/render.h"
#include "render/text/tables.h"
#include "schema/executions.h"

#define ROW struct weft_execution_proposal

static const char *why_of(unsigned kind)
{
    return weft_proposal_why((enum weft_proposal_kind)kind);
}

static const struct weft_field fields[] = {
    WEFT_FIELD("type", "type", TEXT, name, "type of executions"),
    WEFT_FIELD("count", "count", COUNT, count, "start events"),
    WEFT_FIELD("why", "because", TEXT, kind, "what suggests it", .as = WEFT_AS_NAME,
               .name = why_of),
    WEFT_FIELD("begin", "--begin", TEXT, begin, "rule of the start, or of whole executions"),
    WEFT_FIELD("end", "--end", TEXT, end, "rule of the end", .zero_is_unknown = true),
    WEFT_FIELD("match", "--match", TEXT, match, "field that both agree in",
               .zero_is_unknown = true),
    WEFT_FIELD("within", "--within", TEXT, within, "where the end is looked for",
               .zero_is_unknown = true),
};

const struct weft_table_type weft_proposals_type =
    WEFT_TABLE_TYPE("proposals", "types of executions that a trace suggests", fields, ROW);

static void print_argument(struct weft_output *out, const char *option, struct weft_str text)
{
    if (text.n_bytes == 0)
        return;
    weft_output_printf(out, " \\\n    %s ", option);
    weft_words_argument(out, text);
}

static void print_proposals(const struct weft_view *view, const struct weft_table *table)
{
    const struct weft_execution_proposal *first = table->rows;
    weft_view_headline(view, "detected types of executions");
    if (table->n_rows == 0) {
        weft_output_text(view->out, "No repeated operation detected. Define one with --begin and "
                                    "--end.\n");
        return;
    }
    weft_output_text(view->out, "\n");
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
    const struct weft_table table = { .type = &weft_proposals_type,
                                      .rows = proposals,
                                      .n_rows = n_proposals,
                                      .in = weft_view_context(view, NULL) };
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
