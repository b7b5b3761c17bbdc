/* SPDX-License-Identifier: MIT
 *
 * The columns of spans and items. The span table is shared with interplay.c and state_strips.c,
 * whose items are also grouped by thread.
 */
#include "render/columns/lod.h"

#include "render/columns/tables.h"

#define ROW struct weft_lod_span

static const struct weft_field span_fields[] = {
    WEFT_COLUMN("id", U32, thread_id),
    WEFT_COLUMN("first_item", U32, first_item),
    WEFT_COLUMN("n_items", U32, n_items),
};

const struct weft_table_type weft_lod_spans_type =
    WEFT_TABLE_TYPE("lod_threads", "which items are of which thread", span_fields, ROW);

#undef ROW
#define ROW struct weft_lod_item

static const struct weft_field item_fields[] = {
    WEFT_COLUMN("start_ns", F64, start_ns),
    WEFT_COLUMN("end_ns", F64, end_ns),
    WEFT_COLUMN("count", U32, count),
    WEFT_COLUMN("covered_ns", F64, covered_ns),
    WEFT_COLUMN("longest_ns", F64, longest_ns),
    WEFT_COLUMN("depth", U16, depth),
    WEFT_COLUMN("function", U32, function_id),
    WEFT_COLUMN("longest_function", U32, longest_function_id),
    WEFT_COLUMN("is_cluster", U8, is_cluster),
};

const struct weft_table_type weft_lod_items_type =
    WEFT_TABLE_TYPE("lod_items", "calls of threads as pixels show them", item_fields, ROW);

struct weft_columns_table weft_lod_span_table(const struct weft_lod_span *spans, size_t n_spans)
{
    return (struct weft_columns_table){
        .name = "threads", .type = &weft_lod_spans_type, .rows = spans, .n_rows = n_spans
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
          .type = &weft_lod_items_type,
          .rows = lod->items,
          .n_rows = lod->n_items },
    };
    weft_columns_write(tables, sizeof tables / sizeof *tables, put_meta, lod, view->out);
}
