/* SPDX-License-Identifier: MIT
 *
 * Which executions of a type are the slow ones: the cuts that their durations propose
 * (analysis/compare/tail.h) are compared one by one, and the one with the strongest evidence is
 * kept (docs/analyses/diagnose.md). `weft diagnose` and the screens ask here, so that both say the
 * same.
 */
#ifndef WEFT_QUERY_CUTS_H
#define WEFT_QUERY_CUTS_H

#include "base/error.h"
#include "schema/compare_cut.h"

struct weft_comparison;

/* Looks at each cut that is worth it, with WEFT_COMPARE_BOOTSTRAP nodes bootstrapped and with
 * causes; the last question of the comparison may then be of another cut than that which is kept.
 * After a failure there is no table. At most WEFT_TAIL_CUTS comparisons. */
WEFT_CHECKED enum weft_code weft_comparison_cut_find(struct weft_comparison *comparison,
                                                     const struct weft_cut_judge *judge,
                                                     struct weft_compare_cut *cut,
                                                     struct weft_err *err);

#endif
