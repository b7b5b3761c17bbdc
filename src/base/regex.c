/* SPDX-License-Identifier: MIT
 *
 * See regex.h: PCRE2 with all of its limits set, and an allocator that counts while it compiles.
 */
#include "base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

struct weft_regex {
    char *text;  /* of the expression, for errors */
    size_t room; /* bytes that the compiler may still allocate */
    bool is_out_of_room;
    pcre2_general_context *general;
    pcre2_match_context *limits;
    pcre2_code *code;
    pcre2_match_data *match;
};

static void *take(size_t n_bytes, void *data)
{
    struct weft_regex *regex = data;
    if (n_bytes > regex->room) {
        regex->is_out_of_room = true;
        return NULL;
    }
    void *bytes = malloc(n_bytes);
    regex->room -= bytes ? n_bytes : 0;
    return bytes;
}

static void give_back(void *bytes, void *data)
{
    (void)data;
    free(bytes);
}

/* ---- compiling ---------------------------------------------------------------------------------
 */

static bool is_limit(int status)
{
    return status == PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP ||
           status == PCRE2_ERROR_PATTERN_TOO_LARGE ||
           status == PCRE2_ERROR_PATTERN_STRING_TOO_LONG ||
           status == PCRE2_ERROR_PATTERN_TOO_COMPLICATED;
}

/* A group of as many repetitions as are allowed stands for that many copies. */
static enum weft_code refuse(const struct weft_regex *regex, int status, size_t at,
                             struct weft_err *err)
{
    char reason[160] = "";
    if (regex->is_out_of_room)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "regular expression /%.100s/: it needs more than %d bytes, the limit",
                         regex->text, WEFT_REGEX_COMPILE_BYTES);
    if (status == PCRE2_ERROR_HEAP_FAILED)
        return weft_no_memory(err, "a regular expression");
    (void)pcre2_get_error_message(status, (PCRE2_UCHAR *)reason, sizeof reason);
    return weft_fail(err, is_limit(status) ? WEFT_E_LIMIT : WEFT_E_ARG, WEFT_NO_OFFSET,
                     "regular expression /%.100s/: %s (at byte %zu)", regex->text, reason, at);
}

static enum weft_code compile(struct weft_regex *regex, struct weft_str pattern,
                              struct weft_err *err)
{
    int status = 0;
    PCRE2_SIZE at = 0;
    pcre2_compile_context *limits = pcre2_compile_context_create(regex->general);
    if (!limits)
        return weft_no_memory(err, "a regular expression");
    (void)pcre2_set_max_pattern_length(limits, WEFT_REGEX_PATTERN_BYTES);
    (void)pcre2_set_parens_nest_limit(limits, WEFT_REGEX_GROUPS_DEEP);
    /* As in POSIX: a dot is any byte, and "$" only the end. Bytes, whatever the text asks for. */
    regex->code = pcre2_compile((PCRE2_SPTR)pattern.bytes, pattern.n_bytes,
                                PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF |
                                    PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C,
                                &status, &at, limits);
    pcre2_compile_context_free(limits);
    return regex->code ? WEFT_OK : refuse(regex, status, at, err);
}

static enum weft_code prepare(struct weft_regex *regex, struct weft_str pattern,
                              struct weft_err *err)
{
    regex->room = WEFT_REGEX_COMPILE_BYTES;
    regex->general = pcre2_general_context_create(take, give_back, regex);
    if (!regex->general)
        return weft_no_memory(err, "a regular expression");
    WEFT_TRY(compile(regex, pattern, err));
    regex->room = SIZE_MAX; /* from here on, matching has limits of its own */
    regex->limits = pcre2_match_context_create(regex->general);
    regex->match = pcre2_match_data_create_from_pattern(regex->code, regex->general);
    if (!regex->limits || !regex->match)
        return weft_no_memory(err, "a regular expression");
    (void)pcre2_set_match_limit(regex->limits, WEFT_REGEX_MATCH_STEPS);
    (void)pcre2_set_depth_limit(regex->limits, WEFT_REGEX_MATCH_DEPTH);
    (void)pcre2_set_heap_limit(regex->limits, WEFT_REGEX_MATCH_KIB);
    return WEFT_OK;
}

enum weft_code weft_regex_new(struct weft_str pattern, struct weft_regex **regex,
                              struct weft_err *err)
{
    *regex = NULL;
    if (pattern.n_bytes > WEFT_REGEX_PATTERN_BYTES)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "regular expression /%.*s.../: expected at most %d bytes, found %zu", 60,
                         pattern.bytes, WEFT_REGEX_PATTERN_BYTES, pattern.n_bytes);
    struct weft_regex *made = calloc(1, sizeof *made);
    if (!made)
        return weft_no_memory(err, "a regular expression");
    made->text = strndup(pattern.bytes ? pattern.bytes : "", pattern.n_bytes);
    if (pattern.n_bytes == 0)
        pattern.bytes = "";
    const enum weft_code code =
        made->text ? prepare(made, pattern, err) : weft_no_memory(err, "a regular expression");
    if (code == WEFT_OK)
        *regex = made;
    else
        weft_regex_free(made);
    return code;
}

void weft_regex_free(struct weft_regex *regex)
{
    if (!regex)
        return;
    pcre2_match_data_free(regex->match);
    pcre2_match_context_free(regex->limits);
    pcre2_code_free(regex->code);
    pcre2_general_context_free(regex->general);
    free(regex->text);
    free(regex);
}

/* ---- matching ----------------------------------------------------------------------------------
 */

static enum weft_code give_up(const struct weft_regex *regex, int status, struct weft_str text,
                              struct weft_err *err)
{
    const int n_shown = text.n_bytes < 60 ? (int)text.n_bytes : 60;
    char reason[100] = "";
    switch (status) {
    case PCRE2_ERROR_NOMEMORY:
        return weft_no_memory(err, "a regular expression");
    case PCRE2_ERROR_MATCHLIMIT:
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "regular expression /%.100s/: more than %d steps, the limit, to match "
                         "'%.*s'",
                         regex->text, WEFT_REGEX_MATCH_STEPS, n_shown, text.bytes);
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "regular expression /%.100s/: more than %d levels or %d KiB, the limit, "
                         "to match '%.*s'",
                         regex->text, WEFT_REGEX_MATCH_DEPTH, WEFT_REGEX_MATCH_KIB, n_shown,
                         text.bytes);
    default:
        (void)pcre2_get_error_message(status, (PCRE2_UCHAR *)reason, sizeof reason);
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "regular expression /%.100s/: %s, at '%.*s'", regex->text, reason, n_shown,
                         text.bytes);
    }
}

enum weft_code weft_regex_match(struct weft_regex *regex, struct weft_str text, bool *is_match,
                                struct weft_err *err)
{
    if (!text.bytes)
        text.bytes = "";
    const int status = pcre2_match(regex->code, (PCRE2_SPTR)text.bytes, text.n_bytes, 0, 0,
                                   regex->match, regex->limits);
    *is_match = status >= 0;
    return status >= 0 || status == PCRE2_ERROR_NOMATCH ? WEFT_OK
                                                        : give_up(regex, status, text, err);
}
