/* SPDX-License-Identifier: MIT
 *
 * 128 random bits as hexadecimal, compared in constant time, and kept in a file that only its owner
 * may read; a file with other permissions is ignored.
 */
#include "serve/token.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { LINE_BYTES = 64 };

static const char digits[] = "0123456789abcdef";

enum weft_code weft_token_new(struct weft_token *token, struct weft_err *err)
{
    unsigned char bytes[WEFT_TOKEN_BYTES / 2];
    ssize_t n;
    do
        n = getrandom(bytes, sizeof bytes, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof bytes)
        return weft_fail_errno(err, errno, "cannot get random numbers");
    for (size_t i = 0; i < sizeof bytes; i++) {
        token->text[2 * i] = digits[bytes[i] >> 4];
        token->text[2 * i + 1] = digits[bytes[i] & 15];
    }
    token->text[WEFT_TOKEN_BYTES] = '\0';
    return WEFT_OK;
}

bool weft_token_equals(const struct weft_token *token, struct weft_str text)
{
    unsigned char difference = 0;
    if (text.n_bytes != WEFT_TOKEN_BYTES)
        return false;
    for (size_t i = 0; i < WEFT_TOKEN_BYTES; i++)
        difference |= (unsigned char)(token->text[i] ^ text.bytes[i]);
    return difference == 0;
}

char *weft_token_path(const char *folder, const char *const *paths, size_t n_paths, uint16_t port)
{
    uint64_t hash = port;
    for (size_t i = 0; i < n_paths; i++) {
        char *real = realpath(paths[i], NULL);
        const char *name = real ? real : paths[i];
        hash = XXH3_64bits_withSeed(name, strlen(name) + 1, hash);
        free(real);
    }
    char *path = NULL;
    return asprintf(&path, "%s/weft-serve-%016" PRIx64, folder, hash) < 0 ? NULL : path;
}

/* "PORT TOKEN\n" */
static bool parse(const char *line, struct weft_token *token, uint16_t *port)
{
    unsigned number = 0;
    int n_read = 0;
    if (sscanf(line, "%5u %32[0-9a-f]%n", &number, token->text, &n_read) != 2)
        return false;
    *port = (uint16_t)number;
    return number > 0 && number <= UINT16_MAX && strlen(token->text) == WEFT_TOKEN_BYTES &&
           strcmp(line + n_read, "\n") == 0;
}

static bool is_private(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
           (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

bool weft_token_load(const char *path, struct weft_token *token, uint16_t *port)
{
    char line[LINE_BYTES] = { 0 };
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = is_private(fd) ? read(fd, line, sizeof line - 1) : -1;
    close(fd);
    return n > 0 && parse(line, token, port);
}

bool weft_token_save(const char *path, const struct weft_token *token, uint16_t port)
{
    char line[LINE_BYTES];
    int n_bytes = snprintf(line, sizeof line, "%" PRIu16 " %s\n", port, token->text);
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return false;
    bool is_written = write(fd, line, (size_t)n_bytes) == n_bytes;
    is_written = close(fd) == 0 && is_written;
    if (!is_written)
        (void)unlink(path);
    return is_written;
}
