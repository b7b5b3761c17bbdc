/* SPDX-License-Identifier: MIT
 *
 * Random small traces whose times cluster: calls of no length, equal times, recursion, frames cut
 * at either edge.
 */
#ifndef WEFT_TESTS_RANDOM_TRACE_H
#define WEFT_TESTS_RANDOM_TRACE_H

#include "memory_store.h"
#include "model/window.h"

struct random_source {
    uint64_t state;
};

/* 0 .. bound - 1 (bound > 0). */
uint64_t random_below(struct random_source *random, uint64_t bound);

/* A trace of 1 to 3 threads with up to `max_calls` calls each; free with random_trace_free. */
struct memory_trace random_trace(struct random_source *random, size_t max_calls);
void random_trace_free(struct memory_trace *trace);

/* From and to events of any thread, or beside them; often the trace's begin, or its end. */
struct weft_window random_window(struct random_source *random, const struct memory_trace *trace);

/* The calls of a thread, and of a trace, that lie in the window, as a trace of their own would hold
 * them. The caller frees `calls`; the trace with random_trace_free. */
struct memory_thread clip_thread(const struct memory_thread *thread,
                                 const struct weft_window *window);
struct memory_trace clip_trace(const struct memory_trace *trace, const struct weft_window *window);

/* Prints the calls as TAP comments. */
void random_trace_print(const struct memory_trace *trace);

#endif
