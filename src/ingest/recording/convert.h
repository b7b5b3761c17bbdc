/* SPDX-License-Identifier: MIT
 *
 * From a recording to events of weft: what the parts of the importer share.
 *
 *     pieces --> clocks, spaces, rings            (whole file, once)
 *     records of the kernel, by time, twice       (kernel.c: threads, then events)
 *     units of rings, a thread at a time, twice   (survey.c: names, then deliver.c)
 */
#ifndef WEFT_INGEST_RECORDING_CONVERT_H
#define WEFT_INGEST_RECORDING_CONVERT_H

#include "base/checked.h"
#include "base/pool.h"
#include "ingest/recording/clocks.h"
#include "ingest/recording/ledger.h"
#include "ingest/recording/names.h"
#include "ingest/recording/rings.h"
#include "ingest/recording/starts.h"
#include "kernel/convert.h"

/* A thread that has streams. */
struct rec_thread {
    uint32_t thread; /* in kernel.threads */
    uint32_t first;  /* stream; they follow by `next` */
    uint32_t last;   /* stream */
    uint32_t pid;
    uint64_t last_ns;
    unsigned ended_libraries; /* bits: a slot of theirs was given back */
    bool is_ended;            /* the sink has got its end */
};

/* A thread began (pthread_t `handle`), so that the thread that created it can be found. */
struct rec_begin {
    uint64_t handle, ticks;
    uint64_t routine; /* address of its start routine */
    uint32_t pid, thread, image;
};

/* A set of epoll watches a descriptor, by which word of the program's own. */
struct rec_watch {
    uint64_t epoll_fd, word, ticks, fd;
    uint32_t pid;
};

/* The start or end of an execution whose other one is not of its thread. */
struct rec_loose_mark {
    uint64_t id, at_ns;
    uint32_t pid, thread; /* in `threads` */
    uint32_t type;        /* text */
    bool is_end;
};

/* A function whose calls were no longer recorded. */
struct rec_culled {
    uint64_t address, n_calls;
    uint32_t image;
};

struct rec_lost {
    uint64_t n_records, n_bad, at_off;
};

struct rec_convert {
    struct kernel_convert kernel; /* sink, threads, err; is_survey */
    const struct weft_run *run;
    struct rec_pieces pieces;
    struct rec_clocks clocks;
    struct rec_spaces spaces;
    struct rec_rings rings;
    struct rec_ledger ledger;
    struct rec_names names; /* its lock is that of all that follows, too */
    struct {
        struct rec_thread *items;
        size_t n, cap;
    } threads;
    struct {
        uint32_t *items; /* by thread of the kernel's table: its place in `threads`, or REC_NONE */
        size_t n, cap;
    } place_of;
    struct {
        struct rec_begin *items; /* by pid, handle, ticks, once surveyed */
        size_t n, cap;
    } begins;
    struct {
        struct rec_watch *items; /* by pid, set, word, ticks, once surveyed */
        size_t n, cap;
    } watches;
    struct {
        struct rec_loose_mark *items;
        size_t n, cap;
    } marks;
    struct {
        struct rec_culled *items;
        size_t n, cap;
    } culled;
    struct weft_strtab *mark_types;
    struct rec_starts starts;
    const struct rec_stacks *stacks; /* of waits, once surveyed; NULL */
    uint64_t n_futex_waits;
    uint64_t n_renamed; /* threads that are called after their start functions */
    uint64_t n_marks_dropped, n_lost_threads, n_skipped, n_further, n_lost_reports;
    uint64_t target;  /* process id of the program that was recorded; 0: no single one */
    bool follows;     /* its children are of it, too */
    uint64_t zero_ns; /* CLOCK_MONOTONIC of time 0 */
    uint64_t end_ns;  /* likewise, of the end of the recording */
    bool has_kernel;  /* there are its records */
    bool has_forks, has_irqs;
    bool has_futexes; /* of system calls these are recorded */
};

static inline struct weft_progress *rec_progress_of(const struct rec_convert *convert)
{
    return convert->run ? convert->run->progress : NULL;
}

/* Is the thread of the recorded program, as far as is known now? */
static inline bool rec_is_own(const struct rec_convert *convert, const struct kernel_thread *thread)
{
    const uint64_t pid = thread->pid ? thread->pid : thread->tid;
    return thread->is_own ||
           (pid && (pid == convert->target || rec_process_of(&convert->spaces, (uint32_t)pid)));
}

static inline uint64_t rec_time(const struct rec_convert *convert, size_t *at, uint64_t ticks)
{
    return kernel_time_since(rec_clock_ns(&convert->clocks, at, ticks), convert->zero_ns);
}

/* ---- kernel.c: gives streams to threads, meets the kernel's, delivers its records --------------
 */

struct rec_kernel;

WEFT_CHECKED enum weft_code rec_kernel_open(struct rec_convert *convert,
                                            struct rec_kernel **kernel);
void rec_kernel_close(struct rec_kernel *kernel); /* NULL is allowed */
WEFT_CHECKED enum weft_code rec_kernel_survey(struct rec_kernel *kernel);
/* Rings are surveyed, too. */
WEFT_CHECKED enum weft_code rec_kernel_end_survey(struct rec_kernel *kernel);
WEFT_CHECKED enum weft_code rec_kernel_deliver(struct rec_kernel *kernel);

/* ---- survey.c: what the records of a thread point to. From several workers at once. -------------
 */

WEFT_CHECKED enum weft_code rec_survey_thread(struct rec_convert *convert,
                                              struct rec_thread *thread, struct weft_err *err);
WEFT_CHECKED enum weft_code rec_survey_end(struct rec_convert *convert, struct weft_err *err);

/* Which function an operation stands for; REC_KNOWN: none. The end of a wait does not record
 * whether it had a limit: that is the function of one without. */
enum rec_known rec_known_of_op(unsigned op, int64_t argument);

/* ---- thread_names.c: threads without a name of their own, after the survey ---------------------
 */

WEFT_CHECKED enum weft_code rec_name_threads(struct rec_convert *convert);

/* ---- jit_notes.c: of code that was compiled while programs ran, once all stacks were made
 * -------
 */

WEFT_CHECKED enum weft_code rec_note_jit(struct rec_convert *convert);

/* ---- watches.c: which descriptor a set of epoll means by a word --------------------------------
 */

/* After the survey. */
void rec_watches_sort(struct rec_convert *convert);
/* The one that the process, or one that it was forked from, gave the word last before `ticks`;
 * false: it is not recorded. O(log n). */
bool rec_watch_find(const struct rec_convert *convert, const struct rec_watch *asked, uint64_t *fd);

/* ---- deliver.c: its calls and events, in order of time. From several workers at once. ----------
 */

WEFT_CHECKED enum weft_code rec_deliver_thread(struct rec_convert *convert,
                                               struct rec_thread *thread, struct weft_err *err);
/* Executions that began in one thread and ended in another. */
WEFT_CHECKED enum weft_code rec_deliver_marks(struct rec_convert *convert);

#endif
