/* SPDX-License-Identifier: MIT
 *
 * Whether other programs left a program CPUs to run on (docs/analyses/diagnose.md, "A machine that
 * is full").
 */
#ifndef WEFT_ANALYSIS_STATES_SATURATION_H
#define WEFT_ANALYSIS_STATES_SATURATION_H

#include "base/error.h"
#include "base/pool.h"
#include "model/trace.h"
#include "schema/states.h"

#include <stdbool.h>

/* What the processors did, each counted as much as the program ran on it: shares of the time, that
 * together are at most 1. */
struct weft_saturation {
    bool is_known; /* else all is 0 */
    double own;    /* the recorded program's threads ran */
    double other;  /* those of other programs */
    double idle;
    double bound; /* of what the program runs: by threads that stay on one CPU */
};

/* What is known of a thread, by its id. */
struct weft_saturation_thread {
    uint64_t run_ns, most_ns; /* on all CPUs, and on the one where that is most */
    bool is_foreign;          /* of another program */
};

/* `threads` says which are foreign, and else has zeros: times are added. O(rows and shares). */
struct weft_saturation weft_saturation_of(const struct weft_cpu_table *table,
                                          struct weft_saturation_thread *threads);

/* Of a trace that records which threads are the program's; of others all is 0. Reads the states of
 * all threads. */
WEFT_CHECKED enum weft_code weft_saturation_find(const struct weft_trace *trace,
                                                 const struct weft_run *run,
                                                 struct weft_saturation *saturation,
                                                 struct weft_err *err);

/* Did other programs use the CPUs for longer than the program itself, and was next to none of their
 * time left? */
bool weft_saturation_is_full(const struct weft_saturation *saturation);

/* And would threads of the program have gone elsewhere, but for them? Not if most of it stays on
 * one CPU, as threads do that are bound to it. */
bool weft_saturation_takes_places(const struct weft_saturation *saturation);

#endif
