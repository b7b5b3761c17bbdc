/* SPDX-License-Identifier: MIT
 *
 * Where slow executions begin, if there are any (docs/analyses/diagnose.md).
 */
#ifndef WEFT_ANALYSIS_COMPARE_TAIL_H
#define WEFT_ANALYSIS_COMPARE_TAIL_H

#include "base/error.h"
#include "schema/compare.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_TAIL_EXECUTIONS = 5, /* at least so many on each side of a hump */
    WEFT_TAIL_CUTS = 8,       /* two of humps, one of each decade of the tail, one of those that are
                               * far and costly, one of single ones */
};

/* Cuts that are worth to be looked at, the one between humps first, then ever rarer ones. */
struct weft_slow_tails {
    struct weft_slow_tail cuts[WEFT_TAIL_CUTS];
    size_t n_cuts; /* at least 1: the first says what was found of humps, even if that is nothing */
};

/* Cuts `n` durations in any order
 *
 * - between humps: where the logarithms of both sides spread least (Otsu 1979), believed if at
 *   least 76 % (and 3 / n) of their variance lies between the sides (one hump, of any normal,
 *   exponential or even uniform shape, stays below), the slow median is at least 1.2 times the fast
 *   one, and the slow ones cost at least 2 % of all time;
 * - likewise between the humps of the slow ones, if these are most: the few that are faster find
 *   nothing to do, and what is usual is the next hump;
 * - around the slowest 10, 1, 0.1 and 0.01 %, at least 10: where the tail changes most from what it
 *   was before (the change point of Renyi's normalised spacings), believed if it is heavier from
 *   there on than chance makes the tail of any power law, or of a lighter one; worth a look if the
 *   slow ones cost at least 0.5 % of all time;
 * - before the first gap in the slowest tenth, of 1.25 at least, from which on the slow ones cost
 * a fifth of all time and have a median of 20 times the fast one, and 10 times the fast mean;
 * - before the slowest 1 to 4, if they are so far from the rest.
 *
 * O(n log n). */
WEFT_CHECKED enum weft_code weft_slow_tails_find(const uint64_t *durations_ns, size_t n,
                                                 struct weft_slow_tails *tails,
                                                 struct weft_err *err);

#endif
