/* SPDX-License-Identifier: MIT
 *
 * The columns of the table of functions.
 */
#include "schema/functions.h"
#include "schema/tables.h"

#define ROW struct weft_function_row

/* Times are of closed calls. */
static WEFT_GET(get_closed)
{
    const ROW *function = row;
    if (function->count > function->open_count)
        weft_field_read(field, context, row, cell);
    else
        cell->is_null = true;
}

static WEFT_GET(get_share)
{
    const struct weft_functions_table *table = context->of;
    cell->real = weft_share_of(((const ROW *)row)->self_ns, table->self_ns);
}

static const struct weft_field fields[] = {
    WEFT_FIELD("count", "calls", COUNT, count, "calls entered in the trace"),
    WEFT_FIELD("self_ns", "self", NS, self_ns, "self time of closed calls"),
    WEFT_GETTER("self_share", "%", SHARE, get_share, "share of the self time of all functions"),
    WEFT_FIELD("inclusive_ns", "inclusive", NS, inclusive_ns,
               "time with callees; under recursion of the outermost call"),
    WEFT_FIELD("min_ns", "min", NS, min_ns, "shortest closed call", .is_detail = true,
               .get = get_closed),
    WEFT_FIELD("mean_ns", "mean", NS, mean_ns, "mean of closed calls", .get = get_closed),
    WEFT_FIELD("p50_ns", "p50", NS, p50_ns, "median", .get = get_closed),
    WEFT_FIELD("p90_ns", NULL, NS, p90_ns, "90th percentile", .get = get_closed),
    WEFT_FIELD("p99_ns", "p99", NS, p99_ns, "99th percentile", .get = get_closed),
    WEFT_FIELD("p999_ns", "p99.9", NS, p999_ns, "99.9th percentile", .is_detail = true,
               .get = get_closed),
    WEFT_FIELD("max_ns", "max", NS, max_ns, "longest closed call", .get = get_closed),
    WEFT_FIELD("threads", "threads", COUNT, n_threads, "threads that call it", .is_detail = true),
    WEFT_FIELD("name", "function", TEXT, function_id, "its name", .as = WEFT_AS_FUNCTION),
    WEFT_FIELD("id", "id", ID, function_id, "its number in the source", .is_detail = true,
               .as = WEFT_AS_FUNCTION_KEY),
    WEFT_FIELD("module", NULL, TEXT, function_id, "its module", .as = WEFT_AS_MODULE),
    WEFT_FIELD("address", NULL, ID, function_id, "its address", .as = WEFT_AS_ADDRESS),
    WEFT_FIELD("max_tid", NULL, ID, max_thread_id, "thread of the longest call", .as = WEFT_AS_TID,
               .get = get_closed),
    WEFT_FIELD("max_start_ns", NULL, AT, max_start_ns, "start of the longest call",
               .get = get_closed),
    WEFT_FIELD("open_count", NULL, COUNT, open_count, "calls still open at the end"),
    WEFT_FIELD("open_ns", NULL, NS, open_ns, "their time up to the end, with callees"),
    WEFT_FIELD("open_self_ns", NULL, NS, open_self_ns, "their self time"),
    WEFT_FIELD("cut_count", NULL, COUNT, cut_count, "calls entered before the trace"),
    WEFT_FIELD("cut_ns", NULL, NS, cut_ns, "their time in the trace"),
    WEFT_FIELD_ID("fn", function_id, "id of the function"),
};

const struct weft_table_type weft_functions_type =
    WEFT_TABLE_TYPE("functions", "calls and times of each function", fields, ROW);
