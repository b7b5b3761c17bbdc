/* SPDX-License-Identifier: MIT
 *
 * Which member of a variable lies at an offset, by the debugging information of its module.
 */
#ifndef WEFT_SYMBOLS_MEMBERS_H
#define WEFT_SYMBOLS_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_members;

/* NULL: the file has no debugging information of variables, or there is no memory, which
 * `*is_nomem` says. Reads entries of at most 64 MiB, once. The caller frees. */
struct weft_members *weft_members_open(const char *path, bool *is_nomem);
/* NULL is allowed. */
void weft_members_free(struct weft_members *members);

/* Writes "[5].guard", ".append_mu": what lies `offset` bytes behind the begin of the variable at
 * `address`, down to the lock, and not into what locks are made of. The number of bytes, without
 * the NUL; 0: unknown, the variable itself, or more than 4 MiB of entries would be read; or more
 * than 64 MiB by all calls. */
size_t weft_members_at(struct weft_members *members, uint64_t address, uint64_t offset, char *text,
                       size_t n_text);

bool weft_members_nomem(const struct weft_members *members);

#endif
