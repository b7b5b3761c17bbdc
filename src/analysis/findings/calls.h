/* SPDX-License-Identifier: MIT
 *
 * In which call a thread is: what functions of libc and of the kernel, which every program calls by
 * the same names, are there for. Names of functions of the program play no part.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_CALLS_H
#define WEFT_ANALYSIS_FINDINGS_CALLS_H

#include "analysis/compare/names.h"
#include "base/str.h"
#include "schema/ecct.h"

#include <stdbool.h>

/* What a thread does in a function of libc, or of the kernel, that every program calls so. */
enum weft_in_call {
    WEFT_IN_NONE,
    WEFT_IN_FSYNC,
    WEFT_IN_CHILD,
    WEFT_IN_SLEEP,
    WEFT_IN_NETWORK,
    WEFT_IN_CONNECT,
    WEFT_IN_POLL,  /* for any of several descriptors, or for a time */
    WEFT_IN_READY, /* for any of several descriptors */
    WEFT_IN_FILE,
    WEFT_IN_FAULT,
    WEFT_IN_LOCK,
    WEFT_IN_WAIT,   /* for a condition, a semaphore */
    WEFT_IN_WAKE,   /* wakes threads */
    WEFT_IN_SERIAL, /* a barrier, the end of a thread */
    WEFT_IN_SPIN,
    WEFT_IN_YIELD,
    WEFT_IN_ALLOCATOR,
    WEFT_IN_MAP, /* changes the address space */
};

enum weft_in_call weft_call_of(struct weft_str function);

/* The innermost such function of a part: of libc, or the innermost one of the program, as calls
 * that a recorder saw have no module. What a program calls its own callers, further out, says
 * nothing. Where malloc waits for a lock it is malloc that says what for. */
enum weft_in_call weft_call_in(const struct weft_frame_path *path,
                               const struct weft_path_part *part);

/* Is it a function of libc or of the kernel that tells what a thread waits for? */
bool weft_call_is_known(struct weft_str function);
bool weft_frame_is_call(const struct weft_frame *frame);

/* Is it a call that waits for any of several descriptors: epoll_wait, poll, select? */
bool weft_call_is_of_descriptors(struct weft_str function);

/* By node: is a function of the program on the way to it? To be freed; NULL without memory. */
bool *weft_call_mark_functions(const struct weft_ecct_matrix *matrix);

/* Is it a call that only lets time pass: nanosleep? */
bool weft_call_is_sleep(struct weft_str function);

#endif
