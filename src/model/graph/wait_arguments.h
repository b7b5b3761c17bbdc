/* SPDX-License-Identifier: MIT
 *
 * What the arguments of calls in which a thread waits show of the wait: which objects it was for
 * (descriptors, the thread that is joined), which of them were ready, and whether its time was
 * over.
 */
#ifndef WEFT_MODEL_GRAPH_WAIT_ARGUMENTS_H
#define WEFT_MODEL_GRAPH_WAIT_ARGUMENTS_H

#include "model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The call that says what a wait is for. */
struct weft_wait_call {
    uint64_t span_ns; /* where its span begins */
    uint64_t start_ns, row;
    uint32_t function_id;
};

/* Of one call; all zero if its arguments show nothing. */
struct weft_waited {
    size_t first, n_objects; /* waited for, or that were ready if that is recorded */
    bool is_timed_out;
};

/* Of the calls of a piece of a thread, from one walk of it. All zero: nothing was read yet. */
struct weft_wait_arguments {
    struct weft_waited *calls; /* as many as the calls it was read for */
    struct {
        uint64_t *items;
        size_t n, cap;
    } objects; /* WEFT_WAITED_OBJECTS a call at most */
    size_t cap_calls;
    bool is_read;
};

enum { WEFT_WAITED_OBJECTS = 64 };

/* Reads the arguments of `n` calls of the thread, in the order of their rows, unless that is done.
 * O(calls and events between the first and the last). */
WEFT_CHECKED enum weft_code weft_wait_arguments_need(struct weft_wait_arguments *arguments,
                                                     const struct weft_trace *trace,
                                                     uint32_t thread_id,
                                                     const struct weft_wait_call *calls, size_t n,
                                                     struct weft_err *err);

/* What it holds of memory. */
uint64_t weft_wait_arguments_bytes(const struct weft_wait_arguments *arguments);

/* Other calls are to be read next; what is allocated stays. */
void weft_wait_arguments_forget(struct weft_wait_arguments *arguments);

void weft_wait_arguments_fini(struct weft_wait_arguments *arguments);

#endif
