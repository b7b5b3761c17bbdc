/* SPDX-License-Identifier: MIT
 *
 * What can be recorded here: libraries for the program, the kernel, filters of functions.
 */
#ifndef WEFT_RECORD_SESSION_LEVELS_H
#define WEFT_RECORD_SESSION_LEVELS_H

#include "record/kernel/kernel.h"
#include "record/session/recorder.h"

enum { LEVELS_PATHS = 4096, LEVELS_TEXT = 160 };

struct levels {
    struct weft_kernel *kernel; /* NULL: none */
    char preload[LEVELS_PATHS]; /* libraries, with colons between */
    char text[LEVELS_TEXT];     /* "kernel by BPF, locks" */
};

/* Opens what is asked for and allowed; what is not is said. */
WEFT_CHECKED enum weft_code levels_open(const struct weft_recorder_opts *opts,
                                        struct levels *levels, struct weft_err *err);
void levels_close(struct levels *levels);

/* Finds the libraries; without a program to load them into there are none. */
void levels_find_libraries(const struct weft_recorder_opts *opts, struct levels *levels);

#endif
