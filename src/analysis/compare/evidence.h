/* SPDX-License-Identifier: MIT
 *
 * Evidence of a cause, whose time may lie in many nodes that a sentence calls the same.
 */
#ifndef WEFT_ANALYSIS_COMPARE_EVIDENCE_H
#define WEFT_ANALYSIS_COMPARE_EVIDENCE_H

#include "base/error.h"
#include "schema/compare.h"

/* Sets p of each cause of the table, whose groups are there. O(causes x values). */
WEFT_CHECKED enum weft_code weft_compare_causes_test(const struct weft_ecct_matrix *matrix,
                                                     struct weft_compare_table *table,
                                                     struct weft_err *err);

#endif
