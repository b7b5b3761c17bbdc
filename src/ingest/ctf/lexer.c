/* SPDX-License-Identifier: MIT
 *
 * A hand-written scanner with line numbers for messages. It accepts C comments, escapes, and
 * integers of base 2, 8, 10 and 16; tsdl.c and its parts are the only callers.
 */
#include "ingest/ctf/lexer.h"

#include <string.h>

struct ctf_lexer ctf_lexer_of(struct weft_str text, struct weft_arena *arena)
{
    return (struct ctf_lexer){ .at = text.bytes,
                               .start = text.bytes,
                               .end = text.bytes + text.n_bytes,
                               .line = 1,
                               .arena = arena };
}

static enum weft_code fail(const struct ctf_lexer *lexer, const char *expected,
                           struct weft_err *err)
{
    const uint64_t at_off = (uint64_t)(lexer->at - lexer->start);
    if (lexer->at == lexer->end)
        return weft_fail_line(err, WEFT_E_TRUNCATED, at_off, lexer->line,
                              "expected %s, found the end of the metadata", expected);
    return weft_fail_line(err, WEFT_E_MALFORMED, at_off, lexer->line,
                          "expected %s, found byte 0x%02x", expected, (uint8_t)*lexer->at);
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           (byte >= '0' && byte <= '9');
}

static bool starts(const struct ctf_lexer *lexer, const char *text)
{
    const size_t n_bytes = strlen(text);
    return (size_t)(lexer->end - lexer->at) >= n_bytes && memcmp(lexer->at, text, n_bytes) == 0;
}

/* ---- between tokens ------------------------------------------------------------------------- */

static enum weft_code skip_comment(struct ctf_lexer *lexer, struct weft_err *err)
{
    for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
        if (starts(lexer, "*/")) {
            lexer->at += 2;
            return WEFT_OK;
        }
        lexer->line += *lexer->at == '\n';
    }
    return fail(lexer, "the end of a comment", err);
}

static enum weft_code skip_space(struct ctf_lexer *lexer, struct weft_err *err)
{
    while (lexer->at < lexer->end) {
        const char byte = *lexer->at;
        if (byte == '\n')
            lexer->line++;
        if (byte == ' ' || (byte >= '\t' && byte <= '\r')) {
            lexer->at++;
        } else if (starts(lexer, "/*")) {
            WEFT_TRY(skip_comment(lexer, err));
        } else if (starts(lexer, "//")) {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else {
            break;
        }
    }
    return WEFT_OK;
}

/* ---- strings -------------------------------------------------------------------------------- */

static unsigned digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return (unsigned)(byte - '0');
    if (byte >= 'a' && byte <= 'f')
        return (unsigned)(byte - 'a') + 10;
    if (byte >= 'A' && byte <= 'F')
        return (unsigned)(byte - 'A') + 10;
    return 99;
}

/* The byte that follows a backslash says; lexer->at is behind it afterwards. */
static char read_escape(struct ctf_lexer *lexer)
{
    static const char letters[] = "abfnrtv";
    static const char meanings[] = "\a\b\f\n\r\t\v";
    const char letter = *lexer->at++;
    const char *known = strchr(letters, letter);
    unsigned value = 0;
    if (letter && known)
        return meanings[known - letters];
    if (letter == 'x') {
        for (; lexer->at < lexer->end && digit_of(*lexer->at) < 16; lexer->at++)
            value = value << 4 | digit_of(*lexer->at);
        return (char)value;
    }
    if (digit_of(letter) >= 8)
        return letter;
    value = digit_of(letter);
    for (int n = 1; n < 3 && lexer->at < lexer->end && digit_of(*lexer->at) < 8; n++)
        value = value << 3 | digit_of(*lexer->at++);
    return (char)value;
}

static enum weft_code read_string(struct ctf_lexer *lexer, char quote, struct weft_str *text,
                                  struct weft_err *err)
{
    const char *start = ++lexer->at;
    bool has_escape = false;
    while (lexer->at < lexer->end && *lexer->at != quote && *lexer->at != '\n') {
        const bool is_escape = *lexer->at == '\\' && lexer->at + 1 < lexer->end;
        has_escape |= is_escape;
        lexer->at += 1 + is_escape;
    }
    if (lexer->at == lexer->end || *lexer->at != quote)
        return fail(lexer, "the end of a string", err);
    const char *end = lexer->at;
    *text = (struct weft_str){ .bytes = start, .n_bytes = (size_t)(end - start) };
    if (has_escape) {
        char *copy = WEFT_ARENA_NEW(lexer->arena, text->n_bytes, char);
        if (!copy)
            return weft_no_memory(err, "a string of the metadata");
        *text = (struct weft_str){ .bytes = copy };
        for (lexer->at = start; lexer->at < end;) {
            const char byte = *lexer->at++;
            copy[text->n_bytes++] = byte == '\\' ? read_escape(lexer) : byte;
        }
    }
    lexer->at = end + 1;
    return WEFT_OK;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static enum weft_code read_number(struct ctf_lexer *lexer, struct ctf_token *token,
                                  struct weft_err *err)
{
    unsigned base = 10;
    token->kind = CTF_TOKEN_NUMBER;
    if (starts(lexer, "0x") || starts(lexer, "0X"))
        base = 16;
    else if (starts(lexer, "0b") || starts(lexer, "0B"))
        base = 2;
    else if (*lexer->at == '0')
        base = 8;
    lexer->at += base == 16 || base == 2 ? 2 : 0;
    const char *first = lexer->at;
    for (; lexer->at < lexer->end && digit_of(*lexer->at) < base; lexer->at++)
        if (__builtin_mul_overflow(token->number, base, &token->number) ||
            __builtin_add_overflow(token->number, digit_of(*lexer->at), &token->number))
            return weft_fail_line(err, WEFT_E_MALFORMED, (uint64_t)(first - lexer->start),
                                  lexer->line,
                                  "expected an integer of 64 bits, found a larger one");
    if (lexer->at == first)
        return fail(lexer, "a digit", err);
    while (lexer->at < lexer->end && *lexer->at && strchr("uUlL", *lexer->at))
        lexer->at++;
    if (lexer->at < lexer->end && is_name_byte(*lexer->at))
        return fail(lexer, "the end of a number", err);
    return WEFT_OK;
}

/* A character constant is a number. */
static enum weft_code read_character(struct ctf_lexer *lexer, struct ctf_token *token,
                                     struct weft_err *err)
{
    struct weft_str text = { 0 };
    const enum weft_code code = read_string(lexer, '\'', &text, err);
    token->kind = CTF_TOKEN_NUMBER;
    token->number = text.n_bytes ? (uint8_t)text.bytes[0] : 0;
    return code;
}

/* ---- one token ------------------------------------------------------------------------------ */

static enum weft_code read_sign(struct ctf_lexer *lexer, struct ctf_token *token,
                                struct weft_err *err)
{
    static const struct {
        const char *text;
        enum ctf_token_kind kind;
    } signs[] = { { "...", CTF_TOKEN_DOTS },
                  { ":=", CTF_TOKEN_ASSIGN },
                  { "->", CTF_TOKEN_ARROW } };
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (starts(lexer, signs[k].text)) {
            lexer->at += strlen(signs[k].text);
            token->kind = signs[k].kind;
            return WEFT_OK;
        }
    if (!*lexer->at || !strchr("{}[]()<>;:,=.*-+", *lexer->at))
        return fail(lexer, "a word of TSDL", err);
    token->kind = CTF_TOKEN_SIGN;
    token->sign = *lexer->at++;
    return WEFT_OK;
}

enum weft_code ctf_lexer_next(struct ctf_lexer *lexer, struct ctf_token *token,
                              struct weft_err *err)
{
    enum weft_code code = skip_space(lexer, err);
    if (code != WEFT_OK)
        return code;
    const char *first = lexer->at;
    *token = (struct ctf_token){ .at_off = (uint64_t)(first - lexer->start), .line = lexer->line };
    if (first == lexer->end)
        return WEFT_OK;
    if (*first == '"') {
        token->kind = CTF_TOKEN_STRING;
        return read_string(lexer, '"', &token->text, err);
    }
    if (*first >= '0' && *first <= '9')
        code = read_number(lexer, token, err);
    else if (*first == '\'')
        code = read_character(lexer, token, err);
    else if (is_name_byte(*first)) {
        token->kind = CTF_TOKEN_NAME;
        while (lexer->at < lexer->end && is_name_byte(*lexer->at))
            lexer->at++;
    } else {
        code = read_sign(lexer, token, err);
    }
    token->text = (struct weft_str){ .bytes = first, .n_bytes = (size_t)(lexer->at - first) };
    return code;
}
