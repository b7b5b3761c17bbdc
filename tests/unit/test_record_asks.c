/* SPDX-License-Identifier: MIT
 *
 * The recorder's socket: floods of datagrams, and files that do not become rings.
 */
#include "record/session/asks.h"
#include "record/session/ticks.h"
#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct asks asks;
static char folder[] = "/tmp/weft-asks-XXXXXX";
static int folder_fd;

static int open_client(void)
{
    struct sockaddr_un own = { .sun_family = AF_UNIX }, to = own;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const socklen_t n_front = offsetof(struct sockaddr_un, sun_path);
    memcpy(to.sun_path + 1, asks.name, strlen(asks.name));
    if (fd < 0 || bind(fd, (struct sockaddr *)&own, n_front) != 0 ||
        connect(fd, (struct sockaddr *)&to, n_front + 1 + (socklen_t)strlen(asks.name)) != 0)
        exit(1);
    return fd;
}

/* False if there is no room: whoever sends here serves, too, and must not wait for it. */
static bool send_ask(int fd, enum weft_ask_kind kind)
{
    struct weft_ask ask = { .magic = WEFT_ASK_MAGIC,
                            .kind = kind,
                            .library = WEFT_RING_OPERATIONS,
                            .pid = (uint32_t)getpid(),
                            .reach = WEFT_REACH_DENIED,
                            .n_bytes = 1 << 16 };
    memcpy(ask.token, asks.token, sizeof ask.token);
    return send(fd, &ask, sizeof ask, MSG_DONTWAIT) == sizeof ask;
}

/* The descriptor of the answer that has come; -1: none has. */
static int take_answer(int fd)
{
    char byte;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec to = { &byte, 1 };
    struct msghdr message = {
        .msg_iov = &to, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    int given = -1;
    if (recvmsg(fd, &message, MSG_DONTWAIT) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&given, CMSG_DATA(&control.head), sizeof given);
    return given;
}

/* Waits and serves as the recorder does. */
static void serve_for(uint64_t ns)
{
    const uint64_t end_ns = session_clock_ns(CLOCK_MONOTONIC) + ns;
    while (session_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        struct pollfd fd = { .fd = asks_wakes(&asks), .events = POLLIN };
        const struct timespec most = { .tv_nsec = 10000000 };
        (void)ppoll(&fd, 1, &most, NULL);
        asks_serve(&asks);
    }
}

/* A datagram at a time, as fast as they can be sent: each would wake the recorder. */
static void test_turns(void)
{
    const struct weft_ask garbage = { .magic = 77 };
    const int client = open_client();
    const uint64_t start_ns = session_clock_ns(CLOCK_MONOTONIC);
    unsigned n_wakes = 0, n_sent = 0;
    for (int k = 0; k < 4000; k++) {
        n_sent += send(client, &garbage, sizeof garbage, MSG_DONTWAIT) == sizeof garbage;
        n_wakes += asks_wakes(&asks) >= 0;
        asks_serve(&asks);
    }
    const uint64_t n_turns = (session_clock_ns(CLOCK_MONOTONIC) - start_ns) / 10000000 + 2;
    tap_ok(n_wakes <= 9 * n_turns, "woken %u times by %u datagrams", n_wakes, n_sent);
    tap_ok(asks.n_refused > 0 && asks.n_refused <= 256 * n_turns,
           "%" PRIu64 " of them were taken, and counted", asks.n_refused);
    (void)close(client);
}

/* Anyone who asks meanwhile is answered. */
static void test_flood(void)
{
    const pid_t flooder = fork();
    if (flooder == 0) {
        const int fd = open_client();
        const struct weft_ask garbage = { .magic = 77 };
        for (;;)
            (void)!send(fd, &garbage, sizeof garbage, 0);
    }
    serve_for(50000000);
    const int client = open_client();
    while (!send_ask(client, WEFT_ASK_RING))
        serve_for(1000000);
    serve_for(500000000);
    const int given = take_answer(client);
    (void)kill(flooder, SIGKILL);
    (void)waitpid(flooder, NULL, 0);
    tap_ok(given >= 0, "a request in a flood is answered");
    (void)close(given);
    (void)close(client);
}

static bool is_there(unsigned number)
{
    char name[48];
    (void)snprintf(name, sizeof name, "%d.1.%u", (int)getpid(), number);
    return faccessat(folder_fd, name, F_OK, 0) == 0;
}

static int get_file(int client)
{
    (void)send_ask(client, WEFT_ASK_RING);
    serve_for(20000000);
    return take_answer(client);
}

static void test_pending(void)
{
    const uint64_t magic = WEFT_RING_MAGIC;
    const int client = open_client();
    const int first = get_file(client), second = get_file(client), third = get_file(client);
    char name[48];
    asks_tidy(&asks);
    tap_ok(is_there(1) && is_there(2) && is_there(3), "files may become rings later");
    if (ftruncate(first, 0) != 0 || pwrite(second, &magic, sizeof magic, 0) != sizeof magic)
        exit(1);
    asks_tidy(&asks);
    tap_ok(!is_there(1), "one that is emptied is removed");
    if (ftruncate(second, 0) != 0)
        exit(1);
    asks_tidy(&asks);
    tap_ok(is_there(2), "one that became a ring is left to its reader");
    tap_ok(is_there(3), "one of a process that lives is left to that");

    const pid_t child = fork();
    if (child == 0) {
        (void)send_ask(open_client(), WEFT_ASK_RING);
        _exit(0);
    }
    (void)snprintf(name, sizeof name, "%d.1.0", (int)child);
    siginfo_t about; /* it is there until it is waited for */
    (void)waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT);
    serve_for(20000000);
    const bool was_there = faccessat(folder_fd, name, F_OK, 0) == 0;
    (void)waitpid(child, NULL, 0);
    asks_tidy(&asks);
    tap_ok(was_there && faccessat(folder_fd, name, F_OK, 0) != 0,
           "one of a process that has ended is removed");
    (void)close(first);
    (void)close(second);
    (void)close(third);
    (void)close(client);
}

static void test_reports(void)
{
    const int client = open_client();
    (void)send_ask(client, WEFT_ASK_NOTHING);
    serve_for(20000000);
    tap_ok(asks.reports.n == 1 && asks.reports.items[0].pid == (uint32_t)getpid() &&
               asks.n_lost_reports == 0,
           "a report is kept");
    asks.n_in_second = 1 << 20;
    asks.second_ns = session_clock_ns(CLOCK_MONOTONIC);
    (void)send_ask(client, WEFT_ASK_NOTHING);
    asks_serve(&asks);
    tap_eq_u64(asks.n_lost_reports, 1, "one that is too many is lost, and counted");
    (void)close(client);
}

int main(void)
{
    char name[48];
    folder_fd = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY) : -1;
    asks_open(&asks, folder_fd);
    test_turns();
    test_flood();
    test_pending();
    test_reports();
    for (unsigned k = 0; k < 4; k++) {
        (void)snprintf(name, sizeof name, "%d.1.%u", (int)getpid(), k);
        (void)unlinkat(folder_fd, name, 0);
    }
    asks_close(&asks);
    (void)close(folder_fd);
    (void)rmdir(folder);
    return tap_done();
}
