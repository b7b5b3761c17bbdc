/* SPDX-License-Identifier: MIT
 *
 * The line on a terminal that says how far long work is: what, how much, how fast, how long yet.
 */
#ifndef WEFT_CLI_PROGRESS_H
#define WEFT_CLI_PROGRESS_H

#include "base/pool.h"

struct weft_progress_line;

/* Draws on stderr, from a thread of its own, once the work takes longer than half a second. NULL
 * when stderr is no terminal (or without memory: progress is a courtesy). */
struct weft_progress_line *weft_progress_line_start(struct weft_progress *progress);

/* Erases the line and frees; NULL is allowed. */
void weft_progress_line_stop(struct weft_progress_line *line);

#endif
