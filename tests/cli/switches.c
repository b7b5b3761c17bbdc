/* SPDX-License-Identifier: MIT
 *
 * A program whose threads switch often, in pairs: by futexes, by pipes, by sched_yield, and one
 * pair not at all. Writes, a line a thread, its tid, its CPU time by its own clock in ns when it
 * ends, and in which way it switched. "spin MS" computes, "kernel MS" reads /dev/zero for so many
 * ms of CPU time instead, and writes how much of it the kernel counts in user mode and in the
 * kernel, in us.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 7, THREADS = 2 * PAIRS };

static const char *const ways[] = { "futex", "pipe", "yield", "none" };
static long n_turns;
static uint32_t turns[PAIRS];
static int pipes[PAIRS][2][2];
static struct {
    long tid;
    uint64_t cpu_ns;
} results[THREADS];

static uint64_t cpu_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void futex_turn(uint32_t *turn, uint32_t side)
{
    while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != side)
        (void)syscall(SYS_futex, turn, FUTEX_WAIT_PRIVATE, !side, NULL, NULL, 0);
    __atomic_store_n(turn, !side, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void pipe_turn(int pair[2][2], int side)
{
    char byte = 0;
    if ((side == 0 && write(pair[0][1], &byte, 1) != 1) ||
        read(pair[side == 0][0], &byte, 1) != 1 || (side == 1 && write(pair[1][1], &byte, 1) != 1))
        abort();
}

/* The last pair does nothing. */
static size_t way_of(size_t id)
{
    return id / 2 == PAIRS - 1 ? 3 : id / 2 % 3;
}

static void *run(void *argument)
{
    const size_t id = (size_t)(uintptr_t)argument;
    const size_t pair = id / 2;
    const size_t way = way_of(id);
    for (long i = 0; i < n_turns; i++) {
        if (way == 0)
            futex_turn(&turns[pair], id % 2);
        else if (way == 1)
            pipe_turn(pipes[pair], (int)(id % 2));
        else if (way == 2)
            (void)sched_yield();
    }
    results[id].tid = syscall(SYS_gettid);
    results[id].cpu_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static int switch_often(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < PAIRS; i++)
        if (pipe(pipes[i][0]) != 0 || pipe(pipes[i][1]) != 0)
            return 1;
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i) != 0)
            return 1;
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        printf("%ld %llu %s\n", results[i].tid, (unsigned long long)results[i].cpu_ns,
               ways[way_of(i)]);
    return 0;
}

/* In one mode, until that has taken `ms` of CPU time. */
static int stay(long ms, int zero_fd)
{
    static char room[1 << 20];
    struct rusage used;
    volatile unsigned sum = 0;
    while (cpu_ns(CLOCK_PROCESS_CPUTIME_ID) < (uint64_t)ms * 1000000) {
        if (zero_fd >= 0 && read(zero_fd, room, sizeof room) != (ssize_t)sizeof room)
            return 1;
        for (unsigned i = 0; zero_fd < 0 && i < 100000; i++)
            sum += i;
    }
    (void)sum;
    (void)getrusage(RUSAGE_SELF, &used);
    printf("%ld %ld\n", used.ru_utime.tv_sec * 1000000 + used.ru_utime.tv_usec,
           used.ru_stime.tv_sec * 1000000 + used.ru_stime.tv_usec);
    return 0;
}

int main(int argc, char **argv)
{
    n_turns = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    if (argc > 1 && strcmp(argv[1], "turns") != 0)
        return stay(n_turns, strcmp(argv[1], "kernel") == 0 ? open("/dev/zero", O_RDONLY) : -1);
    return switch_often();
}
