/* SPDX-License-Identifier: MIT
 *
 * Executions of group B sorted by what makes them slow (docs/analyses/compare.md, "Causes").
 */
#ifndef WEFT_ANALYSIS_COMPARE_CAUSES_H
#define WEFT_ANALYSIS_COMPARE_CAUSES_H

#include "base/error.h"
#include "schema/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the executions are held against: means of group A by node of the matrix. */
struct weft_causes_base {
    const struct weft_ecct_matrix *matrix;
    const double *mean_ns;    /* exclusive */
    const double *total_ns;   /* inclusive; that of the root is the mean duration */
    const double *total_b_ns; /* inclusive, of group B */
};

/* Sets causes, n_causes and cause_of of the table, whose items_b and arena are there.
 * Deterministic; O(values of B x depth). */
WEFT_CHECKED enum weft_code weft_compare_find_causes(const struct weft_causes_base *base,
                                                     struct weft_compare_table *table,
                                                     struct weft_err *err);

/* A state in which the thread had the processor, or lost it to an interrupt. */
bool weft_frame_is_running(const struct weft_frame *frame);

#endif
