/* SPDX-License-Identifier: MIT
 *
 * How users name a trace or a part of one in a single word: "app.weft", "app.weft@1.5s-2s",
 * "@1.5s-2s" (of a trace that stands elsewhere).
 */
#ifndef WEFT_QUERY_PART_H
#define WEFT_QUERY_PART_H

#include "base/error.h"

#include <stdbool.h>

/* Owned texts; NULL: not given. */
struct weft_part {
    char *path;
    char *from, *to; /* of weft_session_time */
    bool is_part;    /* there was an "@": either end may still be missing */
};

/* What stands behind the first '@' after which the rest is FROM-TO is the part: a name may hold an
 * '@'. WEFT_E_ARG for a word without a name whose part is no part, WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_part_init(struct weft_part *part, const char *text,
                                           struct weft_err *err);
void weft_part_fini(struct weft_part *part);

#endif
