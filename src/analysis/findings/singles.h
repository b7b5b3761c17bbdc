/* SPDX-License-Identifier: MIT
 *
 * Slow executions that are too few to be compared. For analysis/findings.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_SINGLES_H
#define WEFT_ANALYSIS_FINDINGS_SINGLES_H

#include "analysis/findings/facts.h"
#include "base/error.h"

/* Those among the slow ones whose reason nothing else shares, the slowest first: at most
 * WEFT_SINGLES_MOST, of which `item` and `ns` are filled in; the number of all. */
size_t weft_singles_list(const struct weft_facts *facts, struct weft_finding_single *list);

/* Is most of what the execution is longer for that another program had the processor? */
bool weft_single_is_outside(const struct weft_facts *facts, uint32_t item);

/* Fills in the rest. O(nodes). False without memory. */
WEFT_CHECKED bool weft_single_describe(const struct weft_facts *facts,
                                       struct weft_finding_single *single);

#endif
