/* SPDX-License-Identifier: MIT
 *
 * The answer of an analysis that is a plain list: JSON has the columns too, for a plain table.
 */
#include "schema/list.h"

#include "render/human.h"
#include "render/text/render.h"

static void print_columns(const struct weft_table_type *type, struct weft_json *json)
{
    weft_json_begin_array(json, "columns");
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct weft_field *field = &type->fields[i];
        if (!field->key)
            continue;
        weft_json_begin_object(json, NULL);
        weft_json_text(json, "key", field->key);
        weft_json_text(json, "head", field->head ? field->head : field->key);
        weft_json_text(json, "unit", weft_unit_name(field->unit));
        weft_json_text(json, "text", field->doc ? field->doc : "");
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void print_json(const struct weft_view *view, const struct weft_list_table *list,
                       const struct weft_table *table)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "from_ns", list->from_ns);
    weft_json_u64(json, "to_ns", list->to_ns);
    weft_json_u64(json, "found", list->n_found);
    if (list->n_found == 0 && list->none)
        weft_json_text(json, "none", list->none);
    print_columns(table->type, json);
    weft_table_json(table, "rows", json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

static void print_text(const struct weft_view *view, const struct weft_list_table *list,
                       const struct weft_table *table)
{
    weft_view_headline(view, table->type->doc);
    if (list->from_ns > 0 || list->to_ns < weft_trace_meta(view->trace)->duration_ns)
        weft_output_printf(view->out, "from %s to %s\n", weft_human_at(list->from_ns).text,
                           weft_human_at(list->to_ns).text);
    weft_view_left_out(view);
    weft_output_text(view->out, "\n");
    if (list->n_rows == 0) {
        weft_output_printf(view->out, "no rows%s%s\n", list->none ? ": " : "",
                           list->none ? list->none : "");
        return;
    }
    weft_table_text(table, &view->style, view->out);
    if (list->n_rows < list->n_found)
        weft_output_printf(view->out, "%s more: --limit 0\n",
                           weft_human_count(list->n_found - list->n_rows).text);
}

void weft_render_list(const struct weft_view *view, const struct weft_list_table *list,
                      const struct weft_table_type *type)
{
    const struct weft_table table = { .type = type,
                                      .rows = list->rows,
                                      .n_rows = list->n_rows,
                                      .in = weft_view_context(view, list) };
    if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&table, view->out);
    else if (view->format == WEFT_FORMAT_JSON)
        print_json(view, list, &table);
    else
        print_text(view, list, &table);
}
