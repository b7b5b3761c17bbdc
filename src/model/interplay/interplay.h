/* SPDX-License-Identifier: MIT
 *
 * All waits of a trace, each with the release that ended it (docs/analyses/interplay.md has the
 * rules): made once from operations on locks (model/locks/locks.h), calls that block by their
 * names, and wakeups in kernel events; then asked by several analyses.
 *
 * Thread ids are those of the representative of a thread and its twins.
 */
#ifndef WEFT_MODEL_INTERPLAY_INTERPLAY_H
#define WEFT_MODEL_INTERPLAY_INTERPLAY_H

#include "base/pool.h"
#include "model/locks/blocking_names.h"
#include "model/locks/locks.h"
#include "model/trace.h"
#include "schema/interplay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A wait. What ended it was at release_ns, if releaser_id is not WEFT_ID_NONE. */
struct weft_wait {
    uint64_t start_ns, end_ns, release_ns;
    uint32_t waiter_id, releaser_id;
    uint32_t holder_id; /* of an open wait: the holder at its end, or the thread that has to end;
                           WEFT_ID_NONE: not known */
    uint32_t object;    /* place in objects */
    uint32_t wait_site, release_site; /* place in sites, or WEFT_ID_NONE */
    uint32_t wait_depth, release_depth;
    uint32_t n_awaited; /* of which any or all: descriptors, threads; 0: unknown, or one */
    uint8_t kind;       /* enum weft_shared_kind */
    uint8_t mode;       /* enum weft_wait_mode */
    uint8_t confidence; /* enum weft_surety */
    uint8_t flags;      /* enum weft_correspondence_flag */
    uint8_t unknown;    /* enum weft_unknown_reason, without releaser */
};

/* What the thread waits for: the one that ended the wait, or that had not when the trace ended. */
static inline uint32_t weft_wait_blocker(const struct weft_wait *wait)
{
    return wait->releaser_id != WEFT_ID_NONE ? wait->releaser_id : wait->holder_id;
}

/* Input or output. */
struct weft_io_call {
    uint64_t start_ns, end_ns;
    uint32_t thread_id, object, site, depth;
};

/* A kernel saw the thread sleep, and what woke it. */
struct weft_sleep {
    uint64_t start_ns, end_ns, wake_ns;
    uint32_t thread_id;
    uint32_t waker_id; /* WEFT_ID_NONE: no thread, or not known */
    uint8_t reason;    /* enum weft_wait_reason */
    bool is_open;      /* its end was not seen */
    bool is_earlier;   /* it began before the trace */
    char call[30];     /* system call, may be empty */
};

/* A thread's wait ended at this time without what it waited for. */
struct weft_wait_failure {
    uint64_t at_ns;
    uint32_t thread_id;
};

/* Records of a thread are lost in [from_ns, to_ns]. */
struct weft_loss {
    uint64_t from_ns, to_ns;
    uint64_t latest_ns; /* to_ns of this or an earlier one of the process */
    uint64_t n_records, pid;
    uint32_t host_id, thread_id;
};

/* A place in the program: a path of calls, or a name where there are no calls. */
struct weft_interplay_place {
    uint32_t node;        /* of the innermost call, or WEFT_ID_NONE */
    struct weft_str name; /* from events or samples; may be empty */
};

/* A call of a path. */
struct weft_interplay_node {
    uint32_t parent; /* its caller, or WEFT_ID_NONE */
    uint32_t function_id;
};

struct weft_interplay {
    const struct weft_trace *trace;
    const struct weft_blocking_names *names; /* the caller's; may be NULL */
    uint64_t to_ns;                          /* complete until then */
    bool is_out_of_memory;                   /* a place, an object or a label is missing */
    struct weft_locks *locks;
    struct {
        struct weft_wait *items; /* by waiter_id, start_ns, end_ns, object */
        size_t n, cap;
    } waits;
    struct {
        struct weft_io_call *items; /* by thread_id, start_ns */
        size_t n, cap;
    } io;
    struct {
        struct weft_sleep *items; /* in no wait for a lock; by thread_id, start_ns */
        size_t n, cap;
    } sleeps;
    struct {
        struct weft_shared_object *items; /* `id` is the place; those of `locks` first */
        size_t n, cap;
    } objects;
    struct {
        struct weft_interplay_place *items;
        size_t n, cap;
    } places;
    struct {
        struct weft_interplay_node *items;
        size_t n, cap;
    } nodes;
    struct {
        struct weft_wait_failure *items; /* by thread_id, at_ns */
        size_t n, cap;
    } failures;
    struct {
        struct weft_loss *items; /* by host_id, pid, from_ns */
        size_t n, cap;
    } losses;             /* of which the trace says when */
    uint32_t *hold_place; /* by operation of `locks` that is held: where it was got, in places */
    uint8_t *is_wait;     /* by operation of `locks`: it is one of `waits` */
    uint64_t *first_ns, *last_ns;   /* by thread: its life, and that of its twins */
    struct weft_blocking_use *uses; /* by function */
    uint64_t calls[WEFT_BLOCKING_KINDS];
    uint64_t lost;
    uint32_t known, sources; /* enum weft_interplay_known, weft_lock_source */
    struct weft_strtab *texts, *object_keys;
    struct weft_map *place_of, *node_of;
};

/* Everything until to_ns. `names` may be NULL, and must live longer. Some 200 bytes for
 * each operation on a lock or blocking call, beyond the limit on memory in files (base/room.h).
 * Time: O(calls + n log n) for n of them; parts of it on all workers. */
WEFT_CHECKED enum weft_code weft_interplay_open(const struct weft_trace *trace,
                                                const struct weft_blocking_names *names,
                                                uint64_t to_ns, const struct weft_run *run,
                                                struct weft_interplay **interplay,
                                                struct weft_err *err);
/* NULL is allowed. */
void weft_interplay_close(struct weft_interplay *interplay);

/* Waits of a thread: [*first, *end) of waits. O(log n). */
void weft_interplay_waits_of(const struct weft_interplay *interplay, uint32_t thread_id,
                             size_t *first, size_t *end);

/* Whether a wait of the thread that ended then is recorded as failed. O(log n). */
bool weft_interplay_has_failed(const struct weft_interplay *interplay, uint32_t thread_id,
                               uint64_t end_ns);

/* The place of a path of calls, or of a name; WEFT_ID_NONE without memory. */
uint32_t weft_interplay_place(struct weft_interplay *interplay, uint32_t node,
                              struct weft_str name);

/* An object that model/locks/locks.h does not contain, identified by kind, process and number or
 * name; its place, or WEFT_ID_NONE without memory. */
uint32_t weft_interplay_object(struct weft_interplay *interplay, enum weft_shared_kind kind,
                               uint64_t pid, uint64_t number, struct weft_str name);

#endif
