/* SPDX-License-Identifier: MIT
 *
 * What functions are for, by their names: those that wait, release, read or write; the ones that
 * are known, and those of a table that the user has written (docs/analyses/interplay.md,
 * "Functions").
 */
#ifndef WEFT_MODEL_LOCKS_BLOCKING_NAMES_H
#define WEFT_MODEL_LOCKS_BLOCKING_NAMES_H

#include "base/error.h"
#include "model/locks/names.h"
#include "schema/interplay.h"

#include <stdbool.h>

struct weft_blocking_use {
    uint8_t kind;              /* enum weft_blocking_kind */
    uint8_t shared;            /* enum weft_shared_kind */
    uint8_t mode;              /* enum weft_wait_mode */
    bool is_timed;             /* has a timeout */
    struct weft_lock_use lock; /* its role in model/locks/locks.h; WEFT_LOCK_NO_ROLE: none there */
};

struct weft_blocking_names;

/* `text` may be empty: then what is known alone. It is copied. A line that cannot be read is
 * WEFT_E_MALFORMED, with its number. `path` is for messages. */
WEFT_CHECKED enum weft_code weft_blocking_names_new(struct weft_str text, const char *path,
                                                    struct weft_blocking_names **names,
                                                    struct weft_err *err);
/* NULL is allowed. */
void weft_blocking_names_free(struct weft_blocking_names *names);

/* What a function of this name does; the user's table first. `names` may be NULL. */
struct weft_blocking_use weft_blocking_use_of(const struct weft_blocking_names *names,
                                              struct weft_str name);

/* The kind of a shared object (enum weft_shared_kind) that a lock of this kind is. */
uint8_t weft_shared_of_lock(uint8_t lock_kind);

#endif
