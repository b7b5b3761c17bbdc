/* SPDX-License-Identifier: MIT
 *
 * Result tables: what an analysis gives and what front ends print. Plain values; each table owns
 * one arena that holds all of it and is freed with weft_<table>_free.
 *
 * Thread and function ids are the model's dense ids. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_TABLES_H
#define WEFT_SCHEMA_TABLES_H

#include "base/arena.h"
#include "base/u128.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- functions ------------------------------------------------------------------------------ */

/* One function. Three disjoint kinds of calls:
 *   closed: entry and end lie in the trace (the end may be a repair). All times and percentiles
 *           (exact, nearest rank) are over these alone, so that none is a guess;
 *   open:   entered, but still open at the thread's last event: in `count`, and in open_*;
 *   cut:    entered before the trace: only in cut_*.
 * Checked against independent decoders: inclusive and self exclude open calls. */
struct weft_function_row {
    uint32_t function_id;
    uint32_t n_threads;
    uint64_t count;        /* entries seen: closed + open */
    uint64_t inclusive_ns; /* closed; outermost activation only under recursion (gprof, 1982) */
    uint64_t self_ns;      /* closed */
    uint64_t min_ns, mean_ns, max_ns;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    uint64_t open_count, open_ns; /* open: number, clipped inclusive time (outermost only) */
    uint64_t open_self_ns;
    uint64_t cut_count, cut_ns; /* cut: number, inclusive time seen */
    uint32_t max_thread_id;     /* where the longest closed call is */
    uint64_t max_start_ns;
};

struct weft_functions_table {
    struct weft_arena *arena;
    struct weft_function_row *rows; /* by function_id, only functions that occur */
    size_t n_rows;
    uint32_t *row_of_function; /* function_id -> row, or WEFT_ID_NONE; n_functions elements */
    size_t n_functions;
    uint64_t calls; /* sum of count */
};

void weft_functions_table_free(struct weft_functions_table *table);

/* ---- RegTime (ALGORITHMS.md section 1) ------------------------------------------------------ */

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

void weft_regtime_table_free(struct weft_regtime_table *table);

/* ---- outliers ------------------------------------------------------------------------------- */

enum weft_outlier_kind { WEFT_OUTLIER_CALL, WEFT_OUTLIER_GAP };

/* Callers that a row names: lists would grow with the square of the depth otherwise. */
enum { WEFT_OUTLIER_OUTER = 64, WEFT_OUTLIER_INNER = 192 };

/* A call (or a gap between calls) that is unusual for its own function or for its thread. */
struct weft_outlier_row {
    enum weft_outlier_kind kind;
    uint32_t thread_id;
    uint32_t function_id; /* GAP: the function called before it, or WEFT_ID_NONE */
    uint32_t depth;
    uint32_t flags; /* enum weft_call_flag */
    uint64_t start_ns, end_ns;
    uint64_t self_ns;
    uint64_t median_ns;  /* of the function; GAP: of the thread's gaps */
    double times_median; /* duration / max(median, 1); 1 for a function without a median */
    double thread_share; /* duration / thread duration */
    double score;        /* the rank: docs/analyses/outliers.md */
    uint32_t *context;   /* function ids root..caller, n_context elements */
    uint32_t n_context;  /* depth; of deeper calls the WEFT_OUTLIER_OUTER first and the
                            WEFT_OUTLIER_INNER last of them */
    bool is_own;         /* unusual for its own function (k x median and >= 1 ms) */
    bool is_long;        /* notable for the thread (> d, or a gap > g) */
    bool is_deepest;     /* no listed call below it has most (>= 90 %) of its time; GAP: no
                            listed caller is mostly this gap */
};

struct weft_outliers_table {
    struct weft_arena *arena;
    struct weft_outlier_row *rows; /* best score first */
    size_t n_rows;
    uint64_t n_found; /* all that qualified; rows may be fewer (limit) */
    uint64_t n_own, n_long, n_gaps;
};

void weft_outliers_table_free(struct weft_outliers_table *table);

/* ---- activity: what can be inferred from silence --------------------------------------------- */

enum weft_pause_kind {
    WEFT_PAUSE_WAIT,  /* inside a function that waits by its name */
    WEFT_PAUSE_STILL, /* inside any other call: stood still (inferred) */
    WEFT_PAUSE_IDLE,  /* no call open */
};

/* A time longer than the threshold in which a thread neither entered nor left a call. */
struct weft_pause_row {
    enum weft_pause_kind kind;
    uint32_t function_id; /* innermost open call, or WEFT_ID_NONE */
    uint32_t depth;
    uint64_t start_ns, end_ns;
};

struct weft_activity_thread {
    uint32_t thread_id;
    struct weft_pause_row *pauses; /* in time order; the longest `limit` ones */
    size_t n_pauses;
    uint64_t n_pauses_all;
    uint64_t wait_ns, still_ns, idle_ns; /* all pauses, exact; idle only within the thread's life */
    uint64_t short_wait_ns;              /* self time in waiting functions below the threshold */
    uint64_t running_ns;                 /* life - wait - still - idle */
    uint64_t first_ns, last_ns;
};

struct weft_activity_table {
    struct weft_arena *arena;
    struct weft_activity_thread *threads;
    size_t n_threads;
    uint64_t threshold_ns;
    bool *is_wait_function; /* by function id */
    size_t n_functions;
};

void weft_activity_table_free(struct weft_activity_table *table);

/* ---- intervals (ALGORITHMS.md section 2) ---------------------------------------------------- */

/* A calling context of a thread in the interval. A call counts if it begins before the interval's
 * end and ends after its begin; times are of the part inside. */
struct weft_interval_row {
    uint32_t function_id;
    uint32_t depth;
    uint32_t parent; /* row of the caller, or WEFT_ID_NONE */
    uint64_t count;
    uint64_t sum_ns;                  /* inclusive */
    uint64_t self_ns;                 /* without callees */
    uint64_t folded_calls, folded_ns; /* of what it called, in contexts that are left out */
};

/* Where memory does not hold all contexts, those of least time are left out, and their calls and
 * time counted by the nearest caller that is there: sum = self + folded + sums of its callees. */
struct weft_interval_thread {
    uint32_t thread_id;
    struct weft_interval_row *rows; /* pre-order; of one caller, the longest first */
    size_t n_rows;
    uint64_t calls;                   /* those folded too */
    uint64_t folded_calls, folded_ns; /* in contexts that are left out, together */
    uint64_t no_call_ns; /* between the thread's first and last event, but in no call */
    uint64_t outside_ns; /* before its first event, after its last */
};

struct weft_interval_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_interval_thread *threads;
    size_t n_threads;
};

void weft_interval_table_free(struct weft_interval_table *table);

/* ---- single calls ---------------------------------------------------------------------------- */

/* A call as it is in the trace, whatever part was asked for. */
struct weft_call_row {
    uint64_t start_ns, end_ns;
    uint64_t length_ns; /* end_ns - start_ns; in a table of self times, self time in the part */
    uint64_t number;    /* in the thread, in pre-order, from 0; cut frames first */
    uint32_t thread_id, function_id, depth;
    uint32_t flags; /* enum weft_call_flag */
};

/* Calls that match, in the order asked for. */
struct weft_calls_table {
    struct weft_arena *arena;
    struct weft_call_row *rows;
    size_t n_rows;
    uint64_t n_found; /* all that match; rows may be fewer (limit) */
    uint64_t sum_ns;  /* their length_ns together */
    bool is_self;     /* length_ns is self time */
    bool is_partial;  /* the search ended at the limit: n_found and sum_ns are of the rows */
};

void weft_calls_table_free(struct weft_calls_table *table);

/* What the calls of one function below a call took of it, all children of that function together.
 */
struct weft_callee_row {
    uint32_t function_id;
    uint64_t count, sum_ns, self_ns;
};

/* One call, or none (is_found). */
struct weft_call_table {
    struct weft_arena *arena;
    bool is_found;
    struct weft_call_row call;
    uint64_t self_ns;
    struct weft_call_row *callers;   /* by depth: call.depth of them */
    struct weft_callee_row *callees; /* most time first, then by function id */
    size_t n_callees;
};

void weft_call_table_free(struct weft_call_table *table);

/* ---- histograms -------------------------------------------------------------------------------
 */

/* Calls whose duration (or self time) is from from_ns to before to_ns. */
struct weft_bin_row {
    uint64_t from_ns, to_ns, count, sum_ns;
};

struct weft_histogram_table {
    struct weft_arena *arena;
    struct weft_bin_row *rows; /* ascending; only bins that hold calls (model/histogram.h) */
    size_t n_rows;
    uint64_t count, sum_ns, min_ns, max_ns; /* of all; 0 if there are none */
};

void weft_histogram_table_free(struct weft_histogram_table *table);

/* ---- calling context tree of several threads ---------------------------------------------------
 */

struct weft_tree_row {
    uint32_t parent; /* row of the caller, or WEFT_ID_NONE */
    uint32_t function_id;
    uint32_t depth;
    uint64_t count, sum_ns, self_ns; /* as weft_interval_row, over all threads */
};

struct weft_tree_table {
    struct weft_arena *arena;
    struct weft_tree_row *rows; /* pre-order; of one caller, the longest first */
    size_t n_rows;
    uint64_t n_found;        /* contexts in all; rows may be fewer (limit) */
    uint64_t folded_self_ns; /* self time of those left out */
    uint64_t from_ns, to_ns;
    uint64_t called_ns, no_call_ns, outside_ns; /* of all threads together */
};

void weft_tree_table_free(struct weft_tree_table *table);

/* A call found by its rank (weft_session_find_call). */
struct weft_found_call {
    uint64_t start_ns, end_ns;
    uint32_t thread_id, function_id, depth;
    uint32_t flags;   /* enum weft_call_flag */
    uint64_t n_calls; /* of the function on the thread */
};

/* A span found by its name (weft_session_find_span). */
struct weft_found_span {
    uint64_t start_ns, end_ns;
    uint32_t thread_id;
    uint64_t n_spans; /* of such a name */
    char name[128];   /* cut off there */
};

#endif
