/* SPDX-License-Identifier: MIT
 *
 * The time that executions spend in a context, which a filter names.
 */
#ifndef WEFT_QUERY_FILTER_CONTEXT_H
#define WEFT_QUERY_FILTER_CONTEXT_H

#include "base/error.h"
#include "base/str.h"
#include "schema/ecct.h"

#include <stdbool.h>

/* Marks the nodes that `text` (followed by a NUL) names, and all below them. The first that fits:
 *   "a;b;c"    the one path from the root, whole names
 *   "/regex/"  names that match
 *   "name"     nodes called so
 *   "a>b"      nodes "b" somewhere below nodes "a", each in one of these ways
 *   "part"     nodes whose names hold it, in letters of either case
 * WEFT_E_ARG if there is no such node. */
WEFT_CHECKED enum weft_code weft_context_mark(const struct weft_ecct_matrix *matrix,
                                              struct weft_str text, bool *is_in,
                                              struct weft_err *err);

/* The time of each item in the nodes marked: inclusive, no part of it twice. */
void weft_context_times(const struct weft_ecct_matrix *matrix, const bool *is_in, double *times_ns);

#endif
