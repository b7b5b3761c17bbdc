/* SPDX-License-Identifier: MIT
 *
 * Creation, naming and removal of an output file, with a fallback for each step that a file system
 * may not support: O_TMPFILE, else a random name; linkat(2), else a copy; rename(2) over an
 * existing target. A target that is not a regular file is refused, so that no rename replaces a
 * device. file.c and the recorder's output are the only callers.
 */
#include "base/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUFFIX_BYTES = 6, MAX_TRIES = 100, COPY_BYTES = 1 << 30, PRIVATE_MODE = 0600 };

static enum weft_code failed(const struct weft_fresh *fresh, const char *doing,
                             struct weft_err *err)
{
    (void)weft_fail_errno(err, errno, "%s", doing);
    return weft_in_file(err, fresh->path);
}

/* Another temporary name; false without random numbers. */
static bool next_name(struct weft_fresh *fresh)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    char *suffix = fresh->temp_path + strlen(fresh->temp_path) - SUFFIX_BYTES;
    uint8_t random[SUFFIX_BYTES];
    if (getentropy(random, sizeof random) != 0)
        return false;
    for (size_t k = 0; k < sizeof random; k++)
        suffix[k] = letters[random[k] % 64];
    return true;
}

/* A new file with a temporary name; -1 with errno. Not mkostemp(3): open(2) gives it the mode of
 * any new file, where a look at the umask would race with other threads. */
static int open_named(struct weft_fresh *fresh, mode_t mode, int flags)
{
    for (int n_tries = 0; n_tries < MAX_TRIES && next_name(fresh); n_tries++) {
        const int fd = open(fresh->temp_path,
                            O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | flags, mode);
        fresh->has_temp = fd >= 0;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* The path by which linkat(2) finds an open file; it needs /proc. */
static bool path_of_fd(int fd, char path[32])
{
    (void)snprintf(path, 32, "/proc/self/fd/%d", fd);
    return access(path, F_OK) == 0;
}

/* A new file without a name in the folder of the target; -1 where there are none. */
static int open_nameless(const struct weft_fresh *fresh, mode_t mode, int flags)
{
    char folder[PATH_MAX], unused[32];
    const char *slash = strrchr(fresh->target, '/');
    const int n_bytes = !slash ? 1 : slash == fresh->target ? 1 : (int)(slash - fresh->target);
    const int n_written =
        snprintf(folder, sizeof folder, "%.*s", n_bytes, slash ? fresh->target : ".");
    if (n_written < 0 || n_written >= PATH_MAX)
        return -1;
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, mode);
    if (fd < 0 || path_of_fd(fd, unused))
        return fd;
    (void)close(fd);
    return -1;
}

/* What stands at the target, if anything, is a file: a rename must not replace /dev/null. */
static enum weft_code check_target(const struct weft_fresh *fresh, struct weft_err *err)
{
    struct stat about;
    if (stat(fresh->target, &about) != 0 || S_ISREG(about.st_mode))
        return WEFT_OK;
    (void)weft_fail(err, WEFT_E_IO, WEFT_NO_OFFSET, "expected a regular file, found %s",
                    S_ISDIR(about.st_mode)    ? "a directory"
                    : S_ISFIFO(about.st_mode) ? "a pipe"
                                              : "neither a file nor a directory");
    return weft_in_file(err, fresh->path);
}

static enum weft_code name_it(const char *path, struct weft_fresh *fresh, struct weft_err *err)
{
    *fresh = (struct weft_fresh){ .fd = -1, .path = strdup(path), .target = realpath(path, NULL) };
    if (!fresh->target)
        fresh->target = strdup(path);
    if (!fresh->path || !fresh->target ||
        asprintf(&fresh->temp_path, "%s.XXXXXX", fresh->target) < 0) {
        fresh->temp_path = NULL;
        return weft_no_memory(err, "an output");
    }
    return WEFT_OK;
}

enum weft_code weft_fresh_open(const char *path, enum weft_access access, int flags,
                               struct weft_fresh *fresh, struct weft_err *err)
{
    const mode_t mode = access == WEFT_ACCESS_PRIVATE ? PRIVATE_MODE : 0666;
    enum weft_code code = name_it(path, fresh, err);
    WEFT_THEN(code, check_target(fresh, err));
    if (code == WEFT_OK) {
        fresh->fd = open_nameless(fresh, mode, flags);
        if (fresh->fd < 0)
            fresh->fd = open_named(fresh, mode, flags);
        if (fresh->fd < 0)
            code = failed(fresh, "cannot create a file beside it", err);
        else if (access == WEFT_ACCESS_PRIVATE) /* whatever the umask takes away */
            (void)fchmod(fresh->fd, PRIVATE_MODE);
    }
    if (code != WEFT_OK)
        weft_fresh_drop(fresh);
    return code;
}

/* For file systems whose nameless files cannot be linked: a copy with a temporary name. */
static bool copy_to_named(struct weft_fresh *fresh)
{
    struct stat about;
    off_t at = 0;
    if (fstat(fresh->fd, &about) != 0)
        return false;
    const int flags = fcntl(fresh->fd, F_GETFL);
    const int fd = open_named(fresh, about.st_mode & 0777, 0);
    if (fd < 0)
        return false;
    (void)fchmod(fd, about.st_mode & 0777);
    while (at < about.st_size) {
        if (sendfile(fd, fresh->fd, &at, COPY_BYTES) <= 0) {
            (void)close(fd);
            return false;
        }
    }
    (void)fcntl(fd, F_SETFL, flags); /* sendfile(2) takes none with O_APPEND */
    const bool is_same = dup3(fd, fresh->fd, O_CLOEXEC) >= 0;
    (void)close(fd);
    return is_same;
}

/* Gives a nameless file a name: its target's, if that is free. */
static bool give_name(struct weft_fresh *fresh, bool *is_placed)
{
    char path[32];
    *is_placed = false;
    if (!path_of_fd(fresh->fd, path))
        return copy_to_named(fresh);
    if (linkat(AT_FDCWD, path, AT_FDCWD, fresh->target, AT_SYMLINK_FOLLOW) == 0) {
        *is_placed = true;
        return true;
    }
    for (int n_tries = 0; errno == EEXIST && n_tries < MAX_TRIES && next_name(fresh); n_tries++) {
        if (linkat(AT_FDCWD, path, AT_FDCWD, fresh->temp_path, AT_SYMLINK_FOLLOW) == 0) {
            fresh->has_temp = true;
            return true;
        }
    }
    return copy_to_named(fresh);
}

enum weft_code weft_fresh_place(struct weft_fresh *fresh, struct weft_err *err)
{
    bool is_placed = false;
    /* Some file systems report a failed write when a descriptor is closed, of a copy, too. */
    const int copy = fcntl(fresh->fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || close(copy) != 0)
        return failed(fresh, "cannot finish writing", err);
    if (!fresh->has_temp && !give_name(fresh, &is_placed))
        return failed(fresh, "cannot create a file beside it", err);
    if (!is_placed && rename(fresh->temp_path, fresh->target) != 0)
        return failed(fresh, "cannot replace it", err);
    fresh->has_temp = false;
    return WEFT_OK;
}

void weft_fresh_drop(struct weft_fresh *fresh)
{
    if (fresh->path && fresh->fd >= 0)
        (void)close(fresh->fd);
    if (fresh->has_temp)
        (void)unlink(fresh->temp_path);
    free(fresh->path);
    free(fresh->target);
    free(fresh->temp_path);
    *fresh = (struct weft_fresh){ .fd = -1 };
}
