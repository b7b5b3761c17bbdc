/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t bench_cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct bench_times bench_times_new(size_t cap)
{
    const struct bench_times times = { .items = calloc(cap + 1, sizeof *times.items), .cap = cap };
    if (!times.items) {
        (void)fputs("no memory for times\n", stderr);
        exit(1);
    }
    return times;
}

void bench_times_free(struct bench_times *times)
{
    free(times->items);
    *times = (struct bench_times){ 0 };
}

uint64_t bench_times_add(struct bench_times *times, uint64_t begin_ns)
{
    const uint64_t ns = bench_cpu_ns() - begin_ns;
    if (times->n < times->cap)
        times->items[times->n++] = ns;
    return ns;
}

int bench_by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void bench_times_print(struct bench_times *times)
{
    const size_t n = times->n;
    if (n == 0) {
        puts("none");
        return;
    }
    qsort(times->items, n, sizeof *times->items, bench_by_value);
    printf("p50 %.3f ms, p99 %.3f ms, max %.3f ms\n", (double)times->items[n / 2] / 1e6,
           (double)times->items[n * 99 / 100] / 1e6, (double)times->items[n - 1] / 1e6);
}
