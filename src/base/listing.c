/* SPDX-License-Identifier: MIT
 *
 * A comma-separated list in a buffer of fixed size, for messages like "expected one of ...". A name
 * that does not fit ends the list before it; no name is cut.
 */
#include "base/listing.h"

#include <stdio.h>

void weft_listing_add(struct weft_listing *listing, struct weft_str name)
{
    enum { MOST_BYTES = 60 };
    const size_t room = sizeof listing->text - listing->n;
    if (listing->is_full)
        return;
    const int put =
        snprintf(listing->text + listing->n, room, "%s%.*s", listing->n ? ", " : "",
                 (int)(name.n_bytes < MOST_BYTES ? name.n_bytes : MOST_BYTES), name.bytes);
    listing->is_full = put < 0 || (size_t)put >= room;
    if (listing->is_full)
        listing->text[listing->n] = '\0'; /* no part of a name */
    else
        listing->n += (size_t)put;
}
