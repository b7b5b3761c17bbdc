/* SPDX-License-Identifier: MIT
 *
 * Where a thread was according to stack samples.
 */
#ifndef WEFT_ANALYSIS_PATH_STACKS_H
#define WEFT_ANALYSIS_PATH_STACKS_H

#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_path_stacks;

/* NULL without memory. */
struct weft_path_stacks *weft_path_stacks_new(const struct weft_trace *trace);
void weft_path_stacks_free(struct weft_path_stacks *stacks);

/* The stack of a thread in [from_ns, to_ns]: of most weight, then in most samples, then the
 * earliest; for a wait the last one at its begin or before. Empty if there is none. Lives as
 * `stacks`, which keeps one copy of each. Reads a block of events or two, of those that hold
 * samples; the last 16 stay decoded. A thread's blocks are put in order when it is first asked for:
 * O(blocks log blocks), and those are decoded that seem to reach beyond several others. */
WEFT_CHECKED enum weft_code weft_path_stack(struct weft_path_stacks *stacks, uint32_t thread_id,
                                            uint64_t from_ns, uint64_t to_ns, bool is_wait,
                                            struct weft_str *stack, struct weft_err *err);

/* A stack that was seen, and how much of the time it stands for. */
struct weft_path_seen {
    struct weft_str stack;
    uint64_t weight;
};

/* The stacks of a thread in [from_ns, to_ns], the last ones first. Valid until the next question of
 * these stacks; the texts live as they. */
WEFT_CHECKED enum weft_code weft_path_stacks_seen(struct weft_path_stacks *stacks,
                                                  uint32_t thread_id, uint64_t from_ns,
                                                  uint64_t to_ns,
                                                  const struct weft_path_seen **seen,
                                                  size_t *n_seen, struct weft_err *err);

#endif
