/* SPDX-License-Identifier: MIT
 *
 * The ledger of a recording: each process of the recorded program, and how much of it was recorded.
 */
#ifndef WEFT_SCHEMA_LEDGER_H
#define WEFT_SCHEMA_LEDGER_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_ledger_state {
    WEFT_LEDGER_RECORDED,     /* on all levels that were asked for, as long as it ran */
    WEFT_LEDGER_PARTLY,       /* not on all levels, not all the time, or with losses */
    WEFT_LEDGER_NOT_RECORDED, /* on no level */
    WEFT_LEDGER_STATES,
};

/* Why a process was not recorded, or only partly. Numbers are part of the file formats. */
enum weft_ledger_why {
    WEFT_LEDGER_NO_REASON,
    WEFT_LEDGER_STATIC,       /* no dynamic linker: nothing can be loaded into it */
    WEFT_LEDGER_PRIVILEGED,   /* setuid, setgid or file capabilities: likewise */
    WEFT_LEDGER_OTHER_LIBC,   /* a dynamic linker that is not glibc's */
    WEFT_LEDGER_OTHER_ABI,    /* a program of another architecture or word size */
    WEFT_LEDGER_ENVIRONMENT,  /* started with an environment that does not name the library */
    WEFT_LEDGER_NOT_LOADED,   /* the library was not seen in it; no other reason was found */
    WEFT_LEDGER_UNREACHABLE,  /* its library could not open a ring: user, root folder, limits */
    WEFT_LEDGER_NO_MEMORY,    /* there was no memory for its rings */
    WEFT_LEDGER_NO_FOLLOW,    /* a child, and --no-follow was given */
    WEFT_LEDGER_RECORDS_LOST, /* records found no room in its rings */
    WEFT_LEDGER_THREADS_LOST, /* threads found no ring */
    WEFT_LEDGER_OUTLIVED,     /* it ran on when the recording ended, as was asked for */
    WEFT_LEDGER_KILLED,       /* it ran on when the recorder was killed */
    WEFT_LEDGER_STOPPED,      /* it ran on when the file could take no more */
    WEFT_LEDGER_ATTACHED,     /* it ran already when the recording began */
    WEFT_LEDGER_NO_LIBRARY,   /* weft's libraries were not found */
    WEFT_LEDGER_DAMAGED,      /* its rings hold what no library of weft writes */
    WEFT_LEDGER_NO_CLOCK,     /* it may not read the clock */
    WEFT_LEDGER_UNDECIDED,    /* the recorder ended before it had looked */
    WEFT_LEDGER_NO_KERNEL,    /* the kernel is recorded, and its records of the process were lost */
    WEFT_LEDGER_WHYS,
};

/* Levels that a process was recorded on; bits. */
enum { WEFT_LEDGER_BY_KERNEL = 1, WEFT_LEDGER_BY_LIBRARY = 2, WEFT_LEDGER_LEVELS = 3 };

/* A time that is not known, or has not come. */
#define WEFT_LEDGER_NO_TIME UINT64_MAX

struct weft_ledger_process {
    uint64_t pid, parent; /* 0: not known */
    uint32_t host_id;
    uint8_t state; /* enum weft_ledger_state */
    uint8_t why;   /* enum weft_ledger_why */
    uint8_t levels;
    uint64_t start_ns, end_ns;          /* of the process */
    uint64_t from_ns, until_ns;         /* recorded; NO_TIME: from its start, to its end */
    uint32_t n_threads, n_lost_threads; /* that existed; of them found no ring */
    uint64_t n_records, n_lost_records; /* of the library */
    struct weft_str name;               /* the program that it ran last */
};

/* "recorded", "partly", "not_recorded"; stable. */
const char *weft_ledger_state_name(unsigned state);
/* "static_program", stable; and for people, "a static program: no library can be loaded". */
const char *weft_ledger_why_name(unsigned why);
const char *weft_ledger_why_text(unsigned why);
/* Was it asked for, by an option or by attaching? Then nothing is lost that should be there. */
bool weft_ledger_is_asked_for(unsigned why);

/* Sums over processes. */
struct weft_ledger_totals {
    uint64_t n_processes, n_in_state[WEFT_LEDGER_STATES];
    uint64_t n_missing;                  /* partly or not recorded, and that was not asked for */
    uint64_t n_by_why[WEFT_LEDGER_WHYS]; /* partly or not recorded */
    uint64_t n_threads, n_lost_threads, n_lost_records;
};

/* "3 processes: 1 recorded, 1 partly, 1 not (2 static program: ...)"; "3 processes, all recorded".
 * Cut to what fits, with its NUL. */
void weft_ledger_describe(const struct weft_ledger_totals *totals, char *text, size_t n_text);

void weft_ledger_add(struct weft_ledger_totals *totals, const struct weft_ledger_process *process);

#endif
