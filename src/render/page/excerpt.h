/* SPDX-License-Identifier: MIT
 *
 * A comparison that fits into a page: some executions that stand for all, and the nodes of the tree
 * that matter. Numbers of groups and nodes remain those of all executions.
 */
#ifndef WEFT_RENDER_PAGE_EXCERPT_H
#define WEFT_RENDER_PAGE_EXCERPT_H

#include "base/arena.h"
#include "base/error.h"
#include "schema/compare.h"

#include <stddef.h>
#include <stdint.h>

struct weft_page_excerpt {
    struct weft_ecct_matrix matrix; /* without the time of each execution by node */
    struct weft_compare_table table;
    uint8_t *members;  /* by item of the matrix: 1 in A, 2 in B */
    double *weights;   /* by item: for how many executions it stands */
    size_t n_cause_of; /* of table.cause_of; WEFT_ID_NONE: a cause that is not in the excerpt */
};

/* In `arena`; borrows from both. Of each group the executions are picked evenly by duration, the
 * longest among them, so that distributions keep their shape. Hosts are omitted unless
 * `with_hosts`. */
WEFT_CHECKED enum weft_code weft_page_excerpt_make(const struct weft_ecct_matrix *matrix,
                                                   const struct weft_compare_table *table,
                                                   bool with_hosts, struct weft_arena *arena,
                                                   struct weft_page_excerpt *excerpt,
                                                   struct weft_err *err);

#endif
