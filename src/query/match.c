/* SPDX-License-Identifier: MIT
 *
 * Compiles /regex/ within the limits of base/regex.h, and compares plain patterns byte by byte in
 * lower-case ASCII.
 */
#include "query/match.h"

#include "base/regex.h"

#include <stdlib.h>
#include <string.h>

struct weft_matcher {
    char *text; /* the pattern */
    size_t n_bytes;
    struct weft_regex *regex; /* NULL: to be found as text */
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

enum weft_code weft_matcher_new(const char *pattern, struct weft_matcher **matcher,
                                struct weft_err *err)
{
    const size_t n_bytes = strlen(pattern);
    *matcher = NULL;
    struct weft_matcher *made = calloc(1, sizeof *made);
    if (made)
        made->text = strdup(pattern);
    if (!made || !made->text) {
        free(made);
        return weft_no_memory(err, "a pattern");
    }
    made->n_bytes = n_bytes;
    enum weft_code code = WEFT_OK;
    if (n_bytes >= 2 && pattern[0] == '/' && pattern[n_bytes - 1] == '/')
        code = weft_regex_new((struct weft_str){ .bytes = pattern + 1, .n_bytes = n_bytes - 2 },
                              &made->regex, err);
    if (code == WEFT_OK)
        *matcher = made;
    else
        weft_matcher_free(made);
    return code;
}

void weft_matcher_free(struct weft_matcher *matcher)
{
    if (!matcher)
        return;
    weft_regex_free(matcher->regex);
    free(matcher->text);
    free(matcher);
}

static bool begins(const char *bytes, const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (lower(bytes[i]) != lower(text[i]))
            return false;
    return true;
}

static bool holds(struct weft_str name, const char *text, size_t n_bytes)
{
    for (size_t at = 0; at + n_bytes <= name.n_bytes; at++)
        if (begins(name.bytes + at, text, n_bytes))
            return true;
    return false;
}

enum weft_code weft_matcher_matches(struct weft_matcher *matcher, struct weft_str name,
                                    bool *is_match, struct weft_err *err)
{
    if (matcher->regex)
        return weft_regex_match(matcher->regex, name, is_match, err);
    *is_match = holds(name, matcher->text, matcher->n_bytes);
    return WEFT_OK;
}
