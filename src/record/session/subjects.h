/* SPDX-License-Identifier: MIT
 *
 * Processes that run already and are to be recorded: by number, by name, by cgroup, by container,
 * with all that descend from them.
 */
#ifndef WEFT_RECORD_SESSION_SUBJECTS_H
#define WEFT_RECORD_SESSION_SUBJECTS_H

#include "base/error.h"
#include "base/map.h"
#include "record/session/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked for; together they add up. */
struct subjects_opts {
    uint32_t pid;       /* 0: none */
    const char *name;   /* of processes, as the kernel or their program's file has it; NULL: none */
    const char *cgroup; /* absolute, or below /sys/fs/cgroup; NULL: none */
    const char *container; /* its id, or the front of it; NULL: none */
    bool all;              /* every process */
    bool follows;          /* their descendants, too */
};

struct subject {
    uint32_t pid, parent;
    bool is_root; /* asked for, not only a descendant */
};

struct subjects {
    struct subjects_opts opts;
    struct {
        struct subject *items;
        size_t n, cap;
    };
    struct weft_map *of_pid;
    size_t n_matched;  /* processes that were asked for, each time they were met */
    char cgroup[4096]; /* folder of the cgroup or container; "": none */
    struct proc_text room;
};

/* WEFT_E_ARG: there is no such process, name, cgroup or container, or nothing runs in it. The
 * caller closes, also after a failure. */
WEFT_CHECKED enum weft_code subjects_open(const struct subjects_opts *opts,
                                          struct subjects *subjects, struct weft_err *err);
void subjects_close(struct subjects *subjects);

/* Adds what has come since: items from `*n_before` on. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code subjects_look_again(struct subjects *subjects, size_t *n_before,
                                                struct weft_err *err);

/* Adds a process that is asked for. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code subjects_add(struct subjects *subjects, uint32_t pid,
                                         struct weft_err *err);

/* Is a program at this path one of the name that is asked for? */
bool subjects_is_named(const struct subjects *subjects, const char *path);

#endif
