/* SPDX-License-Identifier: MIT
 *
 * Records of the kernel: scheduling, wakeups, stacks, requests, by BPF programs, or by perf events
 * where those are not allowed.
 */
#ifndef WEFT_RECORD_KERNEL_KERNEL_H
#define WEFT_RECORD_KERNEL_KERNEL_H

#include "base/error.h"
#include "base/str.h"
#include "schema/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_kernel;

/* What can be missing, each with the command that enables it. */
struct weft_kernel_missing {
    const char *level; /* "scheduling", "stacks" */
    const char *why;   /* "needs CAP_BPF and CAP_PERFMON" */
    const char *mend;  /* "sudo setcap ... weft" */
};

enum { WEFT_KERNEL_MISSING_MAX = 8 };

struct weft_kernel_opts {
    uint32_t sample_hz;         /* of CPUs; 0: none */
    uint64_t wait_threshold_ns; /* stacks of waits at least so long; UINT64_MAX: none */
    uint32_t ring_bytes;        /* a CPU; 0: 16 MiB */
    uint32_t stack_copy_bytes;  /* copy so much of stacks that have no frame pointers; 0: none */
    uint32_t stack_whole_bytes; /* and so much now and then (BPF only); 0: never */
    bool with_results; /* of calls that waited long: every call of all threads takes 20 ns longer */
    bool with_interrupts; /* records of interrupts, not only contexts of wakeups */
    bool with_faults;
    bool with_network;
    bool with_requests; /* of block devices */
    bool all_processes; /* stacks of all, not only of targets */
    bool without_bpf;   /* perf events only */
    bool names_at_once; /* read the kernel's symbols before the start, not when names are asked for
                         */
    bool with_counts;   /* count what the programs want to write, to check losses by */
};

/* Opens what the privileges allow and says what is missing (missing[0 .. *n_missing), static
 * texts). *kernel is NULL, and the code WEFT_OK, if nothing at all is allowed. Nothing is recorded
 * until weft_kernel_start. */
WEFT_CHECKED enum weft_code weft_kernel_open(const struct weft_kernel_opts *opts,
                                             struct weft_kernel **kernel,
                                             struct weft_kernel_missing *missing, size_t *n_missing,
                                             struct weft_err *err);

/* Stacks, faults and long calls are recorded of this process, its threads and children. */
WEFT_CHECKED enum weft_code weft_kernel_add_target(struct weft_kernel *kernel, uint32_t pid,
                                                   struct weft_err *err);

WEFT_CHECKED enum weft_code weft_kernel_start(struct weft_kernel *kernel, struct weft_err *err);

/* No more records from now on; those in the rings can still be read. */
void weft_kernel_stop(struct weft_kernel *kernel);

/* Hands out whole records, in order of time of each CPU. */
typedef enum weft_code (*weft_kernel_records_fn)(void *context, uint32_t cpu,
                                                 const struct weft_kernel_record *records,
                                                 size_t n_bytes, struct weft_err *err);

/* Reads all that is in the rings now. *fill_percent: how full the fullest was. */
WEFT_CHECKED enum weft_code weft_kernel_poll(struct weft_kernel *kernel, weft_kernel_records_fn fn,
                                             void *context, uint32_t *fill_percent,
                                             struct weft_err *err);

/* Lines ADDRESS NAME of the kernel's functions in stacks that were handed out since names were
 * asked for last; empty: none are left. Valid until the next call. The first time takes 100 ms,
 * unless opts.names_at_once. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_kernel_names(struct weft_kernel *kernel, struct weft_str *text,
                                              struct weft_err *err);

/* Records lost so far on a CPU. */
uint32_t weft_kernel_n_cpus(const struct weft_kernel *kernel);
uint64_t weft_kernel_lost(const struct weft_kernel *kernel, uint32_t cpu);

/* Records that BPF programs had to write so far, read or lost; 0 without opts.with_counts. */
uint64_t weft_kernel_made(const struct weft_kernel *kernel, uint32_t cpu);

/* Time that the programs took in the kernel so far, from that of a share of the time, as counting
 * costs as much as the programs do; 0 if it is unknown. */
uint64_t weft_kernel_run_ns(const struct weft_kernel *kernel);

/* Events so far at which the kernel did not run a BPF program, since it had interrupted that very
 * program: no record shows them. */
uint64_t weft_kernel_skipped(const struct weft_kernel *kernel);

/* "BPF" or "perf events". */
const char *weft_kernel_means(const struct weft_kernel *kernel);

void weft_kernel_close(struct weft_kernel *kernel); /* NULL is allowed */

#endif
