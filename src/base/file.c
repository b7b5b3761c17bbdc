/* SPDX-License-Identifier: MIT
 *
 * Maps of input files, temporary files without a name, and the buffered writer behind weft_out. A
 * failed write is remembered: the commit then fails, whatever the caller did about the error.
 * Creating and naming an output is left to fresh.c.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading -------------------------------------------------------------------------------- */

static enum weft_code check_kind(const char *path, const struct stat *info, struct weft_err *err)
{
    if (S_ISREG(info->st_mode))
        return WEFT_OK;
    const char *what = S_ISDIR(info->st_mode)    ? "a directory"
                       : S_ISFIFO(info->st_mode) ? "a pipe"
                                                 : "neither a file nor a directory";
    weft_fail(err, WEFT_E_IO, WEFT_NO_OFFSET, "expected a regular file, found %s", what);
    weft_in_file(err, path);
    return WEFT_E_IO;
}

static enum weft_code map_fd(const char *path, int fd, struct weft_mapped *file,
                             struct weft_err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        weft_fail_errno(err, errno, "cannot read its size");
        weft_in_file(err, path);
        return WEFT_E_IO;
    }
    enum weft_code code = check_kind(path, &info, err);
    if (code != WEFT_OK || info.st_size == 0)
        return code;
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        weft_fail_errno(err, errno, "cannot map it");
        weft_in_file(err, path);
        return WEFT_E_IO;
    }
    file->bytes = bytes;
    file->n_bytes = (uint64_t)info.st_size;
    file->is_map = true;
    return WEFT_OK;
}

enum weft_code weft_mapped_from_fd(int fd, const char *path, struct weft_mapped *file,
                                   struct weft_err *err)
{
    *file = (struct weft_mapped){ 0 };
    return map_fd(path, fd, file, err);
}

enum weft_code weft_mapped_open(const char *path, struct weft_mapped *file, struct weft_err *err)
{
    *file = (struct weft_mapped){ 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        weft_fail_errno(err, errno, "cannot open");
        weft_in_file(err, path);
        return WEFT_E_IO;
    }
    enum weft_code code = map_fd(path, fd, file, err);
    close(fd);
    return code;
}

void weft_mapped_close(struct weft_mapped *file)
{
    if (file->bytes)
        munmap((void *)(uintptr_t)file->bytes, (size_t)file->n_bytes);
    *file = (struct weft_mapped){ 0 };
}

void weft_mapped_done(const struct weft_mapped *file, uint64_t off, uint64_t n_bytes)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t from = (off + page_bytes - 1) / page_bytes * page_bytes;
    uint64_t to = (off + n_bytes) / page_bytes * page_bytes;
    if (file->is_map && from < to && to <= file->n_bytes)
        madvise((void *)(uintptr_t)(file->bytes + from), (size_t)(to - from), MADV_DONTNEED);
}

/* ---- temporary files ------------------------------------------------------------------------ */

/* "dir/name" becomes "dir", "name" becomes "."; false if it is too long. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int n_bytes = slash == path ? 1 : slash ? (int)(slash - path) : 0;
    const int n_written = n_bytes ? snprintf(folder, PATH_MAX, "%.*s", n_bytes, path)
                                  : snprintf(folder, PATH_MAX, ".");
    return n_written >= 0 && n_written < PATH_MAX;
}

/* For file systems without nameless files (NFS, some FUSE ones). */
static int temp_by_name(const char *beside)
{
    char path[PATH_MAX];
    const int n_written = snprintf(path, sizeof path, "%s.temp-XXXXXX", beside);
    if (n_written < 0 || n_written >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

enum weft_code weft_temp_open(const char *beside, int *fd, struct weft_err *err)
{
    char folder[PATH_MAX];
    *fd = folder_of(beside, folder) ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (*fd < 0)
        *fd = temp_by_name(beside);
    if (*fd >= 0)
        return WEFT_OK;
    weft_fail_errno(err, errno, "cannot create a temporary file beside it");
    return weft_in_file(err, beside);
}

static int scratch_in(const char *folder)
{
    char beside[PATH_MAX];
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    const int n_written = snprintf(beside, sizeof beside, "%s/weft", folder);
    return fd >= 0 || n_written < 0 || n_written >= PATH_MAX ? fd : temp_by_name(beside);
}

enum weft_code weft_scratch_open(int *fd, struct weft_err *err)
{
    const char *named = getenv("TMPDIR");
    const char *const folders[] = { named && *named ? named : "/var/tmp", "/var/tmp", "/tmp" };
    *fd = -1;
    for (size_t i = 0; *fd < 0 && i < sizeof folders / sizeof *folders; i++)
        *fd = scratch_in(folders[i]);
    return *fd >= 0
               ? WEFT_OK
               : weft_fail_errno(err, errno, "cannot create a temporary file in %s", folders[0]);
}

enum weft_code weft_fd_write(int fd, const void *bytes_ptr, size_t n_bytes, struct weft_err *err)
{
    const uint8_t *bytes = bytes_ptr;
    while (n_bytes > 0) {
        const ssize_t n_written = write(fd, bytes, n_bytes);
        if (n_written < 0 && errno == EINTR)
            continue;
        if (n_written <= 0)
            return weft_fail_errno(err, n_written < 0 ? errno : ENOSPC, "cannot write");
        bytes += n_written;
        n_bytes -= (size_t)n_written;
    }
    return WEFT_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

enum { OUT_BUFFER_BYTES = 1 << 18 };

struct weft_out {
    struct weft_fresh fresh;
    enum weft_code code; /* of the first failure: a file with a hole must not be committed */
    uint64_t offset;
    size_t n_buffered;
    uint8_t buffer[OUT_BUFFER_BYTES];
};

enum weft_code weft_out_open(const char *path, enum weft_access access, struct weft_out **out_ptr,
                             struct weft_err *err)
{
    struct weft_out *out = calloc(1, sizeof *out);
    if (!out)
        return weft_no_memory(err, "an output buffer");
    const enum weft_code code = weft_fresh_open(path, access, 0, &out->fresh, err);
    if (code == WEFT_OK)
        *out_ptr = out;
    else
        free(out);
    return code;
}

static enum weft_code write_all(struct weft_out *out, const uint8_t *bytes, size_t n_bytes,
                                struct weft_err *err)
{
    const enum weft_code code = weft_fd_write(out->fresh.fd, bytes, n_bytes, err);
    if (code == WEFT_OK)
        return WEFT_OK;
    weft_in_file(err, out->fresh.path);
    out->code = code;
    return code;
}

static enum weft_code check_earlier(const struct weft_out *out, struct weft_err *err)
{
    if (out->code == WEFT_OK)
        return WEFT_OK;
    weft_fail(err, out->code, WEFT_NO_OFFSET, "an earlier write failed");
    weft_in_file(err, out->fresh.path);
    return out->code;
}

static enum weft_code flush(struct weft_out *out, struct weft_err *err)
{
    size_t n_bytes = out->n_buffered;
    out->n_buffered = 0;
    return write_all(out, out->buffer, n_bytes, err);
}

enum weft_code weft_out_write(struct weft_out *out, const void *bytes, size_t n_bytes,
                              struct weft_err *err)
{
    enum weft_code code = check_earlier(out, err);
    if (code == WEFT_OK && n_bytes > sizeof out->buffer - out->n_buffered)
        code = flush(out, err);
    if (code != WEFT_OK)
        return code;
    out->offset += n_bytes;
    if (n_bytes > sizeof out->buffer)
        return write_all(out, bytes, n_bytes, err);
    if (n_bytes)
        memcpy(out->buffer + out->n_buffered, bytes, n_bytes);
    out->n_buffered += n_bytes;
    return WEFT_OK;
}

uint64_t weft_out_offset(const struct weft_out *out)
{
    return out->offset;
}

enum weft_code weft_out_commit(struct weft_out *out, struct weft_err *err)
{
    enum weft_code code = check_earlier(out, err);
    WEFT_THEN(code, flush(out, err));
    WEFT_THEN(code, weft_fresh_place(&out->fresh, err));
    weft_out_abort(out);
    return code;
}

void weft_out_abort(struct weft_out *out)
{
    if (!out)
        return;
    weft_fresh_drop(&out->fresh);
    free(out);
}
