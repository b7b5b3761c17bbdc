/* SPDX-License-Identifier: MIT
 *
 * A new file that takes its name when it is whole.
 *
 * Until then it has none (O_TMPFILE), so that a program that is killed leaves nothing behind. On
 * file systems without such files it has a temporary name beside its target.
 */
#ifndef WEFT_BASE_FRESH_H
#define WEFT_BASE_FRESH_H

#include "base/error.h"

#include <stdbool.h>

/* What the access mode of a new file is. */
enum weft_access {
    WEFT_ACCESS_UMASK,   /* 0666 as the umask restricts it */
    WEFT_ACCESS_PRIVATE, /* 0600 whatever the umask: of traces, recordings and databases */
};

struct weft_fresh {
    int fd;          /* for reading and writing; -1: closed */
    char *path;      /* as given: named by errors */
    char *target;    /* the same with its symbolic links followed: what is replaced */
    char *temp_path; /* room for a temporary name */
    bool has_temp;   /* `temp_path` exists */
};

/* A zeroed one is closed by weft_fresh_drop, too. `flags`: O_APPEND or 0. A symbolic link at `path`
 * stays, its target is replaced; what is there and is no regular file is refused. WEFT_E_IO,
 * WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_fresh_open(const char *path, enum weft_access access, int flags,
                                            struct weft_fresh *fresh, struct weft_err *err);

/* Gives it the name of its target in place of an older file. Once; it stays open. */
WEFT_CHECKED enum weft_code weft_fresh_place(struct weft_fresh *fresh, struct weft_err *err);

/* Closes it, removes it if it was not placed, and frees. */
void weft_fresh_drop(struct weft_fresh *fresh);

#endif
