/* SPDX-License-Identifier: MIT
 *
 * Calls of the C library that fail on demand, for a weft that is linked with --wrap of each of
 * them (tests/faults/meson.build). It must not change anything unless it is asked to:
 *
 *     WEFT_FAULT=KIND:N         the N-th call of that kind (counted from 1) fails, once
 *     WEFT_FAULT=KIND:N+        that one and all later ones, as on a disk that stays full
 *     WEFT_FAULT_COUNTS=FILE    how many calls of each kind there were is written there at the end
 *
 * Kinds are those of `kinds`. Calls inside of libraries are not counted, only weft's own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { MEMORY, MAP, OPEN, READ, WRITE, THREAD, N_KINDS };

static const struct {
    const char *name;
    int reason;
} kinds[N_KINDS] = {
    [MEMORY] = { "memory", ENOMEM }, [MAP] = { "map", ENOMEM },     [OPEN] = { "open", EMFILE },
    [READ] = { "read", EIO },        [WRITE] = { "write", ENOSPC }, [THREAD] = { "thread", EAGAIN },
};

static atomic_ulong n_calls[N_KINDS];
static enum kind wanted_kind = N_KINDS;
static unsigned long wanted_call;
static bool fails_on;

__attribute__((constructor)) static void take_setting(void)
{
    const char *text = getenv("WEFT_FAULT");
    const char *colon = text ? strchr(text, ':') : NULL;
    char *end;
    if (!colon)
        return;
    for (unsigned k = 0; k < N_KINDS; k++)
        if (strlen(kinds[k].name) == (size_t)(colon - text) &&
            memcmp(kinds[k].name, text, (size_t)(colon - text)) == 0)
            wanted_kind = (enum kind)k;
    wanted_call = strtoul(colon + 1, &end, 10);
    fails_on = *end == '+';
}

__attribute__((destructor)) static void write_counts(void)
{
    char text[256];
    int n_text = 0;
    const char *path = getenv("WEFT_FAULT_COUNTS");
    const int fd =
        path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd < 0)
        return;
    for (unsigned k = 0; k < N_KINDS; k++)
        n_text += snprintf(text + n_text, sizeof text - (size_t)n_text, "%s %lu\n", kinds[k].name,
                           atomic_load(&n_calls[k]));
    (void)!syscall(SYS_write, fd, text, (size_t)n_text);
    (void)syscall(SYS_close, fd);
}

/* Counts a call; true, and errno: this one is to fail. */
static bool fails(enum kind kind)
{
    const unsigned long n = atomic_fetch_add(&n_calls[kind], 1) + 1;
    if (kind != wanted_kind || n < wanted_call || (n > wanted_call && !fails_on))
        return false;
    errno = kinds[kind].reason;
    return true;
}

/* Declares the real function and the one that stands in its place. */
#define WRAP(kind, type, failure, name, parameters, arguments)                                     \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails(kind) ? (failure) : __real_##name arguments;                                  \
    }

WRAP(MEMORY, void *, NULL, malloc, (size_t n_bytes), (n_bytes))
WRAP(MEMORY, void *, NULL, calloc, (size_t count, size_t n_bytes), (count, n_bytes))
WRAP(MEMORY, void *, NULL, realloc, (void *at, size_t n_bytes), (at, n_bytes))
WRAP(MEMORY, void *, NULL, aligned_alloc, (size_t alignment, size_t n_bytes), (alignment, n_bytes))
WRAP(MEMORY, char *, NULL, strdup, (const char *text), (text))
WRAP(MEMORY, char *, NULL, strndup, (const char *text, size_t n_bytes), (text, n_bytes))
WRAP(MEMORY, FILE *, NULL, open_memstream, (char **text, size_t *n_bytes), (text, n_bytes))
WRAP(MEMORY, int, -1, vasprintf, (char **text, const char *format, va_list list),
     (text, format, list))
WRAP(MAP, void *, MAP_FAILED, mmap64,
     (void *at, size_t n_bytes, int rights, int flags, int fd, off_t from),
     (at, n_bytes, rights, flags, fd, from))
WRAP(OPEN, FILE *, NULL, fopen64, (const char *path, const char *mode), (path, mode))
WRAP(OPEN, FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode))
WRAP(OPEN, DIR *, NULL, opendir, (const char *path), (path))
WRAP(OPEN, DIR *, NULL, fdopendir, (int fd), (fd))
WRAP(OPEN, char *, NULL, mkdtemp, (char *path), (path))
WRAP(OPEN, int, -1, mkostemp64, (char *path, int flags), (path, flags))
WRAP(OPEN, int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(OPEN, int, -1, pipe2, (int *fds, int flags), (fds, flags))
WRAP(READ, ssize_t, -1, read, (int fd, void *room, size_t n_bytes), (fd, room, n_bytes))
WRAP(READ, ssize_t, -1, pread64, (int fd, void *room, size_t n_bytes, off_t at),
     (fd, room, n_bytes, at))
WRAP(WRITE, ssize_t, -1, write, (int fd, const void *bytes, size_t n_bytes), (fd, bytes, n_bytes))
WRAP(WRITE, ssize_t, -1, pwrite64, (int fd, const void *bytes, size_t n_bytes, off_t at),
     (fd, bytes, n_bytes, at))
WRAP(WRITE, ssize_t, -1, writev, (int fd, const struct iovec *parts, int n_parts),
     (fd, parts, n_parts))
WRAP(WRITE, ssize_t, -1, pwritev64, (int fd, const struct iovec *parts, int n_parts, off_t at),
     (fd, parts, n_parts, at))
WRAP(WRITE, int, -1, ftruncate64, (int fd, off_t n_bytes), (fd, n_bytes))
WRAP(WRITE, int, -1, fallocate64, (int fd, int mode, off_t from, off_t n_bytes),
     (fd, mode, from, n_bytes))
WRAP(WRITE, int, ENOSPC, posix_fallocate64, (int fd, off_t from, off_t n_bytes),
     (fd, from, n_bytes))
WRAP(WRITE, int, -1, fsync, (int fd), (fd))
WRAP(WRITE, int, -1, fdatasync, (int fd), (fd))
WRAP(WRITE, int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(WRITE, int, EOF, fflush, (FILE * file), (file))
WRAP(THREAD, int, EAGAIN, pthread_create,
     (pthread_t * thread, const pthread_attr_t *how, void *(*start)(void *), void *argument),
     (thread, how, start, argument))

/* The file is closed all the same, as the C library does it. */
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
    const bool has_failed = fails(WRITE);
    const int status = __real_fclose(file);
    if (has_failed)
        errno = ENOSPC;
    return has_failed ? EOF : status;
}

int __wrap_asprintf(char **text, const char *format, ...);
__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n_bytes = __wrap_vasprintf(text, format, list);
    va_end(list);
    return n_bytes;
}

/* With a mode, or without: the kernel ignores one that is not needed. */
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode =
        flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails(OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int __wrap_openat64(int folder_fd, const char *path, int flags, ...);
int __wrap_openat64(int folder_fd, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode =
        flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails(OPEN) ? -1 : (int)syscall(SYS_openat, folder_fd, path, flags, mode);
}
