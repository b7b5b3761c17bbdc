/* SPDX-License-Identifier: MIT
 *
 * A program whose operations are known: it prints the records that must stand in the rings, one a
 * line, by thread: NUMBER KIND ARGUMENT WORD... (hexadecimal; `caller` is an address within the
 * program, which it prints as the first line; `any` is anything).
 */
#include "schema/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern const char __executable_start, etext;

enum { N_THREADS = 4, MAX_BYTES = 1 << 16 };

static char said[N_THREADS][MAX_BYTES];
static size_t n_said[N_THREADS];

__attribute__((format(printf, 2, 3))) static void say(int thread, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *at = said[thread] + n_said[thread];
    n_said[thread] += (size_t)vsnprintf(at, MAX_BYTES - n_said[thread], format, args);
    va_end(args);
}

#define ADDRESS(object) ((unsigned long)(uintptr_t)(object))

static void made(int kind, const volatile void *object)
{
    say(0, "OBJECT_MADE %x %lx caller\n", (unsigned)kind, ADDRESS(object));
}

static void gone(int kind, const volatile void *object)
{
    say(0, "OBJECT_GONE %x %lx caller\n", (unsigned)kind, ADDRESS(object));
}

static void had(int thread, int kind, const volatile void *object)
{
    say(thread, "LOCK_ACQUIRED %x %lx caller\n", (unsigned)kind, ADDRESS(object));
}

static void failed(int thread, int kind, const volatile void *object, int error)
{
    say(thread, "LOCK_FAILED %x %lx caller\n", (unsigned)(kind | error << 8), ADDRESS(object));
}

static void released(int thread, int kind, const volatile void *object)
{
    say(thread, "LOCK_RELEASED %x %lx caller\n", (unsigned)kind, ADDRESS(object));
}

static struct timespec past = { 1, 0 };

static void locks(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_spinlock_t spin;
    static sem_t semaphore;
    static mtx_t c11;
    pthread_mutex_lock(&mutex), had(0, WEFT_RING_LOCK_MUTEX, &mutex);
    pthread_mutex_trylock(&mutex), failed(0, WEFT_RING_LOCK_MUTEX, &mutex, EBUSY);
    say(0, "LOCK_REQUEST %x %lx caller\n", WEFT_RING_LOCK_MUTEX, ADDRESS(&mutex));
    pthread_mutex_timedlock(&mutex, &past), failed(0, WEFT_RING_LOCK_MUTEX, &mutex, ETIMEDOUT);
    pthread_mutex_unlock(&mutex), released(0, WEFT_RING_LOCK_MUTEX, &mutex);
    pthread_mutex_lock(&checking), had(0, WEFT_RING_LOCK_MUTEX, &checking);
    say(0, "LOCK_REQUEST %x %lx caller\n", WEFT_RING_LOCK_MUTEX, ADDRESS(&checking));
    pthread_mutex_lock(&checking), failed(0, WEFT_RING_LOCK_MUTEX, &checking, EDEADLK);
    pthread_mutex_unlock(&checking), released(0, WEFT_RING_LOCK_MUTEX, &checking);
    pthread_mutex_unlock(&checking); /* an error: no record */
    pthread_rwlock_rdlock(&rwlock), had(0, WEFT_RING_LOCK_READ, &rwlock);
    pthread_rwlock_unlock(&rwlock), released(0, WEFT_RING_LOCK_READ, &rwlock);
    pthread_rwlock_wrlock(&rwlock), had(0, WEFT_RING_LOCK_WRITE, &rwlock);
    pthread_rwlock_tryrdlock(&rwlock), failed(0, WEFT_RING_LOCK_READ, &rwlock, EBUSY);
    pthread_rwlock_unlock(&rwlock), released(0, WEFT_RING_LOCK_WRITE, &rwlock);
    pthread_spin_init(&spin, 0), made(WEFT_RING_LOCK_SPIN, &spin);
    pthread_spin_lock(&spin), had(0, WEFT_RING_LOCK_SPIN, &spin);
    pthread_spin_unlock(&spin), released(0, WEFT_RING_LOCK_SPIN, &spin);
    sem_init(&semaphore, 0, 0), made(WEFT_RING_LOCK_SEMAPHORE, &semaphore);
    sem_post(&semaphore), released(0, WEFT_RING_LOCK_SEMAPHORE, &semaphore);
    sem_wait(&semaphore), had(0, WEFT_RING_LOCK_SEMAPHORE, &semaphore);
    sem_trywait(&semaphore), failed(0, WEFT_RING_LOCK_SEMAPHORE, &semaphore, EAGAIN);
    mtx_init(&c11, mtx_plain), made(WEFT_RING_LOCK_MUTEX, &c11);
    mtx_destroy(&c11), gone(WEFT_RING_LOCK_MUTEX, &c11);
    mtx_init(&c11, mtx_plain), made(WEFT_RING_LOCK_MUTEX, &c11);
    mtx_lock(&c11), had(0, WEFT_RING_LOCK_MUTEX, &c11);
    mtx_trylock(&c11), failed(0, WEFT_RING_LOCK_MUTEX, &c11, EBUSY);
    mtx_unlock(&c11), released(0, WEFT_RING_LOCK_MUTEX, &c11);
}

static void wait_said(int thread, int kind, int flags, int error, const char *asked,
                      const char *ended)
{
    say(thread, "WAIT_BEGIN %x caller%s\n", (unsigned)(kind | flags), asked);
    say(thread, "WAIT_END %x caller%s\n", (unsigned)(kind | (error & 0xffffff) << 8), ended);
}

static void waits(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static pthread_barrier_t barrier;
    const struct timespec ns = { 0, 1000 };
    char text[64];
    pthread_mutex_lock(&mutex), had(0, WEFT_RING_LOCK_MUTEX, &mutex);
    pthread_cond_timedwait(&condition, &mutex, &past);
    released(0, WEFT_RING_LOCK_MUTEX, &mutex);
    snprintf(text, sizeof text, " %lx", ADDRESS(&condition));
    wait_said(0, WEFT_WAIT_CONDITION, 512, ETIMEDOUT, text, "");
    had(0, WEFT_RING_LOCK_MUTEX, &mutex);
    pthread_mutex_unlock(&mutex), released(0, WEFT_RING_LOCK_MUTEX, &mutex);
    pthread_cond_signal(&condition);
    say(0, "SIGNAL %x %lx caller\n", WEFT_WAIT_CONDITION, ADDRESS(&condition));
    pthread_cond_broadcast(&condition);
    say(0, "SIGNAL %x %lx caller\n", WEFT_WAIT_CONDITION | 256, ADDRESS(&condition));
    pthread_barrier_init(&barrier, NULL, 1), made(WEFT_RING_LOCK_BARRIER, &barrier);
    pthread_barrier_wait(&barrier);
    snprintf(text, sizeof text, " %lx", ADDRESS(&barrier));
    wait_said(0, WEFT_WAIT_BARRIER, 256, PTHREAD_BARRIER_SERIAL_THREAD, text, text);
    nanosleep(&ns, NULL), wait_said(0, WEFT_WAIT_SLEEP, 512, 0, " 3e8", "");
    usleep(2), wait_said(0, WEFT_WAIT_SLEEP, 512, 0, " 7d0", "");
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL);
    wait_said(0, WEFT_WAIT_SLEEP, 512, 0, " 0", "");
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    snprintf(text, sizeof text, " %x", (unsigned)child);
    wait_said(0, WEFT_WAIT_CHILD, 0, 0, text, text);
    waitpid(-1, NULL, WNOHANG); /* does not wait: no record */
}

static void io_said(int kind, int fd, size_t n_bytes, long result)
{
    say(0, "IO_BEGIN %x %lx %zx caller\n", (unsigned)kind, (unsigned long)fd, n_bytes);
    say(0, "IO_END %x %lx %lx caller\n", (unsigned)kind, (unsigned long)fd, (unsigned long)result);
}

/* Output that makes a descriptor of this process ready. */
static void wakes_said(int kind, int fd, size_t n_bytes, long result, int woken)
{
    say(0, "IO_BEGIN %x %lx %zx caller %x\n", (unsigned)kind, (unsigned long)fd, n_bytes,
        (unsigned)woken);
    say(0, "IO_END %x %lx %lx caller\n", (unsigned)kind, (unsigned long)fd, (unsigned long)result);
}

static void closed(int fd)
{
    io_said(WEFT_IO_CLOSE, fd, 0, close(fd));
}

/* Numbers of descriptors are used again: what is told of them ends when they are closed. */
static void used_again(void)
{
    int fds[2], event;
    uint64_t one = 1;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return;
    closed(fds[1]);
    int again = open("/dev/null", O_WRONLY | O_CLOEXEC);
    io_said(WEFT_IO_WRITE, again, 1, write(again, &one, 1));
    closed(again);
    closed(fds[0]);
    event = eventfd(0, EFD_CLOEXEC);
    wakes_said(WEFT_IO_WRITE, event, 8, write(event, &one, 8), event);
    again = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(again, event);
    io_said(WEFT_IO_WRITE, event, 8, write(event, &one, 8));
    closed(event);
    closed(again);
}

static void connection(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n_bytes = sizeof at;
    char bytes[4] = { 0 };
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, (struct sockaddr *)&at, sizeof at) != 0 || listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)&at, &n_bytes) != 0)
        return;
    io_said(WEFT_IO_CONNECT, client, 0, connect(client, (struct sockaddr *)&at, sizeof at));
    const int server = accept(listening, NULL, NULL);
    io_said(WEFT_IO_ACCEPT, listening, 0, server);
    wakes_said(WEFT_IO_SEND, client, 4, send(client, bytes, 4, 0), server);
    io_said(WEFT_IO_RECEIVE, server, 4, recv(server, bytes, 4, 0));
    wakes_said(WEFT_IO_WRITE, server, 2, write(server, bytes, 2), client);
    io_said(WEFT_IO_RECEIVE, client, 4, recv(client, bytes, 4, 0));
    wakes_said(WEFT_IO_SHUTDOWN, client, SHUT_WR, shutdown(client, SHUT_WR), server);
    closed(client);
    io_said(WEFT_IO_SEND, server, 2, send(server, bytes, 2, MSG_NOSIGNAL));
    (void)shutdown(-1, SHUT_RD), io_said(WEFT_IO_SHUTDOWN, -1, SHUT_RD, -EBADF);
    closed(server);
    io_said(WEFT_IO_SHUTDOWN, listening, SHUT_RD, shutdown(listening, SHUT_RD));
    closed(listening);
}

static void files(void)
{
    int fds[2];
    char bytes[16] = { 0 };
    char text[64];
    struct iovec parts[] = { { bytes, 3 }, { bytes, 4 } };
    if (pipe(fds) != 0)
        return;
    wakes_said(WEFT_IO_WRITE, fds[1], 5, write(fds[1], bytes, 5), fds[0]);
    struct pollfd polled[] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN, 0 } };
    poll(polled, 2, 1000);
    snprintf(text, sizeof text, " %x %x", (unsigned)fds[0], (unsigned)fds[1]);
    char ready[32];
    snprintf(ready, sizeof ready, " %x", (unsigned)fds[0]);
    wait_said(0, WEFT_WAIT_POLL, 512, 0, text, ready);
    poll(polled, 2, 0); /* does not wait: no record */
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fds[0], &set);
    select(fds[0] + 1, &set, NULL, NULL, NULL);
    wait_said(0, WEFT_WAIT_POLL, 0, 0, ready, ready);
    const int epoll = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = 0xbee };
    epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
    say(0, "EPOLL_WATCH 0 %x %x bee\n", (unsigned)epoll, (unsigned)fds[0]);
    epoll_wait(epoll, &event, 1, -1);
    snprintf(ready, sizeof ready, " %x", (unsigned)epoll);
    wait_said(0, WEFT_WAIT_EPOLL, 0, 0, ready, " bee");
    io_said(WEFT_IO_READ, fds[0], 16, read(fds[0], bytes, 16));
    wakes_said(WEFT_IO_WRITE, fds[1], 7, writev(fds[1], parts, 2), fds[0]);
    io_said(WEFT_IO_READ, fds[0], 7, readv(fds[0], parts, 2));
    preadv(fds[0], parts, 2, 0), io_said(WEFT_IO_READ, fds[0], 7, -ESPIPE);
    (void)!read(-1, bytes, 1), io_said(WEFT_IO_READ, -1, 1, -EBADF);
    (void)!pread(fds[0], bytes, 2, 0), io_said(WEFT_IO_READ, fds[0], 2, -ESPIPE);
    fsync(fds[0]), io_said(WEFT_IO_SYNC, fds[0], 0, -EINVAL);
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    wakes_said(WEFT_IO_SEND, pair[0], 3, send(pair[0], bytes, 3, 0), pair[1]);
    io_said(WEFT_IO_RECEIVE, pair[1], 9, recv(pair[1], bytes, 9, 0));
    struct mmsghdr message = { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 2 } };
    wakes_said(WEFT_IO_SEND, pair[0], 7, sendmmsg(pair[0], &message, 1, 0), pair[1]);
    io_said(WEFT_IO_RECEIVE, pair[1], 7, recvmmsg(pair[1], &message, 1, 0, NULL));
    used_again();
    connection();
}

/* ---- another thread, that has to wait for a lock */

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int is_waiting;

static void *waiter(void *unused)
{
    say(1, "THREAD_BEGIN 0 %lx %lx\n", (unsigned long)pthread_self(), ADDRESS(waiter));
    is_waiting = 1;
    pthread_mutex_lock(&contended);
    say(1, "LOCK_REQUEST %x %lx caller\n", WEFT_RING_LOCK_MUTEX, ADDRESS(&contended));
    had(1, WEFT_RING_LOCK_MUTEX, &contended);
    pthread_mutex_unlock(&contended), released(1, WEFT_RING_LOCK_MUTEX, &contended);
    pthread_setname_np(pthread_self(), "the waiter");
    say(1, "THREAD_NAME 0 a 7469617720656874 7265\n"); /* "the waiter" */
    say(1, "THREAD_END 0\n");
    return unused;
}

static int c11_thread(void *unused)
{
    say(2, "THREAD_BEGIN 0 %lx %lx\n", (unsigned long)pthread_self(), ADDRESS(c11_thread));
    say(2, "THREAD_END 0\n");
    return unused != NULL;
}

static void threads(void)
{
    pthread_t thread;
    thrd_t c11;
    char text[64];
    pthread_mutex_lock(&contended), had(0, WEFT_RING_LOCK_MUTEX, &contended);
    pthread_create(&thread, NULL, waiter, NULL);
    say(0, "THREAD_CREATE 0 %lx caller\n", (unsigned long)thread);
    while (!is_waiting)
        sched_yield();
    const struct timespec soon = { 0, 20000000 };
    nanosleep(&soon, NULL), wait_said(0, WEFT_WAIT_SLEEP, 512, 0, " 1312d00", "");
    pthread_mutex_unlock(&contended), released(0, WEFT_RING_LOCK_MUTEX, &contended);
    pthread_join(thread, NULL);
    snprintf(text, sizeof text, " %lx", (unsigned long)thread);
    wait_said(0, WEFT_WAIT_JOIN, 0, 0, text, text);
    thrd_create(&c11, c11_thread, NULL);
    say(0, "THREAD_CREATE 0 %lx caller\n", (unsigned long)c11);
    thrd_join(c11, NULL);
    snprintf(text, sizeof text, " %lx", (unsigned long)c11);
    wait_said(0, WEFT_WAIT_JOIN, 0, 0, text, text);
}

/* ---- once: the main thread waits for another's call */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic int is_inside;

static void initialize(void)
{
    const struct timespec soon = { 0, 20000000 };
    is_inside = 1;
    thrd_sleep(&soon, NULL);
}

static void *first(void *unused)
{
    pthread_once(&once, initialize);
    return unused;
}

static void onces(void)
{
    pthread_t thread;
    char text[64];
    pthread_create(&thread, NULL, first, NULL);
    say(0, "THREAD_CREATE 0 %lx caller\n", (unsigned long)thread);
    while (!is_inside)
        sched_yield();
    pthread_once(&once, initialize);
    snprintf(text, sizeof text, " %lx", ADDRESS(&once));
    wait_said(0, WEFT_WAIT_ONCE, 0, 0, text, text);
    pthread_once(&once, initialize); /* done: no record */
    pthread_join(thread, NULL);
    snprintf(text, sizeof text, " %lx", (unsigned long)thread);
    wait_said(0, WEFT_WAIT_JOIN, 0, 0, text, text);
    say(3, "THREAD_BEGIN 0 %lx %lx\n", (unsigned long)thread, ADDRESS(first));
    say(3, "WAIT_BEGIN %x caller 1312d00\n", WEFT_WAIT_SLEEP | 512);
    say(3, "WAIT_END %x caller\n", WEFT_WAIT_SLEEP);
    say(3, "THREAD_END 0\n");
}

int main(void)
{
    locks();
    waits();
    files();
    threads();
    onces();
    printf("%lx %lx\n", ADDRESS(&__executable_start), ADDRESS(&etext));
    for (int thread = 0; thread < N_THREADS; thread++)
        for (char *line = said[thread], *end; (end = strchr(line, '\n')); line = end + 1)
            printf("%d %.*s\n", thread, (int)(end - line), line);
    return 0;
}
