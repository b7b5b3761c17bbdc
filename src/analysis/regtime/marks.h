/* SPDX-License-Identifier: MIT
 *
 * RegTime's outlier marks. The medians they hang on are known only when every call of the trace has
 * been read, so rows are made first and marked last: a call or a node by its own longest duration;
 * a sliver or an "other", which holds many functions, by its candidates, the calls in it that are
 * long enough to be outliers of any function.
 */
#ifndef WEFT_ANALYSIS_REGTIME_MARKS_H
#define WEFT_ANALYSIS_REGTIME_MARKS_H

#include "base/map.h"
#include "schema/regtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest call of a function in one owner: a sliver or an "other", then its row. */
struct regtime_candidate {
    uint32_t owner;
    uint32_t function_id;
    uint64_t max_ns;
};

/* Of one thread; a worker's memory. */
struct regtime_candidates {
    uint64_t least_ns; /* shorter calls are outliers of no function; UINT64_MAX: no marks */
    struct {
        struct regtime_candidate *items;
        size_t n, cap;
    } list;
    struct weft_map *ids; /* owner << 32 | function: index in list */
    struct {
        uint32_t *items;
        size_t n, cap;
    } row_of; /* by owner - 1 */
    struct {
        uint32_t *items;
        size_t n, cap;
    } joined; /* owners that became part of another: this one, that one, ... */
};

void weft_regtime_candidates_reset(struct regtime_candidates *candidates);
void weft_regtime_candidates_fini(struct regtime_candidates *candidates);

/* Keeps a call of at least least_ns; *owner is 0 before its first, and then its number. False
 * without memory. */
bool weft_regtime_candidate_add(struct regtime_candidates *candidates, uint32_t *owner,
                                uint32_t function_id, uint64_t max_ns);

/* The candidates of owner `from` become those of `*owner`, once they are settled. False without
 * memory. */
bool weft_regtime_candidates_join(struct regtime_candidates *candidates, uint32_t *owner,
                                  uint32_t from);
bool weft_regtime_candidates_settle(struct regtime_candidates *candidates);

/* A thread's candidates by row, once every owner has its row: *list (the caller's to free) of *n.
 */
bool weft_regtime_candidates_take(struct regtime_candidates *candidates,
                                  struct regtime_candidate **list, size_t *n);

/* Marks the rows of a thread. `outlier_ns`, by function id: longer is an outlier. */
void weft_regtime_mark_outliers(struct weft_regtime_row *rows, size_t n_rows,
                                const struct regtime_candidate *candidates, size_t n_candidates,
                                const uint64_t *outlier_ns);

#endif
