/* SPDX-License-Identifier: MIT */
#include "render/text/lists.h"

#include "render/human.h"

static struct weft_table table_of(const struct weft_lists *lists, unsigned list)
{
    const struct weft_list_rows *rows = &lists->rows[list];
    return (struct weft_table){ .type = lists->items[list].type,
                                .rows = rows->rows,
                                .n_rows = lists->limit && rows->n > lists->limit
                                              ? (size_t)lists->limit
                                              : rows->n,
                                .in = lists->in };
}

static bool is_shown(const struct weft_lists *lists, unsigned list)
{
    return !lists->shown || lists->shown >> list & 1;
}

void weft_lists_text(const struct weft_lists *lists, const struct weft_view *view)
{
    for (unsigned list = 0; list < lists->n; list++) {
        const struct weft_table table = table_of(lists, list);
        const size_t n_rows = lists->rows[list].n;
        if (n_rows == 0 || !is_shown(lists, list))
            continue;
        weft_output_text(view->out, "\n");
        weft_view_bold(view, lists->items[list].title);
        weft_output_text(view->out, "\n");
        weft_table_text(&table, &view->style, view->out);
        if (table.n_rows < n_rows)
            weft_output_printf(view->out, "%s more: --limit 0\n",
                               weft_human_count(n_rows - table.n_rows).text);
    }
}

void weft_lists_json(const struct weft_lists *lists, struct weft_json *json)
{
    for (unsigned list = 0; list < lists->n; list++) {
        const struct weft_table table = table_of(lists, list);
        if (is_shown(lists, list))
            weft_table_json(&table, lists->items[list].key, json);
    }
}

void weft_lists_csv(const struct weft_lists *lists, unsigned list, struct weft_output *out)
{
    const struct weft_table table = table_of(lists, list);
    weft_table_csv(&table, out);
}

/* ---- what is left out ------------------------------------------------------------------------ */

void weft_left_out_text(const struct weft_view *view, const struct weft_left_out *left_out)
{
    static const char *const of[WEFT_PROGRAM_BYS] = {
        [WEFT_PROGRAM_TOLD] = "known only from kernel events",
        [WEFT_PROGRAM_UNTOLD] = "of the recorder, or idle",
    };
    weft_view_left_out(view);
    if (left_out->threads == 0)
        return;
    weft_output_printf(view->out, "omitted: %s",
                       weft_human_plural(left_out->threads, "thread").text);
    if (left_out->processes)
        weft_output_printf(view->out, " of %s process%s",
                           weft_human_count(left_out->processes).text,
                           left_out->processes == 1 ? "" : "es");
    weft_output_printf(view->out, " %s; --all-processes adds them\n", of[left_out->by]);
}

void weft_left_out_json(const struct weft_view *view, const struct weft_left_out *left_out,
                        struct weft_json *json)
{
    struct weft_view all = *view;
    all.n_left_out += left_out->threads;
    weft_view_left_out_json(&all, json);
    weft_json_text(json, "left_out_by", weft_program_by_name((enum weft_program_by)left_out->by));
}
