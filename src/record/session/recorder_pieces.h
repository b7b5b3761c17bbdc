/* SPDX-License-Identifier: MIT
 *
 * The state of a recording, and the pieces that the recorder writes of its own accord: clocks,
 * cost, losses, what is known of the whole, and the kernel's records.
 */
#ifndef WEFT_RECORD_SESSION_RECORDER_PIECES_H
#define WEFT_RECORD_SESSION_RECORDER_PIECES_H

#include "record/session/followed.h"
#include "record/session/levels.h"
#include "record/session/loadable.h"
#include "record/session/programs.h"
#include "record/session/recorder.h"
#include "record/session/subjects.h"
#include "record/session/target.h"
#include "record/session/tree.h"

#include <poll.h>

/* What is missing and has no place in the recording. */
struct recorder_unplaced {
    uint64_t n_threads; /* without a ring */
    uint64_t n_skipped; /* events of the kernel */
    uint64_t n_further; /* processes that are not in the ledger */
    uint64_t n_reports; /* of the program, about its processes */
};

struct recorder {
    const struct weft_recorder_opts *opts;
    struct levels levels;
    struct session_output *output;
    struct programs programs;
    struct target target;
    struct trigger *trigger;
    struct ledger *ledger; /* NULL: of the whole machine there is none */
    uint64_t ledger_ns, scan_ns, look_ns;
    struct subjects subjects; /* that run already */
    struct followed followed;
    struct {
        struct pollfd *items; /* pidfds of those that were asked for and have not ended */
        size_t n, cap;
    } watched;
    uint64_t start_ns, due_ns, clock_ns, show_ns, cost_ns;
    uint64_t cpu_at_start_ns;
    uint64_t sleep_ns;
    uint64_t *lost_on_cpu; /* of the kernel, as last written */
    uint64_t kernel_records, kernel_lost;
    struct recorder_unplaced unplaced; /* as last written */
    uint64_t lost_since_ns;
    uint64_t end_ns;     /* when the program ended; 0: not yet */
    uint64_t stop_ns;    /* when recording ended; 0: not yet */
    int n_passed;        /* interrupts that were passed on */
    int n_passed_at_end; /* those until the program ended */
    struct loadable loadable;
    bool has_told_rest; /* of processes that outlive the program */
    bool has_told_maps; /* that maps cannot be read */
    bool has_stopped;   /* nothing is recorded any more */
    bool has_stopped_early;
    bool is_wrong_usage, is_not_run;
};

/* The process that the recording is of, or the first of several; 0: of none. */
uint32_t recorder_target(const struct recorder *recorder);

/* CPU time of this process, ns. */
uint64_t recorder_own_cpu_ns(void);
/* How far the recording is, and what it costs. */
struct weft_recorder_state recorder_state(const struct recorder *recorder);

/* Each adds a piece: WEFT_E_NOMEM, and what session_put returns. */
WEFT_CHECKED enum weft_code recorder_put_cost(struct recorder *recorder, struct weft_err *err);
WEFT_CHECKED enum weft_code recorder_put_clock(struct recorder *recorder, struct weft_err *err);
WEFT_CHECKED enum weft_code recorder_put_meta(struct recorder *recorder, struct weft_err *err);
/* What the kernel lost on each CPU since the last time. */
WEFT_CHECKED enum weft_code recorder_put_losses(struct recorder *recorder, struct weft_err *err);
/* Reports of forks, programs and failures, by the program, that the ledger did not get. */
uint64_t recorder_lost_reports(const struct recorder *recorder);
/* What is missing and has no place in the recording, when there is more of it. */
WEFT_CHECKED enum weft_code recorder_put_unplaced(struct recorder *recorder, struct weft_err *err);
/* Names of the kernel's functions, for the stacks so far. */
WEFT_CHECKED enum weft_code recorder_put_kernel_names(struct recorder *recorder,
                                                      struct weft_err *err);
/* Reads the kernel's records; *fill_percent: how full the fullest of its rings was, if that is more
 * than it says. */
WEFT_CHECKED enum weft_code recorder_poll_kernel(struct recorder *recorder, uint32_t *fill_percent,
                                                 struct weft_err *err);

#endif
