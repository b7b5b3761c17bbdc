/* SPDX-License-Identifier: MIT
 *
 * Interplay of threads (docs/analyses/interplay.md): who waits for whom, from where, and what let
 * them go on. After SyncTrace (VISSOFT 2013), section III; a wait is joined with the one release
 * that ended it. Times are ns since the start of the trace. Texts live in the table's arena.
 */
#ifndef WEFT_SCHEMA_INTERPLAY_H
#define WEFT_SCHEMA_INTERPLAY_H

#include "base/str.h"
#include "schema/program.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a call is for (SyncTrace: S_w, S_r, S_o, S_c). */
enum weft_blocking_kind {
    WEFT_BLOCKING_OTHER,
    WEFT_BLOCKING_WAIT,    /* waits for its objects */
    WEFT_BLOCKING_RELEASE, /* lets others go on that wait for its objects */
    WEFT_BLOCKING_IO,      /* reads, writes, connects */
    WEFT_BLOCKING_KINDS,
};

enum weft_shared_kind {
    WEFT_SHARED_MUTEX,
    WEFT_SHARED_RWLOCK,
    WEFT_SHARED_CONDITION,
    WEFT_SHARED_SEMAPHORE,
    WEFT_SHARED_BARRIER,
    WEFT_SHARED_JOIN,    /* the end of a thread */
    WEFT_SHARED_FUTEX,   /* a futex of another use */
    WEFT_SHARED_TIMER,   /* sleep: nobody releases it */
    WEFT_SHARED_FILES,   /* poll, select, epoll: any of several descriptors */
    WEFT_SHARED_PROCESS, /* the end of a child */
    WEFT_SHARED_OTHER,   /* as a function that waits by its name, or the user's table, says */
    WEFT_SHARED_SPIN,
    WEFT_SHARED_KINDS,
};

/* Is what is shared of this kind held? */
static inline bool weft_shared_is_held(uint8_t kind)
{
    return kind == WEFT_SHARED_MUTEX || kind == WEFT_SHARED_RWLOCK || kind == WEFT_SHARED_SPIN;
}

/* Of which objects a wait waits; at a barrier, of which threads. */
enum weft_wait_mode {
    WEFT_WAIT_FOR_ONE,
    WEFT_WAIT_FOR_ANY,
    WEFT_WAIT_FOR_ALL,
};

/* How sure it is that this release ended that wait. */
enum weft_surety {
    WEFT_SURETY_NONE,      /* nobody is known to have */
    WEFT_SURETY_WAKEUP,    /* a kernel says who woke it, but no release is recorded */
    WEFT_SURETY_AMBIGUOUS, /* the last of several releases that may have */
    WEFT_SURETY_RELEASE,   /* the only release that may have */
    WEFT_SURETY_CONFIRMED, /* and a kernel saw that thread wake this one */
    WEFT_SURETIES,
};

enum weft_correspondence_flag {
    WEFT_CORRESPONDENCE_CUT_START = 1,  /* nobody saw when it began */
    WEFT_CORRESPONDENCE_CUT_END = 2,    /* still waits at the end of the trace, or of its thread */
    WEFT_CORRESPONDENCE_FAILED = 4,     /* ended without what it waited for: time out, error */
    WEFT_CORRESPONDENCE_TIMED = 8,      /* by a function that has a timeout */
    WEFT_CORRESPONDENCE_NO_OBJECT = 16, /* the source does not tell for what it waits */
    WEFT_CORRESPONDENCE_LOSSY = 32,     /* its thread, or every one, lost events about this time */
    WEFT_CORRESPONDENCE_SHARED = 64,    /* waited to read */
    WEFT_CORRESPONDENCE_REACQUIRED =
        128 /* to have a lock again, at the end of a condition's wait */
};

/* Why no curve leads anywhere: counted, and drawn as a wait without one. */
enum weft_unknown_reason {
    WEFT_UNKNOWN_CUT_END,    /* not ended when the trace did */
    WEFT_UNKNOWN_FAILED,     /* ended by its timeout, or an error */
    WEFT_UNKNOWN_TIMER,      /* time alone ends it */
    WEFT_UNKNOWN_NO_OBJECT,  /* no source tells the object */
    WEFT_UNKNOWN_NO_RELEASE, /* nobody was seen to release the object meanwhile */
    WEFT_UNKNOWN_LOSSY,      /* so, and events are lost that might have shown it */
    WEFT_UNKNOWN_OUTSIDE,    /* descriptors, processes: what ended it is not of these threads */
    WEFT_UNKNOWN_REASONS,
};

/* Stable names: "wait"; "mutex"; "any"; "confirmed"; "no_release". */
const char *weft_blocking_kind_name(enum weft_blocking_kind kind);
const char *weft_shared_kind_name(enum weft_shared_kind kind);
const char *weft_wait_mode_name(enum weft_wait_mode mode);
const char *weft_surety_name(enum weft_surety confidence);
const char *weft_unknown_reason_name(enum weft_unknown_reason reason);
const char *weft_unknown_reason_text(enum weft_unknown_reason reason);

/* ---- what all tables name -------------------------------------------------------------------- */

/* An object of one process. Numbers are stable for a trace, whatever the question. */
struct weft_shared_object {
    uint64_t id;          /* the same in all tables of a trace; to ask about it */
    struct weft_str name; /* as shown: "mutex 0x1234", "(any)"; never empty */
    uint64_t address;     /* 0: unknown */
    uint64_t pid;         /* 0: unknown */
    uint32_t thread_id;   /* JOIN: whose end it is, or WEFT_ID_NONE */
    uint32_t n_waiters;   /* threads that ever waited for it: 1 draws it grey (object colours) */
    uint32_t n_releasers; /* threads that ever released it */
    uint64_t waits, wait_ns;
    uint64_t uncontended; /* had at once: no waits */
    uint64_t releases;
    uint8_t kind;           /* enum weft_shared_kind */
    bool is_untold;         /* stands for all whose calls do not tell which one they are of */
    bool is_never_released; /* waited for, and nobody was ever seen to release it */
    bool is_reused;         /* another object was at its address before */
};

/* Where in a program: the innermost function that is no part of a lock, and its callers. */
struct weft_interplay_site {
    struct weft_str function; /* as shown; "(unknown)" if no source tells */
    struct weft_str path;     /* "main;run;step", outermost first, of calls or a sampled stack */
    struct weft_str call;     /* the function that waits or releases: "pthread_mutex_lock" */
    uint32_t function_id;     /* of `function`; WEFT_ID_NONE: not recorded by calls */
    uint32_t depth;           /* of the call that waits or releases, as calls nest; 0 without */
};

/* ---- correspondences ------------------------------------------------------------------------- */

/* A wait, and the release that ended it; or several that lie too close to be drawn apart (`count`
 * > 1): then times are the extremes, and the rest is of the pair with most time. */
struct weft_correspondence {
    uint64_t start_ns, end_ns;                  /* of the wait: first start, last end */
    uint64_t first_release_ns, last_release_ns; /* the same if count is 1; 0 without releaser */
    uint64_t count, sum_ns, longest_ns;         /* waits in it; sum of their durations */
    uint32_t waiter_id;
    uint32_t releaser_id;             /* WEFT_ID_NONE: `unknown` says why */
    uint32_t holder_id;               /* of an open wait, if known; else WEFT_ID_NONE */
    uint32_t object;                  /* place in objects */
    uint32_t wait_site, release_site; /* place in sites; release_site WEFT_ID_NONE without */
    uint32_t wait_depth;              /* of the call that waits; of a bundle: the least */
    uint32_t release_depth;
    uint32_t n_objects; /* different ones in the bundle; 1 if count is 1 */
    uint32_t n_awaited; /* of which any or all: descriptors, threads; 0: unknown, or one */
    uint8_t kind;       /* enum weft_shared_kind */
    uint8_t mode;       /* enum weft_wait_mode */
    uint8_t confidence; /* enum weft_surety; of a bundle the lowest */
    uint8_t flags;      /* enum weft_correspondence_flag; of a bundle: of any */
    uint8_t unknown;    /* enum weft_unknown_reason, if releaser_id is WEFT_ID_NONE */
};

/* In a window, for chosen threads. */
struct weft_correspondences_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_correspondence *rows; /* by start_ns, waiter_id, releaser_id */
    size_t n_rows;
    struct weft_shared_object *objects; /* those that rows name */
    size_t n_objects;
    struct weft_interplay_site *sites;
    size_t n_sites;
    uint64_t n_found;   /* waits that touch the window; the sum of count */
    uint64_t column_ns; /* waits shorter than this are bundled; 0: none is */
    uint64_t n_unknown; /* of them, without releaser */
};

/* ---- the interplay --------------------------------------------------------------------------- */

/* Waits from one function that were ended from another. */
struct weft_interplay_pair {
    uint32_t wait_site, release_site; /* their functions; release_site WEFT_ID_NONE: unknown */
    uint8_t kind;                     /* enum weft_shared_kind */
    uint64_t count, sum_ns, longest_ns, longest_at_ns;
    uint32_t longest_waiter_id;
    uint64_t confidence[WEFT_SURETIES]; /* waits of each */
};

/* A cell of the matrix: `waiter` waited for `releaser`. */
struct weft_interplay_cell {
    uint32_t waiter_id, releaser_id; /* releaser WEFT_ID_NONE: nobody known */
    uint64_t count, sum_ns, longest_ns, longest_at_ns;
    uint64_t known;             /* of count, those that a release of an object ended */
    uint32_t n_objects, object; /* different ones, and the one of most time */
};

struct weft_interplay_thread {
    uint32_t thread_id;
    uint64_t first_ns, last_ns; /* of its life, in the window */
    uint64_t waits, wait_ns, longest_wait_ns, longest_wait_at_ns;
    uint64_t io, io_ns;
    uint64_t releases;         /* calls that release */
    uint64_t uncontended;      /* acquisitions that had not to wait */
    uint64_t released;         /* waits of others that it ended */
    uint64_t released_ns;      /* their time */
    uint64_t failed, cut;      /* waits that ended without, that did not end */
    uint32_t main_releaser_id; /* for whom it waited longest, or WEFT_ID_NONE */
    uint64_t main_releaser_ns;
    uint32_t n_releasers;             /* threads that it waited for */
    uint32_t least_depth, most_depth; /* of the calls that release: varying depth means independent
                                        tasks, one depth a loop (ST-49) */
    bool never_waits;                 /* no wait and no blocking input or output in the window */
    bool waits_all_along;             /* one wait takes at least 95 % of its life */
};

enum weft_pattern_kind {
    WEFT_PATTERN_FARMER,        /* one thread ends the waits of several, which wait for it alone */
    WEFT_PATTERN_LEADER,        /* threads of one role take turns: each lets the next go */
    WEFT_PATTERN_CONVOY,        /* a lock goes from hand to hand, each waited for the one before */
    WEFT_PATTERN_PING_PONG,     /* two threads wait for each other in turn */
    WEFT_PATTERN_IDLE_WORKER,   /* does so little that it is superfluous */
    WEFT_PATTERN_IMBALANCE,     /* workers of one farmer, or of a barrier, differ in what they do */
    WEFT_PATTERN_UNBOUNDED,     /* waits its life long, without a timeout */
    WEFT_PATTERN_POLLING,       /* wakes by a timer again and again, in a steady period */
    WEFT_PATTERN_PERIOD_CHANGE, /* so, but in another period than before */
    WEFT_PATTERN_SHORT_WORK,    /* works for less time than it takes to wake it */
    WEFT_PATTERNS,
};

const char *weft_pattern_kind_name(enum weft_pattern_kind kind);  /* "farmer", "ping_pong" */
const char *weft_pattern_kind_title(enum weft_pattern_kind kind); /* "producer", for people */

/* A pattern, and what says so: `text` is one sentence with the numbers of the evidence. */
struct weft_interplay_pattern {
    uint8_t kind;       /* enum weft_pattern_kind */
    uint32_t thread_id; /* the one that it is about: farmer, idle worker, poller */
    uint32_t *others;   /* the other threads: workers */
    uint32_t n_others;
    uint32_t object;         /* place in objects, or WEFT_ID_NONE */
    uint64_t from_ns, to_ns; /* where it can be seen */
    uint64_t count;          /* waits, turns, acquisitions: by kind */
    uint64_t value_ns;       /* time waited, period: by kind */
    uint64_t before_ns;      /* PERIOD_CHANGE: the period before; SHORT_WORK: of the notification */
    uint64_t cost_ns;        /* how long threads were kept waiting; 0 of those that poll */
    double share;            /* of the thread's life, of the waits: by kind */
    bool is_further;         /* three of its kind cost more: comes after those of all kinds */
    struct weft_str text;
};

/* Where records of a thread are lost, if the trace says when: from its last word to its next one.
 */
struct weft_interplay_loss {
    uint64_t from_ns, to_ns, n_records;
    uint32_t thread_id;
};

/* What the sources can tell; what is not set cannot be known. */
enum weft_interplay_known {
    WEFT_KNOWN_CALLS = 1,       /* from where it waited and released, and nested calls */
    WEFT_KNOWN_OBJECTS = 2,     /* for what */
    WEFT_KNOWN_UNCONTENDED = 4, /* also what was had at once */
    WEFT_KNOWN_WAKEUPS = 8,     /* who woke whom: a kernel */
    WEFT_KNOWN_HOLDS = 16,      /* how long locks were held that nobody waited for */
    WEFT_KNOWN_IO = 32,
};

enum { WEFT_KNOWN_N = 6 };
const char *weft_known_name(unsigned place); /* "calls", of the bit 1 << place */
const char *weft_known_lack(unsigned place); /* what cannot be known without it: a sentence */

struct weft_interplay_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    /* Most waited for first; waits, had at once and releases are those of the threads asked for, in
     * the window, but that an object is never released is said of all. */
    struct weft_shared_object *objects;
    size_t n_objects;
    struct weft_interplay_site *sites;
    size_t n_sites;
    struct weft_correspondence *rows; /* the longest first; at most the limit */
    size_t n_rows;
    struct weft_interplay_pair *pairs; /* most time first */
    size_t n_pairs;
    struct weft_interplay_cell *cells; /* most time first */
    size_t n_cells;
    uint32_t headline;                     /* the cell to begin with, or WEFT_ID_NONE */
    struct weft_interplay_thread *threads; /* by thread_id; those that live in the window */
    size_t n_threads;
    struct weft_interplay_pattern *patterns; /* those of most cost first, but is_further last */
    size_t n_patterns;
    struct weft_interplay_loss *losses; /* that touch the window, by from_ns; of all threads */
    size_t n_losses;
    uint64_t n_lossy; /* waits for which it is doubtful what ended them, as records are lost */
    uint64_t calls[WEFT_BLOCKING_KINDS]; /* of each kind; OTHER: all other calls */
    uint64_t n_waits, wait_ns;           /* that touch the window; time inside it */
    uint64_t n_joined;                   /* of these, with a releaser: correspondences */
    uint64_t by_confidence[WEFT_SURETIES], by_unknown[WEFT_UNKNOWN_REASONS];
    uint64_t uncontended;
    uint64_t io, io_ns;
    uint64_t never_released, reused, lost; /* objects, objects, records that the sources lost */
    struct weft_left_out left_out;
    uint32_t known;   /* enum weft_interplay_known */
    uint32_t sources; /* enum weft_lock_source (schema/locks.h) */
};

/* ---- lanes of locks ---------------------------------------------------------------------------
 */

enum weft_lane_state {
    WEFT_LANE_HELD,        /* has it; nobody waits */
    WEFT_LANE_HELD_WAITED, /* has it while others wait */
    WEFT_LANE_WAITS,       /* waits for it */
    WEFT_LANE_STATES,
};

const char *weft_lane_state_name(enum weft_lane_state state); /* "held", "held_waited", "waits" */

/* Of one thread and one object. Pieces do not overlap. Where several lie in less than a column they
 * are one piece of the state of most time, and `count` and `ns` say what is in it. */
struct weft_lane_piece {
    uint64_t start_ns, end_ns;
    uint64_t ns[WEFT_LANE_STATES]; /* exact time of each state in the piece */
    uint32_t count;                /* intervals in it */
    uint8_t state;                 /* enum weft_lane_state */
};

struct weft_lock_lane {
    uint32_t thread_id;
    uint32_t object;                /* place in objects */
    uint64_t ns[WEFT_LANE_STATES];  /* in the window */
    struct weft_lane_piece *pieces; /* in order of time */
    size_t n_pieces;
};

struct weft_lock_lanes_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_lock_lane *lanes; /* by thread_id, then most waiting, then most holding first */
    size_t n_lanes;
    uint64_t n_found; /* lanes; may be more than the limit */
    struct weft_shared_object *objects;
    size_t n_objects;
};

/* ---- trees of waits, critical sections, and what holders did ----------------------------------
 */

/* Pre-order; of one caller, the one of most time first. */
struct weft_lock_tree_row {
    uint32_t parent; /* row, or WEFT_ID_NONE */
    uint32_t depth;
    struct weft_str name;
    uint32_t function_id; /* WEFT_ID_NONE: a sampled frame, a thread, an object */
    uint64_t count, sum_ns, self_ns;
};

struct weft_lock_tree_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_lock_tree_row *rows;
    size_t n_rows;
    uint64_t n_found;    /* contexts; rows may be fewer */
    uint64_t sum_ns;     /* of all */
    uint64_t unknown_ns; /* of it, where no source tells what was done */
};

/* ---- time of blocking -------------------------------------------------------------------------
 *
 * dur_w and dur_o of SyncTrace: outermost blocking calls alone count, so that times never count
 * twice. As calls of a thread nest, those of a call are those of the thread between its start and
 * its end: what a call is drawn on, is summed over its columns; one column is exact for a call. */

struct weft_blocking_column {
    uint32_t column;
    uint64_t wait_ns, io_ns;
};

struct weft_blocking_thread {
    uint32_t thread_id;
    struct weft_blocking_column *columns; /* ascending; only those with any */
    size_t n_columns;
    uint64_t wait_ns, io_ns; /* in the window */
    uint64_t waits, io;      /* outermost calls that touch it */
};

struct weft_blocking_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns; /* column i: from + i x (to - from) / width */
    uint32_t width;
    struct weft_blocking_thread *threads; /* by thread_id */
    size_t n_threads;
};

#endif
