/* SPDX-License-Identifier: MIT
 *
 * What is in a database of executions: of which traces they are, under which types and tags.
 */
#include "render/human.h"
#include "render/text/render.h"
#include "schema/ecct.h"

#include <stdio.h>
#include <time.h>

static const struct weft_column columns[] = {
    { "type", "type", WEFT_CELL_TEXT },
    { "tag", "tag", WEFT_CELL_TEXT },
    { "host", "host", WEFT_CELL_TEXT },
    { "trace", "trace", WEFT_CELL_TEXT },
    { "executions", "executions", WEFT_CELL_COUNT },
    { "unfinished", "unfinished", WEFT_CELL_COUNT },
    { "complete", "complete", WEFT_CELL_BOOL },
    { "realtime_ns", NULL, WEFT_CELL_ID },
    { NULL, "began (UTC)", WEFT_CELL_TEXT },
};

struct list {
    const struct weft_source_info *sources;
    struct weft_arena *arena;
};

static struct weft_cell maybe(struct weft_str text)
{
    return (struct weft_cell){ .text = text, .is_null = text.n_bytes == 0 };
}

static struct weft_cell point_of_time(struct weft_arena *arena, uint64_t realtime_ns)
{
    enum { BYTES = 40 };
    const time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm when;
    char text[BYTES] = "";
    if (realtime_ns == 0 || !gmtime_r(&seconds, &when))
        return (struct weft_cell){ .is_null = true };
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &when);
    return maybe(weft_arena_copy(arena, weft_str_of(text)));
}

static void source_row(const void *context, size_t index, struct weft_cell *cells)
{
    const struct list *list = context;
    const struct weft_source_info *source = &list->sources[index];
    cells[0].text = source->type;
    cells[1] = maybe(source->tag);
    cells[2] = maybe(source->host);
    cells[3].text = source->path;
    cells[4].number = source->executions;
    cells[5] = (struct weft_cell){ .number = source->unfinished, .is_bad = source->unfinished > 0 };
    cells[6] = (struct weft_cell){ .number = source->is_complete, .is_bad = !source->is_complete };
    cells[7] =
        (struct weft_cell){ .number = source->realtime_ns, .is_null = source->realtime_ns == 0 };
    cells[8] = point_of_time(list->arena, source->realtime_ns);
}

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
    const struct list list = { .sources = sources, .arena = weft_arena_new(0) };
    const struct weft_table table = { .columns = columns,
                                      .n_columns = sizeof columns / sizeof *columns,
                                      .n_rows = n_sources,
                                      .row = source_row,
                                      .context = &list };
    struct weft_err err = { 0 };
    if (!list.arena) {
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a list of sources");
        weft_output_fail(view->out, &err);
    } else if (view->format == WEFT_FORMAT_JSON) {
        print_json(view, &table);
    } else if (view->format == WEFT_FORMAT_CSV) {
        weft_table_csv(&table, view->out);
    } else {
        print_text(view, &table, sources);
    }
    weft_output_release(view->out, list.arena);
}
