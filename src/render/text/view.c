/* SPDX-License-Identifier: MIT */
#include "render/human.h"
#include "render/json/json.h"
#include "render/text/render.h"

struct weft_table_context weft_view_context(const struct weft_view *view, const void *of)
{
    struct weft_table_context context = weft_trace_context(view->trace, of);
    context.is_for_page = view->has_ids;
    return context;
}

struct weft_json *weft_view_json(const struct weft_view *view)
{
    struct weft_json *json;
    struct weft_err err = { 0 };
    if (weft_json_open(view->out, &json, &err) != WEFT_OK)
        weft_output_fail(view->out, &err);
    return json;
}

void weft_view_json_end(const struct weft_view *view, struct weft_json *json)
{
    weft_json_close(json);
    weft_output_text(view->out, "\n");
}

static void styled(const struct weft_view *view, const char *code, const char *text)
{
    weft_output_text(view->out, view->style.has_colour ? code : "");
    weft_output_text(view->out, text);
    weft_output_text(view->out, view->style.has_colour ? "\033[0m" : "");
}

void weft_view_bold(const struct weft_view *view, const char *text)
{
    styled(view, "\033[1m", text);
}

void weft_view_head(const struct weft_view *view)
{
    weft_output_text(view->out, view->style.has_colour ? "\033[1m" : "");
    weft_output_plain(view->out, weft_str_of(view->path));
    weft_output_text(view->out, view->style.has_colour ? "\033[0m" : "");
}

void weft_view_dim(const struct weft_view *view, const char *text)
{
    styled(view, "\033[2m", text);
}

void weft_view_left_out(const struct weft_view *view)
{
    if (view->n_left_out == 0)
        return;
    weft_output_printf(view->out,
                       "of the recorded program alone; --all-processes shows %s of others, too\n",
                       weft_human_plural(view->n_left_out, "thread").text);
}

void weft_view_left_out_json(const struct weft_view *view, struct weft_json *json)
{
    weft_json_u64(json, "left_out_threads", view->n_left_out);
}
