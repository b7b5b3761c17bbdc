/* SPDX-License-Identifier: MIT
 *
 * The secret in the server's address. A server that was killed and is started again on the same
 * traces finds its port and token where it left them, so that open pages reconnect
 * (docs/http-api.md, "Address").
 */
#ifndef WEFT_SERVE_TOKEN_H
#define WEFT_SERVE_TOKEN_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_TOKEN_BYTES = 32 }; /* hexadecimal digits: 128 bits */

struct weft_token {
    char text[WEFT_TOKEN_BYTES + 1];
};

/* A new one, from the kernel's random numbers. */
WEFT_CHECKED enum weft_code weft_token_new(struct weft_token *token, struct weft_err *err);

/* Whether `text` is the token; takes as long wherever they differ. */
bool weft_token_equals(const struct weft_token *token, struct weft_str text);

/* Where a server of these traces leaves its address: a name that depends on their real paths and
 * on the port asked for (0: any), in `folder`. The caller frees; NULL without memory. */
char *weft_token_path(const char *folder, const char *const *paths, size_t n_paths, uint16_t port);

/* Reads the address left at `path`. False if there is none, or it is no regular file of this user
 * that no other user can read or write. */
bool weft_token_load(const char *path, struct weft_token *token, uint16_t *port);

/* Leaves it there (mode 0600), instead of whatever was. False if that cannot be: the next start has
 * another address then. */
bool weft_token_save(const char *path, const struct weft_token *token, uint16_t port);

#endif
