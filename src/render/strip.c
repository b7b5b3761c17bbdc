/* SPDX-License-Identifier: MIT
 *
 * Spreads the rows of a thread over slices of equal time. A block's height is the share of short
 * calls, a line is time in long calls, a dot is a little of it.
 */
#include "render/strip.h"

#include "base/checked.h"
#include "schema/event.h"
#include "schema/regtime.h"

#include <stdbool.h>
#include <string.h>

/* Time of one slice that lies in calls at all, and in runs of short ones. */
struct slice {
    double called_ns, short_ns;
};

struct spread {
    struct slice *slices;
    size_t n_slices;
    double slice_ns;
};

static size_t slice_of(const struct spread *spread, uint64_t at_ns)
{
    size_t slice = (size_t)((double)at_ns / spread->slice_ns);
    return slice < spread->n_slices ? slice : spread->n_slices - 1;
}

/* Adds an interval to the slices that it covers. */
static void add(const struct spread *spread, const struct weft_regtime_row *row, bool is_called,
                bool is_short)
{
    size_t first = slice_of(spread, row->start_ns), last = slice_of(spread, row->end_ns);
    for (size_t i = first; i <= last; i++) {
        double from = (double)i * spread->slice_ns, to = from + spread->slice_ns;
        double start = (double)row->start_ns, end = (double)row->end_ns;
        double part_ns = (end < to ? end : to) - (start > from ? start : from);
        if (part_ns <= 0)
            continue;
        spread->slices[i].called_ns += is_called ? part_ns : 0;
        spread->slices[i].short_ns += is_short ? part_ns : 0;
    }
}

/* Root rows cover the time in calls; expressions at any level, the time in short ones. */
static void spread_rows(const struct spread *spread, const struct weft_regtime_thread *thread)
{
    for (size_t i = 0; i < thread->n_rows_all; i++) {
        const struct weft_regtime_row *row = &thread->rows[i];
        bool is_run = row->kind == WEFT_REGTIME_EXPRESSION;
        bool is_root = row->parent == WEFT_ID_NONE && (is_run || row->kind == WEFT_REGTIME_CALL);
        if (is_root || is_run)
            add(spread, row, is_root, is_run);
    }
}

static const char *glyph(const struct slice *slice, double slice_ns)
{
    static const char *const blocks[] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
                                          "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
                                          "\xe2\x96\x87", "\xe2\x96\x88" };
    double eighths = slice->short_ns / slice_ns * 8;
    if (eighths >= 0.5) {
        size_t height = (size_t)(eighths + 0.5);
        return blocks[height > 8 ? 7 : height - 1];
    }
    if (slice->called_ns >= slice_ns / 2)
        return "\xe2\x94\x80";
    return slice->called_ns > 0 ? "\xc2\xb7" : " ";
}

struct weft_str weft_strip(struct weft_arena *arena, const struct weft_regtime_thread *thread,
                           uint64_t duration_ns, size_t n_columns)
{
    struct spread spread = { .slices = WEFT_ARENA_NEW(arena, n_columns, struct slice),
                             .n_slices = n_columns,
                             .slice_ns = (double)weft_max_u64(duration_ns, 1) / (double)n_columns };
    char *text = weft_arena_alloc(arena, n_columns + 1, 4);
    size_t n_bytes = 0;
    if (!spread.slices || !text)
        return (struct weft_str){ 0 };
    spread_rows(&spread, thread);
    for (size_t i = 0; i < n_columns; i++) {
        const char *mark = glyph(&spread.slices[i], spread.slice_ns);
        memcpy(text + n_bytes, mark, strlen(mark));
        n_bytes += strlen(mark);
    }
    while (n_bytes > 0 && text[n_bytes - 1] == ' ')
        n_bytes--;
    return (struct weft_str){ .bytes = text, .n_bytes = n_bytes };
}
