/* SPDX-License-Identifier: MIT
 *
 * States of threads: a row a state. What text says in words, CSV and JSON have as keys.
 */
#include "schema/states.h"

#include "render/human.h"
#include "render/text/render.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdio.h>

struct listing {
    const struct weft_view *view;
    const struct weft_states_table *table;
};

static void print_text(const struct listing *listing, const struct weft_table *rows)
{
    const struct weft_states_table *table = listing->table;
    struct weft_output *out = listing->view->out;
    weft_view_headline(listing->view, weft_human_plural(table->n_found, "state").text);
    if (table->n_rows < table->n_found)
        weft_output_printf(out, "the first %s of them (--limit)\n",
                           weft_human_count(table->n_rows).text);
    weft_view_left_out(listing->view);
    if (!table->is_known)
        weft_view_dim(listing->view, WEFT_STATES_UNKNOWN);
    if (!table->is_known && table->n_found > 0)
        weft_output_text(out,
                         "Inferred states are not listed; --format csv and --json contain them.\n");
    if (table->is_known && table->n_rows > 0) {
        weft_output_text(out, "\n");
        weft_table_text(rows, &listing->view->style, out);
    }
}

void weft_render_states(const struct weft_view *view, const struct weft_states_table *table)
{
    const struct listing listing = { .view = view, .table = table };
    const struct weft_table rows = { .type = &weft_states_type,
                                     .rows = table->rows,
                                     .n_rows = table->n_rows,
                                     .in = weft_view_context(view, table) };
    if (view->format == WEFT_FORMAT_CSV) {
        weft_table_csv(&rows, view->out);
        return;
    }
    if (view->format == WEFT_FORMAT_TEXT) {
        print_text(&listing, &rows);
        return;
    }
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "from_ns", table->from_ns);
    weft_json_u64(json, "to_ns", table->to_ns);
    weft_json_bool(json, "known", table->is_known);
    weft_json_u64(json, "found", table->n_found);
    weft_view_left_out_json(view, json);
    weft_table_json(&rows, "states", json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}
