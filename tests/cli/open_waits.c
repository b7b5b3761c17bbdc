/* SPDX-License-Identifier: MIT
 *
 * A thread for each way to wait, none of which ever ends: the program is killed, or the recording
 * ends before. `open_waits SECONDS` writes a line for each, "TID KIND NS", with the monotonic clock
 * when the wait is about to begin, and dies by SIGALRM.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier, start;
static sem_t tickets;
static pthread_t joined;
static uint32_t word = 1;
static int pipe_fds[2];

static void say(const char *kind)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)printf("%d %s %lld\n", (int)gettid(), kind,
                 (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    (void)fflush(stdout);
}

static void nap(void)
{
    const struct timespec time = { .tv_nsec = 50000000 };
    (void)nanosleep(&time, NULL);
}

/* Both have one when they ask for the other one. */
static void *mutex_a(void *unused)
{
    (void)pthread_mutex_lock(&first);
    (void)pthread_barrier_wait(&start);
    nap();
    say("mutex_a");
    (void)pthread_mutex_lock(&second);
    return unused;
}

static void *mutex_b(void *unused)
{
    (void)pthread_mutex_lock(&second);
    (void)pthread_barrier_wait(&start);
    nap();
    say("mutex_b");
    (void)pthread_mutex_lock(&first);
    return unused;
}

static void *condition(void *unused)
{
    (void)pthread_mutex_lock(&guard);
    say("condition");
    (void)pthread_cond_wait(&never, &guard);
    return unused;
}

static void *rwlock(void *unused)
{
    say("rwlock");
    (void)pthread_rwlock_wrlock(&table);
    return unused;
}

static void *semaphore(void *unused)
{
    say("semaphore");
    (void)sem_wait(&tickets);
    return unused;
}

static void *at_barrier(void *unused)
{
    say("barrier");
    (void)pthread_barrier_wait(&barrier);
    return unused;
}

static void *join(void *unused)
{
    say("join");
    (void)pthread_join(joined, NULL);
    return unused;
}

static void *spinning(void *unused)
{
    say("spin");
    (void)pthread_spin_lock(&spin);
    return unused;
}

static void *input(void *unused)
{
    char byte;
    say("read");
    return read(pipe_fds[0], &byte, 1) ? unused : NULL;
}

static void *futex(void *unused)
{
    say("futex");
    (void)syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0);
    return unused;
}

static void *epoll(void *unused)
{
    struct epoll_event event = { .events = EPOLLIN };
    const int fd = epoll_create1(EPOLL_CLOEXEC);
    (void)epoll_ctl(fd, EPOLL_CTL_ADD, pipe_fds[0], &event);
    say("epoll");
    (void)epoll_wait(fd, &event, 1, -1);
    return unused;
}

static void *asleep(void *unused)
{
    const struct timespec time = { .tv_sec = 1000 };
    say("sleep");
    (void)nanosleep(&time, NULL);
    return unused;
}

int main(int n_args, char **args)
{
    static void *(*const kinds[])(void *) = { mutex_a,    mutex_b, condition, rwlock,
                                              semaphore,  join,    spinning,  input,
                                              at_barrier, futex,   epoll,     asleep };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    pthread_t threads[KINDS];
    (void)pthread_barrier_init(&start, NULL, 2);
    (void)pthread_barrier_init(&barrier, NULL, 2);
    (void)pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    (void)sem_init(&tickets, 0, 0);
    if (pipe(pipe_fds) != 0)
        return 1;
    (void)alarm(n_args > 1 ? (unsigned)strtoul(args[1], NULL, 10) : 1);
    say("alarm");
    (void)pthread_rwlock_wrlock(&table);
    (void)pthread_spin_lock(&spin);
    for (unsigned k = 0; k < KINDS; k++) {
        (void)pthread_create(&threads[k], NULL, kinds[k], NULL);
        if (k == 0)
            joined = threads[0];
    }
    (void)pthread_join(threads[0], NULL);
    return 0;
}
