/* SPDX-License-Identifier: MIT
 *
 * A critical path: what a thread was doing, and waiting for, from one point of time to another
 * (docs/analyses/critical-path.md).
 */
#ifndef WEFT_SCHEMA_PATH_H
#define WEFT_SCHEMA_PATH_H

#include "schema/event.h"
#include "schema/locks.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread does. */
enum weft_path_state {
    WEFT_PATH_UNKNOWN, /* before its first event, or where events are lost */
    WEFT_PATH_RUNNING, /* whether in user mode or the kernel is unknown */
    WEFT_PATH_USER,
    WEFT_PATH_KERNEL,
    WEFT_PATH_INTERRUPTED,
    WEFT_PATH_PREEMPTED, /* could run, and has no processor */
    WEFT_PATH_BLOCKED,
    WEFT_PATH_STATES,
};

/* What a blocked thread waits for. */
enum weft_path_reason {
    WEFT_PATH_NO_REASON, /* it is not blocked */
    WEFT_PATH_TIMER,
    WEFT_PATH_NETWORK,
    WEFT_PATH_BLOCK_DEVICE,
    WEFT_PATH_DEVICE,
    WEFT_PATH_IPI,
    WEFT_PATH_THREAD,
    WEFT_PATH_LOCK,
    WEFT_PATH_TASK,          /* for a message, or for something to do */
    WEFT_PATH_IDLE,          /* woken where nothing ran: by an interrupt that was not recorded */
    WEFT_PATH_WAKER_UNKNOWN, /* nothing tells who ended it */
    WEFT_PATH_CALL,          /* nor that; it is in a call, by name, that waits for descriptors */
    WEFT_PATH_REASONS,
};

enum weft_path_flag {
    WEFT_PATH_IN_FLIGHT = 1,   /* what ended the wait was under way: sent, and not yet arrived */
    WEFT_PATH_UNCERTAIN = 2,   /* who ended the wait is inferred */
    WEFT_PATH_CYCLE = 4,       /* its waker waits itself, for this very path: not followed */
    WEFT_PATH_TOO_DEEP = 8,    /* too many waits within waits: not followed */
    WEFT_PATH_UNFINISHED = 16, /* the wait continues after the end of the path */
    WEFT_PATH_TIMED_OUT = 32,  /* a wait for something else that ended because its time was over */
};

/* How one thread acts on another. */
enum weft_path_edge {
    WEFT_PATH_WAKEUP,
    WEFT_PATH_PACKET,
    WEFT_PATH_RELEASE, /* of a lock */
    WEFT_PATH_FLOW,    /* a message, a task posted */
    WEFT_PATH_FORK,
    WEFT_PATH_SIGNAL,  /* of a condition */
    WEFT_PATH_ARRIVAL, /* the last one, at a barrier */
    WEFT_PATH_END,     /* of a thread that is joined */
    WEFT_PATH_WAIT, /* of an arrow: from who waits to the thread whose doings stand for the wait */
    WEFT_PATH_EDGES,
};

/* Stable names ("running_user", "block_device", "in_flight", "wakeup"). */
const char *weft_path_state_name(enum weft_path_state state);
const char *weft_path_reason_name(enum weft_path_reason reason);
const char *weft_path_edge_name(enum weft_path_edge edge);

struct weft_path_segment {
    uint64_t start_ns, end_ns;
    uint32_t thread_id;
    uint32_t depth;           /* waits between the thread asked for and this one */
    uint32_t other_thread_id; /* BLOCKED: who ended the wait, or of a block device who else used it
                                 most; PREEMPTED: who had the processor longest; or WEFT_ID_NONE */
    uint32_t other_function_id; /* PREEMPTED: in which that one was longest, or WEFT_ID_NONE */
    uint64_t other_ns;     /* for how long it had the processor; or its requests took, together */
    int32_t cpu;           /* -1 unknown */
    uint32_t function_id;  /* in which it was longest, or WEFT_ID_NONE */
    uint64_t function_ns;  /* for how long */
    struct weft_str name;  /* of the interrupt or device, else of the system call; may be empty */
    struct weft_str span;  /* named interval that covers most of it; may be empty */
    uint64_t span_ns;      /* for how long */
    struct weft_str stack; /* of samples, folded: where it waits, or was most; may be empty */
    struct weft_str other_stack; /* the same of who had the processor */
    uint8_t state;               /* enum weft_path_state */
    uint8_t reason;              /* enum weft_path_reason */
    uint8_t flags;               /* enum weft_path_flag */
};

/* A wait that was not followed to the thread that ended it (or, if it did not end, has to); a state
 * that is unknown. Reasons such as the network say only what for. What is in flight was followed.
 */
bool weft_path_is_unexplained(const struct weft_path_segment *segment);

/* Times never descend: from_ns <= to_ns. */
struct weft_path_arrow {
    uint64_t from_ns, to_ns;
    uint32_t from_thread_id, to_thread_id;
    uint64_t
        wait_ns;   /* of the part of the path that the source's doings stand for, and the flight */
    uint32_t lock; /* place in locks + 1 of what was waited for; 0: none, or not known */
    uint8_t edge;  /* enum weft_path_edge */
    uint8_t flags; /* UNCERTAIN */
};

/* What the path went through: waits that it followed to whoever ended them. */
struct weft_path_lock_row {
    struct weft_lock_object object;
    uint8_t edge; /* enum weft_path_edge */
    uint64_t count, sum_ns, longest_ns;
};

struct weft_path_thread_row {
    uint32_t thread_id;
    uint64_t segments, sum_ns;
    uint64_t by_state_ns[WEFT_PATH_STATES];
};

struct weft_path_reason_row {
    uint8_t state, reason;
    uint64_t segments, sum_ns;
};

/* Of a thread's segments, the time in which a function was the innermost. */
struct weft_path_function_row {
    uint32_t function_id;
    uint64_t running_ns, waiting_ns; /* blocked, preempted and unknown */
};

/* Of the path, the time that stands under the name of a span, as segments are named. */
struct weft_path_span_row {
    struct weft_str name;
    uint64_t running_ns, waiting_ns;
};

/* Who had the processor while the path waited for it; or whose requests kept a block device busy
 * while the path waited for that. */
struct weft_path_other_row {
    uint32_t thread_id;
    uint64_t sum_ns;
};

struct weft_path_table {
    struct weft_arena *arena;
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
    struct weft_path_segment *segments; /* in order of time; they tile [from_ns, to_ns] */
    size_t n_segments;
    struct weft_path_arrow *arrows; /* by from_ns, then to_ns */
    size_t n_arrows;
    struct weft_path_thread_row *threads; /* longest first */
    size_t n_threads;
    struct weft_path_reason_row *reasons; /* longest first */
    size_t n_reasons;
    struct weft_path_function_row *functions; /* longest first; functions of one name together */
    size_t n_functions;
    struct weft_path_span_row *spans; /* longest first */
    size_t n_spans;
    struct weft_path_lock_row *locks; /* longest first */
    size_t n_locks;
    struct weft_path_other_row *preemptors; /* longest first */
    size_t n_preemptors;
    struct weft_path_other_row *sharers; /* of block devices; longest first */
    size_t n_sharers;
    uint64_t unexplained_ns; /* unknown, or blocked and not followed to what ended it */
    uint64_t uncertain_ns;   /* reached over inferred edges, or waits with inferred reasons */
    uint64_t n_cycles, n_too_deep;
    bool has_kernel; /* states are those of the kernel, not inferred from calls and locks */
};

#endif
