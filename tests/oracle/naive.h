/* SPDX-License-Identifier: MIT
 *
 * The analyses a second time: quadratic, plain, sharing no code with src/.
 */
#ifndef WEFT_TESTS_NAIVE_H
#define WEFT_TESTS_NAIVE_H

#include "analysis/calls/calls.h"
#include "analysis/regtime/regtime.h"
#include "memory_store.h"
#include "schema/activity.h"

/* Rows as weft_functions_run gives them: one a function that occurs. Returns how many. */
size_t naive_functions(const struct memory_trace *trace, struct weft_function_row *rows);

/* One thread as weft_regtime_run gives it; rows are malloc'ed. */
struct weft_regtime_thread naive_regtime(const struct memory_trace *trace, uint32_t thread_id,
                                         const struct weft_regtime_opts *opts);

/* All rows, best first; rows and contexts are malloc'ed. Returns how many. */
size_t naive_outliers(const struct memory_trace *trace,
                      const struct weft_functions_table *functions,
                      const struct weft_outliers_opts *opts, struct weft_outlier_row **rows);

/* One thread as weft_activity_run gives it with limit 0; pauses are malloc'ed. `window` may be
 * NULL.
 */
struct weft_activity_thread naive_activity(const struct memory_trace *trace, uint32_t thread_id,
                                           const bool *is_wait, uint64_t threshold_ns,
                                           const struct weft_window *window);

#endif
