/* SPDX-License-Identifier: MIT
 *
 * The one function behind the macros of vec.h: capacity grows by half, sizes are checked for
 * overflow. On failure the vector stays as it was.
 */
#include "base/vec.h"

#include "base/checked.h"

bool weft_vec_reserve(void *items_ptr, size_t *cap, size_t want, size_t item_bytes)
{
    if (want <= *cap)
        return true;
    size_t grown = *cap + *cap / 2 + 8;
    size_t new_cap = grown > want ? grown : want;
    size_t n_bytes;
    if (!weft_mul_fits(new_cap, item_bytes, &n_bytes))
        return false;
    void *items;
    memcpy(&items, items_ptr, sizeof items);
    void *moved = realloc(items, n_bytes);
    if (!moved)
        return false;
    memcpy(items_ptr, &moved, sizeof moved);
    *cap = new_cap;
    return true;
}
