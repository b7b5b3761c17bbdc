/* SPDX-License-Identifier: MIT
 *
 * Reads files of /proc into a reusable buffer of at most 16 MiB and picks single fields. A process
 * may end at any time, so every function has a result for a file that is gone. Nothing is cached.
 */
#include "record/session/proc.h"

#include "base/vec.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP_BYTES = 1 << 15, MOST_BYTES = 1 << 24 };

void proc_text_fini(struct proc_text *text)
{
    WEFT_VEC_FINI(text);
}

static bool read_all(int fd, struct proc_text *text)
{
    ssize_t n_read = 1;
    text->n = 0;
    if (fd < 0)
        return false;
    while (n_read > 0 && text->n < MOST_BYTES &&
           weft_vec_reserve(&text->items, &text->cap, text->n + STEP_BYTES + 1, 1)) {
        n_read = read(fd, text->items + text->n, STEP_BYTES);
        text->n += n_read > 0 ? (size_t)n_read : 0;
    }
    (void)close(fd);
    if (text->items)
        text->items[text->n] = '\0';
    return n_read >= 0 && text->n > 0;
}

bool proc_read(uint32_t pid, const char *name, struct proc_text *text)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, name);
    return read_all(open(path, O_RDONLY | O_CLOEXEC), text);
}

bool proc_read_in(int folder_fd, const char *name, struct proc_text *text)
{
    return read_all(openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), text);
}

bool proc_link(uint32_t pid, const char *name, char *path, size_t n_path)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/%" PRIu32 "/%s", pid, name);
    const ssize_t n_bytes = readlink(link, path, n_path - 1);
    path[n_bytes > 0 ? n_bytes : 0] = '\0';
    return n_bytes > 0;
}

bool proc_is_alive(uint32_t pid, struct proc_text *room)
{
    const char *end = proc_read(pid, "stat", room) ? strrchr(room->items, ')') : NULL;
    return end && end[1] == ' ' && end[2] != 'Z' && end[2] != 'X';
}

/* "1 (a name) S 17 ...": the fourth field, counted from behind the name. */
uint32_t proc_parent(uint32_t pid, struct proc_text *room)
{
    char state;
    unsigned parent = 0;
    if (!proc_read(pid, "stat", room))
        return 0;
    const char *end = strrchr(room->items, ')');
    return end && sscanf(end + 1, " %c %u", &state, &parent) == 2 ? parent : 0;
}

/* "Uid:\t1000\t0\t0\t0": the first is the real one. */
static uint32_t first_number(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    return line ? (uint32_t)strtoul(line + strlen(name), NULL, 10) : UINT32_MAX;
}

struct proc_user proc_user(uint32_t pid, struct proc_text *room)
{
    const bool is_there = proc_read(pid, "status", room);
    const char *status = is_there ? room->items : "";
    return (struct proc_user){ first_number(status, "\nUid:"), first_number(status, "\nGid:") };
}

uint64_t proc_start(uint32_t pid, struct proc_text *room)
{
    enum { FIELDS_BEFORE = 20 }; /* from the name on */
    if (!proc_read(pid, "stat", room))
        return 0;
    const char *at = strrchr(room->items, ')');
    for (int k = 0; at && k < FIELDS_BEFORE; k++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* Of at most 16 hexadecimal digits, with `after` behind them; false: there are none. */
static bool take_hex(struct weft_str *rest, char after, uint64_t *value)
{
    size_t n = 0;
    uint64_t sum = 0;
    for (; n < rest->n_bytes && n <= 16; n++) {
        const char c = rest->bytes[n];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            break;
        sum = sum << 4 | (uint64_t)digit;
    }
    if (n == 0 || n > 16 || n == rest->n_bytes || rest->bytes[n] != after)
        return false;
    *value = sum;
    rest->bytes += n + 1;
    rest->n_bytes -= n + 1;
    return true;
}

/* The next word, with the blanks behind it; none: there is no more. */
static struct weft_str take_word(struct weft_str *rest)
{
    size_t n = 0;
    while (n < rest->n_bytes && rest->bytes[n] != ' ')
        n++;
    const struct weft_str word = { rest->bytes, n };
    while (n < rest->n_bytes && rest->bytes[n] == ' ')
        n++;
    rest->bytes += n;
    rest->n_bytes -= n;
    return word;
}

/* "7f00-8f00 r-xp 00001000 fe:00 123   /usr/lib/x.so": five words, then the path. By hand, as each
 * program that starts has some 30 of them, which are read several times. */
static bool parse_mapping(struct weft_str line, struct proc_map *map)
{
    if (!take_hex(&line, '-', &map->begin) || !take_hex(&line, ' ', &map->end))
        return false;
    const struct weft_str rights = take_word(&line);
    if (rights.n_bytes < 3 || rights.n_bytes >= sizeof map->rights)
        return false;
    memcpy(map->rights, rights.bytes, rights.n_bytes);
    map->rights[rights.n_bytes] = '\0';
    if (!take_hex(&line, ' ', &map->file_off) || take_word(&line).n_bytes == 0 ||
        take_word(&line).n_bytes == 0)
        return false;
    map->path = line;
    return map->begin < map->end;
}

bool proc_next_mapping(struct weft_str *text, struct proc_map *map)
{
    bool is_found = false;
    while (!is_found && text->n_bytes > 0) {
        const char *end = memchr(text->bytes, '\n', text->n_bytes);
        const size_t n_line = end ? (size_t)(end - text->bytes) : text->n_bytes;
        is_found = parse_mapping((struct weft_str){ text->bytes, n_line }, map);
        text->bytes += n_line + (end != NULL);
        text->n_bytes -= n_line + (end != NULL);
    }
    return is_found;
}

bool proc_next_map(struct weft_str *text, struct proc_map *map)
{
    while (proc_next_mapping(text, map))
        if (map->rights[2] == 'x' && map->path.n_bytes > 0 && map->path.bytes[0] == '/')
            return true;
    return false;
}

bool proc_find_program(const char *name, char *path)
{
    char tried[PATH_MAX];
    const char *at = getenv("PATH");
    if (strchr(name, '/'))
        return realpath(name, path) != NULL;
    while (at && *at) {
        const size_t n_place = strcspn(at, ":");
        if (snprintf(tried, sizeof tried, "%.*s/%s", (int)n_place, at, name) < (int)sizeof tried &&
            access(tried, X_OK) == 0)
            return realpath(tried, path) != NULL;
        at += n_place;
        at += *at == ':';
    }
    return false;
}
