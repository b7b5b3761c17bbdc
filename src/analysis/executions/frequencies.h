/* SPDX-License-Identifier: MIT
 *
 * Counts what lies in intervals, which may overlap, by group and label. An interval is of a scope
 * (a process; a thread): it holds what is of the same scope.
 *
 *     weft_frequencies_new
 *     weft_frequencies_interval ...
 *     weft_frequencies_seal
 *     weft_frequencies_count ...
 *     weft_frequencies_finish
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_FREQUENCIES_H
#define WEFT_ANALYSIS_EXECUTIONS_FREQUENCIES_H

#include "base/error.h"
#include "schema/frequencies.h"

#include <stdint.h>

struct weft_frequencies;

/* Tests are bounded by `memory_bytes` and `n_looks`, as its tests say (0: its own bounds).
 * NULL without memory. */
struct weft_frequencies *weft_frequencies_new(uint64_t memory_bytes, uint64_t n_looks);
/* NULL is allowed. */
void weft_frequencies_free(struct weft_frequencies *frequencies);

/* [start_ns, end_ns) of an execution, or of a piece of it; `execution` is its number. WEFT_E_NOMEM.
 * Memory: 72 bytes an interval. */
WEFT_CHECKED enum weft_code weft_frequencies_interval(struct weft_frequencies *frequencies,
                                                      uint64_t scope, uint32_t execution,
                                                      enum weft_frequency_group group,
                                                      uint64_t start_ns, uint64_t end_ns,
                                                      struct weft_err *err);

/* There are no more intervals. O(n log n). WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_frequencies_seal(struct weft_frequencies *frequencies,
                                                  struct weft_err *err);

/* Something of the label `label_id` (dense) that lasts from start_ns to end_ns, or is a point. It
 * counts once for each interval that it is in, with the time that it shares with that. O(log n),
 * and what its tests say. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_frequencies_count(struct weft_frequencies *frequencies,
                                                   uint64_t scope, uint32_t label_id,
                                                   uint64_t start_ns, uint64_t end_ns,
                                                   struct weft_err *err);

/* The rows of what is in any interval, sorted, in table->rows; their labels are copied from
 * `labels`. `table` has its other members, and an arena. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_frequencies_finish(const struct weft_frequencies *frequencies,
                                                    const struct weft_strtab *labels,
                                                    struct weft_frequencies_table *table,
                                                    struct weft_err *err);

#endif
