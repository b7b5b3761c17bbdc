/* SPDX-License-Identifier: MIT
 *
 * Sums over the executions of one thread, however many, in windows of time: of those that begin in
 * a window, and of those that are open from before.
 *
 *     rows       |---|  |------------|          in order of start
 *                   |-----|     |--|    |--|
 *     windows  [           |               )    each of so many rows; together, all of time
 *
 * What lies before a border of a window is summed there; what lies before the window is carried on.
 * So an execution's sum is the difference of two numbers, and one that reaches over windows keeps
 * the first of them: memory is a window, and what is open.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_WINDOW_H
#define WEFT_ANALYSIS_EXECUTIONS_WINDOW_H

#include "analysis/executions/sums.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_execution_span {
    uint64_t start_ns, end_ns;
};

enum { WEFT_EXECUTION_SUMS = 8 }; /* that are taken at once */

/* Of one execution, by sum. */
struct weft_execution_totals {
    uint64_t of[WEFT_EXECUTION_SUMS];
};

/* One that goes on behind the window. */
struct weft_execution_open {
    uint64_t end_ns;
    size_t place;
    struct weft_execution_totals before; /* its start */
};

struct weft_execution_window {
    uint64_t from_ns, to_ns;    /* what lies there is to be added, and nothing else counts */
    uint64_t first_ns, last_ns; /* where executions are in it */
    uint32_t seen;              /* bit k: something was added to sum k, in this window or before */
    const struct weft_execution_span *spans; /* in order of start */
    size_t n_spans, first, behind;           /* those of the window */
    struct weft_sum_borders borders;
    struct weft_sums sums[WEFT_EXECUTION_SUMS];
    struct weft_execution_totals carried;
    struct {
        struct weft_execution_open *items;
        size_t n, cap;
    } open;
};

void weft_execution_window_init(struct weft_execution_window *window,
                                const struct weft_execution_span *spans, size_t n_spans);
void weft_execution_window_fini(struct weft_execution_window *window);

/* The next window, of about n_rows; *is_there false behind the last. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_execution_window_next(struct weft_execution_window *window,
                                                       size_t n_rows, bool *is_there,
                                                       struct weft_err *err);

/* Something at at_ns, in any order. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_execution_window_add(struct weft_execution_window *window,
                                                      unsigned sum, uint64_t at_ns, uint64_t amount,
                                                      struct weft_err *err);

/* The time [start_ns, end_ns), which may reach beyond the window: it goes to each window that it
 * lies in. */
WEFT_CHECKED enum weft_code weft_execution_window_add_time(struct weft_execution_window *window,
                                                           unsigned sum, uint64_t start_ns,
                                                           uint64_t end_ns, struct weft_err *err);

typedef enum weft_code (*weft_execution_totals_fn)(void *context, size_t place,
                                                   const struct weft_execution_totals *totals,
                                                   struct weft_err *err);

/* Hands over those that end in the window, by their place in spans; ends the window. */
WEFT_CHECKED enum weft_code weft_execution_window_end(struct weft_execution_window *window,
                                                      weft_execution_totals_fn see, void *context,
                                                      struct weft_err *err);

#endif
