/* SPDX-License-Identifier: MIT
 *
 * What programs that measure share: processor time, random numbers that are the same in every run,
 * and times with their percentiles.
 */
#ifndef WEFT_BENCH_MEASURE_H
#define WEFT_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* Processor time of the process, user and system. */
uint64_t bench_cpu_ns(void);

/* The next number of splitmix64; a program that sets *state to 1 first gets the same ones always.
 */
uint64_t bench_random(uint64_t *state);

/* Times of one kind; room for `cap` of them. */
struct bench_times {
    uint64_t *items;
    size_t n, cap;
};

/* Ends the program without memory. */
struct bench_times bench_times_new(size_t cap);
void bench_times_free(struct bench_times *times);

/* Adds the processor time since begin_ns, and gives it. */
uint64_t bench_times_add(struct bench_times *times, uint64_t begin_ns);

/* "p50 0.326 ms, p99 0.505 ms, max 2.189 ms" and a line's end; sorts them. */
void bench_times_print(struct bench_times *times);

/* Orders numbers of 64 bits; for qsort. */
int bench_by_value(const void *a, const void *b);

#endif
