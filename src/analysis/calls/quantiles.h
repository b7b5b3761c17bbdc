/* SPDX-License-Identifier: MIT
 *
 * Exact quantiles per function in bounded memory. Values are seen twice or more: first all of them
 * fill log-linear histograms, which show in which slot each wanted rank lies; a slot wider than one
 * value becomes a target, and later passes over the values collect or subdivide only the targets.
 */
#ifndef WEFT_ANALYSIS_CALLS_QUANTILES_H
#define WEFT_ANALYSIS_CALLS_QUANTILES_H

#include "base/error.h"
#include "model/calls/scan.h"
#include "model/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first pass of one worker: a histogram a function, pages made on touch. */
struct weft_hist_set {
    uint32_t n_functions;
    uint32_t *page_of; /* [function][WEFT_HIST_PAGES]: page number + 1, or 0 */
    uint64_t *pages;   /* [page][WEFT_HIST_SLOTS] */
    size_t n_pages, cap_pages;
};

WEFT_CHECKED enum weft_code weft_hist_set_init(struct weft_hist_set *set, uint32_t n_functions,
                                               struct weft_err *err);
void weft_hist_set_fini(struct weft_hist_set *set);

/* Makes the page; false without memory. Use weft_hist_add. */
bool weft_hist_grow(struct weft_hist_set *set, size_t cell);

static inline bool weft_hist_add(struct weft_hist_set *set, uint32_t function_id, uint64_t value)
{
    uint32_t page = weft_hist_page(value);
    size_t cell = (size_t)function_id * WEFT_HIST_PAGES + page;
    if (__builtin_expect(set->page_of[cell] == 0, 0) && !weft_hist_grow(set, cell))
        return false;
    set->pages[(size_t)(set->page_of[cell] - 1) * WEFT_HIST_SLOTS + weft_hist_slot(value, page)]++;
    return true;
}

/* Adds `from` to `set`. */
WEFT_CHECKED enum weft_code weft_hist_merge(struct weft_hist_set *set,
                                            const struct weft_hist_set *from, struct weft_err *err);

enum { WEFT_QUANTILES = 4 }; /* p50, p90, p99, p99.9 */

/* A range of values that holds wanted ranks: its values are collected if they are few, else counted
 * in equal parts. Shared by all workers of a pass. */
struct weft_quantile_target {
    uint64_t low, width; /* values in [low, low + width) */
    uint64_t n_values;   /* that lie in it */
    uint64_t part_width; /* 0: collect */
    uint64_t n_seen;     /* atomic while a pass runs, as are the cells */
    uint64_t *cells;     /* values or part counts; NULL: not in this pass */
    uint32_t function_id;
    uint32_t n_wanted;
    uint64_t rank[WEFT_QUANTILES]; /* from 1, within the range */
    uint32_t quantile[WEFT_QUANTILES];
};

struct weft_quantiles {
    uint32_t n_functions;
    uint64_t (*value_ns)[WEFT_QUANTILES]; /* result, by function id; 0 where there is no value */
    struct weft_quantile_target *targets; /* by function, ascending ranges */
    size_t n_targets;
    uint32_t *first_target; /* by function id: index + 1 of its first target in this pass, or 0 */
};

/* Asks for medians alone, and exact only where an outlier mark hangs on them: for a function whose
 * longest call lasts `least_ns` or more, and more than `factor` x the low end of its median's slot.
 * The others get that low end, with which no call of theirs is marked either. */
struct weft_quantile_marks {
    const uint64_t *top_ns; /* longest call of any kind, by function id */
    double factor;
    uint64_t least_ns;
};

/* Reads the wanted ranks off the histograms and makes the targets. `marks` NULL: all quantiles,
 * exact. */
WEFT_CHECKED enum weft_code weft_quantiles_init(struct weft_quantiles *quantiles,
                                                const struct weft_hist_set *set,
                                                const struct weft_quantile_marks *marks,
                                                struct weft_err *err);
void weft_quantiles_fini(struct weft_quantiles *quantiles);

/* Prepares the next pass: *is_needed is false when all is known. A pass takes as many targets as
 * fit in a fixed amount of memory. */
WEFT_CHECKED enum weft_code weft_quantiles_begin(struct weft_quantiles *quantiles, bool *is_needed,
                                                 struct weft_err *err);

/* Shows a value of a function whose first_target is not 0. Thread-safe. */
void weft_quantiles_see(struct weft_quantiles *quantiles, uint32_t function_id, uint64_t value);

/* Ends a pass: resolves or narrows its targets. WEFT_E_MALFORMED if the values differed from those
 * of the first pass. */
WEFT_CHECKED enum weft_code weft_quantiles_end(struct weft_quantiles *quantiles,
                                               struct weft_err *err);

/* All the later passes: shows the closed calls of the selected threads until every quantile is
 * known, skipping blocks that call no function with a target. */
WEFT_CHECKED enum weft_code weft_quantiles_run(struct weft_quantiles *quantiles,
                                               const struct weft_trace *trace, const uint32_t *ids,
                                               size_t n_ids, const struct weft_window *window,
                                               const struct weft_run *run, struct weft_err *err);

#endif
