/* SPDX-License-Identifier: MIT
 *
 * Ticks of threads that may not read the time stamp counter: prctl(PR_SET_TSC) or strict seccomp
 * make rdtsc a SIGSEGV, also that of the C library's clock_gettime.
 */
#ifndef WEFT_RECORD_RUNTIME_CLOCK_H
#define WEFT_RECORD_RUNTIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Some thread has lost the counter, or it has not been asked yet whether the first one has it. */
extern __attribute__((visibility("hidden"))) bool weft_clock_is_odd;

/* Ticks by whatever the calling thread has: the counter, or the clock of the kernel, scaled to
 * ticks. A thread that may make no system call gets the last ones again. */
uint64_t weft_clock_ticks(void);

/* Once, when a program starts. False: it has no counter, and nothing to scale a clock by (the
 * dynamic linker of glibc reads the counter: it does not come that far). */
bool weft_clock_begin(void);

/* CLOCK_MONOTONIC by a system call. */
uint64_t weft_clock_ns(void);

#endif
