/* SPDX-License-Identifier: MIT
 *
 * RegTime: each thread's calls compressed to a few rows, outliers kept (ALGORITHMS.md section 1).
 */
#ifndef WEFT_ANALYSIS_REGTIME_REGTIME_H
#define WEFT_ANALYSIS_REGTIME_REGTIME_H

#include "analysis/analysis.h"
#include "schema/regtime.h"

#include <stdbool.h>
#include <stdint.h>

/* RegTime. Fractions are of the thread's duration; an absolute value, if not 0, replaces its
 * fraction. Outlier marks hang on the medians of the whole trace: `medians_ns` (by function id), or
 * if that is NULL and outlier_factor > 0, those that RegTime takes on its way (exact as those of
 * weft_medians_run). In a window, T is of what lies inside, and so are the thresholds. */
struct weft_regtime_opts {
    const struct weft_window *window; /* of this part alone; NULL: of the whole trace */
    double duration_fraction, gap_fraction, span_fraction;
    uint64_t duration_ns, gap_ns, span_ns;
    double negligible_fraction; /* 0: keep all */
    uint32_t glyphs;            /* rows a thread at most; 0: no budget */
    const uint64_t *medians_ns;
    double outlier_factor;   /* k: 100 */
    uint64_t outlier_min_ns; /* 1 ms */
};

/* With a ceiling for memory (run->memory_bytes), the result is that without one, as long as the
 * rows fit: one row for each WEFT_REGTIME_ROW_BYTES of it. If they do not, every thread has at most
 * `memory_rows` rows, as with so many glyphs: the most that fit when no thread has more rows than
 * calls. The trees on the way are bounded by reading a thread as often as it takes. */
enum { WEFT_REGTIME_ROW_BYTES = 1536 };

/* preset "paper" (1 %, 0.1 %, 13 %) or "fine" (0.5 %, 0.1 %, 2 %), 400 glyphs, k 100, 1 ms; false
 * if unknown. */
bool weft_regtime_preset(const char *name, struct weft_regtime_opts *opts);

WEFT_CHECKED enum weft_code
weft_regtime_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                 const struct weft_regtime_opts *opts, const struct weft_run *run,
                 struct weft_regtime_table **table, struct weft_err *err);

#endif
