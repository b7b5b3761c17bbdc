/* SPDX-License-Identifier: MIT
 *
 * Asks flight recorders that run for a snapshot, from another process.
 */
#ifndef WEFT_RECORD_SESSION_MARK_H
#define WEFT_RECORD_SESSION_MARK_H

#include "base/error.h"

#include <stddef.h>

/* In the folder of a flight recorder's rings: what it writes to, as it was given. */
#define SESSION_ABOUT_NAME "about"
/* Begins the names of files there that ask for a snapshot; they hold why. */
#define SESSION_MARK_FRONT "mark."

/* Asks the user's recorders, or only that which writes to `output` (NULL: any), why. *n_told: how
 * many there are. WEFT_E_IO. */
WEFT_CHECKED enum weft_code weft_recorder_mark(const char *output, const char *why, size_t *n_told,
                                               struct weft_err *err);

#endif
