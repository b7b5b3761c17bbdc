/* SPDX-License-Identifier: MIT
 *
 * The frame of the report: a head whose policy allows only its own script and style, the style,
 * the answers (answers.c), data.c's JSON packed, then the script, both from the bundle of ui/
 * (ui_bundle.h). Only `weft report` writes a page.
 */
#include "render/page/page.h"

#include "base/arena.h"
#include "base/plain.h"
#include "render/columns/pack.h"
#include "render/page/answers.h"
#include "render/page/shapes.h"
#include "render/page/ui_bundle.h"

/* Head, title and the rest around what a page is made of, and notes of what is missing. */
enum { FRAME_BYTES = 10000 };

/* Writes text into HTML: markup characters as entities, nothing that is not UTF-8. */
static void html_text(struct weft_output *out, struct weft_str text)
{
    for (size_t i = 0; i < text.n_bytes; i++) {
        char c = text.bytes[i];
        if (c == '<')
            weft_output_text(out, "&lt;");
        else if (c == '&')
            weft_output_text(out, "&amp;");
        else
            weft_output_write(out, &c, 1);
    }
}

static enum weft_code write_title(const struct weft_page *page, struct weft_output *out,
                                  struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    if (!arena)
        return weft_no_memory(err, "the page's title");
    weft_output_text(out, "<title>");
    html_text(out, weft_plain(arena, weft_str_of(page->name)));
    weft_output_text(out, " - weft</title>\n");
    weft_output_release(out, arena);
    return WEFT_OK;
}

/* The page may run the one script and use the one style that it was made with, and load nothing: it
 * works offline and leaks nothing, and a script that got into it by whatever way does not run. */
static void write_head(struct weft_output *out)
{
    weft_output_text(out,
                     "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    weft_output_printf(out,
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; "
                       "form-action 'none'\">\n",
                       weft_ui_bundle.script_hash, weft_ui_bundle.style_hash);
    weft_output_text(out,
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"generator\" content=\"weft " WEFT_VERSION "\">\n");
}

/* Answers, then the data, which says what is missing, and therefore is made first. */
static enum weft_code write_data(const struct weft_page *page, struct weft_output *out,
                                 struct weft_err *err)
{
    struct weft_page own = *page;
    struct weft_output *data;
    own.taken_bytes = weft_output_offset(out) + weft_ui_bundle.script_bytes;
    WEFT_TRY(weft_output_to_memory(&data, err));
    enum weft_code code = weft_page_data(&own, data, err);
    if (page->answers)
        WEFT_THEN(code, weft_page_write_answers(page->answers, out, err));
    weft_output_text(out, "<script id=\"weft-data\" "
                          "type=\"application/octet-stream+gzip;base64\">");
    WEFT_THEN(code, weft_pack(weft_output_held(data), page->pool, out, err));
    weft_output_text(out, "</script>\n");
    enum weft_code data_code = weft_output_close(data, err);
    return code != WEFT_OK ? code : data_code;
}

enum weft_code weft_page_check(struct weft_err *err)
{
    if (weft_ui_bundle.script_bytes > 0)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
                     "no page can be written: this weft was built without its user interface "
                     "(tools/build builds it)");
}

enum weft_code weft_page_least_bytes(const struct weft_page *page, uint64_t *n_bytes,
                                     struct weft_err *err)
{
    struct weft_page own = *page;
    struct weft_output *data;
    own.shapes = NULL;
    own.answers = NULL;
    *n_bytes = 0;
    WEFT_TRY(weft_output_to_memory(&data, err));
    enum weft_code code = weft_page_data(&own, data, err);
    const uint64_t rest_bytes = FRAME_BYTES + weft_page_shapes_least(page) +
                                weft_ui_bundle.script_bytes + weft_ui_bundle.style_bytes +
                                (page->answers ? weft_page_answers_bytes(page->answers) : 0);
    const struct weft_str held = weft_output_held(data);
    WEFT_THEN(code, weft_packed_bytes(held, WEFT_PACK_FAST, page->pool, n_bytes, err));
    if (rest_bytes + *n_bytes > WEFT_PAGE_BYTES) /* it was measured with little effort */
        WEFT_THEN(code, weft_packed_bytes(held, WEFT_PACK_SMALL, page->pool, n_bytes, err));
    *n_bytes += rest_bytes;
    const enum weft_code closed = weft_output_close(data, code == WEFT_OK ? err : NULL);
    return code != WEFT_OK ? code : closed;
}

enum weft_code weft_page_write(const struct weft_page *page, struct weft_output *out,
                               struct weft_err *err)
{
    WEFT_TRY(weft_page_check(err));
    weft_output_set_form(out, WEFT_OUTPUT_EXACT); /* scripts are what their hashes say */
    write_head(out);
    WEFT_TRY(write_title(page, out, err));
    weft_output_text(out, "<style>");
    weft_output_write(out, weft_ui_bundle.style, weft_ui_bundle.style_bytes);
    weft_output_text(out, "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
                          "<noscript>This page needs JavaScript; it loads nothing from a "
                          "network.</noscript>\n");
    WEFT_TRY(write_data(page, out, err));
    weft_output_text(out, "<script>");
    weft_output_write(out, weft_ui_bundle.script, weft_ui_bundle.script_bytes);
    weft_output_text(out, "</script>\n</body>\n</html>\n");
    return WEFT_OK;
}
