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

enum { WEFT_TAIL_EXECUTIONS = 5 }; /* at least so many on each side */

/* Splits `n` durations in any order where the logarithms of both sides spread least (Otsu 1979),
 * and believes it if at least 75 % of their variance lies between the sides (one hump, of any
 * normal, exponential or even uniform shape, stays below), the slow median is at least 1.2 times
 * the fast one, and the slow ones cost at least 2 % of all time. A mixture of several humps is
 * split once. O(n log n). */
WEFT_CHECKED enum weft_code weft_slow_tail_find(const uint64_t *durations_ns, size_t n,
                                                struct weft_slow_tail *tail, struct weft_err *err);

#endif
