/* SPDX-License-Identifier: MIT
 *
 * Arrays that may be larger than memory should be: the first ones lie in memory, up to a limit, the
 * others in one file without a name, mapped. All are read and written as any array is.
 *
 *     memory   | array | array |                     up to the limit
 *     file             | array | array | array |     resident pages are released on request
 *
 * Pages of the file that were touched stay in memory until weft_spool_forget: a loop over such
 * arrays calls it from time to time, and needs memory for what lies between two calls. Room on the
 * disk is taken beforehand, so that a full one is an error here and no signal later.
 */
#ifndef WEFT_BASE_SPOOL_H
#define WEFT_BASE_SPOOL_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct weft_spool;

/* `memory_bytes` of arrays lie in memory, at most. NULL without memory. */
struct weft_spool *weft_spool_new(uint64_t memory_bytes);

/* Frees all arrays. NULL is allowed. */
void weft_spool_free(struct weft_spool *spool);

/* Sets *array, a pointer to such objects, to `count` of them, zeroed, aligned to 16 bytes; of none
 * it must not be read. WEFT_E_NOMEM; WEFT_E_IO where the file (in TMPDIR, else /var/tmp, else /tmp)
 * cannot be made or has no room. This and the two below may be called by several threads at once.
 */
WEFT_CHECKED enum weft_code weft_spool_array(struct weft_spool *spool, size_t count,
                                             size_t object_bytes, void *array,
                                             struct weft_err *err);

/* Frees an array before the others; NULL is allowed. */
void weft_spool_drop(struct weft_spool *spool, const void *array);

/* Lets go of the pages of the file that are resident; what they hold stays. NULL is allowed. */
void weft_spool_forget(struct weft_spool *spool);

/* Bytes of arrays that lie in the file. */
uint64_t weft_spool_file_bytes(struct weft_spool *spool);

#endif
