/* SPDX-License-Identifier: MIT
 *
 * Functions of a program that wait for whatever their callers want: PostgreSQL's WaitLatch, a class
 * Mutex around pthread_mutex_t. What a thread waits for is said by the caller.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_WRAPPERS_H
#define WEFT_ANALYSIS_FINDINGS_WRAPPERS_H

#include "schema/ecct.h"

#include <stdbool.h>

/* Sets WEFT_FRAME_WRAPS_WAITS of frames of the matrix: a function of the program, innermost in
 * waits but for other such functions, in which it depends on the callers what is waited for - at
 * least two different locks or reasons, each caller (by its whole stack) nearly always one - and
 * which does nearly nothing but wait. False without memory. O(n log n) for n nodes. */
bool weft_wrappers_mark(struct weft_ecct_matrix *matrix);

#endif
