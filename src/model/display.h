/* SPDX-License-Identifier: MIT
 *
 * Text from a trace, made fit to show: names come from hostile bytes.
 */
#ifndef WEFT_MODEL_DISPLAY_H
#define WEFT_MODEL_DISPLAY_H

#include "base/arena.h"
#include "base/str.h"

/* A copy of `text` in which every byte that is not part of a well-formed UTF-8 sequence (RFC 3629:
 * no overlong forms, no surrogates, at most U+10FFFF) and every NUL is replaced by U+FFFD;
 * {NULL, 0} without memory. Lives as long as the arena. */
struct weft_str weft_display_copy(struct weft_arena *arena, struct weft_str text);

#endif
