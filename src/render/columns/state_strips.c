/* SPDX-License-Identifier: MIT
 *
 * The columns of state items; kinds and reasons are numbers into lists of words in the header.
 */
#include "render/columns/state_strips.h"

#include "render/columns/lod.h"
#include "render/columns/tables.h"

#define ROW struct weft_strip_item

static const struct weft_field item_fields[] = {
    WEFT_COLUMN("start_ns", F64, start_ns),     WEFT_COLUMN("end_ns", F64, end_ns),
    WEFT_COLUMN("longest_ns", F64, longest_ns), WEFT_COLUMN("running_ns", F64, running_ns),
    WEFT_COLUMN("count", U32, count),           WEFT_COLUMN("state", U8, kind),
    WEFT_COLUMN("reason", U8, reason),          WEFT_COLUMN("name", U32, name),
};

const struct weft_table_type weft_state_items_type =
    WEFT_TABLE_TYPE("state_items", "states of threads as pixels show them", item_fields, ROW);

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
    const struct weft_strips *strips = context;
    weft_json_bool(json, "known", strips->is_known);
    weft_json_u64(json, "from_ns", strips->from_ns);
    weft_json_u64(json, "to_ns", strips->to_ns);
    weft_json_u64(json, "pixel_ns", strips->pixel_ns);
    put_words(json, "states", WEFT_STATE_KINDS, kind_word);
    put_words(json, "reasons", WEFT_WAIT_REASONS, reason_word);
    weft_json_begin_array(json, "names");
    for (size_t i = 0; i < strips->names.n; i++)
        weft_json_str(json, NULL, strips->names.items[i]);
    weft_json_end_array(json);
}

void weft_render_strips(const struct weft_view *view, const struct weft_strips *strips)
{
    const struct weft_columns_table tables[] = {
        weft_lod_span_table(strips->threads.items, strips->threads.n),
        { .name = "items",
          .type = &weft_state_items_type,
          .rows = strips->items.items,
          .n_rows = strips->items.n },
    };
    weft_columns_write(tables, sizeof tables / sizeof *tables, put_meta, strips, view->out);
}
