/* SPDX-License-Identifier: MIT
 *
 * Formats a message for standard error and escapes control characters, which names from traces may
 * contain. A long message is formatted twice rather than cut.
 */
#include "base/plain.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAY_BYTES = 1024 };

void weft_say(const char *format, ...)
{
    char text[SAY_BYTES], *longer = NULL;
    va_list args;
    va_start(args, format);
    const size_t n_bytes = weft_plain_vprint(text, sizeof text, format, args);
    va_end(args);
    if (n_bytes >= sizeof text && (longer = malloc(n_bytes + 1)) != NULL) {
        va_start(args, format);
        (void)weft_plain_vprint(longer, n_bytes + 1, format, args);
        va_end(args);
    }
    (void)fputs(longer ? longer : text, stderr);
    free(longer);
}
