/* SPDX-License-Identifier: MIT
 *
 * What happens during executions, and how often: tasks by type, say, in slow ones and in the others
 * (docs/analyses/frequencies.md).
 */
#ifndef WEFT_SCHEMA_FREQUENCIES_H
#define WEFT_SCHEMA_FREQUENCIES_H

#include "base/str.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_frequency_group { WEFT_FREQUENCY_SLOW, WEFT_FREQUENCY_OTHERS, WEFT_FREQUENCY_GROUPS };

/* What is counted has a label, which is the value of the fields that distinguishes it. */
struct weft_frequency_row {
    struct weft_str label;
    uint64_t n_all;                         /* in the trace, during executions or not */
    uint64_t count[WEFT_FREQUENCY_GROUPS];  /* in executions: once in each */
    uint64_t sum_ns[WEFT_FREQUENCY_GROUPS]; /* of its time, what lies in executions: likewise */
    double p, p_adjusted; /* that slow executions have more, or less, of it by chance (of its time,
                           * of points of their number); adjusted: Benjamini-Hochberg over the rows.
                           * NaN: not tested, as there is too much of it, or a
                           * group has fewer than WEFT_TRUSTED_EXECUTIONS */
};

struct weft_frequencies_table {
    struct weft_arena *arena;
    uint64_t slower_than_ns; /* 0: all executions are in the first group */
    uint64_t n_executions[WEFT_FREQUENCY_GROUPS];
    bool is_too_much; /* to be tested: of executions and labels */
    bool is_of_paths; /* counted is what the critical paths went through, once for each time */
    /* What happens in any. By how much more there is in a slow execution than in another: of time,
     * then of number. */
    struct weft_frequency_row *rows;
    size_t n_rows;
};

#endif
