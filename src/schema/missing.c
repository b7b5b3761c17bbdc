/* SPDX-License-Identifier: MIT
 *
 * Decides which failures a page survives: all but cancellation and wrong arguments, which the
 * caller still returns. The error moves into the list, so that the caller can continue with an
 * empty one.
 */
#include "schema/missing.h"

bool weft_missing_add(struct weft_missing *missing, const char *name, enum weft_code code,
                      struct weft_err *err)
{
    if (code == WEFT_OK || code == WEFT_E_CANCELLED || code == WEFT_E_ARG ||
        missing->n == WEFT_MISSING_MAX)
        return false;
    struct weft_missing_part *part = &missing->parts[missing->n++];
    *part = (struct weft_missing_part){ .name = name, .reason = { .code = code } };
    if (err) {
        part->reason = *err;
        *err = (struct weft_err){ 0 };
    }
    return true;
}
