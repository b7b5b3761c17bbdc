/* SPDX-License-Identifier: MIT
 *
 * Does a table of shapes keep what Shapes promises? Checked on the table itself, with nothing but
 * the definitions (docs/analyses/shapes.md).
 */
#ifndef WEFT_ANALYSIS_SHAPES_VERIFY_H
#define WEFT_ANALYSIS_SHAPES_VERIFY_H

#include "analysis/shapes/metric.h"
#include "base/error.h"
#include "model/trace.h"
#include "schema/shapes.h"

#include <stdint.h>

enum weft_shape_promise {
    WEFT_PROMISE_ORDER,    /* ids in canonical order, children lower than parents, no shape twice */
    WEFT_PROMISE_METRIC,   /* identity, symmetry, triangle inequality */
    WEFT_PROMISE_CLUSTERS, /* one function, within the threshold, none below another */
    WEFT_PROMISE_RIBBONS,  /* no cluster of a ribbon, of the trace or a thread, below another */
    WEFT_PROMISE_COUNTS,   /* shapes, clusters and threads count the same calls and times */
    WEFT_PROMISES,
};

struct weft_shape_verdict {
    uint64_t n_checked, n_wrong;
    uint32_t ids[2]; /* of the first that is wrong: shapes; COUNTS: a cluster */
};

/* `verdicts` by enum weft_shape_promise. At most 1 << 16 triples and 1 << 20 pairs of shapes are
 * compared, taken evenly, and the same ones each time. O(ribbons x (shapes + children)).
 * WEFT_E_NOMEM; WEFT_E_LIMIT when the metric is spent. */
WEFT_CHECKED enum weft_code weft_shape_verify(const struct weft_trace *trace,
                                              const struct weft_shapes_table *table,
                                              struct weft_shape_metric *metric,
                                              struct weft_shape_verdict verdicts[WEFT_PROMISES],
                                              struct weft_err *err);

#endif
