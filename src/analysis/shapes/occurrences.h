/* SPDX-License-Identifier: MIT
 *
 * The pass over the occurrences of clusters, when it is known what to look for: typical ones,
 * spikes, how many begin in each window of time, and the runs of ribbons.
 */
#ifndef WEFT_ANALYSIS_SHAPES_OCCURRENCES_H
#define WEFT_ANALYSIS_SHAPES_OCCURRENCES_H

#include "analysis/shapes/mine.h"
#include "model/window.h"
#include "schema/shapes.h"

/* What is looked for among the calls of a cluster. */
struct weft_shape_watch {
    uint64_t median_ns, max_ns;
    uint64_t first_ns;       /* begin of the earliest */
    uint64_t spike_above_ns; /* UINT64_MAX: none is a spike */
    uint32_t drop_slot;      /* of its counts by window, or WEFT_ID_NONE */
};

struct weft_occurrence_opts {
    const uint32_t *cluster_of; /* by shape */
    size_t n_clusters;
    const struct weft_shape_watch *watch; /* by cluster */
    struct weft_window window;            /* windows and columns divide it */
    uint32_t n_columns;                   /* 0: no runs */
    uint32_t n_windows, n_drop_slots;
    uint32_t limit; /* spikes kept; 0: all */
    /* Ribbons of the mined thread `item`: of clusters cluster_id[i], i in first[item] ...
     * first[item + 1), ribbon[i] or WEFT_ID_NONE, which has no runs. */
    const size_t *first;
    const uint32_t *cluster_id, *ribbon;
};

struct weft_shape_runs {
    struct weft_shape_run *runs; /* by ribbon, then column */
    uint32_t *ribbon;            /* of each */
    size_t n_runs;
};

/* The earliest calls of a cluster: of all, of those as long as the median, and of the longest. Of
 * those that begin at once the first, on the lower thread. */
struct weft_shape_examples {
    struct weft_shape_occurrence first, typical, slowest;
};

struct weft_occurrences {
    struct weft_shape_examples *examples; /* by cluster */
    uint64_t *n_spikes;                   /* by cluster */
    struct weft_shape_spike *spikes;      /* highest first */
    size_t n_spikes_kept;
    uint32_t *begun;              /* [window][drop_slot] */
    struct weft_shape_runs *runs; /* by mined thread */
    size_t n_threads;
};

/* WEFT_E_NOMEM, and what replaying returns. */
WEFT_CHECKED enum weft_code
weft_occurrences_run(const struct weft_mined *mined, struct weft_shape_replay *replay,
                     const struct weft_occurrence_opts *opts, unsigned n_workers,
                     struct weft_occurrences *occurrences, struct weft_err *err);
void weft_occurrences_fini(struct weft_occurrences *occurrences);

/* Part `i` of `n` equal parts of a window begins here; part n where it ends. */
uint64_t weft_shape_part_begin(const struct weft_window *window, uint32_t n, uint32_t i);

#endif
