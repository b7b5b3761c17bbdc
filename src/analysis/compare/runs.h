/* SPDX-License-Identifier: MIT
 *
 * Runs as blocks: executions of one run (source) are alike for reasons of that run, so that of
 * groups that have runs of their own it is runs that have to differ
 * (docs/analyses/compare.md, "Runs").
 */
#ifndef WEFT_ANALYSIS_COMPARE_RUNS_H
#define WEFT_ANALYSIS_COMPARE_RUNS_H

#include "analysis/compare/sums.h"
#include "base/statistics.h"

#include <stdbool.h>

/* How far the sums of runs are from what the mean of their group makes them, squared and summed. */
struct weft_run_squares {
    double *of[WEFT_GROUPS]; /* by node */
};

struct weft_compare_runs {
    const struct weft_ecct_matrix *matrix; /* borrowed */
    uint32_t *order;                       /* items, those of a source together */
    size_t *starts;                        /* in order, by source; n_sources + 1 */
    uint64_t *n[WEFT_GROUPS];              /* executions by source */
    uint64_t n_runs[WEFT_GROUPS];          /* that have executions of the group */
    bool are_apart;                        /* no run has executions of both groups */
    bool are_blocks;                       /* and each group has enough of them to be compared */
};

WEFT_CHECKED enum weft_code weft_compare_runs_init(struct weft_compare_runs *runs,
                                                   const struct weft_ecct_matrix *matrix,
                                                   struct weft_err *err);
void weft_compare_runs_fini(struct weft_compare_runs *runs);

/* Counts the executions of runs in the groups. O(items + sources). */
void weft_compare_runs_set(struct weft_compare_runs *runs, const uint8_t *members);

/* The squares of all nodes, of the groups that `sums` and `runs` were set to last; the caller frees
 * them. O(values of the groups + nodes). */
WEFT_CHECKED enum weft_code weft_compare_runs_squares(const struct weft_compare_runs *runs,
                                                      const struct weft_compare_sums *sums,
                                                      struct weft_run_squares *squares,
                                                      struct weft_err *err);
void weft_run_squares_fini(struct weft_run_squares *squares);

/* The squares of a value by item, NAN counting as 0, of one group whose mean is given. */
double weft_compare_runs_value_squares(const struct weft_compare_runs *runs, const uint8_t *members,
                                       enum weft_group group, const double *values, double mean);

/* A group as a sample of its runs: n is how many, and variance / n that of the mean of all
 * executions, as runs spread it (the ratio estimator of cluster samples, Cochran 1977, 6.3). For
 * runs of equal size this is the sample of their means. */
struct weft_sample weft_compare_runs_sample(const struct weft_compare_runs *runs,
                                            enum weft_group group, double mean, double squares);

/* How likely so large a difference is if the runs of both are samples of one (Student's t). */
double weft_compare_runs_p_together(const struct weft_sample *a, const struct weft_sample *b);

#endif
