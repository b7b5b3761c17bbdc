/* SPDX-License-Identifier: MIT
 *
 * Regular expressions from users and files, within limits: whatever the expression and the text,
 * compiling and matching take bounded time and memory, and what reaches a limit is an error, not
 * "no match". The syntax is PCRE2's, of bytes; docs/filters.md says what users need of it.
 */
#ifndef WEFT_BASE_REGEX_H
#define WEFT_BASE_REGEX_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>

enum {
    WEFT_REGEX_PATTERN_BYTES = 4096,    /* of an expression */
    WEFT_REGEX_COMPILE_BYTES = 1 << 20, /* allocated to compile one */
    WEFT_REGEX_GROUPS_DEEP = 64,        /* parentheses in parentheses */
    WEFT_REGEX_MATCH_STEPS = 1000000,   /* to match one text: some 10 ms */
    WEFT_REGEX_MATCH_DEPTH = 100000,    /* places to return to */
    WEFT_REGEX_MATCH_KIB = 16384,       /* memory for these */
};

struct weft_regex;

/* WEFT_E_ARG: not an expression; WEFT_E_LIMIT: too long, too large, nested too deep. Both name
 * the expression. */
WEFT_CHECKED enum weft_code weft_regex_new(struct weft_str pattern, struct weft_regex **regex,
                                           struct weft_err *err);

/* NULL is allowed. */
void weft_regex_free(struct weft_regex *regex);

/* Whether it matches anywhere in `text`, which may hold any bytes. One thread at a time.
 * WEFT_E_LIMIT names the expression and the text; WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_regex_match(struct weft_regex *regex, struct weft_str text,
                                             bool *is_match, struct weft_err *err);

#endif
