/* SPDX-License-Identifier: MIT
 *
 * Words, lines and numbers of uftrace's text files.
 */
#ifndef WEFT_INGEST_UFTRACE_TEXT_H
#define WEFT_INGEST_UFTRACE_TEXT_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the next line, without its end; false when there is none. */
bool weft_uft_line(struct weft_str *rest, struct weft_str *line);

/* Takes the next word, between blanks; false when there is none. */
bool weft_uft_word(struct weft_str *rest, struct weft_str *word);

/* Takes what stands before `mark` (or all), and the mark; false when nothing is left. */
bool weft_uft_until(struct weft_str *rest, char mark, struct weft_str *part);

/* True and taken if the text begins with it. */
bool weft_uft_take(struct weft_str *rest, const char *prefix);

/* Numbers, whole words only; false on anything else or beyond 64 bits. */
bool weft_uft_decimal(struct weft_str word, uint64_t *value);
bool weft_uft_hex(struct weft_str word, uint64_t *value);

/* "2110.996196011" as nanoseconds. */
bool weft_uft_timestamp(struct weft_str word, uint64_t *ns);

/* The value of `key` ("tid=") among the blank-separated words of a line. */
bool weft_uft_field(struct weft_str line, const char *key, struct weft_str *value);

/* What follows the last slash. */
struct weft_str weft_uft_base_name(struct weft_str path);

#endif
