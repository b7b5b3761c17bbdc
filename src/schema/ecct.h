/* SPDX-License-Identifier: MIT
 *
 * Enhanced calling context trees: where the time of an execution went, on all threads that it
 * depended on (docs/analyses/ecct.md; ALGORITHMS.md section 7, TraceCompare 3.1 and 3.3.2), and
 * many of them in one matrix, to be compared.
 */
#ifndef WEFT_SCHEMA_ECCT_H
#define WEFT_SCHEMA_ECCT_H

#include "base/str.h"
#include "schema/executions.h"
#include "schema/path.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_frame_kind {
    WEFT_FRAME_FUNCTION, /* of a stack, a span, a system call */
    WEFT_FRAME_STATE,    /* an artificial frame: "running", "preempted", "blocked: timer" */
    WEFT_FRAME_LOCK,     /* what was waited for, if its name says more than its address */
    WEFT_FRAME_THREAD,   /* the path goes on in a thread of this name: its frames follow */
    WEFT_FRAME_KINDS,
};

/* How much of a node's time is known; the least certain edge on the way to it. */
enum weft_confidence {
    WEFT_CONFIDENCE_EXACT,
    WEFT_CONFIDENCE_INFERRED,
    WEFT_CONFIDENCE_UNEXPLAINED,
    WEFT_CONFIDENCES,
};

/* Stable names: "function", "exact". */
const char *weft_frame_kind_name(enum weft_frame_kind kind);
const char *weft_confidence_name(enum weft_confidence confidence);

/* What a state is, whatever it is called. */
enum weft_frame_state {
    WEFT_FRAME_NO_STATE, /* the frame is of another kind */
    WEFT_FRAME_UNKNOWN,
    WEFT_FRAME_RUNNING,
    WEFT_FRAME_INTERRUPTED,
    WEFT_FRAME_PREEMPTED,
    WEFT_FRAME_BLOCKED,
    WEFT_FRAME_STATES,
};

const char *weft_frame_state_name(enum weft_frame_state state); /* stable: "blocked"; "none" */

enum weft_frame_flag {
    WEFT_FRAME_IN_FLIGHT = 1,   /* BLOCKED: what ended the wait was under way */
    WEFT_FRAME_TIMED_OUT = 2,   /* BLOCKED: for something that did not come in time */
    WEFT_FRAME_IN_CALL = 4,     /* BLOCKED, of the reason CALL: the name ends with the call */
    WEFT_FRAME_WRAPS_WAITS = 8, /* FUNCTION: its callers wait in it for different things */
    WEFT_FRAME_OF_CHILD = 16, /* THREAD: the process of the path's first thread started its own; */
    WEFT_FRAME_OF_PROCESS = 32, /* or both are of one process; neither: not known, or of others */
    WEFT_FRAME_OF = WEFT_FRAME_OF_CHILD | WEFT_FRAME_OF_PROCESS,
};

struct weft_frame {
    struct weft_str name;
    struct weft_str module; /* may be empty */
    uint8_t kind;           /* enum weft_frame_kind */
    uint8_t state;          /* enum weft_frame_state */
    uint8_t reason;         /* enum weft_path_reason, if it is blocked */
    uint8_t flags;          /* enum weft_frame_flag */
    uint8_t waited_for; /* of a thread that ended a wait: 1 + the enum weft_lock_kind of what was
                         * waited for; 0: unknown, or no lock */
    /* What its name says, once it was asked for: 1 + the answer; 0: not asked for yet. */
    uint8_t is_library; /* analysis/compare/names.h */
    uint8_t in_call;    /* analysis/findings/calls.h */
    uint8_t in_lock;    /* analysis/findings/system_locks.h */
};

/* Such an answer; any number of threads may ask at a time. */
static inline uint8_t weft_frame_known(const uint8_t *answer)
{
    return __atomic_load_n(answer, __ATOMIC_RELAXED);
}

static inline void weft_frame_know(const uint8_t *answer, uint8_t value)
{
    __atomic_store_n((uint8_t *)(uintptr_t)answer, value, __ATOMIC_RELAXED);
}

/* The state in which a thread is for that reason: "blocked: lock, in flight". Of the reason CALL
 * the call that it waits in: "blocked: in recv". */
bool weft_frame_is_blocked(const struct weft_frame *frame, enum weft_path_reason reason,
                           uint8_t flags);
struct weft_str weft_frame_call(const struct weft_frame *frame);

/* What a blocked thread waits for, as its name says it: "lock, in flight", "poll, timed out". */
struct weft_str weft_frame_wait(const struct weft_frame *frame);

/* Sets state, reason and flags by the name: of states that are kept by name alone, as in databases
 * of versions 1 to 3. */
void weft_frame_read_state(struct weft_frame *frame);

/* A node of the generic tree, the union of the trees of all executions. Node 0 is the root, without
 * a frame; a parent is before its children. */
struct weft_ecct_node {
    uint32_t parent; /* WEFT_ID_NONE for the root */
    uint32_t frame;
    uint8_t confidence; /* enum weft_confidence: the least of any execution's */
};

/* How often executions call the function that takes longer, and how long a call lasts. */
struct weft_work {
    bool is_known;
    struct weft_str function;
    double usual_calls, slow_calls; /* an execution */
    double usual_ns, slow_ns;       /* a call */
};

/* What is known of a trace, and of how its executions were chosen, when it is judged why they are
 * slow. */
struct weft_source_facts {
    bool is_known;        /* else all is 0: a database of an earlier version, or nobody asked */
    uint64_t recorded_ns; /* how long was recorded */
    uint64_t records;
    bool counts_losses; /* the source says what it lost; else lost_records is 0, and unknown */
    uint64_t lost_records;
    bool has_switches;   /* scheduling events are recorded */
    bool has_saturation; /* the rest is known: see analysis/states/saturation.h */
    double own_cpu, other_cpu, idle_cpu, bound;
    bool is_proposed;       /* the executions are a function that repeats, or a thread's turns */
    bool is_part;           /* and most calls of it are parts of others */
    bool is_turn;           /* turns of a thread, from one wait to the next */
    bool is_after_sleep;    /* turns, from the end of the thread's own sleep */
    struct weft_str wholes; /* functions of the trace that repeat, a NUL behind each; or empty */
    struct weft_work work;  /* of executions that are proposed */
};

struct weft_execution_source {
    struct weft_str path; /* of the trace, as it was given */
    struct weft_str host;
    struct weft_str tag;   /* version, configuration, run: what the user called it; may be empty */
    struct weft_str rules; /* file of rules, whose dependencies the paths follow; mostly empty */
    uint64_t id;
    uint64_t realtime_ns; /* wall clock at the trace's start; 0 unknown */
    struct weft_source_facts facts;
};

/* What the table of sources says of one, however it came about. */
struct weft_source_info {
    struct weft_str type, tag, host, path;
    uint64_t executions, unfinished;
    uint64_t realtime_ns; /* wall clock at the trace's start; 0 unknown */
    bool is_complete;     /* all of its executions are there */
};

struct weft_execution_item {
    uint64_t id; /* in the database */
    uint32_t source;
    uint32_t flags; /* enum weft_execution_flag */
    uint64_t tid;
    struct weft_str thread;    /* name */
    uint64_t start_ns, end_ns; /* since the start of its trace */
};

/* Executions and their trees: row e of the sparse matrix is [starts[e], starts[e + 1]) of node and
 * ns, by node; their ns are exclusive and sum to the duration of the execution, exactly. */
struct weft_ecct_matrix {
    struct weft_arena *arena;
    struct weft_frame *frames;
    size_t n_frames;
    struct weft_ecct_node *nodes;
    size_t n_nodes;
    struct weft_execution_source *sources; /* traces, or runs, of which they are */
    size_t n_sources;
    struct weft_execution_item *items; /* in order of their ids */
    size_t n_items;
    uint64_t *starts; /* n_items + 1 */
    uint32_t *node;
    uint64_t *ns;
    struct weft_metric *metrics; /* "duration" first, then "start"; values by item */
    size_t n_metrics;
    uint64_t n_damaged;         /* executions left out: damaged rows of a database */
    uint64_t n_damaged_metrics; /* metrics of its sources left out, likewise */
    uint64_t n_damaged_facts;   /* sources of whose traces nothing is known, likewise */
    uint64_t n_partial; /* sources of a database of which not all executions were added: who did so
                         * was killed, or is still at it */
};

/* Executions whose end was not seen. */
uint64_t weft_ecct_matrix_unfinished(const struct weft_ecct_matrix *matrix);

/* Durations of all executions together. O(executions). */
double weft_ecct_matrix_time_ns(const struct weft_ecct_matrix *matrix);

#endif
