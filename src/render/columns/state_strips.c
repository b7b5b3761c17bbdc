/* SPDX-License-Identifier: MIT
 *
 * The columns of state items; kinds and reasons are numbers into lists of words in the header.
 */
#include "render/columns/state_strips.h"

#define ITEM(member) offsetof(struct weft_strip_item, member)

static const struct weft_columns_column item_columns[] = {
    { "start_ns", WEFT_COLUMN_F64, WEFT_FROM_U64, ITEM(start_ns) },
    { "end_ns", WEFT_COLUMN_F64, WEFT_FROM_U64, ITEM(end_ns) },
    { "longest_ns", WEFT_COLUMN_F64, WEFT_FROM_U64, ITEM(longest_ns) },
    { "running_ns", WEFT_COLUMN_F64, WEFT_FROM_U64, ITEM(running_ns) },
    { "count", WEFT_COLUMN_U32, WEFT_FROM_U32, ITEM(count) },
    { "state", WEFT_COLUMN_U8, WEFT_FROM_U32, ITEM(kind) },
    { "reason", WEFT_COLUMN_U8, WEFT_FROM_U32, ITEM(reason) },
    { "name", WEFT_COLUMN_U32, WEFT_FROM_U32, ITEM(name) },
};

static void put_words(struct weft_json *json, const char *key, unsigned n, const char *(*word)(int))
{
    weft_json_begin_array(json, key);
    for (unsigned i = 0; i < n; i++)
        weft_json_text(json, NULL, word((int)i));
    weft_json_end_array(json);
}

static const char *kind_word(int kind)
{
    return weft_state_kind_name((enum weft_state_kind)kind);
}

static const char *reason_word(int reason)
{
    return weft_wait_reason_name((enum weft_wait_reason)reason);
}

static void put_meta(const void *context, struct weft_json *json)
{
    const struct weft_strips_view *strips = context;
    weft_json_bool(json, "known", strips->is_known);
    weft_json_u64(json, "from_ns", strips->from_ns);
    weft_json_u64(json, "to_ns", strips->to_ns);
    weft_json_u64(json, "pixel_ns", strips->pixel_ns);
    put_words(json, "states", WEFT_STATE_KINDS, kind_word);
    put_words(json, "reasons", WEFT_WAIT_REASONS, reason_word);
    weft_json_begin_array(json, "names");
    for (size_t i = 0; i < strips->n_names; i++)
        weft_json_str(json, NULL, strips->names[i]);
    weft_json_end_array(json);
}

void weft_render_strips(const struct weft_view *view, const struct weft_strips_view *strips)
{
    const struct weft_columns_table tables[] = {
        weft_lod_span_table(strips->threads, strips->n_threads),
        { .name = "items",
          .columns = item_columns,
          .n_columns = sizeof item_columns / sizeof *item_columns,
          .rows = strips->items,
          .n_rows = strips->n_items,
          .row_bytes = sizeof *strips->items },
    };
    weft_columns_write(tables, sizeof tables / sizeof *tables, put_meta, strips, view->out);
}
