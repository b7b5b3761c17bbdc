/* SPDX-License-Identifier: MIT
 *
 * The columns of the rows that RegTime compresses a thread to.
 */
#include "schema/regtime.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdio.h>

#define ROW struct weft_regtime_row

enum { SEGMENT_INDENT_MAX = 40 };

static const char *kind_name(unsigned kind)
{
    static const char *const names[] = {
        [WEFT_REGTIME_CALL] = "call", [WEFT_REGTIME_EXPRESSION] = "expression",
        [WEFT_REGTIME_NODE] = "node", [WEFT_REGTIME_OTHER] = "other",
        [WEFT_REGTIME_GAP] = "gap",   [WEFT_REGTIME_SLIVER] = "sliver",
    };
    return names[kind];
}

/* 1234567 as "1,234,567". */
static void put_count(uint64_t count, char text[32])
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *text++ = ',';
        *text++ = digits[i];
    }
    *text = '\0';
}

/* What a row is, for people: its name, or what it stands for. */
static struct weft_str describe(const struct weft_table_context *context, const ROW *row)
{
    const char *s = row->count == 1 ? "" : "s";
    char count[32];
    put_count(row->count, count);
    switch (row->kind) {
    case WEFT_REGTIME_EXPRESSION:
        return weft_arena_printf(context->arena, "[run of %s call%s]", count, s);
    case WEFT_REGTIME_OTHER:
        return weft_arena_printf(context->arena, "other (%" PRIu32 ")", row->n_folded);
    case WEFT_REGTIME_GAP:
        return WEFT_STR("(no call)");
    case WEFT_REGTIME_SLIVER:
        return weft_arena_printf(context->arena, "(%s short call%s)", count, s);
    case WEFT_REGTIME_CALL:
    case WEFT_REGTIME_NODE:
        break;
    }
    return context->function(context->trace, row->function_id)->name;
}

/* The description under its callers, and the marks of the row behind it. */
static WEFT_GET(get_what)
{
    const ROW *segment = row;
    const struct weft_str name = describe(context, segment);
    const bool is_inside =
        segment->kind == WEFT_REGTIME_NODE || segment->kind == WEFT_REGTIME_OTHER;
    uint32_t level = segment->level + is_inside;
    level = level < SEGMENT_INDENT_MAX ? level : SEGMENT_INDENT_MAX;
    const char *marks[] = { segment->flags & WEFT_REGTIME_CUT_START ? " (open at the start)" : "",
                            segment->flags & WEFT_REGTIME_CUT_END ? " (open at the end)" : "",
                            segment->flags & WEFT_REGTIME_REPAIRED ? " (exit missing)" : "",
                            segment->flags & WEFT_REGTIME_OUTLIER ? " !" : "" };
    cell->is_bad = segment->flags & WEFT_REGTIME_OUTLIER;
    cell->text =
        weft_arena_printf(context->arena, "%*s%.*s%s%s%s%s", (int)level * 2, "", (int)name.n_bytes,
                          name.bytes ? name.bytes : "", marks[0], marks[1], marks[2], marks[3]);
}

static WEFT_GET(get_tid)
{
    const struct weft_regtime_thread *thread = context->of;
    cell->number = context->thread(context->trace, thread->thread_id)->tid;
}

/* A gap has none. */
static WEFT_GET(get_of_calls)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = ((const ROW *)row)->kind == WEFT_REGTIME_GAP;
}

#define OF_CALLS(key, head, unit, member, doc)                                                     \
    WEFT_FIELD(key, head, unit, member, doc, .get = get_of_calls)
#define FLAG(key, flag, ...)                                                                       \
    WEFT_FIELD(key, NULL, BOOL, flags, __VA_ARGS__, .as = WEFT_AS_FLAG, .arg = flag)

static const struct weft_field fields[] = {
    WEFT_GETTER("tid", NULL, ID, get_tid, "tid of the thread"),
    WEFT_FIELD("kind", NULL, TEXT, kind, "call, expression, node, other, gap or sliver",
               .as = WEFT_AS_NAME, .name = kind_name),
    WEFT_FIELD("depth", NULL, ID, level, "depth of the call, or of the calls inside"),
    WEFT_FIELD("parent", NULL, ID, parent, "row of the parent", .as = WEFT_AS_ID),
    WEFT_FIELD("function", NULL, TEXT, function_id, "the function", .as = WEFT_AS_FUNCTION),
    WEFT_FIELD("function_id", NULL, ID, function_id, "its number in the source",
               .as = WEFT_AS_FUNCTION_KEY),
    WEFT_FIELD("start_ns", "start", AT, start_ns, "first start"),
    WEFT_FIELD("end_ns", NULL, AT, end_ns, "last end"),
    WEFT_DURATION(NULL, "time", start_ns, end_ns, "from the first start to the last end"),
    OF_CALLS("count", "calls", COUNT, count, "calls"),
    OF_CALLS("records", NULL, COUNT, records, "records: a leaf call 1, another one 2"),
    OF_CALLS("sum_ns", "sum", NS, sum_ns, "time of the calls, with callees"),
    OF_CALLS("self_ns", "self", NS, self_ns, "self time"),
    OF_CALLS("min_ns", NULL, NS, min_ns, "shortest call"),
    OF_CALLS("max_ns", "max", NS, max_ns, "longest call"),
    OF_CALLS("n_folded", NULL, COUNT, n_folded, "nodes aggregated in it"),
    FLAG("cut_start", WEFT_REGTIME_CUT_START, "open at the start"),
    FLAG("cut_end", WEFT_REGTIME_CUT_END, "open at the end"),
    FLAG("repaired", WEFT_REGTIME_REPAIRED, "an exit is missing"),
    FLAG("outlier", WEFT_REGTIME_OUTLIER, "holds a call unusual for its function"),
    WEFT_GETTER(NULL, "what", TEXT, get_what, "its name, or what it stands for"),
};

const struct weft_table_type weft_regtime_segments_type =
    WEFT_TABLE_TYPE("regtime_segments", "rows of a thread, in order of calls", fields, ROW);
