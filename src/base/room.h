/* SPDX-License-Identifier: MIT
 *
 * Arrays of any size within a limit on memory. A large one that would take more than half of what
 * the process may have (RLIMIT_DATA, which --mem sets) lies in a temporary file instead, mapped:
 * its pages are the kernel's to write and to drop, and it is read and written as any array is.
 *
 *     memory | small | small | large |          up to half of the limit
 *     files                            | large |   | large |
 *
 * Without a limit, everything lies in memory. Results are the same wherever arrays lie. Room on the
 * disk is taken beforehand, so that a full one is "no memory" here and no signal later.
 */
#ifndef WEFT_BASE_ROOM_H
#define WEFT_BASE_ROOM_H

#include "base/vec.h"

/* `count` zeroed objects, aligned to 16 bytes; NULL on overflow, or without memory and disk. */
void *weft_room_new(size_t count, size_t object_bytes);

/* Makes it larger, or smaller; what is new is not zeroed. NULL: `room`, which may be NULL, is as it
 * was. */
void *weft_room_resize(void *room, size_t n_bytes);

/* NULL is allowed. */
void weft_room_free(void *room);

/* Whether it lies in a file; for tests. */
bool weft_room_is_mapped(const void *room);

/* As weft_vec_reserve, and a vector of such must be pushed and ended by the macros below. */
bool weft_room_reserve(void *items_ptr, size_t *cap, size_t want, size_t item_bytes);

#define WEFT_ROOM_PUSH(vec)                                                                        \
    (((vec)->n < (vec)->cap ||                                                                     \
      weft_room_reserve(&(vec)->items, &(vec)->cap, (vec)->n + 1, sizeof *(vec)->items))           \
         ? (memset(&(vec)->items[(vec)->n], 0, sizeof *(vec)->items), &(vec)->items[(vec)->n++])   \
         : NULL)

#define WEFT_ROOM_FINI(vec)                                                                        \
    do {                                                                                           \
        weft_room_free((vec)->items);                                                              \
        (vec)->items = NULL;                                                                       \
        (vec)->n = (vec)->cap = 0;                                                                 \
    } while (0)

/* As qsort and qsort_r, and stable: runs are merged by way of a second array, in memory or a file.
 * Only if there is room for it in neither, the order of ties is that of qsort_r. */
void weft_room_sort(void *items, size_t n, size_t item_bytes,
                    int (*order)(const void *, const void *));
void weft_room_sort_r(void *items, size_t n, size_t item_bytes,
                      int (*order)(const void *, const void *, void *), void *context);

#endif
