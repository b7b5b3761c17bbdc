/* SPDX-License-Identifier: MIT
 *
 * Reads one word, sign, field or quoted value at a time, as the parser (rules.c, its only caller)
 * asks. Errors compute line and column by counting again from the start, and show at most
 * SHOWN_BYTES with control characters replaced.
 */
#include "query/rules_lexer.h"

#include <stdint.h>
#include <string.h>

/* What is shown of a word that was not expected. */
enum { SHOWN_BYTES = 40 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static char here(const struct rules_lexer *lexer)
{
    return lexer->at < lexer->text.n_bytes ? lexer->text.bytes[lexer->at] : '\0';
}

/* Where a word could begin: functions without a name are called "#400". */
static bool is_comment(const struct rules_lexer *lexer)
{
    return here(lexer) == '#' && (lexer->at == 0 || is_blank(lexer->text.bytes[lexer->at - 1]));
}

void rules_skip_blanks(struct rules_lexer *lexer)
{
    while (lexer->at < lexer->text.n_bytes) {
        if (is_comment(lexer))
            while (lexer->at < lexer->text.n_bytes && here(lexer) != '\n')
                lexer->at++;
        else if (is_blank(here(lexer)))
            lexer->at++;
        else
            return;
    }
}

bool rules_at_end(struct rules_lexer *lexer)
{
    rules_skip_blanks(lexer);
    return lexer->at == lexer->text.n_bytes;
}

/* Line and column are counted when they are asked for. */
static enum weft_code fail_at(struct rules_lexer *lexer, size_t at, const char *what,
                              const char *expected, const char *go_on)
{
    uint64_t line = 1;
    size_t column = 1; /* in letters */
    for (size_t i = 0; i < at; i++) {
        const char c = lexer->text.bytes[i];
        line += c == '\n';
        column = c == '\n' ? 1 : column + (((uint8_t)c & 0xc0) != 0x80);
    }
    return weft_fail_line(lexer->err, WEFT_E_MALFORMED, at, line, "column %zu: expected %s, %s%s%s",
                          column, expected, what, go_on ? "; " : "", go_on ? go_on : "");
}

/* By a terminal: controls, of UTF-8 too (U+0080 to U+009F). */
static bool is_obeyed(const char *text, size_t at, size_t n_bytes)
{
    const uint8_t byte = (uint8_t)text[at];
    return byte < ' ' || byte == 0x7f ||
           (byte == 0xc2 && at + 1 < n_bytes && (uint8_t)text[at + 1] < 0xa0);
}

enum weft_code rules_fail(struct rules_lexer *lexer, const char *expected, const char *go_on)
{
    char what[SHOWN_BYTES + 16] = "found the end";
    rules_skip_blanks(lexer);
    size_t n = 0;
    const char *word = lexer->text.bytes + lexer->at;
    while (lexer->at + n < lexer->text.n_bytes && n < SHOWN_BYTES && !is_blank(word[n]))
        n++;
    while (n > 0 && lexer->at + n < lexer->text.n_bytes && ((uint8_t)word[n] & 0xc0) == 0x80)
        n--; /* no part of a letter */
    if (n > 0) {
        memcpy(what, "found '", 7);
        for (size_t i = 0; i < n; i++)
            what[7 + i] = is_obeyed(word, i, n) ? '?' : word[i];
        memcpy(what + 7 + n, "'", 2);
    }
    return fail_at(lexer, lexer->at, what, expected, go_on);
}

struct weft_str rules_peek_word(struct rules_lexer *lexer)
{
    rules_skip_blanks(lexer);
    size_t end = lexer->at;
    while (end < lexer->text.n_bytes && is_letter(lexer->text.bytes[end]))
        end++;
    return (struct weft_str){ lexer->text.bytes + lexer->at, end - lexer->at };
}

bool rules_take_word(struct rules_lexer *lexer, const char *word)
{
    const struct weft_str found = rules_peek_word(lexer);
    if (!weft_str_equal(found, weft_str_of(word)))
        return false;
    lexer->at += found.n_bytes;
    return true;
}

bool rules_take_sign(struct rules_lexer *lexer, const char *sign)
{
    const size_t n_bytes = strlen(sign);
    rules_skip_blanks(lexer);
    if (lexer->text.n_bytes - lexer->at < n_bytes ||
        memcmp(lexer->text.bytes + lexer->at, sign, n_bytes) != 0)
        return false;
    lexer->at += n_bytes;
    return true;
}

/* "text", in which \ makes the next letter stand for itself. */
static enum weft_code take_quoted(struct rules_lexer *lexer, struct weft_str *text)
{
    const size_t begin = ++lexer->at;
    size_t end = begin, n = 0;
    while (end < lexer->text.n_bytes && lexer->text.bytes[end] != '"')
        end += lexer->text.bytes[end] == '\\' && end + 1 < lexer->text.n_bytes ? 2 : 1;
    if (end >= lexer->text.n_bytes)
        return fail_at(lexer, begin - 1, "found no second one", "quotes on both sides of a text",
                       NULL);
    char *copy = weft_arena_alloc(lexer->arena, end - begin + 1, 1);
    if (!copy)
        return weft_no_memory(lexer->err, "rules");
    for (size_t i = begin; i < end; i++) {
        i += lexer->text.bytes[i] == '\\';
        copy[n++] = lexer->text.bytes[i];
    }
    lexer->at = end + 1;
    *text = (struct weft_str){ copy, n };
    return WEFT_OK;
}

static bool is_of_field(char c)
{
    return is_letter(c) || (c != '\0' && strchr(".:-/@$", c));
}

enum weft_code rules_take_field(struct rules_lexer *lexer, struct weft_str *field)
{
    rules_skip_blanks(lexer);
    if (here(lexer) == '"')
        return take_quoted(lexer, field);
    const size_t begin = lexer->at;
    size_t end = begin;
    while (end < lexer->text.n_bytes && is_of_field(lexer->text.bytes[end]))
        end++;
    if (end == begin)
        return rules_fail(lexer, "a field such as id, fd, name or a member of the payload", NULL);
    *field = (struct weft_str){ lexer->text.bytes + begin, end - begin };
    lexer->at = end;
    return WEFT_OK;
}

enum weft_code rules_take_name(struct rules_lexer *lexer, const char *expected,
                               struct weft_str *name)
{
    bool is_quoted;
    rules_skip_blanks(lexer);
    if (lexer->at == lexer->text.n_bytes)
        return rules_fail(lexer, expected, NULL);
    return rules_take_value(lexer, name, &is_quoted);
}

enum weft_code rules_take_value(struct rules_lexer *lexer, struct weft_str *value, bool *is_quoted)
{
    rules_skip_blanks(lexer);
    *is_quoted = here(lexer) == '"';
    if (*is_quoted)
        return take_quoted(lexer, value);
    const size_t begin = lexer->at;
    size_t end = begin;
    while (end < lexer->text.n_bytes && !is_blank(lexer->text.bytes[end]))
        end++;
    if (end == begin)
        return rules_fail(lexer, "a value", NULL);
    *value = (struct weft_str){ lexer->text.bytes + begin, end - begin };
    lexer->at = end;
    return WEFT_OK;
}
