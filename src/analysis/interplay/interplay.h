/* SPDX-License-Identifier: MIT
 *
 * The interplay of threads (model/interplay/interplay.h) in, the tables of schema/interplay.h out.
 */
#ifndef WEFT_ANALYSIS_INTERPLAY_INTERPLAY_H
#define WEFT_ANALYSIS_INTERPLAY_INTERPLAY_H

#include "analysis/analysis.h"
#include "model/interplay/interplay.h"
#include "schema/interplay.h"

/* All that touches [from_ns, to_ns); the filter chooses the waiters. O(n log n) for n waits and
 * operations; memory for what the tables hold. Sums are of the time inside the window. */
struct weft_interplay_opts {
    uint64_t from_ns, to_ns;
    struct weft_str object; /* only this one: its address "0x...", or its name; empty: all */
    uint64_t limit;         /* correspondences, at most, the longest; 0: all. Counts are of all */
    bool all_processes;     /* without a filter: not only threads of the program */
};

WEFT_CHECKED enum weft_code
weft_interplay_run(const struct weft_interplay *interplay, const struct weft_thread_filter *filter,
                   const struct weft_interplay_opts *opts, const struct weft_run *run,
                   struct weft_interplay_table **table, struct weft_err *err);

/* The waits of the filter's threads that touch the window. With `width` columns, those shorter than
 * one are bundled with those that begin in the same column, of the same waiter and releaser;
 * columns grow by powers of two until there are no more rows than `limit` (0: no bound). */
struct weft_correspondences_opts {
    uint64_t from_ns, to_ns;
    uint64_t object_id;        /* weft_shared_object.id; UINT64_MAX: all */
    const uint32_t *releasers; /* only waits that these ended, ascending; NULL: all */
    size_t n_releasers;
    uint32_t width; /* 0: nothing is bundled, the longest `limit` ones are there */
    uint32_t limit;
};

WEFT_CHECKED enum weft_code weft_correspondences_run(const struct weft_interplay *interplay,
                                                     const struct weft_thread_filter *filter,
                                                     const struct weft_correspondences_opts *opts,
                                                     const struct weft_run *run,
                                                     struct weft_correspondences_table **table,
                                                     struct weft_err *err);

/* Holders and waiters of locks that are held, and waiters for other objects. */
struct weft_lock_lanes_opts {
    uint64_t from_ns, to_ns;
    uint64_t object_id; /* UINT64_MAX: all */
    uint32_t width;     /* columns; 0: nothing is merged */
    uint32_t limit;     /* lanes, at most: those of most waiting; 0: all */
};

WEFT_CHECKED enum weft_code
weft_lock_lanes_run(const struct weft_interplay *interplay, const struct weft_thread_filter *filter,
                    const struct weft_lock_lanes_opts *opts, const struct weft_run *run,
                    struct weft_lock_lanes_table **table, struct weft_err *err);

enum weft_lock_tree_kind {
    WEFT_LOCK_TREE_WAITS, /* time of waits, by where they were asked for: of the filter's threads */
    WEFT_LOCK_TREE_SECTIONS,  /* time of holds, by where the lock was got */
    WEFT_LOCK_TREE_MEANWHILE, /* what the holder or releaser did while the filter's threads waited:
                                 its calls in the waits; roots are the threads */
};

struct weft_lock_tree_opts {
    uint64_t from_ns, to_ns; /* one wait: its start and end, with its thread as filter */
    enum weft_lock_tree_kind kind;
    uint64_t object_id; /* UINT64_MAX: all */
    uint32_t limit;     /* contexts of most time; 0: all */
};

WEFT_CHECKED enum weft_code
weft_lock_tree_run(const struct weft_interplay *interplay, const struct weft_thread_filter *filter,
                   const struct weft_lock_tree_opts *opts, const struct weft_run *run,
                   struct weft_lock_tree_table **table, struct weft_err *err);

/* Time of outermost blocking calls by column. */
struct weft_blocking_opts {
    uint64_t from_ns, to_ns;
    uint32_t width; /* at least 1 */
};

WEFT_CHECKED enum weft_code
weft_blocking_run(const struct weft_interplay *interplay, const struct weft_thread_filter *filter,
                  const struct weft_blocking_opts *opts, const struct weft_run *run,
                  struct weft_blocking_table **table, struct weft_err *err);

#endif
