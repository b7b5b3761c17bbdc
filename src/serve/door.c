/* SPDX-License-Identifier: MIT
 *
 * One thread. What came is looked at, and left for the reader of requests (MSG_PEEK); arrivals are
 * reported once each (EPOLLET), as data that are only looked at stay readable.
 */
#include "serve/door.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    GUESTS_MAX = 256,
    EVENTS = 64,
    ACCEPTS = 256,
    RETRY_MS = 5,
    TICK_MS = 200,
    OF_LISTEN = -1,
    OF_STOP = -2
};

/* What an event is of: OF_*, or the place of a guest with the number of the guest above it, as one
 * of a guest that has left may still be among those that are handled. */
#define NUMBER_SHIFT 32
#define NUMBER_MASK UINT64_C(0x7fffffff)

/* How long a connection may be silent, and how long it may take from its first byte to the end of
 * its head. */
#define SILENT_NS UINT64_C(10000000000)
#define HEAD_NS UINT64_C(2000000000)

/* A connection that waits. */
struct guest {
    int fd;           /* -1: none */
    bool has_begun;   /* to send */
    bool is_complete; /* waits for a place */
    uint64_t number;  /* of all that came, within NUMBER_MASK */
    uint64_t came_ns, deadline_ns;
};

struct weft_door {
    int listen_fd, epoll_fd, stop_fd;
    weft_door_admit *admit;
    void *context;
    struct guest guests[GUESTS_MAX];
    uint64_t n_came;
    bool is_owing; /* connections wait to be accepted */
    char *head;    /* of the guest that is looked at */
    uint32_t head_bytes;
    bool has_thread;
    pthread_t thread;
};

static void send_away(struct guest *guest)
{
    if (guest->fd >= 0)
        (void)close(guest->fd);
    guest->fd = -1;
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* True if the bytes hold a head with the empty line at its end. Empty lines before it do not count:
 * readers of requests skip them. */
static bool is_whole(const char *bytes, size_t n_bytes)
{
    size_t at = 0;
    while (at < n_bytes && (bytes[at] == '\r' || bytes[at] == '\n'))
        at++;
    while (at < n_bytes) {
        const char *end = memchr(bytes + at, '\n', n_bytes - at);
        if (!end)
            return false;
        const size_t next = (size_t)(end - bytes) + 1;
        const size_t left = n_bytes - next;
        if (left >= 1 && bytes[next] == '\n')
            return true;
        if (left >= 2 && bytes[next] == '\r' && bytes[next + 1] == '\n')
            return true;
        at = next;
    }
    return false;
}

static void try_admit(struct weft_door *door, struct guest *guest)
{
    if (!guest->is_complete)
        return;
    (void)epoll_ctl(door->epoll_fd, EPOLL_CTL_DEL, guest->fd, NULL);
    if (door->admit(door->context, guest->fd))
        guest->fd = -1;
}

/* A head that fills all its room is as whole as it will be: the reader refuses it. */
static void look(struct weft_door *door, struct guest *guest, bool is_at_end)
{
    if (guest->fd < 0 || guest->is_complete)
        return;
    const ssize_t n = recv(guest->fd, door->head, door->head_bytes, MSG_PEEK | MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        send_away(guest);
        return;
    }
    if (n < 0)
        return;
    if (!guest->has_begun)
        guest->deadline_ns = weft_clock_now_ns() + HEAD_NS;
    guest->has_begun = true;
    guest->is_complete = (size_t)n == door->head_bytes || is_whole(door->head, (size_t)n);
    if (is_at_end && !guest->is_complete)
        send_away(guest);
    else
        try_admit(door, guest);
}

/* ---- arrivals -------------------------------------------------------------------------------- */

/* The oldest guest, of those whose head is not there if any; NULL: there is none. */
static struct guest *oldest_guest(struct weft_door *door)
{
    struct guest *oldest = NULL;
    for (size_t i = 0; i < GUESTS_MAX; i++) {
        struct guest *guest = &door->guests[i];
        if (guest->fd < 0)
            continue;
        if (!oldest ||
            (guest->is_complete != oldest->is_complete ? !guest->is_complete
                                                       : guest->came_ns < oldest->came_ns))
            oldest = guest;
    }
    return oldest;
}

/* A free place, or that of the oldest guest. */
static struct guest *make_room(struct weft_door *door)
{
    for (size_t i = 0; i < GUESTS_MAX; i++)
        if (door->guests[i].fd < 0)
            return &door->guests[i];
    struct guest *oldest = oldest_guest(door);
    send_away(oldest);
    return oldest;
}

static void welcome(struct weft_door *door, int fd)
{
    struct guest *guest = make_room(door);
    const uint64_t number = ++door->n_came & NUMBER_MASK, now_ns = weft_clock_now_ns();
    struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET,
                                 .data.u64 =
                                     number << NUMBER_SHIFT | (uint64_t)(guest - door->guests) };
    *guest = (struct guest){
        .fd = fd, .number = number, .came_ns = now_ns, .deadline_ns = now_ns + SILENT_NS
    };
    if (epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        send_away(guest);
    else
        look(door, guest, false);
}

/* Without a free descriptor the oldest guest has to leave; without a guest the others wait, as they
 * do if there are many. */
static void accept_some(struct weft_door *door)
{
    door->is_owing = true;
    for (unsigned k = 0; k < ACCEPTS; k++) {
        const int fd = accept4(door->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            welcome(door, fd);
        } else if (errno == EMFILE || errno == ENFILE) {
            struct guest *oldest = oldest_guest(door);
            if (!oldest)
                return;
            send_away(oldest);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            door->is_owing = errno != EAGAIN;
            return;
        }
    }
}

static void tidy(struct weft_door *door, bool *is_busy)
{
    const uint64_t now_ns = weft_clock_now_ns();
    *is_busy = false;
    for (size_t i = 0; i < GUESTS_MAX; i++) {
        struct guest *guest = &door->guests[i];
        if (guest->fd >= 0 && guest->is_complete)
            try_admit(door, guest);
        else if (guest->fd >= 0 && guest->deadline_ns < now_ns)
            send_away(guest);
        *is_busy = *is_busy || (guest->fd >= 0 && guest->is_complete);
    }
}

static void look_again(struct weft_door *door, const struct epoll_event *event)
{
    struct guest *guest = &door->guests[event->data.u64 % GUESTS_MAX];
    if (guest->number == event->data.u64 >> NUMBER_SHIFT)
        look(door, guest, (event->events & EPOLLRDHUP) != 0);
}

static void *run(void *context)
{
    struct weft_door *door = context;
    struct epoll_event events[EVENTS];
    bool is_busy = false;
    for (;;) {
        const bool is_soon = is_busy || door->is_owing;
        const int n = epoll_wait(door->epoll_fd, events, EVENTS, is_soon ? RETRY_MS : TICK_MS);
        for (int i = 0; i < n; i++) {
            const int64_t of = (int64_t)events[i].data.u64;
            if (of == OF_STOP)
                return NULL;
            if (of == OF_LISTEN)
                door->is_owing = true;
            else
                look_again(door, &events[i]);
        }
        if (door->is_owing)
            accept_some(door);
        tidy(door, &is_busy);
    }
}

/* ---- the beginning and the end --------------------------------------------------------------- */

static bool watch(struct weft_door *door, int fd, int64_t of)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = (uint64_t)of };
    return fd >= 0 && epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

enum weft_code weft_door_open(int fd, uint32_t head_bytes, weft_door_admit *admit, void *context,
                              struct weft_door **door, struct weft_err *err)
{
    struct weft_door *made = calloc(1, sizeof *made);
    *door = NULL;
    if (!made) {
        close(fd);
        return weft_no_memory(err, "connections");
    }
    *made = (struct weft_door){ .listen_fd = fd,
                                .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                                .stop_fd = eventfd(0, EFD_CLOEXEC),
                                .admit = admit,
                                .context = context,
                                .head = malloc(head_bytes),
                                .head_bytes = head_bytes };
    for (size_t i = 0; i < GUESTS_MAX; i++)
        made->guests[i].fd = -1;
    made->has_thread = made->head && watch(made, fd, OF_LISTEN) &&
                       watch(made, made->stop_fd, OF_STOP) &&
                       pthread_create(&made->thread, NULL, run, made) == 0;
    if (!made->has_thread) {
        weft_door_close(made);
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "cannot wait for connections");
    }
    *door = made;
    return WEFT_OK;
}

void weft_door_close(struct weft_door *door)
{
    const uint64_t one = 1;
    if (!door)
        return;
    if (door->has_thread) {
        while (write(door->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
            continue;
        pthread_join(door->thread, NULL);
    }
    for (size_t i = 0; i < GUESTS_MAX; i++)
        send_away(&door->guests[i]);
    (void)close(door->listen_fd);
    if (door->epoll_fd >= 0)
        (void)close(door->epoll_fd);
    if (door->stop_fd >= 0)
        (void)close(door->stop_fd);
    free(door->head);
    free(door);
}
