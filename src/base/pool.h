/* SPDX-License-Identifier: MIT
 *
 * Worker pool for loops whose items are independent, and the progress they report.
 *
 * Items are handed out in ascending order, each to one worker; results are merged by the caller in
 * item order, so that output never depends on the number of workers.
 */
#ifndef WEFT_BASE_POOL_H
#define WEFT_BASE_POOL_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a long work says about itself. Written by workers, read by the thread that draws the
 * line. */
struct weft_progress {
    _Atomic uint64_t done;        /* units done so far */
    _Atomic uint64_t total;       /* units expected, or 0 if unknown */
    _Atomic bool is_cancelled;    /* set by the front end (Ctrl-C) */
    const char *_Atomic activity; /* static string: "reading", "writing" */
    const char *_Atomic unit;     /* static string: "bytes", "calls" */
};

/* All of these allow progress == NULL. */
static inline void weft_progress_add(struct weft_progress *progress, uint64_t n_units)
{
    if (progress)
        atomic_fetch_add_explicit(&progress->done, n_units, memory_order_relaxed);
}

static inline bool weft_progress_is_cancelled(const struct weft_progress *progress)
{
    return progress && atomic_load_explicit(&progress->is_cancelled, memory_order_relaxed);
}

void weft_progress_start(struct weft_progress *progress, const char *activity, const char *unit,
                         uint64_t total);

/* Work of one item, on worker `worker` < n_workers. A failure ends the loop; of several failures
 * the one of the lowest item is reported. */
typedef enum weft_code (*weft_pool_fn)(void *context, size_t item, unsigned worker,
                                       struct weft_err *err);

struct weft_pool;

/* `n_workers` 0 means one per online CPU. One worker runs in the calling thread. Threads start
 * with the first loop. NULL without memory. */
struct weft_pool *weft_pool_new(unsigned n_workers);
void weft_pool_free(struct weft_pool *pool);
unsigned weft_pool_workers(const struct weft_pool *pool);

/* Runs fn for items 0..n_items-1. WEFT_E_CANCELLED if progress says so. Not re-entrant. */
WEFT_CHECKED enum weft_code weft_pool_run(struct weft_pool *pool, size_t n_items, weft_pool_fn fn,
                                          void *context, struct weft_progress *progress,
                                          struct weft_err *err);

/* Runs `fn` on one of the workers, beside loops, which have that worker once it is done: no more
 * threads work than there are workers. False: there is but one, or a task already. */
bool weft_pool_begin_task(struct weft_pool *pool, void (*fn)(void *context), void *context);
/* Waits for the task; what no worker has begun, the caller does. */
void weft_pool_end_task(struct weft_pool *pool);

/* What every long work gets: workers, progress, and the ceiling that its tables share. */
struct weft_run {
    struct weft_pool *pool;
    struct weft_progress *progress;
    uint64_t memory_bytes; /* 0: none */
};

#endif
