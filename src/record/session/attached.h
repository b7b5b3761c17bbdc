/* SPDX-License-Identifier: MIT
 *
 * The part of the recorder that looks at processes that run already.
 */
#ifndef WEFT_RECORD_SESSION_ATTACHED_H
#define WEFT_RECORD_SESSION_ATTACHED_H

#include "record/session/recorder_pieces.h"

/* Finds the processes that opts name. WEFT_E_ARG: there are none. */
WEFT_CHECKED enum weft_code attached_open(struct recorder *recorder, struct weft_err *err);
void attached_close(struct recorder *recorder);

/* Makes all of them targets of the kernel's level. */
WEFT_CHECKED enum weft_code attached_add_targets(struct recorder *recorder, struct weft_err *err);

/* The kernel is recorded: what they run is written, and what has come meanwhile is found. */
WEFT_CHECKED enum weft_code attached_begin(struct recorder *recorder, struct weft_err *err);

/* Looks for processes that have come. */
WEFT_CHECKED enum weft_code attached_poll(struct recorder *recorder, struct weft_err *err);

/* A program that begins may have the name that is asked for. */
WEFT_CHECKED enum weft_code attached_take_exec(struct recorder *recorder, uint32_t pid,
                                               const char *path, size_t n_path,
                                               struct weft_err *err);

/* Have all of those that were asked for ended? */
bool attached_is_over(struct recorder *recorder);
/* Readable when one of them has ended; -1: none is left. */
int attached_fd(const struct recorder *recorder);

#endif
