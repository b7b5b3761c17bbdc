/* SPDX-License-Identifier: MIT */
#include "render/text/revealed.h"

#include "render/human.h"
#include "render/text/tables.h"

#include <stdlib.h>

enum { ROWS_OF_KIND = 20 };

#define ROW struct weft_revealed_row

WEFT_NAME_OF(kind_name, weft_revealed_name, enum weft_revealed_kind)

static const struct weft_field fields[] = {
    WEFT_FIELD("kind", "kind", TEXT, kind, "path, user, address ...", .as = WEFT_AS_NAME,
               .name = kind_name),
    WEFT_FIELD("count", "found", COUNT, count, "how often it was found"),
    WEFT_FIELD("text", "text", TEXT, text, "the text"),
};

const struct weft_table_type weft_revealed_type =
    WEFT_TABLE_TYPE("revealed", "what a file reveals to its readers", fields, ROW);

struct list {
    const struct weft_revealed *revealed;
    uint32_t *shown; /* rows */
    size_t n_shown;
    size_t n_more[WEFT_REVEALED_KINDS];
};

static void choose(struct list *list, bool is_text)
{
    size_t n_of_kind[WEFT_REVEALED_KINDS] = { 0 };
    for (size_t k = 0; k < list->revealed->n_rows; k++) {
        const enum weft_revealed_kind kind = list->revealed->rows[k].kind;
        if (is_text && n_of_kind[kind]++ >= ROWS_OF_KIND)
            list->n_more[kind]++;
        else
            list->shown[list->n_shown++] = (uint32_t)k;
    }
}

static void print_json(const struct weft_view *view, const struct weft_table *table,
                       const struct weft_revealed *revealed)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "texts", revealed->n_texts);
    weft_json_u64(json, "omitted", revealed->n_omitted);
    weft_table_json(table, "revealed", json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

static void print_text(const struct weft_view *view, const struct weft_table *table,
                       const struct list *list)
{
    const struct weft_revealed *revealed = list->revealed;
    weft_view_bold(view, view->path);
    weft_output_text(view->out, "  what the file reveals to its readers\n\n");
    weft_table_text(table, &view->style, view->out);
    for (int kind = 0; kind < WEFT_REVEALED_KINDS; kind++)
        if (list->n_more[kind] > 0)
            weft_output_printf(view->out, "... %s more of kind %s (--json lists all)\n",
                               weft_human_count(list->n_more[kind]).text,
                               weft_revealed_name((enum weft_revealed_kind)kind));
    if (revealed->n_omitted > 0)
        weft_output_printf(view->out, "%s more are not listed\n",
                           weft_human_count(revealed->n_omitted).text);
    weft_output_printf(view->out,
                       "\n%s of events and calls may hold other data of the program. weft record "
                       "records neither\nenvironment variables nor the contents of files and "
                       "packets. Reports and exports have\nnone of these paths, users and details "
                       "unless --with-paths is given.\n",
                       weft_human_plural(revealed->n_texts, "text").text);
}

void weft_render_revealed(const struct weft_view *view, const struct weft_revealed *revealed)
{
    struct list list = { .revealed = revealed,
                         .shown = calloc(revealed->n_rows + 1, sizeof *list.shown) };
    struct weft_table table = { .type = &weft_revealed_type,
                                .rows = revealed->rows,
                                .order = list.shown };
    struct weft_err err = { 0 };
    if (!list.shown) {
        (void)weft_no_memory(&err, "a list");
        weft_output_fail(view->out, &err);
        return;
    }
    choose(&list, view->format == WEFT_FORMAT_TEXT);
    table.n_rows = list.n_shown;
    if (view->format == WEFT_FORMAT_JSON)
        print_json(view, &table, revealed);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&table, view->out);
    else
        print_text(view, &table, &list);
    free(list.shown);
}
