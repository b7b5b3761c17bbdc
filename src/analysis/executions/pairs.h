/* SPDX-License-Identifier: MIT
 *
 * Begins and ends of executions, and how they find each other: an end belongs to the innermost open
 * begin of its type with the same matched field, in the same thread, process or trace. What is
 * pending is all that is kept.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_PAIRS_H
#define WEFT_ANALYSIS_EXECUTIONS_PAIRS_H

#include "base/error.h"
#include "base/map.h"
#include "schema/executions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_metric_value {
    uint32_t name; /* in the plan's names */
    double value;
};

/* Values of user metrics, in one piece of memory; NULL: none. */
struct weft_execution_values {
    size_t n;
    struct weft_metric_value items[];
};

/* Owns its values; a taker owns them then. */
struct weft_execution_point {
    uint64_t at_ns;
    uint64_t key;      /* of type, scope and matched field together */
    uint64_t shown;    /* value of the matched field */
    uint64_t sequence; /* on its thread */
    uint32_t type, thread_id;
    bool is_end;
    bool is_turn;    /* an end behind which the next one begins at once */
    bool is_dropped; /* an end with which the execution does not count */
    struct weft_execution_values *values;
};

/* Owns its values. */
struct weft_execution_found {
    struct weft_execution_row row;
    struct weft_execution_values *begin, *end;
};

struct weft_executions_found {
    struct weft_execution_found *items;
    size_t n, cap;
};

struct weft_execution_pending {
    struct weft_execution_point begin;
    uint32_t below; /* the one of the same key that began before, or WEFT_ID_NONE */
    bool is_open;
};

/* Ends that made no row, of a type. */
struct weft_execution_ends {
    uint64_t unmatched; /* nothing was open */
    uint64_t dropped;
};

/* All zero is empty. */
struct weft_execution_pairs {
    struct weft_map *keys;
    struct {
        uint32_t *items; /* by key: the innermost open one */
        size_t n, cap;
    } tops;
    struct {
        struct weft_execution_pending *items;
        size_t n, cap;
    } pending;
    size_t n_open;
    uint32_t free; /* first of a list along `below` + 1; 0: none */
    struct {
        struct weft_execution_ends *items; /* by type, as far as there are any */
        size_t n, cap;
    } ends;
};

void weft_execution_pairs_fini(struct weft_execution_pairs *pairs);
void weft_executions_found_fini(struct weft_executions_found *found);

/* Takes the points, which are in order of time, and their values, which are NULL afterwards, also
 * when it fails; `is_across`: of several threads, of which those of one ns have no order: an end
 * may come before its begin, and one call has all points of a ns. Those that end go to `found`.
 * Expected O(1) for a point. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_execution_pairs_take(struct weft_execution_pairs *pairs,
                                                      struct weft_execution_point *points,
                                                      size_t n_points, bool is_across,
                                                      struct weft_executions_found *found,
                                                      struct weft_err *err);

/* What is still open ends at `end_ns`, unfinished; forgets everything. */
WEFT_CHECKED enum weft_code weft_execution_pairs_finish(struct weft_execution_pairs *pairs,
                                                        uint64_t end_ns,
                                                        struct weft_executions_found *found,
                                                        struct weft_err *err);

#endif
