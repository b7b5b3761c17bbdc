/* SPDX-License-Identifier: MIT
 *
 * The tree in which causes are looked for (compare_causes.c).
 */
#ifndef WEFT_ANALYSIS_COMPARE_CAUSES_TREE_H
#define WEFT_ANALYSIS_COMPARE_CAUSES_TREE_H

#include "analysis/compare/causes.h"
#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tree in which causes are looked for: that of the matrix, but for what happens to a thread
 * wherever it is: what preempts it, and what interrupts it, has its place below the root, so that
 * it is one cause. A parent is before its children. */
struct weft_cause_tree {
    uint32_t *of;     /* by node of the matrix */
    uint32_t *parent; /* the rest: by node of this tree; WEFT_ID_NONE for the root */
    uint32_t *frame;
    double *mean_ns, *total_ns; /* of group A */
    bool *is_usual;             /* A has it, too */
    size_t n;
};

/* Does it happen to a thread wherever it is? */
bool weft_frame_happens_anywhere(const struct weft_frame *frame);

/* Are scheduling events recorded? Where they are, executions have the metric
 * preemptions, even if none was ever preempted. For a database: a trace says it itself
 * (weft_trace_has_switches). O(frames). */
bool weft_matrix_has_switches(const struct weft_ecct_matrix *matrix);

/* The node that stands for what a sentence names by `named`, below the root: of what happens
 * anywhere the thread that does it; else the outermost wait; else the innermost function. */
uint32_t weft_cause_tree_anchor(const struct weft_cause_tree *tree,
                                const struct weft_ecct_matrix *matrix, uint32_t named);
/* Is a node, or one above it, what the anchor is, in another place or the same? */
bool weft_cause_tree_is_like(const struct weft_cause_tree *tree, uint32_t node, uint32_t anchor);

/* `keys` is used, and left empty. False without memory; to be ended all the same. */
bool weft_cause_tree_init(struct weft_cause_tree *tree, const struct weft_causes_base *base,
                          struct weft_map *keys);
void weft_cause_tree_fini(struct weft_cause_tree *tree);

#endif
