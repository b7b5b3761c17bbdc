/* SPDX-License-Identifier: MIT
 *
 * What is in a database of executions: of which traces they are, under which types and tags.
 */
#include "render/human.h"
#include "render/text/render.h"
#include "render/text/tables.h"
#include "schema/ecct.h"

#include <time.h>

#define ROW struct weft_source_info

static WEFT_GET(get_start)
{
    enum { BYTES = 40 };
    const uint64_t realtime_ns = ((const ROW *)row)->realtime_ns;
    const time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm when;
    char text[BYTES] = "";
    cell->is_null = realtime_ns == 0 || !gmtime_r(&seconds, &when);
    if (cell->is_null)
        return;
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &when);
    cell->text = weft_arena_copy(context->arena, weft_str_of(text));
}

static WEFT_GET(get_complete)
{
    weft_field_read(field, context, row, cell);
    cell->is_bad = cell->number == 0;
}

static const struct weft_field fields[] = {
    WEFT_FIELD("type", "type", TEXT, type, "type of the executions"),
    WEFT_FIELD("tag", "tag", TEXT, tag, "tag they were given", .zero_is_unknown = true),
    WEFT_FIELD("host", "host", TEXT, host, "host of the trace", .zero_is_unknown = true),
    WEFT_FIELD("trace", "trace", TEXT, path, "file of the trace"),
    WEFT_FIELD("executions", "executions", COUNT, executions, "executions"),
    WEFT_FIELD("unfinished", "unfinished", COUNT, unfinished, "of them unfinished", .is_bad = true),
    WEFT_FIELD("complete", "complete", BOOL, is_complete, "all executions of the trace are there",
               .get = get_complete),
    WEFT_FIELD("realtime_ns", NULL, ID, realtime_ns, "wall clock at the start of the trace",
               .zero_is_unknown = true),
    WEFT_GETTER(NULL, "began (UTC)", TEXT, get_start, "the same"),
};

const struct weft_table_type weft_sources_type =
    WEFT_TABLE_TYPE("sources", "traces of a database of executions", fields, ROW);

static void print_json(const struct weft_view *view, const struct weft_table *table)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_table_json(table, "sources", json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

static void print_text(const struct weft_view *view, const struct weft_table *table,
                       const struct weft_source_info *sources)
{
    uint64_t n_executions = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        n_executions += sources[i].executions;
    weft_view_head(view);
    weft_output_printf(view->out, "  %s of %s\n\n",
                       weft_human_plural(n_executions, "execution").text,
                       weft_human_plural(table->n_rows, "source").text);
    weft_table_text(table, &view->style, view->out);
}

void weft_render_sources(const struct weft_view *view, const struct weft_source_info *sources,
                         size_t n_sources)
{
    const struct weft_table table = { .type = &weft_sources_type,
                                      .rows = sources,
                                      .n_rows = n_sources,
                                      .in = weft_view_context(view, NULL) };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(view, &table);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&table, view->out);
    else
        print_text(view, &table, sources);
}
