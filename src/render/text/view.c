/* SPDX-License-Identifier: MIT */
#include "model/trace.h"
#include "render/human.h"
#include "render/json/json.h"
#include "render/text/compare_words.h"
#include "render/text/render.h"

#include <string.h>

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

/* ---- the first line -------------------------------------------------------------------------- */

static uint64_t records_lost(const struct weft_trace *trace)
{
    uint64_t n = 0;
    for (size_t i = 0; i < weft_trace_meta(trace)->n_notes; i++) {
        const struct weft_note *note = weft_trace_note(trace, i);
        n += weft_note_class_of(note->kind) == WEFT_NOTE_CLASS_LOST ? note->count : 0;
    }
    return n;
}

void weft_view_headline(const struct weft_view *view, const char *about)
{
    const struct weft_trace *trace = view->trace;
    const char *slash = strrchr(view->path, '/');
    struct weft_view named = *view;
    named.path = slash ? slash + 1 : view->path;
    weft_view_head(&named);
    if (trace) {
        const uint32_t n_threads = weft_trace_n_threads(trace) - weft_trace_n_foreign(trace);
        const uint64_t n_lost = records_lost(trace);
        weft_output_printf(view->out, "   %s \xc2\xb7 %s",
                           weft_human_ns(weft_trace_meta(trace)->duration_ns).text,
                           weft_human_plural(n_threads, "thread").text);
        weft_output_printf(view->out, "%s%s", *about ? " \xc2\xb7 " : "", about);
        if (weft_trace_meta(trace)->is_recovered)
            weft_output_text(view->out, " \xc2\xb7 the file ends early (weft info)");
        else if (n_lost > 0)
            weft_output_printf(view->out, " \xc2\xb7 %s lost (weft info)",
                               weft_human_plural(n_lost, "record").text);
        else if (weft_trace_counts_losses(trace))
            weft_output_text(view->out, " \xc2\xb7 complete");
    } else {
        weft_output_printf(view->out, "   %s", about);
    }
    weft_output_text(view->out, "\n");
}

struct weft_output *weft_view_line(const struct weft_view *view)
{
    struct weft_output *line;
    struct weft_err err = { 0 };
    if (weft_output_to_memory(&line, &err) == WEFT_OK)
        return line;
    weft_output_fail(view->out, &err);
    return view->out;
}

void weft_view_line_end(const struct weft_view *view, struct weft_output *line, size_t indent)
{
    if (line == view->out)
        return;
    if (weft_output_held(line).n_bytes > 0)
        weft_words_wrapped(view->out, weft_output_held(line), indent);
    weft_output_drop(line, view->out);
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
                       "only the recorded program's threads; --all-processes adds %s of others\n",
                       weft_human_plural(view->n_left_out, "thread").text);
}

void weft_view_left_out_json(const struct weft_view *view, struct weft_json *json)
{
    weft_json_u64(json, "left_out_threads", view->n_left_out);
}
