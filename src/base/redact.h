/* SPDX-License-Identifier: MIT
 *
 * Command lines without their secrets. What looks like a secret becomes "***"; the program and all
 * other arguments stay. docs/privacy.md states the rule.
 */
#ifndef WEFT_BASE_REDACT_H
#define WEFT_BASE_REDACT_H

#include "base/str.h"

#include <stdbool.h>
#include <stdio.h>

/* What the arguments so far say of the next one; zeroed before the first, which is the program. */
struct weft_redact {
    bool hides_next; /* it is the value of an option that takes a secret */
    bool is_weak;    /* a number is none, though: "--key 16" */
    bool takes_user; /* it is USER:PASSWORD, perhaps */
    bool keeps_p;    /* the program's -p takes no password: mkdir -p FOLDER */
    bool has_program;
};

/* Writes the next argument of a command as it may be shown. */
void weft_redact_argument(struct weft_redact *redact, struct weft_str argument, FILE *out);

#endif
