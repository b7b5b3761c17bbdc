/* SPDX-License-Identifier: MIT
 *
 * Checks text that claims to be JSON (RFC 8259) before it becomes a part of other JSON, without
 * allocation.
 */
#ifndef WEFT_RENDER_JSON_TEXT_H
#define WEFT_RENDER_JSON_TEXT_H

#include "base/str.h"

#include <stdbool.h>

/* True if `text` is one JSON value, blanks around it allowed, in valid UTF-8 and nested no deeper
 * than WEFT_JSON_STRICT_DEPTH (base/json_read.h). */
bool weft_json_text_is_valid(struct weft_str text);

/* For valid text: whether the value is an object, and then its members, without the braces and the
 * blanks inside them; {NULL, 0} bytes if it has none. */
bool weft_json_text_members(struct weft_str text, struct weft_str *members);

/* Takes the first member off `members` of valid text: its key without the quotes, and its value, as
 * they stand there. False when none is left. */
bool weft_json_text_member(struct weft_str *members, struct weft_str *key, struct weft_str *value);

/* Resolves the escapes of a string without its quotes; `out` has room for text.n_bytes. Returns the
 * bytes written. */
size_t weft_json_text_unescape(struct weft_str text, char *out);

#endif
