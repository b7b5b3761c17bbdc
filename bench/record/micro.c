/* SPDX-License-Identifier: MIT
 *
 * What one operation costs: a call, a lock and its unlock, and so on, N times in a row, over and
 * over. Prints for each the least and the median ns of one. bench/record/micro.py builds and runs
 * it under each recorder.
 *
 * usage: micro calls|operations|marks [REPEATS]
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/mark.h>

#ifdef __clang__
#define PLAIN __attribute__((no_instrument_function, xray_never_instrument, noinline))
#define CALL __attribute__((xray_always_instrument, noinline))
#else
#define PLAIN __attribute__((no_instrument_function, noinline))
#define CALL __attribute__((noinline))
#endif

/* Before it measures, each ring has been filled once. */
enum { MAX_REPEATS = 1000, N_WARM = 14, N_CALLS = 40000, N_OPERATIONS = 8000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t parking = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static unsigned n_repeats = 31;

CALL static int callee(int a)
{
    __asm__ volatile("" : "+r"(a));
    return a + 1;
}

PLAIN static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

PLAIN static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define MEASURE(name, n, body)                                                                     \
    do {                                                                                           \
        static double each[MAX_REPEATS];                                                           \
        for (unsigned repeat = 0; repeat < N_WARM + n_repeats; repeat++) {                         \
            const uint64_t start = now_ns();                                                       \
            for (int i = 0; i < (n); i++) {                                                        \
                body;                                                                              \
            }                                                                                      \
            if (repeat >= N_WARM)                                                                  \
                each[repeat - N_WARM] = (double)(now_ns() - start) / (n);                          \
            nanosleep(&(struct timespec){ 0, 4000000 }, NULL); /* for a reader */                  \
        }                                                                                          \
        qsort(each, n_repeats, sizeof *each, by_value);                                            \
        printf("%s\t%.1f\t%.1f\n", name, each[0], each[n_repeats / 2]);                            \
    } while (0)

PLAIN static void *park(void *unused)
{
    pthread_mutex_lock(&parking); /* for ever */
    return unused;
}

PLAIN static void operations(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&semaphore, 0, 0);
    MEASURE("mutex lock + unlock", N_OPERATIONS,
            (pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex)));
    MEASURE("mutex trylock + unlock", N_OPERATIONS,
            (pthread_mutex_trylock(&mutex), pthread_mutex_unlock(&mutex)));
    MEASURE("rwlock rdlock + unlock", N_OPERATIONS,
            (pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock)));
    MEASURE("rwlock wrlock + unlock", N_OPERATIONS,
            (pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock)));
    MEASURE("spin lock + unlock", N_OPERATIONS,
            (pthread_spin_lock(&spin), pthread_spin_unlock(&spin)));
    MEASURE("sem post + wait", N_OPERATIONS, (sem_post(&semaphore), sem_wait(&semaphore)));
    MEASURE("cond signal", N_OPERATIONS, pthread_cond_signal(&condition));
}

PLAIN static void marks(void)
{
    MEASURE("mark begin + end", N_OPERATIONS,
            (weft_mark_begin("request", (uint64_t)i), weft_mark_end("request", (uint64_t)i)));
    MEASURE("mark counter", N_OPERATIONS, weft_mark_counter("counter", i));
}

PLAIN int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread;
    if (argc > 2)
        n_repeats = (unsigned)strtoul(argv[2], NULL, 0);
    if (n_repeats == 0 || n_repeats > MAX_REPEATS)
        return 2;
    /* With a second thread, locks of the C library are those of programs with threads. */
    pthread_mutex_lock(&parking);
    pthread_create(&thread, NULL, park, NULL);
    int sum = 0;
    if (strcmp(what, "calls") == 0)
        MEASURE("call", N_CALLS, sum += callee(i));
    else if (strcmp(what, "operations") == 0)
        operations();
    else
        marks();
    fflush(stdout);
    _Exit(sum == 1);
}
