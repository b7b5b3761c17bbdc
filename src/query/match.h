/* SPDX-License-Identifier: MIT
 *
 * How users name functions: a part of the name in letters of either case, or /a regular
 * expression/.
 */
#ifndef WEFT_QUERY_MATCH_H
#define WEFT_QUERY_MATCH_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>

struct weft_matcher;

/* `pattern`: text to be found anywhere in a name, ASCII letters of either case being the same; or
 * "/.../": a regular expression, exact in case, within the limits of base/regex.h. */
WEFT_CHECKED enum weft_code weft_matcher_new(const char *pattern, struct weft_matcher **matcher,
                                             struct weft_err *err);

/* NULL is allowed. */
void weft_matcher_free(struct weft_matcher *matcher);

/* One thread at a time. A regular expression that reaches a limit is WEFT_E_LIMIT. */
WEFT_CHECKED enum weft_code weft_matcher_matches(struct weft_matcher *matcher, struct weft_str name,
                                                 bool *is_match, struct weft_err *err);

#endif
