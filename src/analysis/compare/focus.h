/* SPDX-License-Identifier: MIT
 *
 * Where most of what B lasts longer (or shorter) than A lies, apart from what other programs took:
 * a context and all below it, tested as one (docs/analyses/compare.md, "Verdict").
 */
#ifndef WEFT_ANALYSIS_COMPARE_FOCUS_H
#define WEFT_ANALYSIS_COMPARE_FOCUS_H

#include "analysis/compare/sums.h"
#include "base/error.h"
#include "schema/compare.h"

/* Sets table->focus, of which the groups and nodes are there. O(nodes + values of the
 * groups). */
WEFT_CHECKED enum weft_code weft_compare_find_focus(const struct weft_ecct_matrix *matrix,
                                                    const struct weft_compare_sums *sums,
                                                    struct weft_compare_table *table,
                                                    struct weft_err *err);

#endif
