/* SPDX-License-Identifier: MIT
 *
 * RegTime (ALGORITHMS.md section 1): rows of threads. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_REGTIME_H
#define WEFT_SCHEMA_REGTIME_H

#include "base/u128.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_regtime_kind {
    WEFT_REGTIME_CALL,       /* notable call: exact */
    WEFT_REGTIME_EXPRESSION, /* a run, folded: start, end, calls in it; its nodes follow */
    WEFT_REGTIME_NODE,       /* CCT node inside an expression */
    WEFT_REGTIME_OTHER,      /* folded nodes of one parent */
    WEFT_REGTIME_GAP,        /* no call */
    WEFT_REGTIME_SLIVER,     /* short calls at a notable parent, together */
};

enum weft_regtime_flag {
    WEFT_REGTIME_CUT_START = 1,
    WEFT_REGTIME_CUT_END = 2,
    WEFT_REGTIME_REPAIRED = 4,
    WEFT_REGTIME_OUTLIER = 8, /* holds a call unusual for its own function */
};

/* Rows of a thread in pre-order: a notable call is followed by what lies under it, in time order;
 * an expression by its nodes in pre-order, siblings by first occurrence, then its OTHER rows. A
 * SLIVER row is the last child of its notable parent (or of the root). */
struct weft_regtime_row {
    enum weft_regtime_kind kind;
    uint32_t flags;
    uint32_t level;       /* stack depth of the call or node; of the calls inside, for the others */
    uint32_t parent;      /* row index of the parent, or WEFT_ID_NONE */
    uint32_t function_id; /* CALL, NODE; else WEFT_ID_NONE */
    uint32_t n_folded;    /* OTHER: nodes folded; else 0 */
    uint64_t start_ns;    /* NODE, OTHER, SLIVER: first start */
    uint64_t end_ns;      /* CALL, EXPRESSION, GAP; for the others the last end */
    uint64_t count;       /* calls: 1 for CALL, all calls inside for EXPRESSION, OTHER, SLIVER */
    uint64_t records;     /* the same in the published tool's unit: leaf 1, other 2 */
    uint64_t sum_ns;      /* inclusive over all `count` (CALL: its duration; OTHER and SLIVER: of
                             their topmost calls) */
    uint64_t self_ns;     /* self time of the calls of this row (OTHER, SLIVER: of all inside) */
    uint64_t min_ns, max_ns;
    weft_u128 sum_squares; /* NODE */
};

struct weft_regtime_thread {
    uint32_t thread_id;
    struct weft_regtime_row *rows;
    size_t n_rows_all;                     /* elements of rows */
    uint64_t start_ns, end_ns;             /* first root call's start, last root call's end */
    uint64_t duration_ns, gap_ns, span_ns; /* d, g, f used, in ns */
    double factor;         /* d and g were raised by this to fit the budget: 1 normally */
    uint64_t calls_before; /* entries seen */
    uint64_t cut_before;   /* frames entered before the trace */
    uint64_t rows_after;   /* notable calls + CCT nodes + others: at most the budget */
    uint64_t records_before, records_after; /* leaf call 1, other 2 */
    uint64_t n_notable, n_expressions, n_nodes, n_others, n_gaps;
    uint64_t sliver_calls, sliver_ns; /* all calls in slivers; summed spans */
    uint64_t folded_nodes, folded_calls;
    uint64_t folded_ns;     /* self time of the folded calls */
    uint64_t expression_ns; /* self time of all calls in expressions: the share folded is
                               folded_ns / expression_ns */
    uint64_t negligible_nodes, negligible_ns; /* folded because of --negligible */
    uint32_t memory_rows; /* rows that memory allowed, fewer than were asked for; 0: all fit */
};

struct weft_regtime_table {
    struct weft_arena *arena;
    struct weft_regtime_thread *threads; /* by thread_id */
    size_t n_threads;
    uint64_t calls_before, rows_after, records_before, records_after;
    uint64_t folded_ns, expression_ns;
    uint64_t n_raised; /* threads whose factor is not 1 */
    uint64_t n_memory; /* threads whose memory_rows is not 0 */
};

#endif
