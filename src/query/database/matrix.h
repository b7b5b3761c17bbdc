/* SPDX-License-Identifier: MIT
 *
 * A matrix of executions (schema/ecct.h) that grows: what a database is read into, and what trees
 * are put into that need no database.
 */
#ifndef WEFT_QUERY_DATABASE_MATRIX_H
#define WEFT_QUERY_DATABASE_MATRIX_H

#include "base/error.h"
#include "schema/ecct.h"

/* An execution to add: `nodes` ascend strictly, in ids of the caller's tree; `values` by the
 * metrics that the matrix was made with, NAN: none. */
struct weft_matrix_row {
    const struct weft_execution_item *item;
    const uint32_t *nodes;
    const uint64_t *ns;
    size_t n_nodes;
    const double *values;
};

/* The caller's tree: a node's parent is before it; frames may have equal names. */
struct weft_matrix_tree {
    const struct weft_frame *frames;
    const struct weft_ecct_node *nodes;
    size_t n_frames, n_nodes;
};

struct weft_matrix_maker;

/* `metrics`: names and units of those besides "duration" and "start", which follow from the items.
 * All is copied. NULL without memory. */
struct weft_matrix_maker *weft_matrix_maker_new(const struct weft_metric *metrics,
                                                size_t n_metrics);
/* NULL is allowed. */
void weft_matrix_maker_free(struct weft_matrix_maker *maker);

/* The matrix has this metric even if no execution has a value of it. */
void weft_matrix_keep_metric(struct weft_matrix_maker *maker, size_t metric);

/* Sources are numbered from 0; all is copied. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_matrix_source(struct weft_matrix_maker *maker,
                                               const struct weft_execution_source *source,
                                               struct weft_err *err);
WEFT_CHECKED enum weft_code weft_matrix_add(struct weft_matrix_maker *maker,
                                            const struct weft_matrix_row *row,
                                            struct weft_err *err);

/* The matrix of what was added, of the nodes that it has, with those above them; nodes of equal
 * paths become one. Metrics that no execution has
 * are left out, but for those that are kept. O(all that was added). */
WEFT_CHECKED enum weft_code weft_matrix_finish(struct weft_matrix_maker *maker,
                                               const struct weft_matrix_tree *tree,
                                               struct weft_ecct_matrix **matrix,
                                               struct weft_err *err);

#endif
