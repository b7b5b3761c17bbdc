/* SPDX-License-Identifier: MIT
 *
 * External sorting by any order: records of one size are added, sorted in memory a run at a time,
 * and merged when they are read.
 *
 *     add, add, add ...  -->  | run |            in memory
 *                                |  full
 *                                v
 *                             | run | run |      sorted, in a spool
 *     seal
 *     next, next ...     <--  merged
 *
 * For records that belong to threads, and have times in nearly their order, see base/sort.h.
 */
#ifndef WEFT_BASE_RUNS_H
#define WEFT_BASE_RUNS_H

#include "base/spool.h"

#include <stddef.h>
#include <stdint.h>

/* As for qsort_r. Records that are equal come in any order: an order that is total gives the same
 * result whatever the length of runs. */
typedef int (*weft_runs_compare_fn)(const void *a, const void *b, void *context);

struct weft_runs_opts {
    size_t record_bytes;
    weft_runs_compare_fn compare;
    void *context;
    size_t run_bytes; /* 0: 16 MiB */
    uint64_t n_most;  /* no more are wanted than the first so many; 0: all */
};

struct weft_runs;

/* `spool` outlives it. NULL without memory. Memory: a run and half as much again; and on merging
 * some kB for each run, as far as the spool is made to forget. */
struct weft_runs *weft_runs_new(struct weft_spool *spool, const struct weft_runs_opts *opts);

/* NULL is allowed. */
void weft_runs_free(struct weft_runs *runs);

/* Copies the record. Fails as weft_spool_array does. */
WEFT_CHECKED enum weft_code weft_runs_add(struct weft_runs *runs, const void *record,
                                          struct weft_err *err);

/* Records that were added. */
uint64_t weft_runs_count(const struct weft_runs *runs);

/* Nothing is added any more. */
WEFT_CHECKED enum weft_code weft_runs_seal(struct weft_runs *runs, struct weft_err *err);

/* The next record in order, valid until the next call; NULL at the end. O(log runs). */
const void *weft_runs_next(struct weft_runs *runs);

#endif
