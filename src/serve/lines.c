/* SPDX-License-Identifier: MIT
 *
 * A list under one lock. When all places are taken, connections without the token end first, then
 * those nearest to their deadline; a connection younger than YOUNG_NS is spared, since its first
 * request may be on its way.
 */
#include "serve/lines.h"

#include "base/clock.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { ENDING_MAX = 16 };

#define YOUNG_NS UINT64_C(250000000)

struct weft_line {
    struct weft_line *next, **self; /* list */
    int fd;
    bool has_begun;       /* the library has it: until then the number may be of a closed socket */
    bool has_token;       /* gave it in an earlier request */
    uint64_t young_ns;    /* until then its first request may not have been looked at */
    uint64_t deadline_ns; /* WEFT_LINE_COMPUTING; 0: is ended already */
};

void weft_lines_init(struct weft_lines *lines, size_t n_max)
{
    *lines = (struct weft_lines){ .n_max = n_max };
    pthread_mutex_init(&lines->lock, NULL);
}

static void drop(struct weft_lines *lines, struct weft_line *line)
{
    lines->n--;
    *line->self = line->next;
    if (line->next)
        line->next->self = line->self;
    free(line);
}

void weft_lines_fini(struct weft_lines *lines)
{
    while (lines->first)
        drop(lines, lines->first);
    pthread_mutex_destroy(&lines->lock);
}

static struct weft_line *add(struct weft_lines *lines, int fd)
{
    struct weft_line *line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    const uint64_t now_ns = weft_clock_now_ns();
    *line = (struct weft_line){ .next = lines->first,
                                .self = &lines->first,
                                .fd = fd,
                                .young_ns = now_ns + YOUNG_NS,
                                .deadline_ns = now_ns + WEFT_LINE_FIRST_NS };
    if (line->next)
        line->next->self = &line->next;
    lines->first = line;
    lines->n++;
    return line;
}

/* What was taken for a socket and has not begun, or NULL. */
static struct weft_line *find_taken(const struct weft_lines *lines, int fd)
{
    struct weft_line *line = lines->first;
    while (line && (line->has_begun || line->fd != fd))
        line = line->next;
    return line;
}

/* Ends one connection: without the token first, then the one that is nearest to its end. Few at
 * a time: it takes a moment until a place is free. */
static void make_room(const struct weft_lines *lines)
{
    const uint64_t now_ns = weft_clock_now_ns();
    struct weft_line *worst = NULL;
    unsigned n_ending = 0;
    for (struct weft_line *line = lines->first; line; line = line->next) {
        n_ending += line->deadline_ns == 0;
        if (line->deadline_ns == 0)
            continue;
        const bool is_young = !line->has_token && line->young_ns > now_ns;
        if (!line->has_begun || is_young || line->deadline_ns == WEFT_LINE_COMPUTING)
            continue;
        if (!worst ||
            (line->has_token != worst->has_token ? !line->has_token
                                                 : line->deadline_ns < worst->deadline_ns))
            worst = line;
    }
    if (!worst || n_ending >= ENDING_MAX)
        return;
    worst->deadline_ns = 0;
    (void)shutdown(worst->fd, SHUT_RDWR); /* its thread sees that and closes it */
}

bool weft_lines_take(struct weft_lines *lines, int fd)
{
    pthread_mutex_lock(&lines->lock);
    struct weft_line *old = find_taken(lines, fd); /* the library closed it without a word */
    if (old)
        drop(lines, old);
    const bool has_room = lines->n < lines->n_max;
    const bool is_taken = has_room && add(lines, fd);
    if (!has_room)
        make_room(lines);
    pthread_mutex_unlock(&lines->lock);
    return is_taken;
}

struct weft_line *weft_lines_begin(struct weft_lines *lines, int fd)
{
    pthread_mutex_lock(&lines->lock);
    struct weft_line *line = find_taken(lines, fd);
    if (!line)
        line = add(lines, fd);
    if (line)
        line->has_begun = true;
    pthread_mutex_unlock(&lines->lock);
    return line;
}

void weft_lines_end(struct weft_lines *lines, struct weft_line *line)
{
    if (!line)
        return;
    pthread_mutex_lock(&lines->lock);
    drop(lines, line);
    pthread_mutex_unlock(&lines->lock);
}

void weft_lines_allow(struct weft_lines *lines, struct weft_line *line, uint64_t in_ns)
{
    if (!line)
        return;
    pthread_mutex_lock(&lines->lock);
    if (line->deadline_ns > 0)
        line->deadline_ns =
            in_ns == WEFT_LINE_COMPUTING ? WEFT_LINE_COMPUTING : weft_clock_now_ns() + in_ns;
    pthread_mutex_unlock(&lines->lock);
}

void weft_lines_trust(struct weft_lines *lines, struct weft_line *line)
{
    if (!line)
        return;
    pthread_mutex_lock(&lines->lock);
    line->has_token = true;
    pthread_mutex_unlock(&lines->lock);
}

void weft_lines_tidy(struct weft_lines *lines)
{
    const uint64_t now_ns = weft_clock_now_ns();
    pthread_mutex_lock(&lines->lock);
    for (struct weft_line *line = lines->first, *next; line; line = next) {
        next = line->next;
        if (line->deadline_ns >= now_ns)
            continue;
        if (line->has_begun)
            (void)shutdown(line->fd, SHUT_RDWR);
        else
            drop(lines, line);
    }
    pthread_mutex_unlock(&lines->lock);
}
