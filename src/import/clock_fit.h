/* SPDX-License-Identifier: MIT
 *
 * How far, and how much faster, a clock runs than another one, from packets between their machines
 * (docs/ingest/inputs.md): no packet arrives before it was sent. With x by the clock to be set and
 * d by how much the other is ahead of it,
 *
 *     d   v   v     v  v       v: sent at x: the line runs below
 *        ---------------
 *       ^    ^  ^    ^         ^: received at x: the line runs above
 *     ----------------------- x
 *
 * After A. Duda et al. (Estimating global time in distributed systems, 1987) and B. Poirier et al.
 * (Accurate offline synchronization of distributed traces using kernel-level events, 2010), whose
 * convex hulls Trace Compass uses, too.
 */
#ifndef WEFT_IMPORT_CLOCK_FIT_H
#define WEFT_IMPORT_CLOCK_FIT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet: when it was met by either clock. */
struct weft_clock_point {
    uint64_t at_ns;    /* by the clock to be set */
    uint64_t other_ns; /* by the other */
    bool is_sent;      /* at at_ns; else received */
};

/* Drifts beyond 0.1 % are no clock's. */
#define WEFT_CLOCK_MOST_DRIFT 0.001

enum { WEFT_CLOCK_DRIFT_BITS = 52 };

struct weft_clock_fit {
    uint64_t at_ns;       /* where offset_ns holds */
    int64_t offset_ns;    /* to be added */
    int64_t drift;        /* and so much for each ns since at_ns, in 2^-WEFT_CLOCK_DRIFT_BITS */
    uint64_t packets_ns;  /* from the first packet to the last */
    uint64_t accuracy_ns; /* between the first packet and the last, it is not further off than that;
                             if packets contradict each other, by how much they do */
    bool is_contradicted;
    const struct weft_clock_fit *next; /* to be applied to the result; NULL: it is the last */
};

/* The line that keeps as far from packets either way as it can: without drift, if packets admit
 * that. Points need not be sorted; they are. `*is_known` is false if there are not packets both
 * ways. O(n log n). WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_clock_fit_find(struct weft_clock_point *points, size_t n,
                                                struct weft_clock_fit *fit, bool *is_known,
                                                struct weft_err *err);

/* The time by the clock at the end of the chain; may be negative. NULL: as it is. */
int64_t weft_clock_fit_apply(const struct weft_clock_fit *fit, uint64_t time_ns);

#endif
