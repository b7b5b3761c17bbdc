/* SPDX-License-Identifier: MIT
 *
 * Walks: the calls of one thread as entries and exits in order of time, within a window, in
 * O(depth + block) memory. Where a scan hands out blocks of calls to analyses, a walk hands out
 * steps to whoever writes them down one after the other:
 *
 *     struct weft_walk *walk;                     // of a thread
 *     while (!(code = weft_walk_next(walk, &step, &call, err)) && step != WEFT_STEP_END)
 *         ...
 *
 * Calls that reach beyond the window are clipped to it, and carry the flags of a trace that is no
 * longer than the window: CUT_START, CUT_END. Blocks before and after the window are not read.
 */
#ifndef WEFT_MODEL_CALLS_WALK_H
#define WEFT_MODEL_CALLS_WALK_H

#include "base/pool.h"
#include "model/trace.h"
#include "model/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_step { WEFT_STEP_END, WEFT_STEP_ENTER, WEFT_STEP_EXIT };

struct weft_walk_call {
    uint64_t start_ns, end_ns; /* clipped */
    uint64_t self_ns;          /* within the window; at the exit, and at the entry if asked for */
    uint64_t row;              /* in the thread, or UINT64_MAX for a call cut at the start */
    uint32_t function_id;
    uint32_t depth; /* 0: root; callers of a call in the window are in the window */
    uint32_t flags; /* enum weft_call_flag */
    /* Arguments: numbers, and texts of CALL_ARGS; at the entry only, valid until the next step. */
    const uint64_t *args;
    size_t n_args;
    const struct weft_str *arg_texts;
    size_t n_arg_texts;
};

struct weft_walk_opts {
    struct weft_window window;
    bool with_self; /* self_ns at the entry: the thread is read twice */
    bool with_args; /* texts too, and numbers of calls that began before the window */
    struct weft_progress *progress;
};

struct weft_walk;

/* Prepares the walk of thread `thread_id`; with_self reads it once. */
WEFT_CHECKED enum weft_code weft_walk_open(const struct weft_trace *trace, uint32_t thread_id,
                                           const struct weft_walk_opts *opts,
                                           struct weft_walk **walk, struct weft_err *err);

/* NULL is allowed. */
void weft_walk_close(struct weft_walk *walk);

/* The next entry or exit. At the end every call that was entered has been left. */
WEFT_CHECKED enum weft_code weft_walk_next(struct weft_walk *walk, enum weft_step *step,
                                           struct weft_walk_call *call, struct weft_err *err);

/* Calls of the blocks that a walk will read, once: the unit of progress. */
uint64_t weft_walk_calls(const struct weft_trace *trace, uint32_t thread_id,
                         const struct weft_window *window);

#endif
