/* SPDX-License-Identifier: MIT
 *
 * New files that take their names when they are whole, also on file systems that have no files
 * without names, or cannot name them: here the calls of the system say so.
 */
#include "base/fresh.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_nameless, can_link;

/* In the place of those of the library. */
int open64(const char *path, int flags, ...);
int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if ((flags & O_TMPFILE) == O_TMPFILE && !has_nameless) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    if (can_link)
        return (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
    errno = EOPNOTSUPP;
    return -1;
}

static char folder[] = "/tmp/weft-fresh-XXXXXX";
static char target[64];

static size_t n_files(void)
{
    DIR *entries = opendir(folder);
    size_t n = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        n += entry->d_name[0] != '.';
    if (entries)
        (void)closedir(entries);
    return n;
}

static bool holds(const char *want)
{
    char text[64] = "";
    FILE *file = fopen(target, "re");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        (void)fclose(file);
    return n == strlen(want) && memcmp(text, want, n) == 0;
}

static unsigned mode_of(void)
{
    struct stat about;
    return stat(target, &about) == 0 ? about.st_mode & 0777u : 0;
}

static void test_kind(const char *kind, int flags)
{
    struct weft_fresh fresh = { 0 };
    struct weft_err err = { 0 };
    (void)unlink(target);
    for (int k = 0; k < 2; k++) { /* a new file, and one in the place of another */
        tap_ok(weft_fresh_open(target, WEFT_ACCESS_PRIVATE, flags, &fresh, &err) == WEFT_OK,
               "%s: opened %s", kind, err.text);
        tap_ok(write(fresh.fd, "first ", 6) == 6 &&
                   (k == 0 ? mode_of() == 0 : holds("first second")),
               "%s: nothing is seen of it yet", kind);
        tap_ok(weft_fresh_place(&fresh, &err) == WEFT_OK && holds("first "), "%s: placed %s", kind,
               err.text);
        tap_ok(write(fresh.fd, "second", 6) == 6 && holds("first second"), "%s: written on", kind);
        weft_fresh_drop(&fresh);
        tap_ok(holds("first second") && n_files() == 1 && mode_of() == 0600,
               "%s: alone, and private", kind);
    }
    tap_ok(weft_fresh_open(target, WEFT_ACCESS_UMASK, flags, &fresh, &err) == WEFT_OK &&
               write(fresh.fd, "third", 5) == 5,
           "%s: another one", kind);
    weft_fresh_drop(&fresh);
    tap_ok(holds("first second") && n_files() == 1, "%s: which was dropped leaves nothing", kind);
    tap_ok(weft_fresh_open(target, WEFT_ACCESS_UMASK, flags, &fresh, &err) == WEFT_OK &&
               weft_fresh_place(&fresh, &err) == WEFT_OK && holds("") && mode_of() == 0640,
           "%s: an empty one, with the mode of any file", kind);
    weft_fresh_drop(&fresh);
    weft_fresh_drop(&fresh);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(target, sizeof target, "%s/target", folder);
    (void)umask(027);
    for (int k = 0; k < 2; k++) {
        const int flags = k ? O_APPEND : 0;
        has_nameless = can_link = true;
        test_kind(k ? "without a name, appended" : "without a name", flags);
        has_nameless = false;
        test_kind(k ? "with a temporary name, appended" : "with a temporary name", flags);
        has_nameless = true;
        can_link = false;
        test_kind(k ? "copied, appended" : "copied", flags);
    }
    (void)unlink(target);
    (void)rmdir(folder);
    return tap_done();
}
