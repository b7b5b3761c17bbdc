/* SPDX-License-Identifier: MIT
 *
 * Shapes: which behaviours does a program have, and where do they break? (Muthukuda, "Shapes";
 * docs/analyses/shapes.md says what was settled beyond the paper.)
 */
#ifndef WEFT_ANALYSIS_SHAPES_SHAPES_H
#define WEFT_ANALYSIS_SHAPES_SHAPES_H

#include "analysis/analysis.h"
#include "schema/shapes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_shapes_opts {
    const struct weft_window *window; /* NULL: the whole trace */
    uint32_t threshold_halves;        /* of a cluster, in half units: 3 */
    uint64_t min_count;      /* clusters of fewer occurrences are in no ribbon; 0, 1: none */
    const bool *is_excluded; /* by function id; NULL: none. Callees of an excluded call count as its
                                caller's */
    uint32_t n_columns;      /* of the ribbons' runs; 0: none */
    double spike_factor;     /* k: 10 */
    uint64_t spike_least_ns; /* that a spike lasts: 10 us */
    double drop_fraction;    /* 0.5 */
    uint32_t n_windows;      /* that the drops are sought in: 200 */
    uint32_t limit;          /* spikes and drops kept, each: 1,000; 0: all */
    uint64_t max_shapes;     /* 0: 1 << 19, or fewer if that is all that fits */
    uint64_t max_rows;       /* of shapes on threads; 0: as many as fit */
    uint64_t max_cells;      /* of clusters and columns of a thread; 0: as many as fit */
    uint64_t max_tape_bytes; /* kept of calls to save time; 0: a quarter of the ceiling */
};

void weft_shapes_defaults(struct weft_shapes_opts *opts);

/* Two passes over the blocks: shapes, and, when clusters and their percentiles are known, their
 * occurrences. Where the durations of all calls do not fit on tapes, further passes until the
 * percentiles are exact. Memory: O(shapes + clusters x threads + columns) and the tapes,
 * independent of the number of calls, and bounded by the limits: what they cut is counted in the
 * table. Same table for any number of workers and any memory. */
WEFT_CHECKED enum weft_code weft_shapes_run(const struct weft_trace *trace,
                                            const struct weft_thread_filter *filter,
                                            const struct weft_shapes_opts *opts,
                                            const struct weft_run *run,
                                            struct weft_shapes_table **table, struct weft_err *err);

#endif
