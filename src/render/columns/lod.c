/* SPDX-License-Identifier: MIT
 *
 * The columns of spans and items. The span table is shared with interplay.c and state_strips.c,
 * whose items are also grouped by thread.
 */
#include "render/columns/lod.h"

#define SPAN(member) offsetof(struct weft_lod_span, member)
#define ITEM(member) offsetof(struct weft_lod_item, member)

static const struct weft_columns_column span_columns[] = {
    { "id", WEFT_COLUMN_U32, WEFT_FROM_U32, SPAN(thread_id) },
    { "first_item", WEFT_COLUMN_U32, WEFT_FROM_U64, SPAN(first_item) },
    { "n_items", WEFT_COLUMN_U32, WEFT_FROM_U64, SPAN(n_items) },
};

static const struct weft_columns_column item_columns[] = {
    { "start_ns", WEFT_COLUMN_F64, WEFT_FROM_U64, ITEM(start_ns) },
    { "end_ns", WEFT_COLUMN_F64, WEFT_FROM_U64, ITEM(end_ns) },
    { "count", WEFT_COLUMN_U32, WEFT_FROM_U64, ITEM(count) },
    { "covered_ns", WEFT_COLUMN_F64, WEFT_FROM_U64, ITEM(covered_ns) },
    { "longest_ns", WEFT_COLUMN_F64, WEFT_FROM_U64, ITEM(longest_ns) },
    { "depth", WEFT_COLUMN_U16, WEFT_FROM_U32, ITEM(depth) },
    { "function", WEFT_COLUMN_U32, WEFT_FROM_U32, ITEM(function_id) },
    { "longest_function", WEFT_COLUMN_U32, WEFT_FROM_U32, ITEM(longest_function_id) },
    { "is_cluster", WEFT_COLUMN_U8, WEFT_FROM_BOOL, ITEM(is_cluster) },
};

struct weft_columns_table weft_lod_span_table(const struct weft_lod_span *spans, size_t n_spans)
{
    return (struct weft_columns_table){
        .name = "threads",
        .columns = span_columns,
        .n_columns = sizeof span_columns / sizeof *span_columns,
        .rows = spans,
        .n_rows = n_spans,
        .row_bytes = sizeof *spans,
    };
}

static void put_meta(const void *context, struct weft_json *json)
{
    const struct weft_lod_view *lod = context;
    weft_json_u64(json, "from_ns", lod->from_ns);
    weft_json_u64(json, "to_ns", lod->to_ns);
    weft_json_u64(json, "width", lod->width);
    weft_json_u64(json, "pixel_ns", lod->pixel_ns);
}

void weft_render_lod(const struct weft_view *view, const struct weft_lod_view *lod)
{
    const struct weft_columns_table tables[] = {
        weft_lod_span_table(lod->threads, lod->n_threads),
        { .name = "items",
          .columns = item_columns,
          .n_columns = sizeof item_columns / sizeof *item_columns,
          .rows = lod->items,
          .n_rows = lod->n_items,
          .row_bytes = sizeof *lod->items },
    };
    weft_columns_write(tables, sizeof tables / sizeof *tables, put_meta, lod, view->out);
}
