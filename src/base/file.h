/* SPDX-License-Identifier: MIT
 *
 * Files: a read-only map of an input, and an output that appears whole or not at all.
 *
 * weft_out writes to a file that replaces its target on commit, so that an older file of the same
 * name stays intact on any failure.
 */
#ifndef WEFT_BASE_FILE_H
#define WEFT_BASE_FILE_H

#include "base/error.h"
#include "base/fresh.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A mapped input. `bytes` is NULL when n_bytes is 0. The view dies with weft_mapped_close. */
struct weft_mapped {
    const uint8_t *bytes;
    uint64_t n_bytes;
    bool is_map; /* set by weft_mapped_open; bytes that lie elsewhere are not let go */
};

/* Maps a regular file; a directory, a pipe or a missing file is WEFT_E_IO with a sentence. */
WEFT_CHECKED enum weft_code weft_mapped_open(const char *path, struct weft_mapped *file,
                                             struct weft_err *err);
/* The same for an open file, which stays open; `path` is for errors. */
WEFT_CHECKED enum weft_code weft_mapped_from_fd(int fd, const char *path, struct weft_mapped *file,
                                                struct weft_err *err);
void weft_mapped_close(struct weft_mapped *file);

/* Advises the kernel that [off, off + n_bytes) will not be read again soon (keeps resident memory
 * bounded while a large input is walked once). Nothing happens to bytes that are not a map: there
 * they would be lost. */
void weft_mapped_done(const struct weft_mapped *file, uint64_t off, uint64_t n_bytes);

/* A new file without a name in the folder of `beside`, for reading and writing: it is gone when
 * `*fd` is closed and no map of it is left. The caller closes. WEFT_E_IO. */
WEFT_CHECKED enum weft_code weft_temp_open(const char *beside, int *fd, struct weft_err *err);

/* The same for what has no place of its own: in TMPDIR, else /var/tmp, else /tmp. */
WEFT_CHECKED enum weft_code weft_scratch_open(int *fd, struct weft_err *err);

/* Writes all of it at the file's position; short writes are retried. A full disk is WEFT_E_IO. */
WEFT_CHECKED enum weft_code weft_fd_write(int fd, const void *bytes, size_t n_bytes,
                                          struct weft_err *err);

struct weft_out;

/* Begins a new file, which has its name from the commit on (fresh.h). A symbolic link at `path`
 * stays, its target is replaced; anything that is not a regular file (a directory, /dev/null) is
 * refused. `path` "-" is not special here. */
WEFT_CHECKED enum weft_code weft_out_open(const char *path, enum weft_access access,
                                          struct weft_out **out, struct weft_err *err);

/* Appends; short writes are retried; a full disk is WEFT_E_IO. Buffered (256 KiB). After a failure
 * every later write and the commit fail too. */
WEFT_CHECKED enum weft_code weft_out_write(struct weft_out *out, const void *bytes, size_t n_bytes,
                                           struct weft_err *err);

/* Bytes written so far = offset of the next byte. */
uint64_t weft_out_offset(const struct weft_out *out);

/* Flushes, puts it in the place of the target and frees. On failure nothing of it is left. */
WEFT_CHECKED enum weft_code weft_out_commit(struct weft_out *out, struct weft_err *err);

/* Removes what was written and frees; NULL is allowed. */
void weft_out_abort(struct weft_out *out);

#endif
