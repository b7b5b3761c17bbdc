/* SPDX-License-Identifier: MIT
 *
 *     filter = [or] | "all"
 *     or     = and { "or" and }
 *     and    = not { "and" not }
 *     not    = "not" not | "(" or ")" | test
 *     test   = NUMERIC op value | NUMERIC "in" value ("-" | "..") value | WORDY ("=" | "!=") text
 */
#include "query/filter_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

struct parser {
    struct weft_filter *filter;
    const char *bytes; /* of the filter; followed by a NUL */
    size_t at;
    unsigned depth;
    struct weft_err *err;
};

static enum weft_code parse_or(struct parser *parser, uint32_t *test);

/* 1-based, in characters. */
static size_t column_of(const char *bytes, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++)
        column += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    return column;
}

enum weft_code weft_filter_expected(const struct weft_filter *filter, size_t at, const char *what,
                                    struct weft_err *err)
{
    enum { SHOWN_BYTES = 60, FOUND_BYTES = 24 };
    const char *bytes = filter->text.bytes;
    const int n_shown =
        filter->text.n_bytes > SHOWN_BYTES ? SHOWN_BYTES : (int)filter->text.n_bytes;
    const size_t n_left = filter->text.n_bytes - at;
    const int n_found = n_left > FOUND_BYTES ? FOUND_BYTES : (int)n_left;
    if (n_left == 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "filter '%.*s': column %zu: expected %s, found its end", n_shown, bytes,
                         column_of(bytes, at), what);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "filter '%.*s': column %zu: expected %s, found '%.*s'", n_shown, bytes,
                     column_of(bytes, at), what, n_found, bytes + at);
}

static enum weft_code expected(const struct parser *parser, size_t at, const char *what)
{
    return weft_filter_expected(parser->filter, at, what, parser->err);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void skip_space(struct parser *parser)
{
    while (isspace((unsigned char)parser->bytes[parser->at]))
        parser->at++;
}

static bool is_name_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '.' || byte == ':' ||
           (unsigned char)byte >= 0x80;
}

/* The bytes of the name that begins here; 0: none does. */
static size_t name_bytes(const struct parser *parser)
{
    const char *bytes = parser->bytes + parser->at;
    size_t n = 0;
    if (isdigit((unsigned char)*bytes))
        return 0;
    while (is_name_byte(bytes[n]))
        n++;
    return n;
}

/* Takes `word`, if it stands here by itself, in letters of either case. */
static bool take_word(struct parser *parser, const char *word)
{
    skip_space(parser);
    const size_t n_bytes = strlen(word);
    if (name_bytes(parser) != n_bytes ||
        strncasecmp(parser->bytes + parser->at, word, n_bytes) != 0)
        return false;
    parser->at += n_bytes;
    return true;
}

static bool take_byte(struct parser *parser, char byte)
{
    skip_space(parser);
    if (parser->bytes[parser->at] != byte)
        return false;
    parser->at++;
    return true;
}

static enum weft_code keep(struct parser *parser, const char *bytes, size_t n_bytes,
                           struct weft_str *text)
{
    *text = weft_arena_copy(parser->filter->arena,
                            (struct weft_str){ .bytes = bytes, .n_bytes = n_bytes });
    return text->bytes ? WEFT_OK : weft_no_memory(parser->err, "a filter");
}

/* 'text' or "text", in which a backslash takes the next byte as it is. */
static enum weft_code take_quoted(struct parser *parser, struct weft_str *text)
{
    const size_t start = parser->at;
    const char quote = parser->bytes[parser->at++];
    WEFT_TRY(keep(parser, parser->bytes + parser->at, strlen(parser->bytes + parser->at), text));
    char *out = (char *)(uintptr_t)text->bytes; /* its own copy */
    size_t n = 0;
    for (char byte; (byte = parser->bytes[parser->at]) != '\0'; parser->at++) {
        if (byte == quote) {
            parser->at++;
            out[n] = '\0';
            text->n_bytes = n;
            return WEFT_OK;
        }
        if (byte == '\\' && parser->bytes[parser->at + 1] != '\0')
            byte = parser->bytes[++parser->at];
        out[n++] = byte;
    }
    return expected(parser, start, "a quote at the end of the text");
}

static bool is_quote(char byte)
{
    return byte == '\'' || byte == '"';
}

/* What a tag, a trace and such are compared with: quoted, or up to a space or a bracket. */
static enum weft_code take_text(struct parser *parser, struct weft_test_value *value)
{
    skip_space(parser);
    value->at = parser->at;
    if (is_quote(parser->bytes[parser->at]))
        return take_quoted(parser, &value->text);
    const size_t n_bytes = strcspn(parser->bytes + parser->at, " \t\r\n\v\f()'\"");
    parser->at += n_bytes;
    return keep(parser, parser->bytes + value->at, n_bytes, &value->text);
}

static bool is_value_byte(const char *bytes, size_t i)
{
    if (bytes[i] == '.')
        return bytes[i + 1] != '.';
    if (bytes[i] == '-' || bytes[i] == '+') /* a sign, of the number or of its exponent */
        return i == 0 || (i > 1 && (bytes[i - 1] == 'e' || bytes[i - 1] == 'E') &&
                          isdigit((unsigned char)bytes[i - 2]));
    return isalnum((unsigned char)bytes[i]) || (unsigned char)bytes[i] >= 0x80;
}

/* The length of a unit behind a number and a blank, "20 ms"; 0 if there is none. */
static size_t unit_behind(const char *bytes)
{
    static const char *const units[] = { "ns",  "us", "\xc2\xb5s", "\xce\xbcs", "ms",  "s",
                                         "min", "h",  "k",         "kB",        "KiB", "MB",
                                         "MiB", "GB", "GiB",       "B" };
    size_t n_bytes = 0;
    while (isalnum((unsigned char)bytes[n_bytes]) || (unsigned char)bytes[n_bytes] >= 0x80)
        n_bytes++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == n_bytes && memcmp(units[i], bytes, n_bytes) == 0)
            return n_bytes;
    return 0;
}

/* "20ms", "20 ms", "3", "p95". */
static enum weft_code take_value(struct parser *parser, struct weft_test_value *value)
{
    char joined[64];
    skip_space(parser);
    const char *bytes = parser->bytes + parser->at;
    size_t n_bytes = 0;
    while (is_value_byte(bytes, n_bytes)) /* false at the NUL */
        n_bytes++;
    value->at = parser->at;
    if (n_bytes == 0 || !memchr("+-.0123456789p", bytes[0], 14))
        return expected(parser, parser->at, "a value such as 20ms, 3 or p95");
    parser->at += n_bytes;
    const size_t n_blanks = strspn(bytes + n_bytes, " \t");
    const size_t n_unit = n_blanks && isdigit((unsigned char)bytes[n_bytes - 1])
                              ? unit_behind(bytes + n_bytes + n_blanks)
                              : 0;
    if (n_unit == 0 || n_bytes + n_unit > sizeof joined)
        return keep(parser, bytes, n_bytes, &value->text);
    memcpy(joined, bytes, n_bytes);
    memcpy(joined + n_bytes, bytes + n_bytes + n_blanks, n_unit);
    parser->at += n_blanks + n_unit;
    return keep(parser, joined, n_bytes + n_unit, &value->text);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static enum weft_code new_test(struct parser *parser, enum weft_test_kind kind, uint32_t *test)
{
    struct weft_filter *filter = parser->filter;
    if (filter->n_tests == WEFT_FILTER_TESTS_MAX)
        return weft_fail(parser->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "a filter of more than %d tests", WEFT_FILTER_TESTS_MAX);
    *test = filter->n_tests++;
    filter->tests[*test] = (struct weft_test){ .kind = kind, .at = parser->at };
    return WEFT_OK;
}

static bool take_operator(struct parser *parser, enum weft_test_op *op)
{
    static const struct {
        const char *text;
        enum weft_test_op op;
    } operators[] = { { "<=", WEFT_OP_LE }, { ">=", WEFT_OP_GE }, { "!=", WEFT_OP_NE },
                      { "==", WEFT_OP_EQ }, { "<", WEFT_OP_LT },  { ">", WEFT_OP_GT },
                      { "=", WEFT_OP_EQ } };
    skip_space(parser);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const size_t n_bytes = strlen(operators[i].text);
        if (strncmp(parser->bytes + parser->at, operators[i].text, n_bytes) != 0)
            continue;
        parser->at += n_bytes;
        *op = operators[i].op;
        return true;
    }
    return false;
}

static enum weft_code take_range(struct parser *parser, struct weft_test *test)
{
    test->op = WEFT_OP_IN;
    WEFT_TRY(take_value(parser, &test->values[0]));
    skip_space(parser);
    if (strncmp(parser->bytes + parser->at, "..", 2) == 0)
        parser->at += 2;
    else if (!take_byte(parser, '-'))
        return expected(parser, parser->at, "'-' and the end of the range, as in 1s-2s");
    return take_value(parser, &test->values[1]);
}

static enum weft_code take_numeric(struct parser *parser, struct weft_test *test)
{
    if (take_word(parser, "in"))
        return take_range(parser, test);
    if (!take_operator(parser, &test->op))
        return expected(parser, parser->at, "<, <=, >, >=, =, != or in");
    return take_value(parser, &test->values[0]);
}

static enum weft_code take_wordy(struct parser *parser, struct weft_test *test)
{
    skip_space(parser);
    const size_t at = parser->at;
    if (!take_operator(parser, &test->op) || (test->op != WEFT_OP_EQ && test->op != WEFT_OP_NE))
        return expected(parser, at, "= or !=");
    return take_text(parser, &test->values[0]);
}

/* "('fsync')" behind "context" or "metric". */
static enum weft_code take_argument(struct parser *parser, struct weft_test *test)
{
    if (!take_byte(parser, '('))
        return expected(parser, parser->at, "'(' and a name in quotes, as in context('fsync')");
    skip_space(parser);
    test->at = parser->at;
    if (!is_quote(parser->bytes[parser->at]))
        return expected(parser, parser->at, "a name in quotes, as in context('fsync')");
    WEFT_TRY(take_quoted(parser, &test->name));
    if (test->name.n_bytes == 0)
        return expected(parser, test->at, "a name that is not empty");
    return take_byte(parser, ')') ? WEFT_OK : expected(parser, parser->at, "')'");
}

static const struct {
    const char *name;
    enum weft_test_kind kind;
} wordy[] = { { "flag", WEFT_TEST_FLAG },
              { "host", WEFT_TEST_HOST },
              { "tag", WEFT_TEST_TAG },
              { "thread", WEFT_TEST_THREAD },
              { "trace", WEFT_TEST_TRACE } };

static enum weft_code parse_test(struct parser *parser, uint32_t *test)
{
    skip_space(parser);
    const size_t at = parser->at, n_name = name_bytes(parser);
    if (n_name == 0)
        return expected(parser, at, "a metric, tag, trace, host, thread, flag or context('...')");
    enum weft_code code = new_test(parser, WEFT_TEST_METRIC, test);
    if (code != WEFT_OK)
        return code;
    struct weft_test *made = &parser->filter->tests[*test];
    if (take_word(parser, "all")) {
        made->kind = WEFT_TEST_ALL;
        return WEFT_OK;
    }
    for (size_t i = 0; i < sizeof wordy / sizeof *wordy; i++)
        if (take_word(parser, wordy[i].name)) {
            made->kind = wordy[i].kind;
            return take_wordy(parser, made);
        }
    const bool is_context = take_word(parser, "context");
    if (is_context || take_word(parser, "metric")) {
        made->kind = is_context ? WEFT_TEST_CONTEXT : WEFT_TEST_METRIC;
        code = take_argument(parser, made);
    } else {
        parser->at += n_name;
        code = keep(parser, parser->bytes + at, n_name, &made->name);
    }
    return code == WEFT_OK ? take_numeric(parser, made) : code;
}

static enum weft_code parse_not(struct parser *parser, uint32_t *test)
{
    enum weft_code code;
    if (++parser->depth > WEFT_FILTER_DEPTH_MAX)
        return weft_fail(parser->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "a filter of more than %d brackets in each other", WEFT_FILTER_DEPTH_MAX);
    if (take_word(parser, "not")) {
        uint32_t inner;
        code = parse_not(parser, &inner);
        WEFT_THEN(code, new_test(parser, WEFT_TEST_NOT, test));
        if (code == WEFT_OK)
            parser->filter->tests[*test].left = inner;
    } else if (take_byte(parser, '(')) {
        code = parse_or(parser, test);
        if (code == WEFT_OK && !take_byte(parser, ')'))
            code = expected(parser, parser->at, "'and', 'or' or ')'");
    } else {
        code = parse_test(parser, test);
    }
    parser->depth--;
    return code;
}

/* A row of `parse`d parts with `word` between them. */
static enum weft_code parse_row(struct parser *parser, const char *word, enum weft_test_kind kind,
                                enum weft_code (*parse)(struct parser *parser, uint32_t *test),
                                uint32_t *test)
{
    enum weft_code code = parse(parser, test);
    while (code == WEFT_OK && take_word(parser, word)) {
        uint32_t right, joined;
        code = parse(parser, &right);
        WEFT_THEN(code, new_test(parser, kind, &joined));
        if (code == WEFT_OK) {
            parser->filter->tests[joined].left = *test;
            parser->filter->tests[joined].right = right;
            *test = joined;
        }
    }
    return code;
}

static enum weft_code parse_and(struct parser *parser, uint32_t *test)
{
    return parse_row(parser, "and", WEFT_TEST_AND, parse_not, test);
}

static enum weft_code parse_or(struct parser *parser, uint32_t *test)
{
    return parse_row(parser, "or", WEFT_TEST_OR, parse_and, test);
}

static enum weft_code parse(struct parser *parser)
{
    skip_space(parser);
    if (parser->bytes[parser->at] == '\0')
        return new_test(parser, WEFT_TEST_ALL, &parser->filter->top);
    WEFT_TRY(parse_or(parser, &parser->filter->top));
    skip_space(parser);
    if (parser->at < parser->filter->text.n_bytes)
        return expected(parser, parser->at, "'and', 'or' or the end of the filter");
    return WEFT_OK;
}

static enum weft_code check_text(struct weft_str text, struct weft_err *err)
{
    if (text.n_bytes > WEFT_FILTER_BYTES_MAX)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "a filter of %zu bytes, more than %d",
                         text.n_bytes, WEFT_FILTER_BYTES_MAX);
    if (text.n_bytes > 0 && memchr(text.bytes, '\0', text.n_bytes))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "a filter with a byte of 0");
    return WEFT_OK;
}

enum weft_code weft_filter_parse(struct weft_str text, struct weft_filter **filter,
                                 struct weft_err *err)
{
    *filter = NULL;
    WEFT_TRY(check_text(text, err));
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_filter *made = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_filter) : NULL;
    if (made)
        made->text = weft_arena_copy(arena, text);
    if (!made || !made->text.bytes) {
        weft_arena_free(arena);
        return weft_no_memory(err, "a filter");
    }
    made->arena = arena;
    struct parser parser = { .filter = made, .bytes = made->text.bytes, .err = err };
    enum weft_code code = parse(&parser);
    if (code == WEFT_OK)
        *filter = made;
    else
        weft_filter_free(made);
    return code;
}

void weft_filter_free(struct weft_filter *filter)
{
    if (filter)
        weft_arena_free(filter->arena);
}
