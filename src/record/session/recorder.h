/* SPDX-License-Identifier: MIT
 *
 * The recorder (docs/record.md): runs a program, or looks at one that runs, and writes what the
 * levels record of it to a recording.
 */
#ifndef WEFT_RECORD_SESSION_RECORDER_H
#define WEFT_RECORD_SESSION_RECORDER_H

#include "base/error.h"
#include "base/pool.h"
#include "schema/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How it goes. */
struct weft_recorder_state {
    uint64_t events, lost, bytes; /* so far */
    uint64_t unwritten_bytes;     /* of what was read: the file could take no more */
    uint64_t elapsed_ns;
    uint64_t own_cpu_ns; /* of the recorder, and of its programs in the kernel */
    uint32_t n_programs;
};

struct weft_recorder_result;

struct weft_recorder_opts {
    const char *output;
    char *const *argv; /* ended by NULL; or NULL */
    /* Processes that run, with all that descend from them; together they add up. */
    uint32_t pid;          /* 0: none */
    const char *name;      /* all of this name; NULL: none */
    const char *cgroup;    /* all in it; NULL: none */
    const char *container; /* likewise, by its id; NULL: none */
    bool all;              /* stacks of all processes */

    bool with_kernel, with_stacks, with_locks, with_functions;
    bool with_faults;       /* page faults */
    bool follows;           /* children, too */
    bool waits_for_program; /* not for the processes that it leaves behind */
    bool without_bpf;
    bool without_command; /* the command line is not recorded */
    uint32_t sample_hz;
    uint64_t wait_threshold_ns;

    const char *function, *no_function; /* regular expressions; NULL: none */
    uint64_t depth, min_ns, cull;       /* 0: none */

    uint64_t duration_ns; /* 0: to the end */
    uint64_t snapshot_ns; /* flight recorder; 0: none */
    uint64_t size_bytes;
    const char *trigger; /* "fn>20ms"; NULL: none */

    const struct weft_progress *progress; /* what was asked to stop before it began; may be NULL */

    /* For the user: a sentence; and how it goes, a few times a second. May be NULL. */
    void (*say)(void *context, const char *text);
    void (*stopped)(void *context, const char *text); /* early, and why: a failure, never silent */
    void (*show)(void *context, const struct weft_recorder_state *state);
    /* The recording is over, its files are complete, and the program still runs: before it is
     * waited for. May be NULL. */
    void (*over)(void *context, const struct weft_recorder_result *result);
    void *context;
};

struct weft_recorder_result {
    int exit_status; /* of the program, as a shell would say; 0 if none was run */
    bool is_interrupted;
    char **files; /* recordings that were written, oldest first; ended by NULL */
    size_t n_files;
    struct weft_recorder_state state;
    struct weft_ledger_totals ledger; /* of the program; all 0 of the whole machine */
    uint64_t n_further;               /* processes beyond those that the ledger holds */
    uint64_t n_lost_reports;          /* of its forks, programs and failures */
    bool has_stopped_early;           /* nothing more could be written */
    bool is_wrong_usage, is_not_run;  /* of WEFT_E_ARG: an option, or the program that was named */
};

/* Records until the program ends and, if its children are recorded, no descendant of it is left, or
 * the user asks to stop. A level that is not available is reported and omitted; WEFT_E_ARG: the
 * program cannot be run, or options make no sense; WEFT_E_IO: nothing could be written. What fails
 * later ends the recording, is said, and the program continues. The caller frees the result, also
 * after a failure. */
WEFT_CHECKED enum weft_code weft_recorder_run(const struct weft_recorder_opts *opts,
                                              struct weft_recorder_result *result,
                                              struct weft_err *err);
void weft_recorder_result_fini(struct weft_recorder_result *result);

#endif
