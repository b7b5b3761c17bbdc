/* SPDX-License-Identifier: MIT
 *
 * Which threads are of the program that a trace is about.
 */
#ifndef WEFT_MODEL_LOCKS_PROGRAM_H
#define WEFT_MODEL_LOCKS_PROGRAM_H

#include "model/locks/locks.h"
#include "schema/program.h"

/* Clears `is_own`, by thread that stands for its twins (n_threads elements, set by the caller), of
 * threads that are not of the program, and counts them. WEFT_E_NOMEM. O(threads + operations). */
WEFT_CHECKED enum weft_code weft_program_find(const struct weft_trace *trace,
                                              const struct weft_locks *locks, uint8_t *is_own,
                                              struct weft_left_out *left_out, struct weft_err *err);

#endif
