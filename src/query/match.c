/* SPDX-License-Identifier: MIT */
#include "query/match.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

struct weft_matcher {
    char *text; /* the pattern without its slashes */
    size_t n_bytes;
    bool is_regex;
    regex_t regex;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static enum weft_code compile(struct weft_matcher *matcher, struct weft_err *err)
{
    int status = regcomp(&matcher->regex, matcher->text, REG_EXTENDED | REG_NOSUB);
    if (status == 0)
        return WEFT_OK;
    char reason[128];
    regerror(status, &matcher->regex, reason, sizeof reason);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "regular expression /%.100s/: %s",
                     matcher->text, reason);
}

enum weft_code weft_matcher_new(const char *pattern, struct weft_matcher **matcher,
                                struct weft_err *err)
{
    size_t n_bytes = strlen(pattern);
    bool is_regex = n_bytes >= 2 && pattern[0] == '/' && pattern[n_bytes - 1] == '/';
    *matcher = NULL;
    struct weft_matcher *made = calloc(1, sizeof *made);
    if (made)
        made->text = is_regex ? strndup(pattern + 1, n_bytes - 2) : strdup(pattern);
    if (!made || !made->text) {
        free(made);
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a pattern");
    }
    made->n_bytes = strlen(made->text);
    enum weft_code code = is_regex ? compile(made, err) : WEFT_OK;
    made->is_regex = is_regex && code == WEFT_OK;
    if (code != WEFT_OK) {
        weft_matcher_free(made);
        return code;
    }
    *matcher = made;
    return WEFT_OK;
}

void weft_matcher_free(struct weft_matcher *matcher)
{
    if (!matcher)
        return;
    if (matcher->is_regex)
        regfree(&matcher->regex);
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

bool weft_matcher_matches(const struct weft_matcher *matcher, struct weft_str name)
{
    if (!matcher->is_regex)
        return holds(name, matcher->text, matcher->n_bytes);
    char *copy = strndup(name.bytes ? name.bytes : "", name.n_bytes);
    bool is_match = copy && regexec(&matcher->regex, copy, 0, NULL, 0) == 0;
    free(copy);
    return is_match;
}
