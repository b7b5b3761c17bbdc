/* SPDX-License-Identifier: MIT
 *
 * Which causes count (docs/analyses/diagnose.md, "Causes that count"). For analysis/findings.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_CAUSES_H
#define WEFT_ANALYSIS_FINDINGS_CAUSES_H

#include "analysis/findings/facts.h"
#include "analysis/findings/rules.h"

/* By the first rule that fires; `tried` (NULL: not kept) becomes those up to it. */
enum weft_cause_place weft_cause_place_of(const struct weft_facts *facts,
                                          const struct weft_compare_cause *cause,
                                          struct weft_rule_log *log);

/* What the executions of a cause last longer than the usual ones, all together; and of all time of
 * the type's executions, 0 to 1. */
double weft_cause_cost_ns(const struct weft_facts *facts, const struct weft_compare_cause *cause);
double weft_cause_share(const struct weft_facts *facts, const struct weft_compare_cause *cause);

/* Is it worth a sentence, but not much more? It costs less than 20 % of all time, and those
 * that have it last less than 5 times as long as the usual ones and are, of a type that was
 * asked for, fewer than 10 %; or less than 10 % of all time, and they last less than 10 times as
 * long.
 */
bool weft_cause_is_small(const struct weft_facts *facts, const struct weft_compare_cause *cause);

/* Those of a place, the most expensive first, at most `n_most`; the number of all. */
size_t weft_causes_list(const struct weft_facts *facts, enum weft_cause_place place,
                        const struct weft_compare_cause **list, size_t n_most);

/* The row of a node of the matrix; NULL if no execution compared has it. */
const struct weft_compare_node *weft_compare_row_of(const struct weft_compare_table *table,
                                                    uint32_t node);

/* Most of the slow executions of a function that is only suggested do not matter for this reason:
 * they wait for something to do, the others find nothing to do, more than half do the same. */
bool weft_facts_are_mostly(const struct weft_facts *facts, enum weft_verdict verdict,
                           struct weft_rule_try *tried);

/* Does nothing between the root and the node belong to another thread, or to a lock? */
bool weft_node_is_own(const struct weft_ecct_matrix *matrix, uint32_t node);

/* Does the thread wait there for that reason, and nothing more? */
bool weft_node_is_blocked(const struct weft_ecct_matrix *matrix, uint32_t node,
                          enum weft_path_reason reason);

/* Does the execution's own thread run there, as far as is known? */
bool weft_node_is_own_run(const struct weft_ecct_matrix *matrix, uint32_t node);

/* Is the node what the type is called by, a function that ran? That says nothing of why. */
bool weft_node_is_type_itself(const struct weft_facts *facts, uint32_t node);

/* Threads of one name, but for digits. */
bool weft_threads_are_alike(struct weft_str a, struct weft_str b);

#endif
