/* SPDX-License-Identifier: MIT
 *
 * Inside a history: how long the last recorded state of a thread holds.
 *
 *     last event of the thread     last of the host's kernel     end of the trace
 *     ---------|-----------------------------|-------------------------|
 *               its state still               unknown
 *
 * A thread without an end whose tid another one has later ended before that, unseen: nothing is
 * known of it after its last event.
 */
#ifndef WEFT_MODEL_STATES_ENDS_H
#define WEFT_MODEL_STATES_ENDS_H

#include "base/map.h"
#include "model/trace.h"

struct weft_event_buf;

/* How a thread ends whose end was not seen. */
struct weft_state_end {
    uint64_t known_ns; /* the last event of its host's kernel */
    uint64_t next_ns;  /* the first event that concerns the next thread with its tid; UINT64_MAX:
                          there is none */
};

/* Of all threads; zeroed: not made yet. */
struct weft_state_ends {
    uint64_t *next_ns;        /* by thread */
    struct weft_map *of_host; /* -> place in known_ns */
    struct {
        uint64_t *items;
        size_t n, cap;
    } known_ns;
};

/* Makes the ends, once: O(n log n) threads and their blocks' summaries, and the blocks in which
 * events of a kernel are mixed with others as far as they might be the last, or the first. `buf` is
 * for those. WEFT_E_NOMEM, and as loading a block of events. */
WEFT_CHECKED enum weft_code weft_state_ends_make(struct weft_state_ends *ends,
                                                 const struct weft_trace *trace,
                                                 struct weft_event_buf *buf, struct weft_err *err);

struct weft_state_end weft_state_end_get(const struct weft_state_ends *ends,
                                         const struct weft_trace *trace, uint32_t thread_id);

void weft_state_ends_fini(struct weft_state_ends *ends);

#endif
