/* SPDX-License-Identifier: MIT
 *
 * How long what is open when the events of a thread end lasts: a wait or a call whose end was not
 * recorded continues after the thread's last event.
 */
#ifndef WEFT_MODEL_STATES_THREAD_ENDS_H
#define WEFT_MODEL_STATES_THREAD_ENDS_H

#include "model/trace.h"
#include "model/twins.h"

struct weft_thread_ends {
    const struct weft_trace *trace;
    const struct weft_twins *twins; /* NULL: each thread stands for itself */
    uint64_t host_ns;               /* end of the trace of `host_id`, the last one asked for */
    uint32_t host_id;
    bool has_host;
};

/* `trace` and `twins` must live longer. */
static inline struct weft_thread_ends weft_thread_ends_of(const struct weft_trace *trace,
                                                          const struct weft_twins *twins)
{
    return (struct weft_thread_ends){ .trace = trace, .twins = twins };
}

/* The end of a life that the source states: the thread has no event then. 0: none is stated. */
uint64_t weft_thread_stated_end(const struct weft_trace *trace, uint32_t thread_id);

/* The exit of the thread or a twin, if one at `since_ns` or later is recorded; else the end of its
 * life, if the source states one beyond its events (the end of its process or of the recording);
 * else the end of the trace of its host. At `since_ns` at the earliest. O(threads) for a host that
 * was not asked for last, and reads blocks with exits. */
WEFT_CHECKED enum weft_code weft_thread_ends_find(struct weft_thread_ends *ends, uint32_t thread_id,
                                                  uint64_t since_ns, uint64_t *end_ns,
                                                  struct weft_err *err);

#endif
