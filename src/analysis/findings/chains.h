/* SPDX-License-Identifier: MIT
 *
 * Functions in which most of a problem lies. For problems.c.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_CHAINS_H
#define WEFT_ANALYSIS_FINDINGS_CHAINS_H

#include "schema/problems.h"

#include <stdint.h>

/* Of the nodes whose `of` is `group`: where the execution's own thread waits, and where the holder
 * and the last thread are, if there are any. As deep as at least half of what slow executions have
 * more lies. */
void weft_chains_of(const struct weft_finding *finding, const uint32_t *of, uint32_t group,
                    struct weft_problem *problem);

#endif
