/* SPDX-License-Identifier: MIT
 *
 * Processes that the kernel alone shows: those that ran before the recording, and those that load
 * no library of weft. Of each the recorder writes what it runs and what it has mapped, so that
 * addresses in its stacks have names; a child of fork has what its parent had.
 */
#ifndef WEFT_RECORD_SESSION_FOLLOWED_H
#define WEFT_RECORD_SESSION_FOLLOWED_H

#include "record/session/programs.h"
#include "record/session/subjects.h"
#include "schema/recording.h"

struct followed_process {
    uint32_t pid, parent;
    uint32_t n_threads; /* 0: it has ended, and its place is free */
    uint32_t n_looks;
    uint64_t start_ns;  /* of the program that it runs */
    uint64_t seen_ns;   /* /proc has shown it; 0: its fork did */
    uint64_t due_ns;    /* when its maps are read again */
    uint64_t maps_mark; /* of what was mapped when that was last written */
    bool is_told;       /* its program was written */
    bool has_library;   /* its rings' reader writes about it */
};

struct followed {
    struct programs *programs;
    bool has_library; /* libraries are loaded into programs */
    bool follows;     /* children, too */
    struct weft_map *of_tid;
    struct {
        uint32_t *items; /* by index of `of_tid`: place of its process + 1; 0: none */
        size_t n, cap;
    } by_tid;
    struct {
        struct followed_process *items;
        size_t n, cap;
    } processes;
    struct {
        uint32_t *items; /* places that are free */
        size_t n, cap;
    } unused;
};

/* False without memory. */
bool followed_open(struct followed *followed, struct programs *programs, bool has_library,
                   bool follows);
void followed_close(struct followed *followed);

/* A process that is there, with the threads that it has; it has run its program since `start_ns`.
 * Unless libraries are loaded into it, what it runs and has mapped is written at once.
 * WEFT_E_NOMEM, and what programs_tell returns. */
WEFT_CHECKED enum weft_code followed_add(struct followed *followed, uint32_t pid, uint32_t parent,
                                         uint64_t start_ns, struct weft_err *err);

/* A record of the kernel: only FORK, EXEC and EXIT of threads of such processes matter. */
WEFT_CHECKED enum weft_code followed_take(struct followed *followed,
                                          const struct weft_kernel_record *record,
                                          struct weft_err *err);

/* Reads maps that may have changed; `all`: of all processes, for the last time. */
WEFT_CHECKED enum weft_code followed_poll(struct followed *followed, uint64_t now_ns, bool all,
                                          struct weft_err *err);

#endif
