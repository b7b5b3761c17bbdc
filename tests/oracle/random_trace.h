/* SPDX-License-Identifier: MIT
 *
 * Random small traces whose times cluster: calls of no length, equal times, recursion, frames cut
 * at either edge.
 */
#ifndef WEFT_TESTS_RANDOM_TRACE_H
#define WEFT_TESTS_RANDOM_TRACE_H

#include "memory_store.h"

struct random_source {
    uint64_t state;
};

/* 0 .. bound - 1 (bound > 0). */
uint64_t random_below(struct random_source *random, uint64_t bound);

/* A trace of 1 to 3 threads with up to `max_calls` calls each; free with random_trace_free. */
struct memory_trace random_trace(struct random_source *random, size_t max_calls);
void random_trace_free(struct memory_trace *trace);

/* Prints the calls as TAP comments. */
void random_trace_print(const struct memory_trace *trace);

#endif
