/* SPDX-License-Identifier: MIT
 *
 * A store in memory for tests of the model and the analyses: linked instead of the real one, it
 * hands out the same views of arrays that a test made. Blocks may be as small as one call.
 */
#ifndef WEFT_TESTS_MEMORY_STORE_H
#define WEFT_TESTS_MEMORY_STORE_H

#include "store/reader.h"

enum { MEMORY_PATH_BYTES = 40 };

struct memory_call {
    uint64_t start_ns, end_ns;
    uint32_t function_id, depth, flags;
};

/* Calls in pre-order, cut frames first (depths 0 .. n_cut - 1). */
struct memory_thread {
    struct memory_call *calls;
    size_t n_calls, n_cut;
    uint64_t last_ns;
};

struct memory_trace {
    struct memory_thread *threads;
    uint32_t n_threads, n_functions;
    uint32_t block_rows;
    bool is_early; /* exits between two blocks belong to the later one */
    const struct weft_store_function *functions; /* NULL: unnamed, key = id */
};

/* The path under which weft_store_open finds the trace, which must outlive the store. */
void memory_store_path(const struct memory_trace *trace, char path[MEMORY_PATH_BYTES]);

#endif
