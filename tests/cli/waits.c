/* SPDX-License-Identifier: MIT
 *
 * A program to be recorded without a kernel: it waits in each way once, as an execution named after
 * it, until another thread, which works meanwhile, ends the wait. That thread looks whether this
 * one sleeps before it works, so that it is a wait however slow the machine is.
 *
 *     waits            each way once
 *     waits COUNT      executions `request`; every tenth syncs, or reads while the logger syncs,
 *                      which takes long (slow_disk.c)
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <weft/mark.h>

#define PLAIN __attribute__((no_instrument_function))

static char stat_path[64];
static _Atomic int is_waiting, descriptor = -1;
static _Atomic unsigned n_done;

PLAIN static char state_of_main(void)
{
    char text[256] = "";
    FILE *file = fopen(stat_path, "r");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    const char *end = n ? strrchr(text, ')') : NULL;
    if (file)
        (void)fclose(file);
    return end && end[1] ? end[2] : '?';
}

PLAIN static void work_us(long us)
{
    struct timespec from, now;
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    do
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
}

/* Until the main thread sleeps in its wait; and some more. */
__attribute__((noinline)) static void answer_slowly(void)
{
    while (!atomic_load(&is_waiting) || state_of_main() != 'S')
        work_us(100);
    work_us(2000);
}

static void *answer(void *unused)
{
    uint64_t one = 1;
    (void)pthread_setname_np(pthread_self(), "answerer");
    answer_slowly();
    atomic_store(&is_waiting, 0);
    if (descriptor >= 0)
        n_done += write(descriptor, &one, sizeof one) > 0;
    return unused;
}

static int answer_c11(void *unused)
{
    (void)answer(unused);
    return 0;
}

static pthread_t answerer;

/* Another thread will write to `fd`; -1: it just ends. */
PLAIN static void begin(const char *way, int fd)
{
    descriptor = fd;
    if (pthread_create(&answerer, NULL, answer, NULL) != 0)
        exit(1);
    weft_mark_begin(way, 1);
    atomic_store(&is_waiting, 1);
}

PLAIN static void end(const char *way)
{
    weft_mark_end(way, 1);
    (void)pthread_join(answerer, NULL);
}

static void join_threads(void)
{
    thrd_t thread;
    descriptor = -1;
    begin("join", -1);
    (void)pthread_join(answerer, NULL);
    weft_mark_end("join", 1);
    if (thrd_create(&thread, answer_c11, NULL) != thrd_success)
        exit(1);
    weft_mark_begin("thrd_join", 1);
    atomic_store(&is_waiting, 1);
    (void)thrd_join(thread, NULL);
    weft_mark_end("thrd_join", 1);
}

static void use_pipe(void)
{
    int fds[2];
    uint64_t bytes;
    fd_set set;
    if (pipe(fds) != 0)
        exit(1);
    begin("read", fds[1]);
    n_done += read(fds[0], &bytes, sizeof bytes) > 0;
    end("read");
    struct pollfd polled[] = { { fds[0], POLLIN, 0 } };
    begin("poll", fds[1]);
    n_done += poll(polled, 1, -1) > 0;
    end("poll");
    n_done += read(fds[0], &bytes, sizeof bytes) > 0;
    FD_ZERO(&set);
    FD_SET(fds[0], &set);
    begin("select", fds[1]);
    n_done += select(fds[0] + 1, &set, NULL, NULL, NULL) > 0;
    end("select");
    n_done += read(fds[0], &bytes, sizeof bytes) > 0;
}

static void use_events(void)
{
    uint64_t count;
    const int event = eventfd(0, 0), set = epoll_create1(0);
    struct epoll_event watched = { .events = EPOLLIN, .data.ptr = &count };
    (void)epoll_ctl(set, EPOLL_CTL_ADD, event, &watched);
    begin("epoll", event);
    n_done += epoll_wait(set, &watched, 1, -1) > 0;
    end("epoll");
    n_done += read(event, &count, sizeof count) > 0;
    begin("eventfd", event);
    n_done += read(event, &count, sizeof count) > 0;
    end("eventfd");
    weft_mark_begin("epoll_timeout", 1);
    n_done += epoll_wait(set, &watched, 1, 3) == 0;
    weft_mark_end("epoll_timeout", 1);
}

static void use_sockets(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t n_bytes = sizeof at;
    int pair[2];
    uint64_t bytes;
    const int listening = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        bind(listening, (struct sockaddr *)&at, sizeof at) != 0 || listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)&at, &n_bytes) != 0 ||
        connect(client, (struct sockaddr *)&at, sizeof at) != 0)
        exit(1);
    const int server = accept(listening, NULL, NULL);
    begin("socketpair", pair[1]);
    n_done += recv(pair[0], &bytes, sizeof bytes, 0) > 0;
    end("socketpair");
    begin("connection", client);
    n_done += recv(server, &bytes, sizeof bytes, 0) > 0;
    end("connection");
    begin("connection_back", server);
    n_done += read(client, &bytes, sizeof bytes) > 0;
    end("connection_back");
}

/* Another process writes to it. */
static void ask_stranger(void)
{
    int fds[2];
    if (pipe(fds) != 0)
        exit(1);
    struct pollfd polled[] = { { fds[0], POLLIN, 0 } };
    weft_mark_begin("timeout", 1);
    n_done += poll(polled, 1, 3) == 0;
    weft_mark_end("timeout", 1);
    const pid_t child = fork();
    if (child == 0) {
        work_us(10000);
        _exit(write(fds[1], "x", 1) != 1);
    }
    weft_mark_begin("stranger", 1);
    n_done += poll(polled, 1, -1) > 0;
    weft_mark_end("stranger", 1);
    (void)waitpid(child, NULL, 0);
}

/* ---- files ------------------------------------------------------------------------------------
 */

int slow_disk_is_busy(void); /* slow_disk.c */

static _Atomic int is_syncing, is_over;
static int log_fd, data_fd;

__attribute__((noinline)) static void flush_log(void)
{
    (void)fsync(log_fd);
}

static void *keep_log(void *unused)
{
    (void)pthread_setname_np(pthread_self(), "logger");
    while (!is_over)
        if (is_syncing) {
            flush_log();
            is_syncing = 0;
        } else {
            work_us(50);
        }
    return unused;
}

__attribute__((noinline)) static void load(void)
{
    char byte;
    n_done += pread(data_fd, &byte, 1, 0) == 1;
}

__attribute__((noinline)) static void format_reply(void)
{
    work_us(200);
}

static void serve(int count)
{
    pthread_t logger;
    log_fd = open("waits.log", O_RDWR | O_CREAT, 0600);
    data_fd = open("waits.data", O_RDWR | O_CREAT, 0600);
    if (write(data_fd, "x", 1) != 1 || pthread_create(&logger, NULL, keep_log, NULL) != 0)
        exit(1);
    for (int i = 1; i <= count; i++) {
        is_syncing = i % 10 == 0;
        while (is_syncing && !slow_disk_is_busy())
            work_us(50);
        weft_mark_begin("request", (uint64_t)i);
        load();
        format_reply();
        weft_mark_end("request", (uint64_t)i);
        while (is_syncing)
            work_us(50);
    }
    is_over = 1;
    (void)pthread_join(logger, NULL);
}

int main(int n_arguments, char **arguments)
{
    (void)snprintf(stat_path, sizeof stat_path, "/proc/self/task/%d/stat", getpid());
    if (n_arguments > 1) {
        serve((int)strtol(arguments[1], NULL, 10));
        return 0;
    }
    join_threads();
    use_pipe();
    use_events();
    use_sockets();
    ask_stranger();
    return n_done == 22 ? 0 : 1;
}
