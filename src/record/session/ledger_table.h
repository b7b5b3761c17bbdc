/* SPDX-License-Identifier: MIT
 *
 * What the parts of the ledger share: its table of processes.
 */
#ifndef WEFT_RECORD_SESSION_LEDGER_TABLE_H
#define WEFT_RECORD_SESSION_LEDGER_TABLE_H

#include "base/map.h"
#include "record/session/ledger.h"
#include "record/session/proc.h"

enum {
    LEDGER_NONE = 0,
    LEDGER_LIBRARIES = 2,
    LEDGER_MOST = 1 << 18,
    LEDGER_NAME_BYTES = 1 << 25, /* of names, which programs report as they like */
};

/* A program that a process runs: until it runs another one, or ends. */
struct ledger_image {
    uint64_t start_ns;
    bool is_exec; /* not a copy of the parent's */
    bool is_stub; /* of the recorder's, before the program itself */
    bool has_ring;
    bool is_examined;
    uint8_t failure; /* enum weft_ledger_why, as its library reports */
    uint8_t why;     /* why it has no library, once examined */
};

/* What became of programs that a process has run. */
struct ledger_past {
    uint64_t from_ns, until_ns; /* that it was recorded; NO_TIME: from its start, to its end */
    bool has_covered;           /* one of them was recorded */
    bool has_uncovered;         /* another one was not */
    uint8_t uncovered_why;
};

struct ledger_process {
    uint32_t pid, parent;
    uint32_t before; /* the process that had this pid before it, + 1; 0: none */
    uint32_t name;   /* in `names`; so is exe, which /proc shows: 0 is not known */
    uint32_t exe;
    uint64_t start_ns, end_ns;
    struct ledger_image image, image_before;
    uint32_t name_before, exe_before;
    struct ledger_past past, past_before_end;
    bool is_target, is_known_to_kernel;
    bool is_forked;        /* the journal has reported its fork */
    bool inherits;         /* a copy of a parent that was recorded */
    uint8_t inherited_why; /* otherwise */
    bool expects_ring;     /* it was to make a ring at its fork */
    bool is_orphan;        /* /proc has shown it without its parent: what it runs may be a copy */
    bool is_damaged, is_changed;
    uint8_t failure; /* enum weft_ledger_why: one of its libraries has no ring, another may have */
    uint32_t n_live, n_kernel_threads, n_seen_threads;
    uint32_t n_library_threads[LEDGER_LIBRARIES], n_library_lost[LEDGER_LIBRARIES];
    uint64_t n_records, n_lost;
};

struct ledger_ring {
    uint32_t process; /* + 1; 0: not yet */
    uint32_t library;
    struct ledger_counts counts;
};

struct ledger_event {
    uint64_t time_ns;
    uint64_t order; /* as it was reported */
    uint32_t kind;  /* enum ledger_event_kind */
    uint32_t pid, tid, parent, value;
    uint32_t name;
    bool is_fork, is_new_program;
};

struct ledger {
    struct ledger_opts opts;
    bool has_kernel, has_begun, is_finished, has_no_memory, has_news;
    uint8_t why_finished; /* enum weft_ledger_why, of processes that run on */
    uint64_t now_ns;
    struct weft_map
        *further; /* pids of processes for which there was no place: at most LEDGER_MOST */
    uint64_t n_lost_reports;
    size_t n_name_bytes;
    uint64_t met_ns; /* threads that /proc showed then are counted */
    struct {
        struct ledger_process *items;
        size_t n, cap;
    } processes;
    struct {
        struct ledger_ring *items;
        size_t n, cap;
    } rings;
    struct {
        struct ledger_event *items;
        size_t n, cap;
    } events;
    size_t n_sorted; /* the first ones are in order */
    uint64_t n_events;
    struct weft_map *of_tid, *of_pid; /* -> place in the vectors below */
    struct {
        uint32_t *items; /* process + 1 */
        size_t n, cap;
    } by_tid, by_pid;
    struct weft_strtab *names;
    struct proc_text room, numbers_room;
};

/* The live process of a thread, or the last one of a pid; NULL: not of the program. */
struct ledger_process *ledger_of_tid(struct ledger *ledger, uint32_t tid);
struct ledger_process *ledger_of_pid(struct ledger *ledger, uint32_t pid);
void ledger_set_tid(struct ledger *ledger, uint32_t tid, const struct ledger_process *process);

/* A new process, whose first program is a copy of its parent's. NULL: the ledger is full, or
 * without memory. Pointers to others are not valid any more. */
struct ledger_process *ledger_add(struct ledger *ledger, uint32_t pid, uint32_t parent,
                                  uint64_t start_ns);

/* What programs report of processes is theirs to write. Is there one of that number, and it does
 * not descend from the program, as /proc shows, and is no orphan of `parent`? */
bool ledger_is_stranger(struct ledger *ledger, uint32_t pid, uint32_t parent);
/* May a process that is not in the table be of the program? It is there and descends from it, or is
 * gone, and `parent` does. */
bool ledger_has_place(struct ledger *ledger, uint32_t pid, uint32_t parent);

/* A copy of the parent, as far as that was recorded. */
void ledger_inherit(const struct ledger *ledger, struct ledger_process *child,
                    const struct ledger_process *parent);
/* The process runs another program from now on, or ran it when it ended. */
void ledger_exec(struct ledger *ledger, struct ledger_process *process, uint64_t at_ns);
void ledger_end(struct ledger *ledger, struct ledger_process *process, uint64_t at_ns);
/* The library is in the program that it runs, or ran when it ended. */
void ledger_cover(struct ledger *ledger, struct ledger_process *process);

/* Its parent's library records: so the process makes a ring at its fork, or is not recorded. */
void ledger_expect_ring(struct ledger *ledger, struct ledger_process *process);

/* Why the library is not in the program that it runs, if it is not. */
void ledger_examine(struct ledger *ledger, struct ledger_process *process);

/* 0, no name, when there are too many. */
uint32_t ledger_name(struct ledger *ledger, const char *name);
bool ledger_is_name(const struct ledger *ledger, uint32_t id, const char *name);

/* How much of it was recorded, as far as is known now. */
struct weft_ledger_process ledger_describe(const struct ledger *ledger,
                                           const struct ledger_process *process);

/* Adds what was counted since the last time. */
void ledger_apply_counts(struct ledger *ledger, struct ledger_ring *ring,
                         const struct ledger_counts *counts);

#endif
