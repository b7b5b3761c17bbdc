/* SPDX-License-Identifier: MIT
 *
 * The arguments of one call.
 */
#ifndef WEFT_MODEL_CALLS_ARGUMENTS_H
#define WEFT_MODEL_CALLS_ARGUMENTS_H

#include "model/calls/walk.h"

#include <stdbool.h>

/* Calls `see` with the entry of the call of row `row` that begins at `start_ns` on the thread, its
 * arguments in it; not at all if it has none. Reads one block of calls, and the events there. */
WEFT_CHECKED enum weft_code weft_call_arguments(const struct weft_trace *trace, uint32_t thread_id,
                                                uint64_t row, uint64_t start_ns,
                                                void (*see)(void *context,
                                                            const struct weft_walk_call *call),
                                                void *context, struct weft_err *err);

/* The function that called, if a text of arguments begins with it, as recordings do ({"caller":
 * NAME ...}); a view of the text, what is escaped in it as it stands. Empty: it does not. */
struct weft_str weft_arguments_caller(struct weft_str text);

/* The first of some arguments: "0x7f00" of "(0x7f00, 3)"; a view of the text. */
struct weft_str weft_arguments_first(struct weft_str text);

/* An argument that is a number like 0x7f00. */
bool weft_argument_address(struct weft_str text, uint64_t *number);
/* The descriptors that such a text lists as ready, at most `n_max`; false if it has no such list.
 * Empty: timed out. */
bool weft_arguments_ready(struct weft_str text, uint64_t *fds, size_t n_max, size_t *n_fds);

#endif
