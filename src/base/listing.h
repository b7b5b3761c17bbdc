/* SPDX-License-Identifier: MIT
 *
 * Names for an error that says what there is: "a, b, c", as far as there is room for whole ones.
 */
#ifndef WEFT_BASE_LISTING_H
#define WEFT_BASE_LISTING_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* All zero: no name yet. */
struct weft_listing {
    char text[200]; /* ends with NUL */
    size_t n;       /* bytes of it */
    bool is_full;   /* a name had no room: no later one is taken */
};

/* The first 60 bytes of the name. */
void weft_listing_add(struct weft_listing *listing, struct weft_str name);

#endif
