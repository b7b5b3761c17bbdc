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
 * wherever it is: who preempts it, and what interrupts it, has its place below the root, so that it
 * is one cause. A parent is before its children. */
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

/* Does anything tell who had the processors? Where a kernel does, executions have the metric
 * preemptions, even if none was ever preempted. For a database: a trace says it itself
 * (weft_trace_has_switches). O(frames). */
bool weft_matrix_has_switches(const struct weft_ecct_matrix *matrix);

/* `keys` is used, and left empty. False without memory; to be ended all the same. */
bool weft_cause_tree_init(struct weft_cause_tree *tree, const struct weft_causes_base *base,
                          struct weft_map *keys);
void weft_cause_tree_fini(struct weft_cause_tree *tree);

#endif
