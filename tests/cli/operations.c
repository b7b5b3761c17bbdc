/* SPDX-License-Identifier: MIT
 *
 * A program to be recorded, as programs are: no function in it is instrumented. It does each
 * blocking operation once and says, a line each, what is to be told of it: the function of the C
 * library, who called, the object, and the rest of its arguments.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline))
#define NO_TAIL_CALL __asm__ volatile("")

static char said[1 << 14]; /* written at the end: writing is an operation, too */
static size_t n_said;

/* `rest` is as JSON. */
__attribute__((format(printf, 4, 5))) static void say(const char *function, const char *caller,
                                                      uint64_t object, const char *rest, ...)
{
    char text[200];
    va_list values;
    va_start(values, rest);
    (void)vsnprintf(text, sizeof text, rest, values);
    va_end(values);
    n_said += (size_t)snprintf(said + n_said, sizeof said - n_said,
                               "{\"function\":\"%s\",\"caller\":\"%s\",\"object\":%" PRIu64
                               ",\"told\":{%s}}\n",
                               function, caller, object, text);
}

#define SAY(function, object, ...) say(function, __func__, (uint64_t)(object), __VA_ARGS__)

static struct timespec soon(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;

CALLED static void condition_here(void)
{
    const struct timespec until = soon();
    (void)pthread_mutex_lock(&mutex);
    for (int k = 0; k < 3; k++)
        (void)pthread_mutex_trylock(&mutex); /* is taken */
    (void)pthread_cond_timedwait(&condition, &mutex, &until);
    SAY("pthread_cond_timedwait", (uintptr_t)&condition, "\"result\":\"ETIMEDOUT\"");
    (void)pthread_mutex_unlock(&mutex);
    (void)pthread_cond_signal(&condition);
    SAY("pthread_cond_signal", (uintptr_t)&condition, "\"result\":0");
    (void)pthread_cond_broadcast(&condition);
    SAY("pthread_cond_broadcast", (uintptr_t)&condition, "\"result\":0");
    NO_TAIL_CALL;
}

CALLED static void barrier_here(void)
{
    (void)pthread_barrier_init(&barrier, NULL, 1);
    SAY("pthread_barrier_init", (uintptr_t)&barrier, "\"result\":0");
    (void)pthread_barrier_wait(&barrier);
    SAY("pthread_barrier_wait", (uintptr_t)&barrier,
        "\"result\":\"PTHREAD_BARRIER_SERIAL_THREAD\"");
    NO_TAIL_CALL;
}

CALLED static void semaphore_here(void)
{
    const struct timespec until = soon();
    (void)sem_init(&semaphore, 0, 0);
    SAY("sem_init", (uintptr_t)&semaphore, "\"result\":0");
    (void)sem_post(&semaphore);
    SAY("sem_post", (uintptr_t)&semaphore, "\"result\":0");
    (void)sem_wait(&semaphore);
    SAY("sem_wait", (uintptr_t)&semaphore, "\"result\":0");
    (void)sem_timedwait(&semaphore, &until);
    SAY("sem_timedwait", (uintptr_t)&semaphore, "\"result\":\"ETIMEDOUT\"");
    NO_TAIL_CALL;
}

static void *nap(void *unused)
{
    (void)unused;
    return NULL;
}

CALLED static void join_here(void)
{
    pthread_t thread;
    (void)pthread_create(&thread, NULL, nap, NULL);
    (void)pthread_join(thread, NULL);
    SAY("pthread_join", thread, "\"result\":0");
    NO_TAIL_CALL;
}

CALLED static void sleep_here(void)
{
    const struct timespec time = { .tv_nsec = 2000 }, past = { .tv_sec = 1 };
    const struct timespec wrong = { .tv_nsec = -1 };
    (void)nanosleep(&time, NULL);
    SAY("nanosleep", 2000, "\"result\":0");
    (void)usleep(3);
    SAY("nanosleep", 3000, "\"result\":0");
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL);
    SAY("nanosleep", 0, "\"result\":0");
    (void)nanosleep(&wrong, NULL);
    SAY("nanosleep", UINT64_MAX, "\"result\":\"EINVAL\"");
    NO_TAIL_CALL;
}

CALLED static void poll_here(int fd)
{
    struct pollfd polled = { .fd = fd, .events = POLLIN };
    (void)poll(&polled, 1, 1000);
    SAY("poll", fd, "\"ready\":[%d]", fd);
    polled.events = POLLPRI;
    (void)poll(&polled, 1, 1);
    SAY("poll", fd, "\"ready\":[]");
    NO_TAIL_CALL;
}

CALLED static void select_here(int fd)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    (void)select(fd + 1, &set, NULL, NULL, NULL);
    SAY("poll", fd, "\"ready\":[%d]", fd);
    NO_TAIL_CALL;
}

/* Its word for the descriptor is a pointer. */
CALLED static void epoll_here(int fd, int other_fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = &semaphore };
    struct epoll_event other = { .events = EPOLLIN, .data.ptr = &barrier }, found[4];
    const int set = epoll_create1(0);
    (void)epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    (void)epoll_ctl(set, EPOLL_CTL_ADD, other_fd, &other);
    (void)epoll_wait(set, found, 4, -1);
    SAY("epoll_wait", set, "\"ready\":[%d]", fd);
    (void)epoll_ctl(set, EPOLL_CTL_DEL, fd, &event);
    (void)epoll_wait(set, found, 4, 1);
    SAY("epoll_wait", set, "\"ready\":[]");
    (void)epoll_wait(-1, found, 4, 1);
    SAY("epoll_wait", -1, "\"result\":\"EBADF\"");
    NO_TAIL_CALL;
}

CALLED static void child_here(void)
{
    siginfo_t about;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    (void)waitpid(child, NULL, 0);
    SAY("waitpid", child, "\"result\":%d", (int)child);
    child = fork();
    if (child == 0)
        _exit(0);
    (void)waitid(P_ALL, 0, &about, WEXITED);
    SAY("waitpid", -1, "\"result\":%d", (int)child);
    (void)waitpid(-1, NULL, 0);
    SAY("waitpid", -1, "\"result\":\"ECHILD\"");
    NO_TAIL_CALL;
}

CALLED static void file_here(int from, int to)
{
    char bytes[16] = "";
    (void)!write(to, bytes, 5);
    SAY("write", to, "\"asked\":5,\"result\":5");
    (void)!read(from, bytes, 16);
    SAY("read", from, "\"asked\":16,\"result\":5");
    (void)!pread(from, bytes, 2, 0);
    SAY("read", from, "\"asked\":2,\"result\":\"ESPIPE\"");
    (void)!read(-1, bytes, 1);
    SAY("read", -1, "\"asked\":1,\"result\":\"EBADF\"");
    (void)fsync(from);
    SAY("fsync", from, "\"result\":\"EINVAL\"");
    NO_TAIL_CALL;
}

CALLED static void socket_here(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n_at = sizeof at;
    char bytes[16] = "";
    const int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    (void)bind(listener, (struct sockaddr *)&at, sizeof at);
    (void)listen(listener, 1);
    (void)getsockname(listener, (struct sockaddr *)&at, &n_at);
    (void)connect(client, (struct sockaddr *)&at, sizeof at);
    SAY("connect", client, "\"result\":0");
    const int server = accept(listener, NULL, NULL);
    SAY("accept", listener, "\"result\":%d", server);
    (void)send(client, bytes, 7, 0);
    SAY("send", client, "\"asked\":7,\"result\":7");
    (void)recv(server, bytes, 9, 0);
    SAY("recv", server, "\"asked\":9,\"result\":7");
    (void)recv(server, bytes, 9, MSG_DONTWAIT);
    SAY("recv", server, "\"asked\":9,\"result\":\"EAGAIN\"");
    (void)shutdown(server, SHUT_WR);
    SAY("shutdown", server, "\"result\":0");
    (void)close(server);
    SAY("close", server, "\"result\":0");
    (void)close(server);
    SAY("close", server, "\"result\":\"EBADF\"");
    NO_TAIL_CALL;
}

int main(void)
{
    int fds[2], quiet[2];
    if (pipe(fds) != 0 || pipe(quiet) != 0)
        return 1;
    condition_here();
    barrier_here();
    semaphore_here();
    join_here();
    sleep_here();
    file_here(fds[0], fds[1]);
    (void)!write(fds[1], "x", 1);
    say("write", "main", (uint64_t)fds[1], "\"asked\":1,\"result\":1");
    poll_here(fds[0]);
    select_here(fds[0]);
    epoll_here(fds[0], quiet[0]);
    child_here();
    socket_here();
    (void)fputs(said, stderr); /* unbuffered: no write of the C library's is wrapped */
    return 0;
}
