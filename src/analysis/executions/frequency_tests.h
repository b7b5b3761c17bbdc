/* SPDX-License-Identifier: MIT
 *
 * Is there more of something in slow executions than chance puts there? What each execution has of
 * each label is kept, and Welch's test done with it (docs/analyses/frequencies.md).
 *
 *     weft_frequency_tests_new; weft_frequency_tests_piece ...; weft_frequency_tests_seal
 *     weft_frequency_tests_count ...
 *     weft_frequency_tests_finish
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_FREQUENCY_TESTS_H
#define WEFT_ANALYSIS_EXECUTIONS_FREQUENCY_TESTS_H

#include "base/error.h"
#include "schema/frequencies.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_frequency_tests;

/* What it keeps of labels takes a quarter of `memory_bytes`, at most (0: 4 million pairs of
 * executions and labels, which is always the most); it looks `n_looks` times (0: 33 million) at
 * pieces. NULL without memory. */
struct weft_frequency_tests *weft_frequency_tests_new(uint64_t memory_bytes, uint64_t n_looks);
/* NULL is allowed. */
void weft_frequency_tests_free(struct weft_frequency_tests *tests);

/* [start_ns, end_ns) of an execution, or of a piece of it, in a dense scope. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_frequency_tests_piece(struct weft_frequency_tests *tests,
                                                       uint32_t scope, uint32_t execution,
                                                       enum weft_frequency_group group,
                                                       uint64_t start_ns, uint64_t end_ns,
                                                       struct weft_err *err);

/* There are no more pieces. O(n log n). */
void weft_frequency_tests_seal(struct weft_frequency_tests *tests);

/* Something from start_ns to end_ns, or a point. O(pieces that begin before its end and after the
 * last one that had ended for good). Gives up for all labels, which is no failure, once there are
 * too many pairs of executions and labels to be kept, or to be looked at. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_frequency_tests_count(struct weft_frequency_tests *tests,
                                                       uint32_t scope, uint32_t label_id,
                                                       uint64_t start_ns, uint64_t end_ns,
                                                       struct weft_err *err);

/* Were there too many? */
bool weft_frequency_tests_gave_up(const struct weft_frequency_tests *tests);

/* Sets p[label] of `n_labels` labels, rows[label] of which are what was counted of them: of their
 * time, if they have any, else of their number. NaN where nothing is known: it gave up, or a group
 * has fewer than WEFT_TRUSTED_EXECUTIONS. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code
weft_frequency_tests_finish(const struct weft_frequency_tests *tests,
                            const struct weft_frequency_row *rows, size_t n_labels,
                            const uint64_t n_executions[WEFT_FREQUENCY_GROUPS], double *p,
                            struct weft_err *err);

#endif
