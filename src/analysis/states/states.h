/* SPDX-License-Identifier: MIT
 *
 * What threads and CPUs did: states from a kernel's events, or inferred from silence.
 */
#ifndef WEFT_ANALYSIS_STATES_STATES_H
#define WEFT_ANALYSIS_STATES_STATES_H

#include "analysis/analysis.h"
#include "schema/activity.h"
#include "schema/states.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_activity_opts {
    const struct weft_window *window; /* of this part alone; NULL: of the whole trace */
    uint64_t threshold_ns;            /* silence longer than this; default 1.5 ms */
    uint32_t limit;                   /* pauses kept a thread; 0: all */
};

WEFT_CHECKED enum weft_code
weft_activity_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                  const struct weft_activity_opts *opts, const struct weft_run *run,
                  struct weft_activity_table **table, struct weft_err *err);

/* States of threads (docs/analyses/states.md) that overlap [from_ns, to_ns), whole. */
struct weft_states_opts {
    uint64_t from_ns, to_ns;
    bool is_moment; /* only the one of each thread that holds at from_ns */
    uint64_t limit; /* rows; 0: all */
};

WEFT_CHECKED enum weft_code weft_states_run(const struct weft_trace *trace,
                                            const struct weft_thread_filter *filter,
                                            const struct weft_states_opts *opts,
                                            const struct weft_run *run,
                                            struct weft_states_table **table, struct weft_err *err);

/* What each thread spent [from_ns, to_ns) on, and what it waited for (docs/analyses/waits.md);
 * states are cut to the window. */
struct weft_waits_opts {
    uint64_t from_ns, to_ns;
};

WEFT_CHECKED enum weft_code weft_waits_run(const struct weft_trace *trace,
                                           const struct weft_thread_filter *filter,
                                           const struct weft_waits_opts *opts,
                                           const struct weft_run *run,
                                           struct weft_waits_table **table, struct weft_err *err);

/* What each CPU did in [from_ns, to_ns), as far as it was with the selected threads
 * (docs/analyses/cpu.md). */
struct weft_cpu_opts {
    uint64_t from_ns, to_ns;
};

WEFT_CHECKED enum weft_code weft_cpus_run(const struct weft_trace *trace,
                                          const struct weft_thread_filter *filter,
                                          const struct weft_cpu_opts *opts,
                                          const struct weft_run *run, struct weft_cpu_table **table,
                                          struct weft_err *err);

#endif
