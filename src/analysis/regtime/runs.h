/* SPDX-License-Identifier: MIT
 *
 * RegTime's two passes over a thread: which calls are notable, and what runs, gaps and slivers lie
 * under them (docs/analyses/regtime.md). The result is a list of items in pre-order and the trees
 * of the expressions, not yet folded.
 */
#ifndef WEFT_ANALYSIS_REGTIME_RUNS_H
#define WEFT_ANALYSIS_REGTIME_RUNS_H

#include "analysis/calls/medians.h"
#include "analysis/regtime/marks.h"
#include "analysis/regtime/shrink.h"
#include "analysis/regtime/tree.h"
#include "base/error.h"
#include "model/calls/scan.h"
#include "schema/regtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* d, g, f: more than these is notable, a gap, too long for a run. */
struct regtime_limits {
    uint64_t duration_ns, gap_ns, span_ns;
};

#define WEFT_NO_BLOCK UINT64_MAX

/* A call, an expression, a gap or a sliver. */
struct regtime_item {
    enum weft_regtime_kind kind;
    uint32_t level;
    uint32_t parent; /* item, or WEFT_ID_NONE */
    uint32_t function_id;
    uint32_t flags;    /* enum weft_regtime_flag of the call */
    uint32_t root;     /* EXPRESSION: of its tree */
    bool has_calls;    /* CALL: it made calls */
    bool has_deferred; /* EXPRESSION: part of its tree is for a later pass */
    uint64_t start_ns, end_ns;
    uint64_t self_ns;                /* CALL */
    uint64_t count, n_inner;         /* a run: all calls in it, and those that made calls */
    uint64_t sum_ns, min_ns, max_ns; /* a run: of its topmost calls */
    uint64_t span_ns;                /* SLIVER: the spans of its runs, summed */
    uint64_t first_call;             /* EXPRESSION: number of its first call */
    uint64_t first_block;            /* EXPRESSION: where that stands; WEFT_NO_BLOCK: cut frames */
    uint64_t child_end_ns;           /* end of the latest child that became a row */
    uint32_t row;                    /* where it is in the result */
    uint32_t owner;                  /* SLIVER: of outlier candidates, or 0 */
};

/* Calls of one function: the cheap invariant. */
struct regtime_check {
    uint64_t count, sum_ns;
};

/* An open notable call while its children are read; element 0 of the stack is the thread. */
struct regtime_frame {
    uint32_t item; /* WEFT_ID_NONE for the thread */
    bool has_child;
    uint64_t start_ns, end_ns;
    uint64_t last_child_end_ns;
    struct regtime_item sliver; /* appended last, when the call ends, if its count is not 0 */
};

/* One worker's memory, reused from thread to thread. */
struct regtime_builder {
    struct regtime_limits limits;
    uint32_t max_rows; /* notable calls + expressions allowed; 0: any number */
    bool is_one_run;   /* every run is an expression: the thread becomes one row */
    struct regtime_candidates candidates;
    struct weft_median_tally tally;
    bool is_tallying;   /* pass B shows the calls to the tally */
    uint64_t n_tallied; /* calls of this thread that it has seen */

    struct {
        uint64_t *items;
        size_t n, cap;
    } notable; /* numbers of the notable calls, ascending */

    size_t max_nodes; /* of the tree, before it is shrunk */
    struct regtime_shrinker shrinker;
    struct regtime_tree tree;
    struct {
        struct regtime_item *items;
        size_t n, cap;
    } items;
    struct regtime_check *before, *after; /* by function */
    uint32_t n_functions;
    uint64_t n_inner_all; /* entries seen that made calls */
    uint64_t n_calls, n_expressions;

    struct regtime_frame *frames; /* by number of open notable calls */
    uint64_t *number_at;          /* by depth: number of the latest call there */
    uint64_t *end_at;             /* by depth: its end */
    uint32_t *node_at;            /* by depth + 1: its node; the run's root below them */
    uint8_t *is_marked;           /* by depth */
    size_t cap_depth;

    size_t n_open; /* open notable calls = depth of their children */
    size_t next_notable;
    struct regtime_item run; /* so far */
    int64_t prev_depth;      /* of the call before, or -1 */
    bool is_over;            /* more rows than max_rows: the pass was given up */
};

void weft_regtime_builder_fini(struct regtime_builder *builder);

/* Arrays for a thread of this depth and a trace of so many functions. */
WEFT_CHECKED enum weft_code weft_regtime_builder_ready(struct regtime_builder *builder,
                                                       uint32_t depth_bound, uint32_t n_functions,
                                                       struct weft_err *err);

/* Pass A: finds the notable calls; skips blocks whose summary shows no long call and no long gap.
 * Leaves the scan at its beginning. */
WEFT_CHECKED enum weft_code weft_regtime_mark(struct regtime_builder *builder,
                                              struct weft_scan *scan, struct weft_err *err);

/* Pass B: builds items and trees, and checks that nothing was lost. When more than max_rows notable
 * calls and expressions arise, stops with is_over set. Leaves the scan at its beginning. */
WEFT_CHECKED enum weft_code weft_regtime_build(struct regtime_builder *builder,
                                               struct weft_scan *scan, struct weft_err *err);

#endif
