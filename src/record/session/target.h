/* SPDX-License-Identifier: MIT
 *
 * The program that is recorded: started, held until all is ready, let go, waited for.
 */
#ifndef WEFT_RECORD_SESSION_TARGET_H
#define WEFT_RECORD_SESSION_TARGET_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
    pid_t pid;  /* 0: there is none */
    int pidfd;  /* -1: none */
    int go_fd;  /* closing it lets the program go */
    int ask_fd; /* gives the reason why it could not be run */
    bool has_ended;
    bool is_tree;    /* orphans of the program become children of the recorder, which reaps them */
    bool has_rest;   /* of a tree: processes of it still exist */
    bool was_reaper; /* before */
    int status;      /* as wait gives it */
    uint64_t cpu_ns; /* it, the children it waited for, and orphans */
    /* Called for each process that was waited for, the program as well; may be NULL. */
    void (*reaped)(void *context, pid_t pid, int status);
    void *context;
};

struct target_opts {
    char *const *argv;
    const char *folder;  /* of the rings; NULL: nothing is loaded into it */
    const char *ask;     /* of the recorder's socket; NULL: there is none */
    const char *preload; /* libraries, with colons between; "" none */
    bool follows;        /* its children are recorded, too */
    bool waits_for_tree; /* until no descendant is left */
    bool with_operations;
};

/* Starts a process that waits to become the program. WEFT_E_IO. */
WEFT_CHECKED enum weft_code target_start(const struct target_opts *opts, struct target *target,
                                         struct weft_err *err);
/* Lets it go; a program that cannot be run is WEFT_E_ARG, and was waited for. */
WEFT_CHECKED enum weft_code target_go(struct target *target, const char *name,
                                      struct weft_err *err);
/* Has it ended? `waits`: until it has, or a signal comes. Reaps orphans of a tree, too. */
bool target_poll(struct target *target, bool waits);
void target_signal(const struct target *target, int number);
void target_close(struct target *target);

/* What a shell would say: its status, or 128 and the signal that ended it. */
int target_exit_status(const struct target *target);

#endif
