/* SPDX-License-Identifier: MIT
 *
 * One datagram is one question: no client can hold the recorder by an idle connection. The
 * kernel vouches for the process that asks (SCM_CREDENTIALS).
 */
#include "record/session/asks.h"

#include "base/vec.h"
#include "record/session/namespace.h"
#include "record/session/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    TURN_NS = 10000000,
    TURN_QUESTIONS = 256, /* that are taken in one round */
    TURN_TIMES = 8,       /* that the recorder is woken in one */
    FILES_A_SECOND = 4096,
    FILES_OF_A_PROCESS = 1000,
    PENDING_MAX = 1024, /* files that were given, and are no rings yet */
    COST_OPENS = 8,     /* that count as a file; so do bytes of maps */
    COST_BYTES = 1 << 14,
    SECOND_NS = 1000000000,
};
static const uint64_t FILE_BYTES_MAX = UINT64_C(1) << 46; /* sparse */

/* ---- the socket ------------------------------------------------------------------------------ */

static bool make_name(char *text, size_t n_digits)
{
    uint8_t random[WEFT_ASK_TOKEN_BYTES / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    for (size_t k = 0; k < n_digits / 2; k++)
        (void)snprintf(text + 2 * k, 3, "%02x", random[k]);
    return true;
}

static bool open_socket(struct asks *asks)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int on = 1;
    const size_t n_name = strlen(asks->name);
    asks->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    memcpy(address.sun_path + 1, asks->name, n_name);
    return asks->fd >= 0 && setsockopt(asks->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
           bind(asks->fd, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n_name)) == 0;
}

void asks_open(struct asks *asks, int folder_fd)
{
    *asks = (struct asks){ .fd = -1, .folder_fd = folder_fd };
    memcpy(asks->name, "weft-", 5);
    if (make_name(asks->name + 5, ASKS_NAME_BYTES - 5) &&
        make_name(asks->token, WEFT_ASK_TOKEN_BYTES) && open_socket(asks))
        return;
    if (asks->fd >= 0)
        (void)close(asks->fd);
    asks->fd = -1;
}

void asks_stop(struct asks *asks)
{
    if (asks->fd >= 0)
        (void)close(asks->fd);
    asks->fd = -1;
}

void asks_close(struct asks *asks)
{
    asks_stop(asks);
    WEFT_VEC_FINI(&asks->reports);
    WEFT_VEC_FINI(&asks->pending);
    proc_text_fini(&asks->room);
}

bool asks_print(const struct asks *asks, char *text, size_t n_text)
{
    const int n = snprintf(text, n_text, "%s:%s", asks->name, asks->token);
    return asks->fd >= 0 && n > 0 && (size_t)n < n_text;
}

/* ---- what is asked for ------------------------------------------------------------------------
 */

/* One that was sent here, by the process `pid`. */
struct question {
    struct weft_ask ask;
    uint32_t pid;
    struct sockaddr_un from;
    socklen_t n_from;
};

/* Compared in a time that does not depend on what was guessed. */
static bool is_token(const struct asks *asks, const char *token)
{
    unsigned difference = 0;
    for (size_t k = 0; k < WEFT_ASK_TOKEN_BYTES; k++)
        difference |= (unsigned char)(token[k] ^ asks->token[k]);
    return difference == 0;
}

static bool is_sound(struct asks *asks, const struct question *question)
{
    const struct weft_ask *ask = &question->ask;
    return ask->magic == WEFT_ASK_MAGIC && is_token(asks, ask->token) && question->pid != 0 &&
           (ask->library == WEFT_RING_OPERATIONS || ask->library == WEFT_RING_FUNCTIONS) &&
           ask->reach < WEFT_REACHES &&
           (ask->pid == question->pid ||
            namespace_own_number(question->pid, &asks->room) == ask->pid);
}

/* False: there is no more. `question->pid` 0: it is none. */
static bool take_question(const struct asks *asks, struct question *question)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec to = { &question->ask, sizeof question->ask };
    struct msghdr message = { .msg_name = &question->from,
                              .msg_namelen = sizeof question->from,
                              .msg_iov = &to,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof control };
    const ssize_t n_read = recvmsg(asks->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n_read < 0)
        return errno == EINTR;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (n_read == (ssize_t)sizeof question->ask && !(message.msg_flags & MSG_TRUNC) && head &&
        head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS &&
        head->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
        struct ucred sender;
        memcpy(&sender, CMSG_DATA(head), sizeof sender);
        question->pid = sender.pid > 0 ? (uint32_t)sender.pid : 0;
        question->n_from = message.msg_namelen;
    }
    return true;
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static void answer(const struct asks *asks, const struct question *question, int fd)
{
    char byte = 0;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec what = { &byte, 1 };
    struct sockaddr_un to = question->from;
    struct msghdr message = {
        .msg_name = &to, .msg_namelen = question->n_from, .msg_iov = &what, .msg_iovlen = 1
    };
    memset(&control, 0, sizeof control);
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    (void)sendmsg(asks->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool is_within_limits(struct asks *asks)
{
    const uint64_t now_ns = session_clock_ns(CLOCK_MONOTONIC);
    if (now_ns - asks->second_ns >= SECOND_NS) {
        asks->second_ns = now_ns;
        asks->n_in_second = 0;
    }
    if (asks->n_in_second >= FILES_A_SECOND)
        return false;
    asks->n_in_second++;
    return true;
}

/* The maps of the process as they are now: it waits for the answer. */
static void copy_maps(struct asks *asks, uint32_t pid, const char *ring)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s.maps", ring);
    if (!proc_read(pid, "maps", &asks->room))
        return;
    asks->n_in_second += (uint32_t)(asks->room.n / COST_BYTES);
    const int fd =
        openat(asks->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    if (write(fd, asks->room.items, asks->room.n) != (ssize_t)asks->room.n)
        (void)unlinkat(asks->folder_fd, name, 0);
    (void)close(fd);
}

static int make_ring(struct asks *asks, const struct question *question)
{
    const struct weft_ask *ask = &question->ask;
    struct ask_given given = { .pid = question->pid };
    char *const name = given.name;
    unsigned n = 0;
    int fd = -1;
    struct ask_given *place = asks->pending.n < PENDING_MAX ? WEFT_VEC_PUSH(&asks->pending) : NULL;
    if (!place)
        return -1;
    asks->pending.n--; /* there is room for it */
    if (ask->n_bytes < sizeof(struct weft_ring_file) || ask->n_bytes > FILE_BYTES_MAX)
        return -1;
    for (; n < FILES_OF_A_PROCESS && fd < 0; n++) {
        (void)snprintf(name, sizeof given.name, "%" PRIu32 ".%" PRIu32 ".%u", ask->pid,
                       ask->library, n);
        fd =
            openat(asks->folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    asks->n_in_second += n / COST_OPENS;
    if (fd >= 0 && ftruncate(fd, (off_t)ask->n_bytes) != 0) {
        (void)close(fd);
        (void)unlinkat(asks->folder_fd, name, 0);
        return -1;
    }
    if (fd >= 0 && ask->is_new)
        copy_maps(asks, question->pid, name);
    if (fd >= 0) {
        *place = given;
        asks->pending.n++;
    }
    return fd;
}

static void keep_report(struct asks *asks, const struct question *question)
{
    const struct ask_report report = { .pid = question->pid,
                                       .library = question->ask.library,
                                       .reach = question->ask.reach,
                                       .time_ns = session_clock_ns(CLOCK_MONOTONIC) };
    struct ask_report *place = WEFT_VEC_PUSH(&asks->reports);
    if (place)
        *place = report;
    else
        asks->n_lost_reports++;
}

/* Something else may have been put there by a process of the same user. */
static int open_filter(const struct asks *asks)
{
    struct stat about;
    const int fd =
        openat(asks->folder_fd, "filter", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)))
        return fd;
    (void)close(fd);
    return -1;
}

static void serve(struct asks *asks, const struct question *question)
{
    int fd = -1;
    if (question->ask.kind == WEFT_ASK_NOTHING) {
        keep_report(asks, question);
        return;
    }
    if (question->ask.kind == WEFT_ASK_RING)
        fd = make_ring(asks, question);
    else if (question->ask.kind == WEFT_ASK_FILTER)
        fd = open_filter(asks);
    answer(asks, question, fd);
    if (fd >= 0)
        (void)close(fd);
}

/* One that is meant for the recorder, and too many: it is dropped, and that is stated. */
static void take(struct asks *asks, const struct question *question)
{
    if (!is_sound(asks, question))
        asks->n_refused++;
    else if (is_within_limits(asks))
        serve(asks, question);
    else if (question->ask.kind == WEFT_ASK_NOTHING)
        asks->n_lost_reports++;
    else
        asks->n_refused++;
}

void asks_serve(struct asks *asks)
{
    const uint64_t now_ns = session_clock_ns(CLOCK_MONOTONIC);
    struct question question = { 0 };
    if (now_ns - asks->turn_ns >= TURN_NS) {
        asks->turn_ns = now_ns;
        asks->n_in_turn = asks->n_times = 0;
    }
    const uint32_t n_before = asks->n_in_turn;
    while (asks->fd >= 0 && asks->n_in_turn < TURN_QUESTIONS && take_question(asks, &question)) {
        asks->n_in_turn++;
        take(asks, &question);
        question = (struct question){ 0 };
    }
    asks->n_times += asks->n_in_turn != n_before;
}

int asks_wakes(const struct asks *asks)
{
    return asks->n_in_turn < TURN_QUESTIONS && asks->n_times < TURN_TIMES ? asks->fd : -1;
}

/* ---- files that did not become rings -----------------------------------------------------------
 */

static bool is_gone(uint32_t pid)
{
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* A process that cannot map its file empties it. */
static bool is_left(const struct asks *asks, const struct ask_given *given, bool *is_ring)
{
    uint64_t magic = 0;
    struct stat about;
    const bool was_gone = is_gone(given->pid);
    const int fd =
        openat(asks->folder_fd, given->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return true;
    const bool is_empty = fstat(fd, &about) == 0 && about.st_size == 0;
    *is_ring =
        pread(fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic && magic == WEFT_RING_MAGIC;
    (void)close(fd);
    return is_empty || was_gone;
}

void asks_tidy(struct asks *asks)
{
    char maps[sizeof asks->pending.items->name + 8];
    for (size_t k = asks->pending.n; k-- > 0;) {
        struct ask_given *given = &asks->pending.items[k];
        bool is_ring = false;
        const bool is_over = is_left(asks, given, &is_ring);
        if (!is_ring && is_over) {
            (void)snprintf(maps, sizeof maps, "%s.maps", given->name);
            (void)unlinkat(asks->folder_fd, given->name, 0);
            (void)unlinkat(asks->folder_fd, maps, 0);
        }
        if (is_ring || is_over)
            *given = asks->pending.items[--asks->pending.n];
    }
}
