/* SPDX-License-Identifier: MIT
 *
 * `weft mark`: finds folders of live recorders (their lock is held) in /dev/shm, TMPDIR and /tmp,
 * and puts a file with the reason there, which programs.c takes. It never waits for the recorder.
 */
#include "record/session/mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_NAME_BYTES = 11, ABOUT_BYTES = 4096 };

/* A folder of ours whose recorder is running. */
static bool is_live(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || about.st_uid != geteuid())
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    (void)flock(fd, LOCK_UN);
    return false;
}

/* Is it a flight recorder, and the one that is meant? */
static bool is_meant(int fd, const char *output)
{
    char text[ABOUT_BYTES];
    const int about = openat(fd, SESSION_ABOUT_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const ssize_t n_text = about >= 0 ? read(about, text, sizeof text - 1) : -1;
    if (about >= 0)
        (void)close(about);
    text[n_text > 0 ? n_text : 0] = '\0';
    return n_text >= 0 && (!output || strcmp(text, output) == 0);
}

/* Under its name it is whole. */
static bool put_mark(int fd, const char *why)
{
    char made[32], name[32];
    (void)snprintf(made, sizeof made, ".mark.%d", (int)getpid());
    (void)snprintf(name, sizeof name, SESSION_MARK_FRONT "%d", (int)getpid());
    const int mark = openat(fd, made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (mark < 0)
        return false;
    const size_t n_why = strlen(why);
    const bool is_written = write(mark, why, n_why) == (ssize_t)n_why;
    (void)close(mark);
    return is_written && renameat(fd, made, fd, name) == 0;
}

static enum weft_code mark_in(const char *place, const char *output, const char *why,
                              size_t *n_told, struct weft_err *err)
{
    DIR *folder = opendir(place);
    enum weft_code code = WEFT_OK;
    for (struct dirent *entry; folder && code == WEFT_OK && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, "weft-", 5) != 0 || strlen(entry->d_name) != FOLDER_NAME_BYTES)
            continue;
        const int fd =
            openat(dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
            continue;
        if (is_live(fd) && is_meant(fd, output)) {
            if (put_mark(fd, why))
                ++*n_told;
            else
                code = weft_fail_errno(err, errno, "cannot reach the recorder");
        }
        (void)close(fd);
    }
    if (folder)
        (void)closedir(folder);
    return code;
}

enum weft_code weft_recorder_mark(const char *output, const char *why, size_t *n_told,
                                  struct weft_err *err)
{
    const char *const places[] = { "/dev/shm", getenv("TMPDIR"), "/tmp" };
    enum weft_code code = WEFT_OK;
    *n_told = 0;
    for (size_t k = 0; code == WEFT_OK && k < sizeof places / sizeof *places; k++)
        if (places[k] && (k != 1 || strcmp(places[1], places[2]) != 0))
            code = mark_in(places[k], output, why, n_told, err);
    return code;
}
