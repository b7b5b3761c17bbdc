/* SPDX-License-Identifier: MIT
 *
 * The recorded processes: their ring files, as they appear in the folder, what was mapped where,
 * and when they are gone.
 */
#ifndef WEFT_RECORD_SESSION_PROGRAMS_H
#define WEFT_RECORD_SESSION_PROGRAMS_H

#include "base/map.h"
#include "record/session/asks.h"
#include "record/session/filter.h"
#include "record/session/jit_maps.h"
#include "record/session/journal.h"
#include "record/session/proc.h"
#include "record/session/ring_file.h"

#include <limits.h>

struct program {
    uint32_t pid;
    int pidfd;    /* -1: none */
    bool is_gone; /* its last words were read */
    uint32_t n_files;
    uint64_t maps_mark; /* of what was mapped when that was last written */
};

struct programs {
    char *folder; /* of the rings */
    int folder_fd, notify_fd;
    struct asks asks; /* of processes that cannot use the folder */
    struct session_output *output;
    struct ring_reading reading;
    struct {
        struct ring_file *items;
        size_t n, cap;
    } files;
    struct {
        struct program *items;
        size_t n, cap;
    } programs;
    struct weft_strtab *paths;     /* modules whose build ids were written */
    struct session_filter *filter; /* gets modules; NULL: none */
    struct proc_text room, maps;
    bool has_new;          /* a file may have appeared */
    uint64_t lost;         /* words of files that are closed */
    uint32_t n_all;        /* programs so far */
    char exe[PATH_MAX];    /* of the process that was reported last */
    struct ledger *ledger; /* NULL: none */
    struct journal journal;
    struct namespaces spaces;
    struct jit_maps jit; /* of code that has no file */
    double ns_per_tick;
    struct weft_clock_pair pair; /* the last one */
};

/* Makes the folder in memory (/dev/shm, else $TMPDIR or /tmp), locked as long as it is open: if it
 * is unlocked, its recorder is gone. WEFT_E_IO, WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code programs_open(struct programs *programs, struct session_output *output,
                                          struct trigger *trigger, struct weft_err *err);
void programs_close(struct programs *programs);

/* Looks for new files and processes that are gone, and reads words. `is_due`: all of them. */
WEFT_CHECKED enum weft_code programs_poll(struct programs *programs, bool is_due,
                                          struct weft_err *err);

/* No program writes any more; what stands in the rings is read. */
WEFT_CHECKED enum weft_code programs_stop(struct programs *programs, struct weft_err *err);

/* What is known of a process before it is asked. */
struct program_news {
    uint32_t pid, parent;
    uint32_t pid_namespace; /* of its own numbers, if that is another one; else 0 */
    uint64_t start_ns;      /* of the program that it runs */
    const char *name;       /* of its ring file; NULL: it has none */
    uint64_t *maps_mark;    /* of what was written last, where it has no rings; else NULL */
    bool is_new;  /* its program was not written yet; else only its maps may have changed */
    bool is_past; /* it runs another program by now, or is gone */
};

/* Writes about a process: what it runs, and its maps. Also of those that have no rings. */
WEFT_CHECKED enum weft_code programs_tell(struct programs *programs,
                                          const struct program_news *news, struct weft_err *err);

/* Writes that a process was forked, which runs what its parent runs. */
WEFT_CHECKED enum weft_code programs_tell_fork(struct programs *programs, uint32_t pid,
                                               uint32_t parent, uint64_t start_ns,
                                               struct weft_err *err);
/* Writes that it has ended. */
WEFT_CHECKED enum weft_code programs_tell_end(struct programs *programs, uint32_t pid,
                                              uint64_t end_ns, struct weft_err *err);

/* Does the process have rings, or had it until it became another program? */
bool programs_has(const struct programs *programs, uint32_t pid);

/* Words that found no room. */
uint64_t programs_lost(const struct programs *programs);

#endif
