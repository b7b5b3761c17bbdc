/* SPDX-License-Identifier: MIT
 *
 * Whose waits an answer is about.
 */
#ifndef WEFT_ANALYSIS_KEPT_THREADS_H
#define WEFT_ANALYSIS_KEPT_THREADS_H

#include "analysis/analysis.h"
#include "model/locks/locks.h"
#include "schema/program.h"

/* By thread that stands for its twins: whether it, or a twin, is among those asked for; the caller
 * frees it, also after a failure. Without a filter these are all threads, or if `left_out` is not
 * NULL those of the program (model/locks/program.h): then it says what is left out. WEFT_E_ARG of a
 * filter with threads that the trace has not. O(threads + operations). */
WEFT_CHECKED enum weft_code weft_kept_threads(const struct weft_trace *trace,
                                              const struct weft_locks *locks,
                                              const struct weft_thread_filter *filter,
                                              struct weft_left_out *left_out, uint8_t **is_kept,
                                              struct weft_err *err);

#endif
