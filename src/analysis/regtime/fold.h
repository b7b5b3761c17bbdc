/* SPDX-License-Identifier: MIT
 *
 * RegTime's budget: folds the nodes of expressions until a thread fits, and makes its rows.
 */
#ifndef WEFT_ANALYSIS_REGTIME_FOLD_H
#define WEFT_ANALYSIS_REGTIME_FOLD_H

#include "analysis/regtime/runs.h"
#include "schema/regtime.h"

struct regtime_rows {
    struct weft_regtime_row *items;
    size_t n, cap;
};

/* Makes at most `glyphs` rows (0: any number) of a thread from a finished builder, and fills every
 * count of `thread` that they determine. Checks that siblings are disjoint and in order and that
 * the budget holds. */
WEFT_CHECKED enum weft_code weft_regtime_fold(struct regtime_builder *builder, uint32_t glyphs,
                                              struct regtime_rows *rows,
                                              struct weft_regtime_thread *thread,
                                              struct weft_err *err);

#endif
