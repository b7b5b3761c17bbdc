/* SPDX-License-Identifier: MIT
 *
 * What a thread did with locks, point by point in order of time, from all sources: events of lock
 * libraries, calls of functions that are known by name, futex system calls.
 */
#ifndef WEFT_MODEL_LOCKS_POINTS_H
#define WEFT_MODEL_LOCKS_POINTS_H

#include "model/locks/locks.h"
#include "model/trace.h"
#include "model/twins.h"
#include "schema/locks.h"

enum weft_lock_point_kind {
    WEFT_LOCK_POINT_REQUEST,
    WEFT_LOCK_POINT_ACQUIRED,
    WEFT_LOCK_POINT_FAILED, /* did not get it */
    WEFT_LOCK_POINT_RELEASED,
    WEFT_LOCK_POINT_SLEEP, /* begins to wait; for a mutex: since it is not free */
    WEFT_LOCK_POINT_AWAKE, /* ends the last SLEEP of its source */
    WEFT_LOCK_POINT_WAKE,  /* wakes others */
};

struct weft_lock_point {
    uint64_t at_ns;
    uint32_t object; /* WEFT_ID_NONE of AWAKE */
    uint32_t site;   /* number of a text, or WEFT_ID_NONE */
    uint32_t order;  /* of points of one time */
    uint8_t kind;    /* enum weft_lock_point_kind */
    uint8_t source;  /* enum weft_lock_source */
    bool is_shared : 1, is_broadcast : 1;
    uint8_t depth; /* of SLEEP in a call: functions of the program around it; 0: unknown */
};

struct weft_lock_points {
    struct weft_lock_point *items;
    size_t n, cap;
};

/* From then on an address is a new object. */
struct weft_lock_life {
    uint64_t from_ns;
    uint32_t object;
};

struct weft_lock_finder;

/* Of a part of the trace: looks at all lock events and futex calls there once, to learn which locks
 * there are. `twins` must live longer. Points that it sees are kept, to read them once, in a part
 * of `memory_bytes` (0: any number). */
WEFT_CHECKED enum weft_code
weft_lock_finder_open(const struct weft_trace *trace, const struct weft_twins *twins,
                      const struct weft_locks_span *span, uint64_t memory_bytes,
                      struct weft_lock_finder **finder, struct weft_err *err);
/* NULL is allowed. */
void weft_lock_finder_close(struct weft_lock_finder *finder);

/* The points of `thread_id` and its twins. */
WEFT_CHECKED enum weft_code weft_lock_finder_read(struct weft_lock_finder *finder,
                                                  uint32_t thread_id,
                                                  struct weft_lock_points *points,
                                                  struct weft_err *err);

/* No more points are read: their memory is freed, what was found stays. */
void weft_lock_finder_finish(struct weft_lock_finder *finder);

/* Only some system calls are recorded: releases that woke no thread may be missing. */
bool weft_lock_finder_may_miss(const struct weft_lock_finder *finder);

/* What was found so far; views live as long as the finder. */
size_t weft_lock_finder_n_objects(const struct weft_lock_finder *finder);
const struct weft_lock_object *weft_lock_finder_object(const struct weft_lock_finder *finder,
                                                       uint32_t object);
/* Lives that were found, in `order`. */
const struct weft_lock_life *weft_lock_finder_lives(struct weft_lock_finder *finder,
                                                    int (*order)(const void *, const void *),
                                                    size_t *n_lives);
/* Adds the object that was the `nth` (2 ...) at the address of `object`, the first. */
WEFT_CHECKED enum weft_code weft_lock_finder_next_life(struct weft_lock_finder *finder,
                                                       uint32_t object, uint32_t nth, uint32_t *id,
                                                       struct weft_err *err);
struct weft_str weft_lock_finder_site(const struct weft_lock_finder *finder, uint32_t site);

#endif
