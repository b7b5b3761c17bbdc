/* SPDX-License-Identifier: MIT
 *
 * Growable arrays of plain structs. A vector is any struct { T *items; size_t n; size_t cap; }:
 *
 *     struct { struct row *items; size_t n, cap; } rows = { 0 };
 *     struct row *row = WEFT_VEC_PUSH(&rows);      // zeroed; NULL without memory
 *     WEFT_VEC_FINI(&rows);
 */
#ifndef WEFT_BASE_VEC_H
#define WEFT_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `want` items of `item_bytes`; false on overflow or without memory (unchanged). */
bool weft_vec_reserve(void *items_ptr, size_t *cap, size_t want, size_t item_bytes);

/* A pointer to a new zeroed last item, or NULL. */
#define WEFT_VEC_PUSH(vec)                                                                         \
    (((vec)->n < (vec)->cap ||                                                                     \
      weft_vec_reserve(&(vec)->items, &(vec)->cap, (vec)->n + 1, sizeof *(vec)->items))            \
         ? (memset(&(vec)->items[(vec)->n], 0, sizeof *(vec)->items), &(vec)->items[(vec)->n++])   \
         : NULL)

#define WEFT_VEC_FINI(vec)                                                                         \
    do {                                                                                           \
        free((vec)->items);                                                                        \
        (vec)->items = NULL;                                                                       \
        (vec)->n = (vec)->cap = 0;                                                                 \
    } while (0)

#endif
