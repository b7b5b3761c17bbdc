/* SPDX-License-Identifier: MIT
 *
 * Arrivals of a thread (store/reader.h) in a window, as the rules of thread states want them.
 */
#ifndef WEFT_MODEL_STATES_ARRIVAL_READER_H
#define WEFT_MODEL_STATES_ARRIVAL_READER_H

#include "model/states/machine.h"
#include "model/trace.h"

struct weft_arrival_list {
    struct weft_arrival *items;
    size_t n, cap;
};

/* Replaces the list by the arrivals of the thread in [from_ns, to_ns). Fails as a load. */
WEFT_CHECKED enum weft_code weft_arrivals_load(const struct weft_trace *trace,
                                               struct weft_event_buf *buf, uint32_t thread_id,
                                               uint64_t from_ns, uint64_t to_ns,
                                               struct weft_arrival_list *list,
                                               struct weft_err *err);

/* Does any of the thread lie at that ns? */
WEFT_CHECKED enum weft_code weft_arrival_at(struct weft_store *store, struct weft_event_buf *buf,
                                            uint32_t thread_id, uint64_t time_ns, bool *has,
                                            struct weft_err *err);

#endif
