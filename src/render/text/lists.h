/* SPDX-License-Identifier: MIT
 *
 * An answer of several lists: as text one after the other, each with a title and what is left out;
 * as JSON arrays; as CSV one of them. And what such answers are not about.
 */
#ifndef WEFT_RENDER_TEXT_LISTS_H
#define WEFT_RENDER_TEXT_LISTS_H

#include "render/text/render.h"
#include "render/text/table.h"
#include "schema/program.h"

struct weft_list {
    const char *key, *title;
    const struct weft_table_type *type;
};

struct weft_list_rows {
    const void *rows;
    size_t n;
};

struct weft_lists {
    const struct weft_list *items;
    const struct weft_list_rows *rows; /* of each */
    unsigned n;                        /* at most 32 */
    unsigned shown;                    /* bits of those that text and JSON show; 0: all */
    uint64_t limit;                    /* rows of each; 0: all */
    struct weft_table_context in;
};

/* Lists without rows are no text. */
void weft_lists_text(const struct weft_lists *lists, const struct weft_view *view);
void weft_lists_json(const struct weft_lists *lists, struct weft_json *json);
void weft_lists_csv(const struct weft_lists *lists, unsigned list, struct weft_output *out);

/* Threads of other processes than the recorded program's, or those that the analysis has left out:
 * a line, if there are any; and members of the JSON object. */
void weft_left_out_text(const struct weft_view *view, const struct weft_left_out *left_out);
void weft_left_out_json(const struct weft_view *view, const struct weft_left_out *left_out,
                        struct weft_json *json);

#endif
