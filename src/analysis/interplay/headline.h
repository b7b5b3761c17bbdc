/* SPDX-License-Identifier: MIT
 *
 * The pair of waiter and releaser that an answer is mainly about: in the process whose threads wait
 * for each other, for known objects, most often.
 */
#ifndef WEFT_ANALYSIS_INTERPLAY_HEADLINE_H
#define WEFT_ANALYSIS_INTERPLAY_HEADLINE_H

#include "analysis/interplay/interplay.h"

/* Sets table->headline; its cells are there. WEFT_E_NOMEM. O(threads + cells). */
WEFT_CHECKED enum weft_code weft_interplay_find_headline(const struct weft_interplay *interplay,
                                                         struct weft_interplay_table *table,
                                                         struct weft_err *err);

#endif
