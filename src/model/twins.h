/* SPDX-License-Identifier: MIT
 *
 * One thread that several traces recorded: after merging into one file there is a thread for each.
 */
#ifndef WEFT_MODEL_TWINS_H
#define WEFT_MODEL_TWINS_H

#include "model/trace.h"

struct weft_twins {
    uint32_t *first; /* by thread: its representative, with most events and calls; often itself */
    uint32_t *next;  /* by thread: another one of the same, round in a circle; often itself */
    uint32_t n_threads;
};

/* Threads are one if host, process and tid are the same and they live at the same time: a tid that
 * is used again is not. An unknown process matches any. O(n log n). WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_twins_make(const struct weft_trace *trace,
                                            struct weft_twins *twins, struct weft_err *err);
void weft_twins_fini(struct weft_twins *twins);

#endif
