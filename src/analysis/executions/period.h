/* SPDX-License-Identifier: MIT
 *
 * Threads whose executions begin periodically, such as control loops
 * (docs/analyses/diagnose.md, "Threads that are due more often").
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_PERIOD_H
#define WEFT_ANALYSIS_EXECUTIONS_PERIOD_H

#include "base/error.h"
#include "schema/ecct.h"

#include <stdbool.h>
#include <stddef.h>

/* Executions begin on the thread every period_ns: median of the distances of begins, of which the
 * middle half differs by at most WEFT_PERIOD_SPREAD of it. */
struct weft_period {
    struct weft_str thread; /* name; of the matrix */
    double period_ns;
    bool is_one; /* false: several threads or types have the name, or there is no period */
};

#define WEFT_PERIOD_SPREAD 0.3

struct weft_periods {
    struct weft_period *items;
    size_t n, cap;
    bool has_too_many; /* threads: none counts */
};

/* Of programs with more threads none counts: they have pools, not loops. */
enum { WEFT_PERIOD_THREADS_MOST = 256 };

/* Adds those of the threads of a matrix, whose names are borrowed; threads of fewer than 11
 * executions have none. O(n log n) of the executions. Release with WEFT_VEC_FINI. */
WEFT_CHECKED enum weft_code weft_periods_add(struct weft_periods *periods,
                                             const struct weft_ecct_matrix *matrix,
                                             struct weft_err *err);

/* In ns; 0: there is no thread of this name, or no one period. O(n). */
double weft_periods_of_ns(const struct weft_periods *periods, struct weft_str thread);

#endif
