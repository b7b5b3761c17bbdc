/* SPDX-License-Identifier: MIT
 *
 * Why weft's library is not in a process: what its program is, and what it was started with.
 */
#ifndef WEFT_RECORD_SESSION_IMAGE_H
#define WEFT_RECORD_SESSION_IMAGE_H

#include "record/session/proc.h"
#include "schema/ledger.h"

/* Of a process that runs the program, or, once it is gone, of the file `path` alone (a script's
 * interpreter is found; NULL or relative: nothing is known). NOT_LOADED without a better reason. */
enum weft_ledger_why image_look_at(uint32_t pid, const char *path, struct proc_text *room);

#endif
