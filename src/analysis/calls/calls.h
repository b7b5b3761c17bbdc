/* SPDX-License-Identifier: MIT
 *
 * Functions and single calls: percentiles, the longest, one, those that are unusual; histograms,
 * calling contexts of intervals.
 */
#ifndef WEFT_ANALYSIS_CALLS_CALLS_H
#define WEFT_ANALYSIS_CALLS_CALLS_H

#include "analysis/analysis.h"
#include "schema/calls.h"
#include "schema/functions.h"
#include "schema/interval.h"
#include "schema/outliers.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the part in `window` alone (NULL: the whole trace), calls that reach beyond it are cut, as in
 * a trace that is no longer. */
struct weft_functions_opts {
    const struct weft_window *window;
};

/* Per function: count, inclusive, self, exact min/mean/max and percentiles, threads. Two or more
 * passes over the blocks; memory O(functions x decades), independent of the number of calls. `opts`
 * may be NULL. */
WEFT_CHECKED enum weft_code
weft_functions_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                   const struct weft_functions_opts *opts, const struct weft_run *run,
                   struct weft_functions_table **table, struct weft_err *err);

/* What outlier marks need of the medians, for much less than the table of functions: by function
 * id, n_functions elements that the caller frees. A median is exact where a call of its function
 * lasts at least `least_ns` and might exceed `factor` x the median; elsewhere it is a lower bound
 * that marks the same calls: none. One pass over the blocks, and one over those that call such
 * functions. */
WEFT_CHECKED enum weft_code weft_medians_run(const struct weft_trace *trace, double factor,
                                             uint64_t least_ns, const struct weft_run *run,
                                             uint64_t **medians_ns, struct weft_err *err);

/* What each thread did from `from_ns` to `to_ns`. Exact; reads the blocks at the borders alone
 * (model/interval/interval.h). */
struct weft_interval_opts {
    uint64_t from_ns, to_ns; /* to_ns is not before from_ns */
};

WEFT_CHECKED enum weft_code
weft_interval_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                  const struct weft_interval_opts *opts, const struct weft_run *run,
                  struct weft_interval_table **table, struct weft_err *err);

/* The call of rank `rank` (from 1: the longest) on a thread among those of the functions
 * `function_ids` (ascending); of calls as long as each other the earlier is first. Calls cut by the
 * trace's edges count as long as they are seen. found->n_calls is less than `rank` when there is no
 * such call. Memory: O(rank). */
WEFT_CHECKED enum weft_code weft_longest_call(const struct weft_trace *trace, uint32_t thread_id,
                                              const uint32_t *function_ids, size_t n_function_ids,
                                              uint64_t rank, const struct weft_run *run,
                                              struct weft_found_call *found, struct weft_err *err);

/* The calls that have a part in the window (model/calls/overlap.h), each with its whole duration:
 * the longest ones, or the earliest. Of equal ones the earlier is first, then the one of the lower
 * thread id, then the one entered earlier: on one thread, the order of time is pre-order. */
enum weft_calls_order { WEFT_CALLS_LONGEST, WEFT_CALLS_EARLIEST };

struct weft_calls_opts {
    const struct weft_window *window; /* NULL: the whole trace */
    const uint32_t *function_ids;     /* only these, ascending; NULL: all */
    size_t n_function_ids;
    uint64_t min_ns, max_ns; /* durations from, to (included) */
    bool is_self;            /* not durations, but self times in the window, also for LONGEST */
    enum weft_calls_order order;
    uint32_t limit;     /* rows at most; at least 1 */
    bool ends_at_limit; /* EARLIEST, of one thread, not is_self: look no further when there are so
                           many */
};

/* Memory: O(limit) a worker. */
WEFT_CHECKED enum weft_code weft_calls_run(const struct weft_trace *trace,
                                           const struct weft_thread_filter *filter,
                                           const struct weft_calls_opts *opts,
                                           const struct weft_run *run,
                                           struct weft_calls_table **table, struct weft_err *err);

/* Durations of the same calls as a histogram; or, of each, the self time that lies in the window.
 */
struct weft_histogram_opts {
    const struct weft_window *window; /* NULL: the whole trace */
    const uint32_t *function_ids;     /* only these, ascending; NULL: all */
    size_t n_function_ids;
    bool is_self;
};

WEFT_CHECKED enum weft_code
weft_histogram_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                   const struct weft_histogram_opts *opts, const struct weft_run *run,
                   struct weft_histogram_table **table, struct weft_err *err);

/* The calling contexts of an interval, those of all threads that have the same path together. As
 * fast for long intervals as for short ones (model/interval/interval.h). With a limit, the contexts
 * of most time; a context is never without its callers. */
struct weft_tree_opts {
    uint64_t from_ns, to_ns; /* to_ns is not before from_ns */
    uint32_t limit;          /* 0: all */
};

WEFT_CHECKED enum weft_code weft_tree_run(const struct weft_trace *trace,
                                          const struct weft_thread_filter *filter,
                                          const struct weft_tree_opts *opts,
                                          const struct weft_run *run,
                                          struct weft_tree_table **table, struct weft_err *err);

/* One call of a thread. AT: the call of depth `depth` that is open at at_ns, or begins there. NEXT:
 * the first that begins after at_ns; PREVIOUS: the last that begins before; either at least min_ns
 * long, and of a function of the list, or of the depth. */
enum weft_call_which { WEFT_CALL_AT, WEFT_CALL_NEXT, WEFT_CALL_PREVIOUS };

#define WEFT_CALL_ANY_DEPTH UINT32_MAX

struct weft_call_opts {
    enum weft_call_which which;
    uint32_t thread_id;
    uint64_t at_ns;
    uint32_t depth;               /* or WEFT_CALL_ANY_DEPTH (not of AT) */
    const uint32_t *function_ids; /* only these, ascending; NULL: all (not of AT) */
    size_t n_function_ids;
    uint64_t min_ns;
};

/* Callees and self time of a long call come from sums that the file keeps. */
WEFT_CHECKED enum weft_code weft_call_run(const struct weft_trace *trace,
                                          const struct weft_call_opts *opts,
                                          const struct weft_run *run,
                                          struct weft_call_table **table, struct weft_err *err);

struct weft_outliers_opts {
    const struct weft_window *window; /* of this part alone; NULL: of the whole trace */
    double outlier_factor;
    uint64_t outlier_min_ns;
    double duration_fraction, gap_fraction; /* what is notable for the thread */
    uint32_t limit;                         /* rows kept; 0: all */
    bool with_long;                         /* also those that are only long for the thread */
    bool no_calls, no_gaps;                 /* leave these out */
    const uint32_t *function_ids;           /* only these functions; NULL: all */
    size_t n_function_ids;
    uint64_t min_duration_ns; /* 0: none */
};

WEFT_CHECKED enum weft_code
weft_outliers_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                  const struct weft_functions_table *functions,
                  const struct weft_outliers_opts *opts, const struct weft_run *run,
                  struct weft_outliers_table **table, struct weft_err *err);

#endif
