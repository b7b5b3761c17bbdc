/* SPDX-License-Identifier: MIT
 *
 * The verdict of a comparison: whether B differs from A, and where most of the difference lies
 * (docs/analyses/compare.md). Sentences are made of it elsewhere.
 */
#ifndef WEFT_ANALYSIS_COMPARE_VERDICT_H
#define WEFT_ANALYSIS_COMPARE_VERDICT_H

#include "analysis/compare/confidence.h"
#include "schema/compare.h"

#include <stdbool.h>

enum weft_compare_kind {
    WEFT_COMPARE_EMPTY,    /* a group has no execution, or there is no duration */
    WEFT_COMPARE_TOO_FEW,  /* a group has one execution */
    WEFT_COMPARE_IN_PLACE, /* durations show no evidence, but one context differs */
    WEFT_COMPARE_SAME,     /* no evidence of a difference */
    WEFT_COMPARE_DIFFERS,  /* durations differ */
};

/* What stands for the difference of the durations. */
enum weft_compare_where {
    WEFT_COMPARE_NOWHERE,
    WEFT_COMPARE_AT_FOCUS, /* the table's focus */
    WEFT_COMPARE_AT_STATE, /* a state, in many contexts */
    WEFT_COMPARE_AT_NODE,  /* a node that is sure */
    WEFT_COMPARE_LIKELY,   /* a node that is not sure */
};

struct weft_compare_verdict {
    enum weft_compare_kind kind;
    enum weft_compare_where where;              /* DIFFERS */
    const struct weft_compare_metric *duration; /* NULL: there is none */
    const struct weft_compare_metric *state;    /* AT_STATE */
    const struct weft_compare_node *node;       /* AT_NODE, LIKELY; SAME: differs all the same */
    double share;         /* of the difference: what stands for it; above 1: others are shorter */
    double context_share; /* of the focus with all below */
    bool has_context;     /* AT_FOCUS: and what else is done there counts, too */
    bool is_in_program;   /* AT_STATE, AT_NODE: beside the focus, which is the program's own */
    struct weft_confidence_basis confidence;
};

/* Pointers are into the table. O(nodes x depth). */
struct weft_compare_verdict weft_compare_verdict_of(const struct weft_ecct_matrix *matrix,
                                                    const struct weft_compare_table *table);

/* Do two groups of at least two executions differ, in duration or in place? */
bool weft_compare_has_evidence(const struct weft_ecct_matrix *matrix,
                               const struct weft_compare_table *table);

#endif
