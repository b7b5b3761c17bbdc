/* SPDX-License-Identifier: MIT
 *
 * Words of a text of rules. What a word is depends on where it stands: a name runs up to the next
 * blank, since names of C++ functions hold nearly every sign, or stands in quotes.
 */
#ifndef WEFT_QUERY_RULES_LEXER_H
#define WEFT_QUERY_RULES_LEXER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct rules_lexer {
    struct weft_str text;
    size_t at;
    struct weft_arena *arena; /* texts in quotes whose escapes are resolved */
    struct weft_err *err;
};

/* To the next word; comments, from # to the end of the line, are blanks. */
void rules_skip_blanks(struct rules_lexer *lexer);

bool rules_at_end(struct rules_lexer *lexer);

/* WEFT_E_MALFORMED at the next word: "line 3: column 7: expected ..., found 'x'; go_on". `expected`
 * and `go_on` (may be NULL) are for people. */
WEFT_CHECKED enum weft_code rules_fail(struct rules_lexer *lexer, const char *expected,
                                       const char *go_on);

/* The next word if it is this one (letters, digits and _ alone): takes it. */
bool rules_take_word(struct rules_lexer *lexer, const char *word);

/* The word that comes next, without taking it; empty if none does. */
struct weft_str rules_peek_word(struct rules_lexer *lexer);

/* A sign such as "=" or ">=": takes it. */
bool rules_take_sign(struct rules_lexer *lexer, const char *sign);

/* The name of a field: letters, digits, and _ . : - / @ # $, or a text in quotes. */
WEFT_CHECKED enum weft_code rules_take_field(struct rules_lexer *lexer, struct weft_str *field);

/* All up to the next blank, or a text in quotes; `expected` says what it is. */
WEFT_CHECKED enum weft_code rules_take_name(struct rules_lexer *lexer, const char *expected,
                                            struct weft_str *name);

/* The same, which may be without quotes a number only if `*is_quoted` is false. */
WEFT_CHECKED enum weft_code rules_take_value(struct rules_lexer *lexer, struct weft_str *value,
                                             bool *is_quoted);

#endif
