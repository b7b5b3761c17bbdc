/* SPDX-License-Identifier: MIT
 *
 * Regular expressions within limits: what users write matches, and what would take the machine is
 * an error that names the expression and the limit.
 */
#include "base/regex.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the pattern says of the text: 'y', 'n', or a code. */
static char try(const char *pattern, struct weft_str text, struct weft_err *err)
{
    struct weft_regex *regex;
    bool is_match = false;
    enum weft_code code = weft_regex_new(weft_str_of(pattern), &regex, err);
    if (code == WEFT_OK)
        code = weft_regex_match(regex, text, &is_match, err);
    weft_regex_free(regex);
    return code == WEFT_E_LIMIT ? 'L'
           : code == WEFT_E_ARG ? 'A'
           : code != WEFT_OK    ? '?'
           : is_match           ? 'y'
                                : 'n';
}

static void test_syntax(void)
{
    static const struct {
        const char *pattern, *text;
        char want;
    } rows[] = {
        { "^(get|put)_[a-z]+$", "put_value", 'y' },
        { "^(get|put)_[a-z]+$", "put_value\n", 'n' },
        { "a.c", "a\nc", 'y' },
        { "", "anything", 'y' },
        { "", "", 'y' },
        { "[[:alpha:]_][[:alnum:]_]*::~", "ns::T::~T()", 'y' },
        { "^a{2,3}$", "aaaa", 'n' },
        { "\\bread\\b", "disk read block", 'y' },
        { "(.)(.)\\2\\1", "abba", 'y' },
        { "[]x]y", "]y", 'y' },
        { "READ", "read", 'n' },
        { "é", "caf\xc3\xa9", 'y' },
        { "(", "a", 'A' },
        { "a**", "a", 'A' },
        { "[a", "a", 'A' },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct weft_err err = { 0 };
        const char got = try(rows[k].pattern, weft_str_of(rows[k].text), &err);
        tap_ok(got == rows[k].want, "/%s/ of a text: %c, want %c %s", rows[k].pattern, got,
               rows[k].want, err.text);
    }
    const struct weft_str text = { .bytes = "a\0b", .n_bytes = 3 };
    tap_ok(try("^a.b$", text, NULL) == 'y', "texts may hold NUL");
}

/* Each is refused within a second and within the memory of main(). */
static void test_limits(void)
{
    char long_pattern[WEFT_REGEX_PATTERN_BYTES + 2], nested[600] = "", bytes[4096];
    memset(long_pattern, 'a', sizeof long_pattern - 1);
    long_pattern[sizeof long_pattern - 1] = '\0';
    memset(nested, '(', 100);
    memset(nested + 100, ')', 100);
    memset(bytes, 'a', sizeof bytes);
    const struct weft_str text = { .bytes = bytes, .n_bytes = sizeof bytes - 1 };
    bytes[sizeof bytes - 2] = 'b';
    const char *const patterns[] = {
        "((a{1,255}){1,255}){1,255}",
        "(((a{1,255}){1,255}){1,255}){1,255}",
        "((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}",
        long_pattern,
        nested,
        "(a+)+$",
        "(a|aa)+$",
        "^(a|a?)+$",
        "(.*)*(.*)*(.*)*x",
        "(?R)?(a|aa)*c",
        "(*LIMIT_MATCH=4000000000)(a+)+$",
        "(?:a?){300}(?:a){300}c|(a*)*c",
    };
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        struct weft_err err = { 0 };
        const clock_t from = clock();
        const char got = try(patterns[k], text, &err);
        const double s = (double)(clock() - from) / CLOCKS_PER_SEC;
        char shown[50];
        (void)snprintf(shown, sizeof shown, "%s", patterns[k]);
        tap_ok((got == 'L' || got == 'n') && s < 1.0, "/%.40s/ is bounded: %c", shown, got);
        tap_ok(got == 'n' || strncmp(err.text, "regular expression /", 20) == 0, "%s", err.text);
        if (k < 7)
            tap_ok(got == 'L', "and is a limit");
    }
}

int main(void)
{
    test_syntax();
    test_limits();
    return tap_done();
}
