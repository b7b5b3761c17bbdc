/* SPDX-License-Identifier: MIT
 *
 * RegTime's budget: folds the nodes of expressions until a thread fits, and makes its rows.
 */
#ifndef WEFT_ANALYSIS_REGTIME_FOLD_H
#define WEFT_ANALYSIS_REGTIME_FOLD_H

#include "analysis/regtime_runs.h"

struct regtime_fold_opts {
    uint32_t glyphs;        /* rows at most, 0: any number */
    uint64_t negligible_ns; /* a node with less self time is folded; 0: none */
};

/* What folding knows of a node; the links are those of kept nodes. */
struct regtime_link {
    uint32_t first, last, next; /* children in order, 0 ends */
    uint32_t other;             /* kept: its "other" + 1, or 0; folded: the one that holds it + 1 */
    bool is_folded;
};

/* The folded nodes of one parent. */
struct regtime_other {
    uint64_t count, n_inner, sum_ns, self_ns, min_ns, max_ns;
    uint64_t start_ns, end_ns;
    uint32_t n_folded;
    uint32_t owner; /* of outlier candidates, or 0 */
};

/* One worker's memory. */
struct regtime_folder {
    struct regtime_link *links; /* by node */
    size_t cap_links;
    struct {
        struct regtime_other *items;
        size_t n, cap;
    } others;
    struct {
        uint32_t *items;
        size_t n, cap;
    } kept; /* candidates of the budget */
};

struct regtime_rows {
    struct weft_regtime_row *items;
    size_t n, cap;
};

void weft_regtime_folder_fini(struct regtime_folder *folder);

/* Makes the rows of a thread from a finished builder, and fills every count of `thread` that they
 * determine. Checks that siblings are disjoint and in order and that the budget holds. */
WEFT_CHECKED enum weft_code
weft_regtime_fold(struct regtime_folder *folder, struct regtime_builder *builder,
                  const struct regtime_fold_opts *opts, struct regtime_rows *rows,
                  struct weft_regtime_thread *thread, struct weft_err *err);

#endif
