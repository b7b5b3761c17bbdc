/* SPDX-License-Identifier: MIT
 *
 * Tokens of TSDL, the notation of CTF 1.8 metadata. Texts are views of the source, but for strings
 * with escapes, which are copied to the arena.
 */
#ifndef WEFT_INGEST_CTF_LEXER_H
#define WEFT_INGEST_CTF_LEXER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum ctf_token_kind {
    CTF_TOKEN_END,
    CTF_TOKEN_NAME,
    CTF_TOKEN_STRING,
    CTF_TOKEN_NUMBER,
    CTF_TOKEN_ASSIGN, /* := */
    CTF_TOKEN_DOTS,   /* ... */
    CTF_TOKEN_ARROW,  /* -> */
    CTF_TOKEN_SIGN,   /* one byte: sign */
};

struct ctf_token {
    enum ctf_token_kind kind;
    char sign;
    struct weft_str text; /* as written; of a string what it says */
    uint64_t number;      /* without a minus, which is a sign of its own */
    uint64_t at_off;
    uint64_t line;
};

struct ctf_lexer {
    const char *at, *end, *start;
    uint64_t line;
    struct weft_arena *arena;
};

struct ctf_lexer ctf_lexer_of(struct weft_str text, struct weft_arena *arena);

/* Reads one token; at the end it is CTF_TOKEN_END again and again. WEFT_E_MALFORMED names the line;
 * WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code ctf_lexer_next(struct ctf_lexer *lexer, struct ctf_token *token,
                                           struct weft_err *err);

#endif
