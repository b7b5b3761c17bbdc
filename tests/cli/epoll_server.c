/* SPDX-License-Identifier: MIT
 *
 * Requests to a server of one thread that waits with epoll: `epoll_server KIND REQUESTS`, over
 * "tcp" (answers by write), "tcp_writev", "tcp_send", "unix", "pipe" or "eventfd". Each request is
 * one call of `request` on a thread of its own.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 4, LAST = 77 };

static int ask_fds[CLIENTS], asked_fds[CLIENTS], answer_fds[CLIENTS], answered_fds[CLIENTS];
static unsigned n_requests;
static const char *kind;
static volatile unsigned work;

static void put(int fd, uint64_t number)
{
    const struct iovec part = { &number, sizeof number };
    const ssize_t n = strcmp(kind, "tcp_writev") == 0 ? writev(fd, &part, 1)
                      : strcmp(kind, "tcp_send") == 0 ? send(fd, &number, sizeof number, 0)
                                                      : write(fd, &number, sizeof number);
    if (n != sizeof number)
        abort();
}

static void handle_request(void)
{
    for (unsigned i = 0; i < 100000; i++)
        work += i;
}

/* Whether there are more. */
static int serve(unsigned client)
{
    uint64_t number;
    if (read(asked_fds[client], &number, sizeof number) != sizeof number)
        abort();
    if (number >= LAST)
        return 0;
    handle_request();
    put(answered_fds[client], 1);
    return 1;
}

static void *server(void *unused)
{
    const int set = epoll_create1(EPOLL_CLOEXEC);
    unsigned n_open = CLIENTS;
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };
        (void)epoll_ctl(set, EPOLL_CTL_ADD, asked_fds[i], &event);
    }
    while (n_open) {
        struct epoll_event event;
        if (epoll_wait(set, &event, 1, -1) == 1 && !serve(event.data.u32)) {
            (void)epoll_ctl(set, EPOLL_CTL_DEL, asked_fds[event.data.u32], NULL);
            n_open--;
        }
    }
    return unused;
}

static void request(unsigned client)
{
    uint64_t number;
    put(ask_fds[client], 1);
    if (read(answer_fds[client], &number, sizeof number) != sizeof number)
        abort();
}

static void *run_client(void *number)
{
    const unsigned client = (unsigned)(uintptr_t)number;
    for (unsigned k = 0; k < n_requests; k++) {
        const struct timespec time = { .tv_nsec = 100000 + k * 7919 % 13 * 50000 };
        request(client);
        (void)nanosleep(&time, NULL);
    }
    put(ask_fds[client], LAST);
    return NULL;
}

static void connect_pair(int fds[2])
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n_bytes = sizeof address;
    const int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    (void)bind(listener, (const void *)&address, n_bytes);
    (void)listen(listener, 1);
    (void)getsockname(listener, (void *)&address, &n_bytes);
    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fds[0], (const void *)&address, n_bytes) != 0)
        abort();
    fds[1] = accept(listener, NULL, NULL);
    (void)close(listener);
    for (unsigned i = 0; i < 2; i++)
        (void)setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void connect_client(unsigned client)
{
    int there[2] = { -1, -1 }, back[2] = { -1, -1 };
    const int is_failed = strcmp(kind, "pipe") == 0   ? pipe(there) | pipe(back)
                          : strcmp(kind, "unix") == 0 ? socketpair(AF_UNIX, SOCK_STREAM, 0, there)
                                                      : 0;
    if (is_failed)
        abort();
    if (strncmp(kind, "tcp", 3) == 0)
        connect_pair(there);
    if (strcmp(kind, "eventfd") == 0) {
        there[0] = there[1] = eventfd(0, 0);
        back[0] = back[1] = eventfd(0, 0);
    }
    const int is_two = back[0] >= 0;
    asked_fds[client] = there[is_two ? 0 : 1];
    ask_fds[client] = there[is_two ? 1 : 0];
    answer_fds[client] = is_two ? back[0] : there[0];
    answered_fds[client] = is_two ? back[1] : there[1];
}

int main(int n_args, char **args)
{
    pthread_t threads[CLIENTS + 1];
    if (n_args != 3)
        return 2;
    kind = args[1];
    n_requests = (unsigned)strtoul(args[2], NULL, 10);
    for (unsigned i = 0; i < CLIENTS; i++)
        connect_client(i);
    (void)pthread_create(&threads[CLIENTS], NULL, server, NULL);
    for (uintptr_t i = 0; i < CLIENTS; i++)
        (void)pthread_create(&threads[i], NULL, run_client, (void *)i);
    for (unsigned i = 0; i <= CLIENTS; i++)
        (void)pthread_join(threads[i], NULL);
    return 0;
}
