/* SPDX-License-Identifier: MIT
 *
 * Which functions are recorded, by their names: the file `filter` in the folder of the rings
 * (record/runtime/filtered.h), to which is added what is loaded later.
 */
#ifndef WEFT_RECORD_SESSION_FILTER_H
#define WEFT_RECORD_SESSION_FILTER_H

#include "base/str.h"
#include "record/session/recorder.h"

struct session_filter;

/* Writes the file for the program and its libraries; *filter is NULL if nothing is to be filtered
 * by name. `opts` must outlive it. WEFT_E_ARG: a regular expression is wrong, or no function is
 * called so and none can come later. */
WEFT_CHECKED enum weft_code session_filter_open(const struct weft_recorder_opts *opts,
                                                int folder_fd, struct session_filter **filter,
                                                struct weft_err *err);

/* A recorded process has this file mapped: its functions are added, if they were not yet. Without
 * memory they are not. NULL is allowed. */
void session_filter_module(struct session_filter *filter, struct weft_str path);

void session_filter_close(struct session_filter *filter); /* NULL is allowed */

#endif
