/* SPDX-License-Identifier: MIT
 *
 * Turns of threads: what a program without functions in its trace does again and again is seen by
 * the wait that its loop comes back to (docs/analyses/executions.md, "Proposals").
 */
#ifndef WEFT_QUERY_THREAD_TURNS_H
#define WEFT_QUERY_THREAD_TURNS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/str.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the threads of one name, but for a number at its end: from the end of a wait to the next. */
struct weft_thread_turn {
    struct weft_str name;       /* "server after recv" */
    struct weft_str begin, end; /* rules */
    uint64_t count;
    uint64_t sum_ns;     /* that they last */
    bool is_after_sleep; /* they begin when the thread has slept of itself */
};

/* A thread waits for its next turn where it waits longest as usual: the function, and who called
 * it, whose waits have the largest geometric mean times their number. In `arena`, in order of name;
 * reads all calls once. */
WEFT_CHECKED enum weft_code weft_thread_turns_find(const struct weft_trace *trace,
                                                   const struct weft_run *run,
                                                   struct weft_arena *arena,
                                                   struct weft_thread_turn **turns, size_t *n_turns,
                                                   struct weft_err *err);

#endif
