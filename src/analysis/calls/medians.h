/* SPDX-License-Identifier: MIT
 *
 * Medians for outlier marks, in two steps, so that an analysis that reads every call anyway can
 * fill the histograms on its way (medians.c).
 */
#ifndef WEFT_ANALYSIS_CALLS_MEDIANS_H
#define WEFT_ANALYSIS_CALLS_MEDIANS_H

#include "analysis/calls/quantiles.h"

/* What one worker has seen. Zeroed: not ready. */
struct weft_median_tally {
    struct weft_hist_set hist; /* of closed calls */
    uint64_t *top_ns;          /* by function id: longest call of any kind */
};

WEFT_CHECKED enum weft_code weft_median_tally_ready(struct weft_median_tally *tally,
                                                    uint32_t n_functions, struct weft_err *err);
void weft_median_tally_fini(struct weft_median_tally *tally);

/* Every call of the trace must be seen once, by any worker. False without memory. */
bool weft_median_tally_block(struct weft_median_tally *tally, const struct weft_calls *calls);

/* Shows the calls of the selected threads to the tallies, one a worker. */
WEFT_CHECKED enum weft_code weft_median_tally_threads(struct weft_median_tally *tallies,
                                                      const struct weft_trace *trace,
                                                      const uint32_t *ids, size_t n_ids,
                                                      const struct weft_run *run,
                                                      struct weft_err *err);

/* The medians of weft_medians_run (analysis.h) from what `n_tallies` workers saw; the caller frees
 * them. Reads the blocks again that call functions whose median is not exact yet, but must be. */
WEFT_CHECKED enum weft_code weft_medians_of(struct weft_median_tally *tallies, unsigned n_tallies,
                                            const struct weft_trace *trace, double factor,
                                            uint64_t least_ns, const struct weft_run *run,
                                            uint64_t **medians_ns, struct weft_err *err);

#endif
