/* SPDX-License-Identifier: MIT
 *
 * Threads that wait for work, and executions that are slow because another thread is
 * (docs/analyses/diagnose.md, "What matters").
 */
#ifndef WEFT_ANALYSIS_FINDINGS_IDLE_H
#define WEFT_ANALYSIS_FINDINGS_IDLE_H

#include "analysis/findings/facts.h"
#include "base/error.h"

/* Is `node` a wait for another thread, not for a lock, while that one waits itself outside of all
 * that the program does again and again? Then there is nothing to do for either of them. False
 * where nothing is known of what repeats (weft_facts.wholes). */
bool weft_facts_is_idle_at(const struct weft_facts *facts, uint32_t node);

/* Does the last thread on the way to `node` hold what is waited for? It is waited for in no
 * function that waits for something to come, which says that it is a lock. */
bool weft_node_is_behind_holder(const struct weft_ecct_matrix *matrix, uint32_t node);

/* Do usual executions do next to nothing but be idle: is what is not, at most a tenth of their
 * time, or 10 us? O(nodes). */
bool weft_facts_is_there_to_wait(const struct weft_facts *facts);

/* Do executions of `other`, of a thread of another name, wait as usual for the thread of
 * `facts` while it works? At least a third of them, for a tenth of their time. O(values of
 * `other`). The answer is `*serves`; false without memory. */
WEFT_CHECKED bool weft_facts_find_serves(const struct weft_facts *facts,
                                         const struct weft_facts *other, bool *serves);

/* Does a cause within the program of `other` lead through the thread of `facts`? */
bool weft_facts_is_felt(const struct weft_facts *facts, const struct weft_facts *other);

#endif
