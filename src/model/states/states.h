/* SPDX-License-Identifier: MIT
 *
 * What the threads of a kernel trace did: per thread disjoint intervals, one after the other
 * without gaps, from the first event that concerns the thread to its end, or where that was not
 * recorded, to the next thread with its tid or the end of the trace (docs/analyses/states.md has
 * the rules).
 *
 * An answer touches only the blocks of the thread around the time asked for, and what the file
 * keeps of events of others that concern it (store/reader.h, arrivals). A history remembers what it
 * decoded, within a bound. It belongs to one worker: not thread-safe; open one for each.
 */
#ifndef WEFT_MODEL_STATES_STATES_H
#define WEFT_MODEL_STATES_STATES_H

#include "base/error.h"
#include "model/trace.h"
#include "schema/states.h"

#include <stdbool.h>
#include <stdint.h>

/* States of all threads of a trace, decoded when asked, cached within `mem_bytes` (0: 16 MiB). */
struct weft_history;

WEFT_CHECKED enum weft_code weft_history_open(const struct weft_trace *trace, uint64_t mem_bytes,
                                              struct weft_history **history, struct weft_err *err);

/* NULL is allowed. */
void weft_history_close(struct weft_history *history);

/* When the thread is first and last known of, in ns: [first, last) is what its states tile. Both 0
 * if no event of a kernel concerns it. */
WEFT_CHECKED enum weft_code weft_history_life(struct weft_history *history, uint32_t thread_id,
                                              uint64_t *first_ns, uint64_t *last_ns,
                                              struct weft_err *err);

/* The state of `thread_id` in which the instant just before `t_ns` lies: start_ns < t_ns <= end_ns.
 * Before the thread's life it is WEFT_STATE_UNKNOWN from 0 to its begin, after it UNKNOWN to
 * UINT64_MAX. For t_ns 0 the empty UNKNOWN at 0. Fails as loading a block of events does. */
WEFT_CHECKED enum weft_code weft_history_before(struct weft_history *history, uint32_t thread_id,
                                                uint64_t t_ns, struct weft_state *state,
                                                struct weft_err *err);

/* Reads the states of a thread that overlap [from_ns, to_ns), in order, whole (not clipped); only
 * those of its life. Readers of one history may be open at once; close them before it. */
struct weft_states;

WEFT_CHECKED enum weft_code weft_states_open(struct weft_history *history, uint32_t thread_id,
                                             uint64_t from_ns, uint64_t to_ns,
                                             struct weft_states **states, struct weft_err *err);

/* NULL is allowed. */
void weft_states_close(struct weft_states *states);

/* The next state, valid until the next call, or NULL at the end. */
WEFT_CHECKED enum weft_code weft_states_next(struct weft_states *states,
                                             const struct weft_state **state, struct weft_err *err);

/* Which thread ran on a CPU of a host, from its switches: intervals without gaps, if it has any.
 * Where the switch to a thread was not seen, its own events show since when it was there. */
struct weft_cpu_run {
    uint64_t start_ns, end_ns;
    uint32_t thread_id; /* WEFT_ID_NONE: not known */
    bool is_idle;       /* the idle task of the CPU */
};

struct weft_cpu_runs;

/* Reads the runs on `cpu` that overlap [from_ns, to_ns), in order, whole. */
WEFT_CHECKED enum weft_code weft_cpu_runs_open(struct weft_history *history, uint32_t host_id,
                                               int32_t cpu, uint64_t from_ns, uint64_t to_ns,
                                               struct weft_cpu_runs **runs, struct weft_err *err);

/* NULL is allowed. */
void weft_cpu_runs_close(struct weft_cpu_runs *runs);

/* The next run, valid until the next call, or NULL at the end. */
WEFT_CHECKED enum weft_code weft_cpu_runs_next(struct weft_cpu_runs *runs,
                                               const struct weft_cpu_run **run,
                                               struct weft_err *err);

#endif
