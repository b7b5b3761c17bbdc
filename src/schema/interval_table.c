/* SPDX-License-Identifier: MIT
 *
 * The columns of threads and calling contexts in an interval, and of calls.
 */
#include "schema/calls.h"
#include "schema/interval.h"
#include "schema/tables.h"

enum { INDENT_MAX = 40 };

static WEFT_GET(get_share)
{
    const struct weft_interval_of *of = context->of;
    cell->real = weft_share_of(weft_member_number(row, WEFT_FROM_U64, field->offset),
                               of->table->to_ns - of->table->from_ns);
}

#define SHARE_OF(member)                                                                           \
    WEFT_GETTER(NULL, "share", SHARE, get_share, "share of the interval",                          \
                .offset = offsetof(ROW, member))

#define ROW struct weft_interval_summary

static WEFT_GET(get_top)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = ((const ROW *)row)->top_function_id == WEFT_ID_NONE;
}

static const struct weft_field thread_fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "name", "thread", thread_id, "the thread"),
    WEFT_FIELD("called_ns", "in calls", NS, called_ns, "time in calls"),
    SHARE_OF(called_ns),
    WEFT_FIELD("no_call_ns", "outside calls", NS, no_call_ns, "time outside any call"),
    WEFT_FIELD("outside_ns", "not alive", NS, outside_ns, "before its start, after its end"),
    WEFT_FIELD("calls", "calls", COUNT, calls, "calls", .is_detail = true),
    WEFT_FIELD("top_self_ns", "longest in", NS, top_self_ns, "self time of the top function",
               .get = get_top),
    WEFT_FIELD("top_function", "function", TEXT, top_function_id,
               "function in which it was longest", .as = WEFT_AS_FUNCTION),
    WEFT_FIELD("folded_calls", NULL, COUNT, folded_calls, "calls in contexts that are omitted"),
    WEFT_FIELD("folded_ns", NULL, NS, folded_ns, "their time"),
    WEFT_FIELD_ID("thread", thread_id, "id of the thread"),
};

const struct weft_table_type weft_interval_threads_type =
    WEFT_TABLE_TYPE("interval_threads", "what threads did in an interval", thread_fields, ROW);

#undef ROW
#define ROW struct weft_interval_row

static WEFT_GET(get_tid)
{
    const struct weft_interval_of *of = context->of;
    cell->number = context->thread(context->trace, of->thread->thread_id)->tid;
}

/* For people below its callers. */
static WEFT_GET(get_function)
{
    const uint32_t depth = ((const ROW *)row)->depth;
    weft_field_read(field, context, row, cell);
    if (context->is_text)
        cell->text = weft_arena_printf(context->arena, "%*s%.*s",
                                       2 * (int)(depth < INDENT_MAX ? depth : INDENT_MAX), "",
                                       (int)cell->text.n_bytes, cell->text.bytes);
}

static const struct weft_field context_fields[] = {
    WEFT_GETTER("tid", NULL, ID, get_tid, "tid of the thread"),
    WEFT_FIELD("depth", NULL, ID, depth, "callers above it"),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "time with callees"),
    SHARE_OF(sum_ns),
    WEFT_FIELD("self_ns", "self", NS, self_ns, "self time"),
    WEFT_FIELD("count", "calls", COUNT, count, "calls"),
    WEFT_FIELD("function", "function", TEXT, function_id, "the function", .as = WEFT_AS_FUNCTION,
               .get = get_function),
    WEFT_FIELD("function_id", NULL, ID, function_id, "its number in the source",
               .as = WEFT_AS_FUNCTION_KEY),
    WEFT_FIELD("folded_calls", NULL, COUNT, folded_calls,
               "calls below it in contexts that are omitted"),
    WEFT_FIELD("folded_ns", NULL, NS, folded_ns, "their time"),
    WEFT_FIELD_ID("fn", function_id, "id of the function"),
};

const struct weft_table_type weft_interval_contexts_type =
    WEFT_TABLE_TYPE("interval_contexts", "calling contexts of a thread", context_fields, ROW);

/* ---- binary columns -------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_tree_row

static const struct weft_field tree_fields[] = {
    WEFT_COLUMN("parent", I32, parent), WEFT_COLUMN("function", U32, function_id),
    WEFT_COLUMN("depth", U16, depth),   WEFT_COLUMN("count", F64, count),
    WEFT_COLUMN("sum_ns", F64, sum_ns), WEFT_COLUMN("self_ns", F64, self_ns),
};

const struct weft_table_type weft_tree_type =
    WEFT_TABLE_TYPE("nodes", "calling contexts of all threads", tree_fields, ROW);

#undef ROW
#define ROW struct weft_call_row

/* The last one is of self times alone. */
static const struct weft_field call_fields[] = {
    WEFT_COLUMN("start_ns", F64, start_ns), WEFT_COLUMN("end_ns", F64, end_ns),
    WEFT_COLUMN("thread", U32, thread_id),  WEFT_COLUMN("function", U32, function_id),
    WEFT_COLUMN("depth", U16, depth),       WEFT_COLUMN("flags", U8, flags),
    WEFT_COLUMN("self_ns", F64, length_ns),
};

const struct weft_table_type weft_calls_type =
    WEFT_TABLE_TYPE("calls", "calls of functions", call_fields, ROW);
