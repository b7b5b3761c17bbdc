/* SPDX-License-Identifier: MIT
 *
 * The columns of unusual calls and gaps.
 */
#include "schema/outliers.h"
#include "schema/tables.h"

#include <stdio.h>

#define ROW struct weft_outlier_row

static const char *kind_name(unsigned kind)
{
    return kind == WEFT_OUTLIER_GAP ? "gap" : "call";
}

/* "main > run > flush": the callers, outermost first. */
static WEFT_GET(get_callers)
{
    const ROW *call = row;
    char more[80] = "";
    size_t n_bytes = sizeof more, at = 0;
    if (call->n_context < call->depth)
        (void)snprintf(more, sizeof more, " > ... (%u callers omitted)",
                       call->depth - call->n_context);
    for (uint32_t i = 0; i < call->n_context; i++)
        n_bytes += context->function(context->trace, call->context[i])->name.n_bytes + 3;
    char *text = weft_arena_alloc(context->arena, n_bytes, 1);
    for (uint32_t i = 0; text && i < call->n_context; i++) {
        const struct weft_str name = context->function(context->trace, call->context[i])->name;
        if (i == WEFT_OUTLIER_OUTER) {
            memcpy(text + at, more, strlen(more));
            at += strlen(more);
        }
        memcpy(text + at, i > 0 ? " > " : "", i > 0 ? 3 : 0);
        at += i > 0 ? 3 : 0;
        memcpy(text + at, name.bytes, name.n_bytes);
        at += name.n_bytes;
    }
    cell->text = (struct weft_str){ .bytes = text, .n_bytes = at };
}

/* When every call of a length was asked for, being long says nothing. */
static WEFT_GET(get_reason)
{
    const ROW *call = row;
    const bool is_long = call->is_long && context->known & WEFT_OUTLIERS_LONG;
    if (call->kind == WEFT_OUTLIER_GAP)
        cell->text = WEFT_STR("gap");
    else if (call->is_own)
        cell->text = is_long ? WEFT_STR("function, thread") : WEFT_STR("function");
    else
        cell->text = is_long ? WEFT_STR("thread") : WEFT_STR("-");
}

static WEFT_GET(get_self)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = ((const ROW *)row)->kind == WEFT_OUTLIER_GAP;
}

/* Of a function none of whose calls is whole, no median is known. */
static WEFT_GET(get_median)
{
    weft_field_read(field, context, row, cell);
    cell->is_null |= context->is_text && ((const ROW *)row)->median_ns == 0;
}

#define FLAG(key, flag, ...)                                                                       \
    WEFT_FIELD(key, NULL, BOOL, flags, __VA_ARGS__, .as = WEFT_AS_FLAG, .arg = flag)

static const struct weft_field fields[] = {
    WEFT_FIELD("tid", "tid", ID, thread_id, "tid of the thread", .as = WEFT_AS_TID),
    WEFT_FIELD("kind", NULL, TEXT, kind, "call or gap", .as = WEFT_AS_NAME, .name = kind_name),
    WEFT_FIELD("thread", NULL, TEXT, thread_id, "name of the thread", .as = WEFT_AS_THREAD),
    WEFT_FIELD("start_ns", "start", AT, start_ns, "its start"),
    WEFT_FIELD("end_ns", NULL, AT, end_ns, "its end"),
    WEFT_DURATION("duration_ns", "time", start_ns, end_ns, "its duration"),
    WEFT_FIELD("self_ns", "self", NS, self_ns, "its self time", .is_detail = true, .get = get_self),
    WEFT_FIELD("median_ns", "median", NS, median_ns, "median of the function, or of the gaps",
               .get = get_median),
    WEFT_FIELD("times_median", "x median", RATIO, times_median, "duration by median",
               .get = get_median),
    WEFT_FIELD("thread_share", "of thread", SHARE, thread_share, "share of the thread's time",
               .is_detail = true),
    WEFT_FIELD("score", NULL, RATIO, score, "the rank: most unusual first"),
    WEFT_GETTER(NULL, "unusual for", TEXT, get_reason, "for what it is unusual", .is_detail = true),
    WEFT_FIELD("depth", NULL, ID, depth, "callers above it"),
    WEFT_FIELD("function", "function", TEXT, function_id, "the function; of a gap the one before",
               .as = WEFT_AS_FUNCTION),
    WEFT_FIELD("function_id", NULL, ID, function_id, "its number in the source",
               .as = WEFT_AS_FUNCTION_KEY),
    WEFT_FIELD("own", NULL, BOOL, is_own, "unusual for its function"),
    WEFT_FIELD("long", NULL, BOOL, is_long, "long for its thread"),
    WEFT_FIELD("deepest", NULL, BOOL, is_deepest, "no listed call below it has most of its time"),
    FLAG("cut_start", WEFT_CALL_CUT_START, "entered before the trace"),
    FLAG("cut_end", WEFT_CALL_CUT_END, "open at the end of the trace"),
    FLAG("repaired", WEFT_CALL_REPAIRED, "its exit is missing"),
    WEFT_GETTER(NULL, "called from", TEXT, get_callers, "its callers, outermost first"),
};

const struct weft_table_type weft_outliers_type =
    WEFT_TABLE_TYPE("outliers", "unusual calls and gaps, most unusual first", fields, ROW);
