/* SPDX-License-Identifier: MIT
 *
 * Any expression over any text (the first line, and the rest): it is refused with a reason, or it
 * matches or not, the same each time, within the limits.
 */
#include "base/regex.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void check(bool is_ok)
{
    if (!is_ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    const uint8_t *line_end = n_bytes ? memchr(bytes, '\n', n_bytes) : NULL;
    const size_t n_pattern = line_end ? (size_t)(line_end - bytes) : n_bytes;
    const struct weft_str pattern = { .bytes = (const char *)bytes, .n_bytes = n_pattern };
    const struct weft_str text = { .bytes = (const char *)bytes + n_pattern,
                                   .n_bytes = n_bytes - n_pattern };
    struct weft_regex *regex;
    struct weft_err err = { 0 };
    bool is_match = false, is_again = false;
    enum weft_code code = weft_regex_new(pattern, &regex, &err);
    check((code == WEFT_OK) == (regex != NULL));
    check(code == WEFT_OK || (code == err.code && err.text[0]));
    if (code != WEFT_OK)
        return 0;
    code = weft_regex_match(regex, text, &is_match, &err);
    check(code == WEFT_OK || code == WEFT_E_LIMIT);
    check(weft_regex_match(regex, text, &is_again, NULL) == code && is_again == is_match);
    weft_regex_free(regex);
    return 0;
}
