/* SPDX-License-Identifier: MIT
 *
 * Patterns of the interplay, each with what says so (docs/analyses/interplay.md, "Patterns").
 */
#ifndef WEFT_ANALYSIS_INTERPLAY_PATTERNS_H
#define WEFT_ANALYSIS_INTERPLAY_PATTERNS_H

#include "analysis/interplay/tables.h"

/* Adds patterns to a table whose other lists are there. `is_kept` is by thread. */
WEFT_CHECKED enum weft_code weft_interplay_find_patterns(const struct weft_interplay *interplay,
                                                         const uint8_t *is_kept,
                                                         struct weft_interplay_names *names,
                                                         struct weft_interplay_table *table,
                                                         struct weft_err *err);

#endif
