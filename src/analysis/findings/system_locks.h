/* SPDX-License-Identifier: MIT
 *
 * Locks that are no variables of the program: of a language's runtime, and of the kernel.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_SYSTEM_LOCKS_H
#define WEFT_ANALYSIS_FINDINGS_SYSTEM_LOCKS_H

#include "analysis/compare/names.h"
#include "schema/ecct.h"
#include "schema/problems.h"

/* For which of them a thread waits in a part of a path; `next` is the part of the thread that it
 * waits for, NULL if none is known. */
enum weft_system_lock weft_system_lock_of(const struct weft_frame_path *path,
                                          const struct weft_path_part *part,
                                          const struct weft_path_part *next);

#endif
