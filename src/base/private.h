/* SPDX-License-Identifier: MIT
 *
 * Texts that may be passed on: absolute paths become the names of their files, so that neither
 * folders nor the users that folders are called by are in them. docs/privacy.md states the rule.
 */
#ifndef WEFT_BASE_PRIVATE_H
#define WEFT_BASE_PRIVATE_H

#include "base/arena.h"
#include "base/str.h"

/* Names of folders that absolute paths begin with: /usr, /home and the like, and what was added.
 * What begins with others, as in "GET /api/users", is a file only if its name has a suffix. */
struct weft_private;

/* NULL without memory. */
struct weft_private *weft_private_new(void);
void weft_private_free(struct weft_private *rules);

/* The first folder of an absolute path is one, too. False without memory. */
bool weft_private_add(struct weft_private *rules, struct weft_str path);

/* Whether the text has an absolute path. */
bool weft_private_has_path(const struct weft_private *rules, struct weft_str text);

/* `text` without the folders of absolute paths, in the arena, or `text` itself if it has none;
 * { NULL, 0 } without memory. */
struct weft_str weft_private_text(const struct weft_private *rules, struct weft_arena *arena,
                                  struct weft_str text);

/* The next absolute path of the text from `*at` on, which moves behind it. */
bool weft_private_next(const struct weft_private *rules, struct weft_str text, size_t *at,
                       struct weft_str *path);

/* The user whose home folder a path is in; empty if it is in none. */
struct weft_str weft_private_user(struct weft_str path);

#endif
