/* SPDX-License-Identifier: MIT
 *
 * What the programs of this folder share: options, time, work. None of it is recorded.
 */
#ifndef WEFT_EXAMPLES_CASES_H
#define WEFT_EXAMPLES_CASES_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weft/mark.h>

#define CASE_PLAIN __attribute__((no_instrument_function, unused)) static
#define CASE_CALL __attribute__((noinline)) static

struct case_options {
    bool is_fixed;
    unsigned n_runs;
    const char *folder; /* for files */
};

/* usage: PROGRAM [--fixed] [--runs N] [FOLDER] */
CASE_PLAIN struct case_options case_options(int argc, char **argv, unsigned n_runs)
{
    struct case_options options = { .n_runs = n_runs, .folder = "." };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--fixed") == 0) {
            options.is_fixed = true;
        } else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            options.n_runs = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (argv[i][0] == '-') {
            fprintf(stderr, "usage: %s [--fixed] [--runs N] [FOLDER]\n", argv[0]);
            exit(2);
        } else {
            options.folder = argv[i];
        }
    }
    return options;
}

CASE_PLAIN uint64_t case_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

CASE_PLAIN uint64_t case_now_ns(void)
{
    return case_clock_ns(CLOCK_MONOTONIC);
}

/* Computes for so long, not counting the time that the thread does not run. */
CASE_PLAIN void case_work_us(uint64_t us)
{
    const uint64_t end_ns = case_clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000;
    while (case_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        for (volatile unsigned i = 0; i < 500; i++)
            ;
}

CASE_PLAIN void case_sleep_until(uint64_t at_ns)
{
    const struct timespec at = { (time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000) };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

CASE_PLAIN void case_name(const char *name)
{
    pthread_setname_np(pthread_self(), name);
}

CASE_PLAIN void case_start(pthread_t *thread, void *(*routine)(void *), void *argument)
{
    if (pthread_create(thread, NULL, routine, argument) == 0)
        return;
    fputs("cannot start a thread\n", stderr);
    exit(1);
}

CASE_PLAIN int case_by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the durations and says what they were. */
CASE_PLAIN void case_say(const char *what, uint64_t *ns, unsigned n_runs)
{
    unsigned n_slow = 0;
    if (n_runs == 0)
        return;
    qsort(ns, n_runs, sizeof *ns, case_by_value);
    for (unsigned i = 0; i < n_runs; i++)
        n_slow += ns[i] > 2 * ns[n_runs / 2];
    printf("%u %s: median %.2f ms, slowest %.2f ms, %u took twice the median\n", n_runs, what,
           (double)ns[n_runs / 2] / 1e6, (double)ns[n_runs - 1] / 1e6, n_slow);
}

#endif
