/* SPDX-License-Identifier: MIT
 *
 * Decides which failures a page survives: all but cancellation and wrong arguments, which the
 * caller still returns. The error moves into the list, so that the caller can continue with an
 * empty one.
 */
#include "schema/missing.h"

const char *weft_missing_name(enum weft_missing_kind kind)
{
    static const char *const names[WEFT_MISSING_KINDS] = {
        [WEFT_MISSING_FUNCTIONS] = "functions",
        [WEFT_MISSING_CALLS] = "calls over time",
        [WEFT_MISSING_PAUSES] = "pauses",
        [WEFT_MISSING_OUTLIERS] = "outliers",
        [WEFT_MISSING_FINDINGS] = "findings",
        [WEFT_MISSING_SOME_PATHS] = "some critical paths",
        [WEFT_MISSING_SOME_COMPARISONS] = "some comparisons",
        [WEFT_MISSING_SHAPES] = "shapes",
        [WEFT_MISSING_SOME_ROWS] = "some rows",
        [WEFT_MISSING_SOME_THREADS] = "some threads",
    };
    return names[kind];
}

bool weft_missing_add(struct weft_missing *missing, enum weft_missing_kind kind,
                      enum weft_code code, struct weft_err *err)
{
    size_t at = 0;
    if (code == WEFT_OK || code == WEFT_E_CANCELLED || code == WEFT_E_ARG)
        return false;
    while (at < missing->n && missing->parts[at].kind != kind)
        at++;
    missing->n += at == missing->n;
    missing->parts[at] = (struct weft_missing_part){ .kind = kind, .reason = { .code = code } };
    if (err) {
        missing->parts[at].reason = *err;
        *err = (struct weft_err){ 0 };
    }
    return true;
}
