/* SPDX-License-Identifier: MIT
 *
 * Problems: why requests, or the whole of a trace, took long, each cause once with its kind, its
 * cost, what holds up, and what is held up (docs/analyses/diagnose.md). What `diagnose` says first.
 */
#ifndef WEFT_SCHEMA_PROBLEMS_H
#define WEFT_SCHEMA_PROBLEMS_H

#include "schema/findings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_problem_kind {
    WEFT_PROBLEM_LOCK,         /* a lock held by a thread that works */
    WEFT_PROBLEM_LOCK_IO,      /* by one that waits for a disk, */
    WEFT_PROBLEM_LOCK_NET,     /* for a socket, */
    WEFT_PROBLEM_LOCK_SLEEP,   /* sleeps, */
    WEFT_PROBLEM_LOCK_WAIT,    /* waits for another thread, */
    WEFT_PROBLEM_LOCK_NO_CPU,  /* or has no CPU, */
    WEFT_PROBLEM_STARVED,      /* by readers, one after the other, while a writer waits */
    WEFT_PROBLEM_ALLOCATOR,    /* a lock of malloc */
    WEFT_PROBLEM_SPIN,         /* CPU time spent waiting for a lock */
    WEFT_PROBLEM_SERIAL,       /* at a barrier, or for the end of a thread */
    WEFT_PROBLEM_POOL,         /* for what threads of the same work take from a pool */
    WEFT_PROBLEM_HEAD_OF_LINE, /* for an event loop, which is busy with the request of another */
    WEFT_PROBLEM_QUEUE,        /* for a thread that has to signal, post or wake */
    WEFT_PROBLEM_FSYNC,
    WEFT_PROBLEM_DISK,
    WEFT_PROBLEM_FAULT,       /* page faults that are read from a disk, */
    WEFT_PROBLEM_MINOR_FAULT, /* and those that are not: time of the kernel */
    WEFT_PROBLEM_NETWORK,
    WEFT_PROBLEM_CONNECT,
    WEFT_PROBLEM_DELAYED_ACK, /* both ends of a connection wait for as long as TCP delays an ACK */
    WEFT_PROBLEM_TIMEOUT,     /* of a wait for a descriptor: nothing came */
    WEFT_PROBLEM_SLEEP,
    WEFT_PROBLEM_LATE_WAKEUP, /* until a thread times out, or comes back from where it is idle */
    WEFT_PROBLEM_CHILD,
    WEFT_PROBLEM_CPU,   /* another thread of the program had the CPU, */
    WEFT_PROBLEM_OTHER, /* or another program */
    WEFT_PROBLEM_INTERRUPT,
    WEFT_PROBLEM_MORE_WORK, /* a function is called more often */
    WEFT_PROBLEM_CODE,      /* a function takes longer */
    WEFT_PROBLEM_UNKNOWN,
    WEFT_PROBLEM_KINDS,
};

/* The name of the process that records, among those that have the CPU. */
#define WEFT_RECORDER_NAME "weft-record"

/* Is it time spent waiting for a lock that another thread holds? */
static inline bool weft_problem_is_of_lock(enum weft_problem_kind kind)
{
    return kind <= WEFT_PROBLEM_ALLOCATOR;
}

/* Stable names: "lock_contention". */
const char *weft_problem_kind_name(enum weft_problem_kind kind);

/* Locks that are no variables of the program. */
enum weft_system_lock {
    WEFT_SYSTEM_LOCK_NONE,
    WEFT_SYSTEM_LOCK_GIL,     /* of Python's or Ruby's interpreter */
    WEFT_SYSTEM_LOCK_MONITOR, /* one of Java's */
    WEFT_SYSTEM_LOCK_MMAP,    /* of an address space, in the kernel */
    WEFT_SYSTEM_LOCKS,
};

/* "GIL", "Java monitor", "mmap_lock". */
const char *weft_system_lock_name(enum weft_system_lock lock);

enum { WEFT_CHAIN_LINKS = 3 };

/* Functions of a thread in which most of a problem lies, the outermost first: first > ... > last.
 */
struct weft_chain {
    const struct weft_frame *links[WEFT_CHAIN_LINKS];
    size_t n;
    const struct weft_frame
        *within; /* a library's, that the last one calls for all that; or NULL */
    bool is_cut; /* there are more behind the first */
};

struct weft_problem {
    const struct weft_finding *finding; /* of which type of executions */
    const struct weft_finding **also;   /* others of which some are slow for the same */
    size_t n_also;
    enum weft_problem_kind kind;
    struct weft_str object;            /* the lock by its name; may be empty: then */
    enum weft_system_lock system_lock; /* what `object` names, if it is one */
    uint32_t n_objects;     /* above 1: so many locks of an array, which `object` is the name of */
    struct weft_str where;  /* the function that asks for it; may be empty */
    struct weft_str waiter; /* the thread that takes longer, */
    uint32_t n_waiters;     /* and how many like it do; 0: threads of different names */
    struct weft_str waiter_stem; /* what their names have in common, if they differ in numbers */
    struct weft_chain waiting;
    struct weft_str holder; /* the thread that it waits for; empty: none */
    struct weft_chain holding;
    struct weft_str last; /* another thread, that the holder waits for in the end; empty: none */
    struct weft_chain lasting;
    struct weft_str preemptor; /* of LOCK_NO_CPU, CPU, OTHER: what had the CPU; may be empty */

    uint64_t n_items, n_slow;      /* all executions; the slow ones */
    uint64_t n_with, n_usual_with; /* slow and usual ones that have it: at least half as much as
                                    * slow ones on average */
    double usual_ns, slow_ns;      /* duration: median of the usual, mean of the slow with it */
    double usual_here_ns, slow_here_ns; /* mean time in it, of all usual and all slow ones */
    double
        p; /* that these differ by chance, of all groups of times compared; 0: nothing compared */
    uint64_t n_overtaking; /* STARVED: readers that got the lock before a writer that had asked for
                            * it, in the worst execution */
    double cost_ns;        /* what slow executions spend on it more than usual, together */
    double share;          /* of the time of all executions */
    double explained;      /* of what the slow ones take longer */
    struct weft_confidence_basis confidence;
    uint32_t worst;  /* the execution that spends most on it */
    uint32_t node;   /* where most of it lies */
    uint64_t key;    /* the same for the same cause in other types */
    bool is_evident; /* more than chance makes it (p up to 0.05) */
    bool is_small;
};

/* A wait of a cycle of threads that wait for each other where the trace ends: that of each is for
 * the next one's. */
struct weft_deadlock_wait {
    uint32_t cycle; /* from 1 */
    uint64_t waiter_tid, holder_tid;
    struct weft_str waiter, holder;
    struct weft_str lock;     /* its name, or address */
    struct weft_str function; /* that asks for it; may be empty */
    uint64_t start_ns, wait_ns;
    bool is_join; /* for the end of the holder */
};

/* How threads work together over the whole trace, whichever executions suffer from it. */
enum weft_sync_kind {
    WEFT_SYNC_HERD,      /* broadcasts wake many threads, most of which wait again at once */
    WEFT_SYNC_IMBALANCE, /* one thread comes last to a barrier for the most part */
    WEFT_SYNC_KINDS,
};

/* Stable name of a kind ("thundering_herd"). */
const char *weft_sync_kind_name(enum weft_sync_kind kind);

struct weft_sync_problem {
    enum weft_sync_kind kind;
    struct weft_str object; /* name of the condition or barrier, or its address */
    struct weft_str thread; /* HERD: wakes the most often; IMBALANCE: comes last the most often, */
    uint64_t tid;
    struct weft_str function;       /* mostly from there; may be empty */
    struct weft_str other;          /* one of the threads that are woken, or that wait, */
    struct weft_str other_function; /* and from where; may be empty */
    uint32_t n_others;              /* how many threads */
    uint64_t n_events;              /* broadcasts; waits at the barrier */
    uint64_t n_woken, n_futile;     /* HERD: wakeups by them; those that waited again at once */
    uint64_t n_last;                /* IMBALANCE: waits that it ended */
    uint64_t cost_ns;               /* HERD: from broadcasts until the last one woken for nothing
                                     * was awake; IMBALANCE: waits for it */
    double share; /* HERD: of the duration of the trace; IMBALANCE: of that of all its threads */
    uint64_t worst_tid, worst_start_ns, worst_end_ns; /* the worst broadcast, or wait */
    uint32_t worst_thread_id;
};

/* Why a finding that is significant has no row. */
enum weft_unlisted {
    WEFT_LISTED,           /* it has, or is not significant */
    WEFT_UNLISTED_OUTSIDE, /* other programs had the CPU */
    WEFT_UNLISTED_SPREAD,  /* nothing explains as much as a tenth of it */
};

struct weft_problems_table {
    struct weft_arena *arena;
    uint8_t *unlisted;                    /* enum weft_unlisted, by row of the findings */
    struct weft_deadlock_wait *deadlocks; /* cycle by cycle; the findings' */
    size_t n_deadlocks;                   /* waits */
    struct weft_sync_problem *syncs;      /* the most expensive first; the findings' */
    size_t n_syncs;
    struct weft_problem *rows; /* the most expensive first */
    size_t n_rows;
};

/* Those of `syncs` that come before the rows: all, or those that cost more than the first row does.
 */
size_t weft_problems_n_leading(const struct weft_problems_table *table);

/* Is there a row of the finding, or one that is why executions of it are slow, too? */
bool weft_problems_have(const struct weft_problems_table *table,
                        const struct weft_finding *finding);

#endif
