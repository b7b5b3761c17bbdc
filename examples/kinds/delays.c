/* SPDX-License-Identifier: MIT
 *
 * Threads that wait until a limit in time, although nothing works meanwhile: for an ACK, for a
 * connection, for an answer that was lost, for a signal that another thread got.
 */
#include "kinds.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- sockets --------------------------------------------------------------------------------- */

/* Of this host; its port is chosen. */
static int serve(int type, int backlog, struct sockaddr_in *address)
{
    socklen_t n = sizeof *address;
    const int fd = socket(AF_INET, type, 0);
    *address =
        (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (fd < 0 || bind(fd, (struct sockaddr *)address, n) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &n) != 0 ||
        (type == SOCK_STREAM && listen(fd, backlog) != 0))
        fail("a socket");
    return fd;
}

static int reach(int type, const struct sockaddr_in *address)
{
    const int fd = socket(AF_INET, type, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) != 0)
        fail("connect");
    return fd;
}

static bool receive(int fd, char *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        const ssize_t got = read(fd, bytes + at, n - at);
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

static void start(pthread_t *thread, void *(*main)(void *), void *context)
{
    if (pthread_create(thread, NULL, main, context) != 0)
        fail("pthread_create");
}

/* ---- ACKs ------------------------------------------------------------------------------------ */

enum { ORDER_BYTES = 64, HEAD_BYTES = 8, ORDERS = 500, LARGE_EVERY = 20 };

static void *take_orders(void *fd_void)
{
    const int listener = *(int *)fd_void, fd = accept(listener, NULL, NULL);
    char order[ORDER_BYTES];
    while (receive(fd, order, sizeof order)) {
        compute_us(20);
        if (write(fd, order, 1) != 1)
            break;
    }
    close(fd);
    return NULL;
}

/* In two segments, the second of which waits for the ACK of the first. */
CALL void send_basket(int fd, bool is_broken)
{
    char order[ORDER_BYTES] = "basket", answer;
    const size_t n = is_broken ? HEAD_BYTES : ORDER_BYTES;
    if (write(fd, order, n) < 0 || (is_broken && write(fd, order + n, ORDER_BYTES - n) < 0) ||
        !receive(fd, &answer, 1))
        fail("an order");
}

CALL void send_order(int fd)
{
    char order[ORDER_BYTES] = "order", answer;
    if (write(fd, order, sizeof order) < 0 || !receive(fd, &answer, 1))
        fail("an order");
}

CALL void run_orders(bool is_broken)
{
    struct sockaddr_in address;
    pthread_t server;
    int listener = serve(SOCK_STREAM, 8, &address);
    start(&server, take_orders, &listener);
    const int fd = reach(SOCK_STREAM, &address);
    for (unsigned i = 0; i < ORDERS; i++) {
        pause_us(1000);
        if (i % LARGE_EVERY == LARGE_EVERY - 1)
            send_basket(fd, is_broken);
        else
            send_order(fd);
    }
    close(fd);
    pthread_join(server, NULL);
    close(listener);
}

/* ---- connections ----------------------------------------------------------------------------- */

enum { ASKERS = 8, ROUNDS = 60, BUSY_EVERY = 20 };

static struct directory {
    struct sockaddr_in address;
    int listener;
    bool is_busy;
} directory;

/* Is busy with something else now and then. */
static void *answer_all(void *unused)
{
    for (unsigned i = 0; i < ASKERS * ROUNDS; i++) {
        char question;
        if (directory.is_busy && i % (ASKERS * BUSY_EVERY) == ASKERS * BUSY_EVERY / 2)
            pause_us(30000);
        const int fd = accept(directory.listener, NULL, NULL);
        if (receive(fd, &question, 1) && write(fd, &question, 1) != 1)
            fail("an answer");
        close(fd);
    }
    return unused;
}

CALL void ask_directory(void)
{
    char answer = '?';
    const int fd = reach(SOCK_STREAM, &directory.address);
    if (write(fd, &answer, 1) != 1 || !receive(fd, &answer, 1))
        fail("a question");
    close(fd);
}

static void *ask_often(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        pause_us(5000);
        ask_directory();
    }
    return unused;
}

CALL void run_directory(bool is_broken)
{
    pthread_t server, askers[ASKERS];
    directory.is_busy = is_broken;
    directory.listener = serve(SOCK_STREAM, is_broken ? 1 : 2 * ASKERS, &directory.address);
    start(&server, answer_all, NULL);
    for (unsigned i = 0; i < ASKERS; i++)
        start(&askers[i], ask_often, NULL);
    for (unsigned i = 0; i < ASKERS; i++)
        pthread_join(askers[i], NULL);
    pthread_join(server, NULL);
    close(directory.listener);
}

/* ---- answers --------------------------------------------------------------------------------- */

enum { LOOKUPS = 500, LOST_EVERY = 25, PATIENCE_MS = 60 };

struct names {
    int fd;
    bool loses;
};

static void *answer_names(void *names_void)
{
    const struct names *names = names_void;
    char question;
    for (unsigned n = 0;; n++) {
        struct sockaddr_in from;
        socklen_t n_from = sizeof from;
        if (recvfrom(names->fd, &question, 1, 0, (struct sockaddr *)&from, &n_from) != 1 ||
            question == '.')
            return NULL;
        compute_us(20);
        if (names->loses && n % LOST_EVERY == LOST_EVERY - 1)
            continue;
        if (sendto(names->fd, &question, 1, 0, (struct sockaddr *)&from, n_from) != 1)
            fail("an answer");
    }
}

CALL void look_up_name(int fd)
{
    char name = 'n';
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    do {
        if (send(fd, &name, 1, 0) != 1)
            fail("a question");
    } while (poll(&ready, 1, PATIENCE_MS) == 0);
    if (recv(fd, &name, 1, 0) != 1)
        fail("a name");
}

CALL void run_names(bool is_broken)
{
    struct sockaddr_in address;
    pthread_t server;
    struct names names = { .fd = serve(SOCK_DGRAM, 0, &address), .loses = is_broken };
    start(&server, answer_names, &names);
    const int fd = reach(SOCK_DGRAM, &address);
    for (unsigned i = 0; i < LOOKUPS; i++) {
        pause_us(1000);
        look_up_name(fd);
    }
    if (send(fd, ".", 1, 0) != 1)
        fail("the end");
    pthread_join(server, NULL);
    close(fd);
    close(names.fd);
}

/* ---- signals --------------------------------------------------------------------------------- */

enum { JOBS = 500, TIME_OUT_MS = 60, LOOK_EVERY_US = 100000 };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t has_changed, is_done;
    unsigned n_waiting, n_done;
    bool is_over;
} jobs = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false
};

CALL bool take_render_job(void)
{
    struct timespec until;
    pthread_mutex_lock(&jobs.mutex);
    while (jobs.n_waiting == 0 && !jobs.is_over) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TIME_OUT_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&jobs.has_changed, &jobs.mutex, &until);
    }
    const bool has_one = jobs.n_waiting > 0;
    jobs.n_waiting -= has_one;
    pthread_mutex_unlock(&jobs.mutex);
    return has_one;
}

static void *render_jobs(void *unused)
{
    while (take_render_job()) {
        compute_us(100);
        pthread_mutex_lock(&jobs.mutex);
        jobs.n_done++;
        pthread_cond_broadcast(&jobs.is_done);
        pthread_mutex_unlock(&jobs.mutex);
    }
    return unused;
}

/* Looks now and then at what changed, and waits for the same condition meanwhile. */
static void *watch_jobs(void *unused)
{
    pthread_mutex_lock(&jobs.mutex);
    while (!jobs.is_over) {
        pthread_mutex_unlock(&jobs.mutex);
        pause_us(LOOK_EVERY_US);
        pthread_mutex_lock(&jobs.mutex);
        if (!jobs.is_over)
            pthread_cond_wait(&jobs.has_changed, &jobs.mutex);
    }
    pthread_mutex_unlock(&jobs.mutex);
    return unused;
}

CALL void wait_for_job(unsigned number)
{
    pthread_mutex_lock(&jobs.mutex);
    while (jobs.n_done <= number)
        pthread_cond_wait(&jobs.is_done, &jobs.mutex);
    pthread_mutex_unlock(&jobs.mutex);
}

CALL void submit_render_job(unsigned number, bool is_broken)
{
    pthread_mutex_lock(&jobs.mutex);
    jobs.n_waiting++;
    if (is_broken)
        pthread_cond_signal(&jobs.has_changed);
    else
        pthread_cond_broadcast(&jobs.has_changed);
    pthread_mutex_unlock(&jobs.mutex);
    wait_for_job(number);
}

CALL void run_jobs(bool is_broken)
{
    pthread_t renderer, watcher;
    start(&renderer, render_jobs, NULL);
    start(&watcher, watch_jobs, NULL);
    for (unsigned i = 0; i < JOBS; i++) {
        pause_us(1000);
        submit_render_job(i, is_broken);
    }
    pthread_mutex_lock(&jobs.mutex);
    jobs.is_over = true;
    pthread_cond_broadcast(&jobs.has_changed);
    pthread_mutex_unlock(&jobs.mutex);
    pthread_join(renderer, NULL);
    pthread_join(watcher, NULL);
}

const struct kind delay_kinds[] = {
    { .name = "delayed-ack", .run = run_orders },
    { .name = "backlog", .run = run_directory },
    { .name = "time-out", .run = run_names },
    { .name = "late-wakeup", .run = run_jobs },
    { .name = NULL },
};
