/* SPDX-License-Identifier: MIT
 *
 * System calls in which a thread waited for long, as the kernel records them when the wait is over,
 * and futex calls that end such a wait. Futex calls become entries and exits of system calls, from
 * which locks are derived; others become calls of the functions that the library of operations
 * records (sleeps, polls, input and output). Both only where that library does not record them.
 */
#ifndef WEFT_INGEST_RECORDING_FUTEXES_H
#define WEFT_INGEST_RECORDING_FUTEXES_H

#include "base/map.h"
#include "ingest/recording/names.h"
#include "ingest/recording/rings.h"
#include "schema/recording.h"

struct rec_futex {
    uint64_t address;               /* first argument: of other calls mostly a descriptor */
    uint32_t pid, operation, value; /* arguments 2 and 3 of a futex call */
    uint32_t function; /* enum rec_known that stands for another call; REC_KNOWN: a futex */
    uint32_t site;     /* where it was waited for first, in `sites`; WEFT_ID_NONE: unknown */
    bool is_known;     /* the library of operations records it */
};

/* A call that a thread is in, and that was delivered. */
struct rec_futex_open {
    uint64_t since_ns; /* 1 + when it entered; 0: it is in none */
    uint32_t function; /* as above */
};

struct rec_futexes {
    struct weft_map *of_wait; /* (tid, when it left its CPU) -> index in `waits` */
    struct {
        uint32_t *items; /* index in `calls` */
        size_t n, cap;
    } waits;
    struct weft_map *of_call; /* mix of pid, address, operation -> index in `calls` */
    struct {
        struct rec_futex *items; /* one for each that differs */
        size_t n, cap;
    } calls;
    struct {
        struct rec_futex_open *items; /* by number of the thread */
        size_t n, cap;
    } open;
    struct weft_strtab *sites;
    uint64_t n_delivered;
};

bool rec_futexes_init(struct rec_futexes *futexes);
void rec_futexes_fini(struct rec_futexes *futexes);

/* Is the record of a call that is delivered, with its arguments? */
bool rec_futex_is(const struct weft_kernel_record *record);

/* Met in the survey: a call of a thread of `pid`. In *index its number. False without memory. */
bool rec_futexes_meet(struct rec_futexes *futexes, const struct weft_kernel_record *record,
                      const uint8_t *payload, uint32_t pid, uint32_t *index);
/* It is the one of the wait that began when the thread left its CPU at `left_ns`. */
bool rec_futexes_wait(struct rec_futexes *futexes, uint32_t tid, uint64_t left_ns, uint32_t index);

/* The wait was in this function. False without memory. */
bool rec_futexes_see_site(struct rec_futexes *futexes, uint32_t tid, uint64_t left_ns,
                          struct weft_str site);

/* After the survey of the kernel and of rings: which of them the library records, and names for the
 * others. False without memory. */
bool rec_futexes_end_survey(struct rec_futexes *futexes, const struct rec_rings *rings,
                            struct rec_names *names);

/* The call of the wait that begins now; NULL: none is known, or the library records it. */
const struct rec_futex *rec_futexes_of_wait(const struct rec_futexes *futexes, uint32_t tid,
                                            uint64_t left_ns);
/* The call of a record; likewise. */
const struct rec_futex *rec_futexes_of(struct rec_futexes *futexes, const uint8_t *payload,
                                       uint32_t pid);

/* The call that the thread is in. NULL without memory. */
struct rec_futex_open *rec_futexes_open(struct rec_futexes *futexes, uint32_t thread);

#endif
