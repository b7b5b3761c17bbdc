/* SPDX-License-Identifier: MIT
 *
 * Locks, and what else threads wait for each other with (docs/analyses/locks.md): what the
 * operations are, and the table of the analysis. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_LOCKS_H
#define WEFT_SCHEMA_LOCKS_H

#include "base/str.h"
#include "schema/program.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_lock_kind {
    WEFT_LOCK_MUTEX,     /* held by one thread at a time */
    WEFT_LOCK_RWLOCK,    /* or by several that read */
    WEFT_LOCK_CONDITION, /* a thread waits until another one signals */
    WEFT_LOCK_BARRIER,   /* threads wait for the last one to arrive */
    WEFT_LOCK_JOIN,      /* the end of a thread */
    WEFT_LOCK_FUTEX,     /* a futex of another use */
    WEFT_LOCK_SPIN,      /* held by one thread at a time, and waited for on a processor */
    WEFT_LOCK_SEMAPHORE, /* a thread waits until another one posts */
    WEFT_LOCK_KINDS,
};

/* Is a lock of this kind held? */
static inline bool weft_lock_is_held(uint8_t kind)
{
    return kind == WEFT_LOCK_MUTEX || kind == WEFT_LOCK_RWLOCK || kind == WEFT_LOCK_SPIN;
}

/* Sources of an operation; bits. */
enum weft_lock_source {
    WEFT_LOCK_BY_EVENTS = 1, /* events of a lock library: asked for, got, released */
    WEFT_LOCK_BY_CALLS = 2,  /* calls of functions like pthread_mutex_lock */
    WEFT_LOCK_BY_FUTEX = 4,  /* futex system calls: only what had to wait, or to wake */
};

enum { WEFT_LOCK_N_SOURCES = 3 };

enum weft_lock_flag {
    WEFT_LOCK_SHARED = 1,     /* for reading */
    WEFT_LOCK_NO_REQUEST = 2, /* nobody saw it asked for: how long it waited is not known */
    WEFT_LOCK_NO_RELEASE = 4, /* nobody saw it released: held until the thread's end */
    WEFT_LOCK_CLIPPED =
        8, /* its release was recorded after another thread held it: held until then */
    WEFT_LOCK_PARTIAL = 16,    /* nobody saw it acquired: held at least since another one waited */
    WEFT_LOCK_REACQUIRED = 32, /* by the end of a wait for a condition */
    WEFT_LOCK_SLEPT = 64,      /* the kernel saw the wait */
    WEFT_LOCK_FAILED = 128,    /* it ended without the lock */
    WEFT_LOCK_OPEN = 256, /* FAILED, too: still waited for when its thread or the trace ended */
};

/* Stable names: "mutex"; "events". */
const char *weft_lock_kind_name(enum weft_lock_kind kind);
const char *weft_lock_source_name(unsigned place); /* of the bit 1 << place */

/* One lock of one process. */
struct weft_lock_object {
    struct weft_str name; /* as calls or the program name it; may be empty */
    uint64_t address;     /* 0: unknown */
    uint64_t pid;         /* 0: unknown */
    uint32_t thread_id;   /* JOIN: whose end it is, or WEFT_ID_NONE */
    uint8_t kind;         /* enum weft_lock_kind */
    uint8_t sources;      /* enum weft_lock_source */
    bool is_untold;       /* stands for all locks of calls that do not tell which one they are of */
    bool is_reused;       /* another one was at its address before */
    uint32_t nth;         /* which one at its address, from 1; 0: the only one */
    struct weft_str place; /* function that first acquires it or waits for it; may be empty */
    uint32_t nth_of_place; /* which one of its kind there, from 0 */
};

/* ---- the analysis ---------------------------------------------------------------------------- */

struct weft_locks_row {
    struct weft_lock_object object;
    uint64_t acquisitions, contended, failed;
    uint64_t open; /* of the contended ones: still waited for at the end of the thread or trace */
    uint64_t wait_ns, longest_wait_ns, p99_wait_ns; /* of contended ones */
    uint64_t longest_wait_at_ns;
    uint64_t hold_ns, longest_hold_ns; /* of locks that are held */
    uint64_t blocking_ns;              /* held while others waited, each wait counted */
    uint64_t
        blame_ns;     /* that others were blocked by it, idle waits excluded; each waiter counted */
    uint64_t idle_ns; /* of waits for new work, or for the end of threads */
    uint64_t convoys, longest_convoy; /* acquisitions in the longest one */
    uint64_t partial;                 /* holds of which less than all is known */
    uint32_t threads;
};

/* Acquisitions from one function. */
struct weft_locks_site {
    uint32_t lock; /* place in rows */
    struct weft_str name;
    uint64_t acquisitions, contended, wait_ns, longest_wait_ns, hold_ns;
};

/* Who made whom wait. */
struct weft_locks_pair {
    uint32_t lock;
    uint32_t blocker_id, waiter_id;
    uint64_t count, sum_ns, longest_ns, longest_at_ns;
};

/* What the thread that had the lock did while others waited for it. */
struct weft_locks_context {
    uint32_t lock;
    uint32_t thread_id;
    struct weft_str name; /* innermost function; may be empty: not known */
    uint64_t sum_ns;
};

/* `second` acquired while `first` was held. */
struct weft_locks_order {
    uint32_t first, second;
    uint64_t count, first_at_ns;
    uint64_t inverse; /* how often the other way round: a deadlock may come of it */
};

/* Acquisitions one after the other, each of which had waited for the one before. */
struct weft_locks_convoy {
    uint32_t lock;
    uint64_t start_ns, end_ns;
    uint64_t acquisitions, wait_ns;
    uint32_t threads;
};

/* A wait that had not ended when its thread or the trace did. */
struct weft_locks_open {
    uint32_t lock;
    uint32_t waiter_id;
    uint32_t holder_id; /* of the lock at that moment, or the thread that is joined; WEFT_ID_NONE */
    uint32_t deadlock;  /* waits of one number wait for each other in a cycle; 0: in none */
    uint32_t order;     /* in the cycle: the holder of each is the waiter of the next */
    struct weft_str function; /* that asked for it; may be empty: not known */
    uint64_t start_ns, wait_ns;
};

struct weft_locks_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_locks_row *rows; /* most blame first, idle waits last */
    size_t n_rows;
    struct weft_locks_site *sites; /* by lock, then most waiting first; so the others */
    size_t n_sites;
    struct weft_locks_pair *pairs;
    size_t n_pairs;
    struct weft_locks_context *contexts;
    size_t n_contexts;
    struct weft_locks_order *orders; /* inversions first, then by count */
    size_t n_orders;
    struct weft_locks_convoy *convoys; /* longest first */
    size_t n_convoys;
    struct weft_locks_open *opens; /* cycles first, then the longest */
    size_t n_opens;
    uint32_t n_deadlocks;                     /* cycles */
    uint64_t operations[WEFT_LOCK_N_SOURCES]; /* from each source */
    uint64_t unmatched;                       /* releases of what nobody was seen to acquire */
    struct weft_left_out left_out;
    bool has_others;   /* operations that do not count, such as of other threads or times */
    bool has_switches; /* a kernel tells of the threads */
};

#endif
