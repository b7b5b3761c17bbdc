/* SPDX-License-Identifier: MIT
 *
 * Executions: what a program does again and again, each from a begin to an end, and what is
 * measured of each (docs/analyses/executions.md). Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_EXECUTIONS_H
#define WEFT_SCHEMA_EXECUTIONS_H

#include "base/error.h"
#include "base/spool.h"
#include "base/str.h"
#include "schema/path.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_execution_flag {
    WEFT_EXECUTION_CUT_START = 1,  /* its begin lies before the trace */
    WEFT_EXECUTION_UNFINISHED = 2, /* its end was not seen: ends with the trace, or its thread */
    WEFT_EXECUTION_NESTED = 4,     /* within another one of its type, on its thread */
    WEFT_EXECUTION_LOSSY = 8,      /* events of its time are lost */
};

struct weft_execution_type {
    struct weft_str name;
    uint64_t count, unfinished;
    uint64_t lossy;          /* rows that have the flag */
    uint64_t left_out;       /* that ended, but not as the rule's condition on the whole demands */
    uint64_t ends_unmatched; /* ends that no begin belongs to */
};

struct weft_execution_row {
    uint32_t type;      /* place in types */
    uint32_t thread_id; /* that began it */
    uint32_t end_thread_id;
    uint32_t flags; /* enum weft_execution_flag */
    uint64_t start_ns, end_ns;
    uint64_t key; /* value of the matched field; 0 of types without one */
};

enum weft_metric_unit {
    WEFT_METRIC_NS,
    WEFT_METRIC_COUNT,
    WEFT_METRIC_BYTES,
    WEFT_METRIC_NUMBER, /* a user's own */
};

/* One value an execution; NAN: it has none, and counts as 0 (TC-67). */
struct weft_metric {
    struct weft_str name; /* "duration", "running", "blocked_lock", "page_faults" */
    enum weft_metric_unit unit;
    double *values; /* n_rows */
};

struct weft_executions_table {
    struct weft_arena *arena;
    struct weft_spool *spool;          /* rows and values lie in it; NULL: in the arena */
    struct weft_execution_type *types; /* in the order of their rules */
    size_t n_types;
    struct weft_execution_row *rows; /* by start_ns, end_ns descending, thread_id */
    size_t n_rows;
    struct weft_metric *metrics; /* "duration" first, then "start" */
    size_t n_metrics;
    uint64_t ends_unmatched; /* of all types */
};

/* What suggests a type of executions; the first is proposed first. */
enum weft_proposal_kind {
    WEFT_PROPOSAL_MARKED, /* by the program */
    WEFT_PROPOSAL_POINTS,
    WEFT_PROPOSAL_PRINTS,
    WEFT_PROPOSAL_TASKS,
    WEFT_PROPOSAL_SPANS,
    WEFT_PROPOSAL_CALLS, /* of a function that repeats */
    WEFT_PROPOSAL_CONNECTIONS,
    WEFT_PROPOSAL_TURNS, /* of a thread, from wait to wait */
    WEFT_PROPOSAL_KERNEL_POINTS,
    WEFT_PROPOSAL_KINDS,
};

/* In words: "marked by the program". */
const char *weft_proposal_why(enum weft_proposal_kind kind);

/* A type of executions that a trace suggests. */
struct weft_execution_proposal {
    struct weft_str name;   /* of the type */
    struct weft_str begin;  /* the rule, as users write it */
    struct weft_str end;    /* empty: `begin` is a rule for whole executions */
    struct weft_str match;  /* empty: none */
    struct weft_str within; /* empty: as it is without being said */
    enum weft_proposal_kind kind;
    uint64_t count;      /* of begins */
    bool is_part;        /* a function most calls of which are made by others that repeat */
    bool is_of_library;  /* calls of the C library, or C++'s, rather than the program's own */
    bool is_after_sleep; /* turns that begin when the thread has slept of itself */
};

/* What the name of a type of loop iterations says, "server after poll in run": of which threads,
 * from the end of which wait, and, where there are several such types, in which function (else
 * empty). Another name has no call. */
struct weft_loop_name {
    struct weft_str thread, call, function;
};

struct weft_loop_name weft_loop_name_of(struct weft_str type);

/* Are they of that thread, or of several whose names differ by a number? */
bool weft_loop_is_of_thread(const struct weft_loop_name *loop, struct weft_str thread);

/* Is it a type of iterations of a loop that waits for events of any of its descriptors (epoll)? */
bool weft_loop_is_of_events(struct weft_str type);

/* The values of the metric `name`, n_rows, or NULL. */
double *weft_executions_metric(const struct weft_executions_table *table, struct weft_str name);

/* The same; one that is not there yet is added, all its values NAN. WEFT_E_NOMEM; WEFT_E_IO where
 * a temporary file has no room. */
WEFT_CHECKED enum weft_code weft_executions_add_metric(struct weft_executions_table *table,
                                                       struct weft_str name,
                                                       enum weft_metric_unit unit, double **values,
                                                       struct weft_err *err);

/* An array of `count` objects that lives as long as the table, zeroed. Fails likewise. */
WEFT_CHECKED enum weft_code weft_executions_array(struct weft_executions_table *table, size_t count,
                                                  size_t object_bytes, void *array,
                                                  struct weft_err *err);

/* Who walks through rows calls this for each: what lies behind leaves memory now and then, if it is
 * in a file. */
enum { WEFT_EXECUTIONS_AT_ONCE = 1 << 16 };
static inline void weft_executions_passed(const struct weft_executions_table *table, size_t row)
{
    if (row % WEFT_EXECUTIONS_AT_ONCE == WEFT_EXECUTIONS_AT_ONCE - 1)
        weft_spool_forget(table->spool);
}

/* Stable names: "ns". */
const char *weft_metric_unit_name(enum weft_metric_unit unit);

/* What a critical path tells of its execution: the time in each state, the names of which are
 * "running", "preempted", "blocked_lock" ..., all WEFT_METRIC_NS. Each segment of the path counts
 * for one of them, so that they sum to the duration. Segments alone are read. */
enum { WEFT_EXECUTION_PATH_VALUES = 14 };
const char *weft_execution_path_value_name(unsigned place);
/* The state of a metric of that name, and of a wait its reason; false: it is of no state. */
bool weft_execution_path_value_of(struct weft_str metric, enum weft_path_state *state,
                                  enum weft_path_reason *reason);
void weft_execution_path_values(const struct weft_path_table *path, double *values); /* so many */

#endif
