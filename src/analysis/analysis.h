/* SPDX-License-Identifier: MIT
 *
 * The analyses: a model in, a typed table out (schema/tables.h). They know neither file nor screen,
 * and never each other; what they share lives in model/. All are deterministic for any number of
 * workers. All may return WEFT_E_CANCELLED, WEFT_E_NOMEM, WEFT_E_LIMIT, and whatever loading a
 * block returns (a damaged block names its file and byte).
 */
#ifndef WEFT_ANALYSIS_ANALYSIS_H
#define WEFT_ANALYSIS_ANALYSIS_H

#include "base/pool.h"
#include "model/trace.h"
#include "model/window.h"
#include "schema/states.h"
#include "schema/tables.h"

#include <stdbool.h>
#include <stdint.h>

/* Which threads: NULL or n_ids == 0 means all. */
struct weft_thread_filter {
    const uint32_t *ids; /* ascending model thread ids */
    size_t n_ids;
};

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

/* RegTime. Fractions are of the thread's duration; an absolute value, if not 0, replaces its
 * fraction. Outlier marks hang on the medians of the whole trace: `medians_ns` (by function id), or
 * if that is NULL and outlier_factor > 0, those that RegTime takes on its way (exact as those of
 * weft_medians_run). In a window, T is of what lies inside, and so are the thresholds. */
struct weft_regtime_opts {
    const struct weft_window *window; /* of this part alone; NULL: of the whole trace */
    double duration_fraction, gap_fraction, span_fraction;
    uint64_t duration_ns, gap_ns, span_ns;
    double negligible_fraction; /* 0: keep all */
    uint32_t glyphs;            /* rows a thread at most; 0: no budget */
    const uint64_t *medians_ns;
    double outlier_factor;   /* k: 100 */
    uint64_t outlier_min_ns; /* 1 ms */
};

/* With a ceiling for memory (run->memory_bytes), the result is that without one, as long as the
 * rows fit: one row for each WEFT_REGTIME_ROW_BYTES of it. If they do not, every thread has at most
 * `memory_rows` rows, as with so many glyphs: the most that fit when no thread has more rows than
 * calls. The trees on the way are bounded by reading a thread as often as it takes. */
enum { WEFT_REGTIME_ROW_BYTES = 1536 };

/* preset "paper" (1 %, 0.1 %, 13 %) or "fine" (0.5 %, 0.1 %, 2 %), 400 glyphs, k 100, 1 ms; false
 * if unknown. */
bool weft_regtime_preset(const char *name, struct weft_regtime_opts *opts);

WEFT_CHECKED enum weft_code
weft_regtime_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                 const struct weft_regtime_opts *opts, const struct weft_run *run,
                 struct weft_regtime_table **table, struct weft_err *err);

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

struct weft_activity_opts {
    const struct weft_window *window; /* of this part alone; NULL: of the whole trace */
    uint64_t threshold_ns;            /* silence longer than this; default 1.5 ms */
    uint32_t limit;                   /* pauses kept a thread; 0: all */
};

WEFT_CHECKED enum weft_code
weft_activity_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                  const struct weft_activity_opts *opts, const struct weft_run *run,
                  struct weft_activity_table **table, struct weft_err *err);

/* States of threads (docs/analyses/states.md) that overlap [from_ns, to_ns), whole. */
struct weft_states_opts {
    uint64_t from_ns, to_ns;
    bool is_moment; /* only the one of each thread that holds at from_ns */
    uint64_t limit; /* rows; 0: all */
};

WEFT_CHECKED enum weft_code weft_states_run(const struct weft_trace *trace,
                                            const struct weft_thread_filter *filter,
                                            const struct weft_states_opts *opts,
                                            const struct weft_run *run,
                                            struct weft_states_table **table, struct weft_err *err);

/* What each thread spent [from_ns, to_ns) on, and what it waited for (docs/analyses/waits.md);
 * states are cut to the window. */
struct weft_waits_opts {
    uint64_t from_ns, to_ns;
};

WEFT_CHECKED enum weft_code weft_waits_run(const struct weft_trace *trace,
                                           const struct weft_thread_filter *filter,
                                           const struct weft_waits_opts *opts,
                                           const struct weft_run *run,
                                           struct weft_waits_table **table, struct weft_err *err);

/* What each processor did in [from_ns, to_ns), as far as it was with the selected threads
 * (docs/analyses/cpu.md). */
struct weft_cpu_opts {
    uint64_t from_ns, to_ns;
};

WEFT_CHECKED enum weft_code weft_cpus_run(const struct weft_trace *trace,
                                          const struct weft_thread_filter *filter,
                                          const struct weft_cpu_opts *opts,
                                          const struct weft_run *run, struct weft_cpu_table **table,
                                          struct weft_err *err);

#endif
