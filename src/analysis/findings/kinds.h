/* SPDX-License-Identifier: MIT
 *
 * What the time of a node is: of which kind of problem, which lock it is spent on, and which thread
 * holds it up. From the frames of its path alone; for problems.c.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_KINDS_H
#define WEFT_ANALYSIS_FINDINGS_KINDS_H

#include "analysis/compare/names.h"
#include "schema/problems.h"

struct weft_kind {
    enum weft_problem_kind kind;
    enum weft_problem_kind otherwise; /* the same, but if a limit in time is planned: no late
                                       * wakeup, no time-out */
    const struct weft_frame *object;  /* a lock by name, or the call waited in; NULL: none */
    const struct weft_frame *where;   /* the function that asks for the lock; NULL: none known */
    const struct weft_frame *holder;  /* the thread waited for; NULL: none */
    const struct weft_frame
        *last; /* another one, that the holder waits for in the end; NULL: none */
    const struct weft_frame
        *preemptor;                /* what had the CPU instead, and is the last; NULL: not known */
    struct weft_path_part waiting; /* where the execution's own thread is */
    struct weft_path_part holding; /* where the holder is; empty without one */
    struct weft_path_part lasting; /* and the last one, likewise */
    bool is_of_end;                /* of a wait for the end of a thread */
    bool is_in_flight;             /* what ends the last thread's wait was sent before */
    bool is_of_pipe;               /* of a pool: of tokens in a pipe */
    bool is_timed_out;             /* of a wait for something else that a limit in time ended */
    enum weft_system_lock system_lock;
    uint64_t key; /* times of one key are one problem: the same lock and holder, the same wait */
};

/* Of a path, which must stay as long as what is pointed to. */
struct weft_kind weft_kind_of(const struct weft_frame_path *path);

/* The innermost function of the program in a part of a path; one of a library if there is no other;
 * NULL if none is known. */
const struct weft_frame *weft_kind_function(const struct weft_frame_path *path,
                                            const struct weft_path_part *part);

/* Makes a sleep of another thread a late wakeup: time is of that kind by what waits, whichever
 * thread comes late. Not that of a thread of an interpreter. */
void weft_kind_be_late(struct weft_kind *kind, const struct weft_frame_path *path);

/* Of a wait for a lock whose holder does what `end` is. */
enum weft_problem_kind weft_kind_of_lock(enum weft_problem_kind end);

/* Is it nothing that the execution's own program does? */
bool weft_kind_is_outside(enum weft_problem_kind kind);

#endif
