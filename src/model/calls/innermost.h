/* SPDX-License-Identifier: MIT
 *
 * Which call is the innermost one, from when on: of blocks that are asked so often that it is worth
 * it to write that down for all of their calls. Short intervals are sums of a few lines then
 * (model/interval/interval.h has all others).
 *
 *     calls      main | work .... | main | other ... |
 *     innermost  main   work        main   other       ...
 */
#ifndef WEFT_MODEL_CALLS_INNERMOST_H
#define WEFT_MODEL_CALLS_INNERMOST_H

#include "model/trace.h"

/* The innermost call from start_ns until that of the next one. */
struct weft_innermost_call {
    uint64_t start_ns;
    uint32_t context; /* WEFT_ID_NONE: in no call */
};

/* Calls of a function by the same callers. The last three are the asker's: 0 at first. */
struct weft_innermost_context {
    uint32_t parent; /* lower; WEFT_ID_NONE: a root call */
    uint32_t function_id;
    uint64_t ns;
    uint64_t key;
    uint32_t node;
};

struct weft_innermost_block {
    struct weft_innermost_call *items; /* the last one is where the block ends */
    size_t n, cap;
    struct weft_innermost_context *contexts;
    size_t n_contexts, contexts_cap;
    size_t near, n_asked;
    bool is_read;
};

struct weft_innermost;

/* Keeps at most `memory_bytes` of blocks (0: no bound); none, if that is too few. The trace must
 * live longer. NULL without memory. */
struct weft_innermost *weft_innermost_new(const struct weft_trace *trace, uint64_t memory_bytes);
/* NULL is allowed. */
void weft_innermost_free(struct weft_innermost *innermost);

/* The block of a thread in which [from_ns, to_ns) lies, to_ns > from_ns, and the place of what is
 * on top at from_ns; NULL if it lies in none, or was asked too seldom. Valid until the next call.
 * O(log of how far that is from what was asked before). */
WEFT_CHECKED enum weft_code weft_innermost_find(struct weft_innermost *innermost,
                                                uint32_t thread_id, uint64_t from_ns,
                                                uint64_t to_ns, struct weft_innermost_block **block,
                                                size_t *place, struct weft_err *err);

#endif
