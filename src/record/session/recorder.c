/* SPDX-License-Identifier: MIT
 *
 * One thread: it sleeps 10 ms at a time, less when rings fill, or something appears in the folder;
 * then it reads what is there. Every 50 ms all of it goes to the file, so that a recorder or
 * program that is killed loses no more than that.
 */
#include "record/session/recorder.h"

#include "base/checked.h"
#include "base/file.h"
#include "record/session/attached.h"
#include "record/session/mark.h"
#include "record/session/recorder_pieces.h"
#include "record/session/ticks.h"
#include "schema/problems.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    POLL_NS = 10000000, /* in which the fullest ring should get no fuller than a quarter */
    LEAST_POLL_NS = 500000,
    NOTICE_NS = 2000000, /* between two rounds, however many programs begin */
    WANTED_PERCENT = 25,
    NICENESS = -15,
    DUE_NS = 50000000,
    CLOCK_NS = 100000000,
    SHOW_NS = 250000000,
    COST_NS = 1000000000,
    LEDGER_NS = 500000000,
    SCAN_NS = 100000000,
    LOOK_NS = 500000000,
    EARLY_NS = 1000000,    /* that clocks of sources may differ */
    REST_NS = 500000000,   /* that a process may outlive the program before it is mentioned */
    LEAVE_NS = 1000000000, /* likewise, after an interrupt, before the recording ends */
};

/* ---- signals -----------------------------------------------------------------------------------
 */

static volatile sig_atomic_t n_interrupts, n_snapshots, is_sent, last_signal;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number == SIGUSR2) {
        n_snapshots = n_snapshots + 1;
        return;
    }
    is_sent = info->si_code != SI_KERNEL; /* a terminal has signalled the program, too */
    last_signal = number;
    n_interrupts = n_interrupts + 1;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2 };
enum { N_SIGNALS = sizeof signals / sizeof *signals };

static void catch_signals(struct sigaction *before)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    (void)sigemptyset(&action.sa_mask);
    n_interrupts = n_snapshots = 0;
    for (size_t k = 0; k < N_SIGNALS; k++)
        if (sigaction(signals[k], NULL, &before[k]) == 0 &&
            (signals[k] != SIGHUP || before[k].sa_handler != SIG_IGN)) /* as under nohup(1) */
            (void)sigaction(signals[k], &action, NULL);
}

static void restore_signals(const struct sigaction *before)
{
    for (size_t k = 0; k < N_SIGNALS; k++)
        (void)sigaction(signals[k], &before[k], NULL);
}

static void say(const struct recorder *recorder, const char *text)
{
    if (recorder->opts->say)
        recorder->opts->say(recorder->opts->context, text);
}

/* ---- one round ---------------------------------------------------------------------------------
 */

static enum weft_code take_snapshot(struct recorder *recorder, const char *why,
                                    struct weft_err *err)
{
    const char *path;
    char text[512];
    enum weft_code code = recorder_put_clock(recorder, err);
    WEFT_THEN(code, ledger_put(recorder->ledger, recorder->output, true, err));
    WEFT_THEN(code, jit_maps_put(&recorder->programs.jit, true, err));
    WEFT_THEN(code, session_snapshot(recorder->output, weft_str_of(why), &path, err));
    if (code != WEFT_OK || !path)
        return code;
    (void)snprintf(text, sizeof text, "snapshot (%s): %s", why, path);
    say(recorder, text);
    return WEFT_OK;
}

static enum weft_code look_for_snapshots(struct recorder *recorder, struct weft_err *err)
{
    struct ring_reading *reading = &recorder->programs.reading;
    enum weft_code code = WEFT_OK;
    if (recorder->opts->snapshot_ns && reading->wants_snapshot)
        code = take_snapshot(recorder, reading->why, err);
    reading->wants_snapshot = false;
    if (code == WEFT_OK && n_snapshots && recorder->opts->snapshot_ns)
        code = take_snapshot(recorder, "asked for", err);
    n_snapshots = 0;
    return code;
}

static bool is_time(uint64_t *last_ns, uint64_t now_ns, uint64_t every_ns)
{
    if (now_ns - *last_ns < every_ns)
        return false;
    *last_ns = now_ns;
    return true;
}

/* All that happened before this round began has been reported in it. */
static enum weft_code keep_ledger(struct recorder *recorder, uint64_t now_ns, struct weft_err *err)
{
    ledger_advance(recorder->ledger, weft_sub_sat_u64(now_ns, EARLY_NS));
    if (is_time(&recorder->scan_ns, now_ns, SCAN_NS))
        ledger_scan(recorder->ledger);
    return ledger_has_news(recorder->ledger) || is_time(&recorder->ledger_ns, now_ns, LEDGER_NS)
               ? ledger_put(recorder->ledger, recorder->output, false, err)
               : WEFT_OK;
}

static enum weft_code end_ledger(struct recorder *recorder, struct weft_err *err)
{
    const uint64_t now_ns = session_clock_ns(CLOCK_MONOTONIC);
    ledger_advance(recorder->ledger, now_ns);
    ledger_scan(recorder->ledger);
    ledger_finish(recorder->ledger, WEFT_LEDGER_OUTLIVED, now_ns);
    return ledger_put(recorder->ledger, recorder->output, true, err);
}

static enum weft_code look_at_followed(struct recorder *recorder, bool all, struct weft_err *err)
{
    const uint64_t now_ns = session_clock_ns(CLOCK_MONOTONIC);
    enum weft_code code = WEFT_OK;
    if (!recorder->opts->argv && is_time(&recorder->look_ns, now_ns, LOOK_NS))
        code = attached_poll(recorder, err);
    return code == WEFT_OK ? followed_poll(&recorder->followed, now_ns, all, err) : code;
}

static enum weft_code do_due(struct recorder *recorder, uint64_t now_ns, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (is_time(&recorder->clock_ns, now_ns, CLOCK_NS))
        code = recorder_put_clock(recorder, err);
    if (code == WEFT_OK && (recorder->opts->size_bytes || recorder->opts->snapshot_ns))
        code = recorder_put_kernel_names(recorder, err);
    loadable_look_at_starts(&recorder->loadable, &recorder->programs);
    WEFT_THEN(code, look_at_followed(recorder, false, err));
    WEFT_THEN(code, recorder_put_losses(recorder, err));
    if (code == WEFT_OK && is_time(&recorder->cost_ns, now_ns, COST_NS)) {
        code = recorder_put_cost(recorder, err);
        WEFT_THEN(code, recorder_put_unplaced(recorder, err));
        if (code == WEFT_OK && recorder->opts->size_bytes)
            code = jit_maps_put(&recorder->programs.jit, false, err);
    }
    WEFT_THEN(code, keep_ledger(recorder, now_ns, err));
    WEFT_THEN(code, look_for_snapshots(recorder, err));
    WEFT_THEN(code, session_flush(recorder->output, err));
    if (recorder->opts->show && is_time(&recorder->show_ns, now_ns, SHOW_NS)) {
        const struct weft_recorder_state state = recorder_state(recorder);
        recorder->opts->show(recorder->opts->context, &state);
    }
    return code;
}

/* Reads what is there; *fill_percent: how full the fullest ring was. */
static enum weft_code do_round(struct recorder *recorder, uint32_t *fill_percent,
                               struct weft_err *err)
{
    const uint64_t now_ns = session_clock_ns(CLOCK_MONOTONIC);
    const bool is_due = is_time(&recorder->due_ns, now_ns, DUE_NS);
    enum weft_code code = programs_poll(&recorder->programs, is_due, err);
    *fill_percent = recorder->programs.reading.fill_percent;
    WEFT_THEN(code, recorder_poll_kernel(recorder, fill_percent, err));
    return code == WEFT_OK && is_due ? do_due(recorder, now_ns, err) : code;
}

/* So long that a ring that was so full after the last sleep will be a quarter full. */
static uint64_t time_to_sleep(uint64_t last_ns, uint32_t fill_percent)
{
    const uint64_t wanted_ns = fill_percent ? last_ns * WANTED_PERCENT / fill_percent : 2 * last_ns;
    return wanted_ns < LEAST_POLL_NS ? LEAST_POLL_NS : wanted_ns > POLL_NS ? POLL_NS : wanted_ns;
}

static void sleep_a_little(struct recorder *recorder, uint32_t fill_percent)
{
    struct pollfd fds[] = {
        { .fd = recorder->programs.notify_fd, .events = POLLIN },
        { .fd = asks_wakes(&recorder->programs.asks), .events = POLLIN },
        { .fd = recorder->target.has_ended ? -1 : recorder->target.pidfd, .events = POLLIN },
        { .fd = attached_fd(recorder), .events = POLLIN },
    };
    const size_t n = sizeof fds / sizeof *fds;
    recorder->sleep_ns = time_to_sleep(recorder->sleep_ns, fill_percent);
    const uint64_t notice_ns = weft_min_u64(recorder->sleep_ns, NOTICE_NS);
    const struct timespec first = { .tv_nsec = (long)notice_ns };
    const struct timespec rest = { .tv_nsec = (long)(recorder->sleep_ns - notice_ns) };
    /* First without the folder: a round for each file of many short programs takes their CPU. */
    if (ppoll(fds + 1, n - 1, &first, NULL) == 0 && rest.tv_nsec > 0)
        (void)ppoll(fds, n, &rest, NULL);
}

/* ---- until the end -----------------------------------------------------------------------------
 */

/* The first interruption ends the program as a shell would, the second one for certain. */
static void pass_interrupts(struct recorder *recorder)
{
    if (n_interrupts == recorder->n_passed)
        return;
    const bool is_first = recorder->n_passed == 0;
    recorder->n_passed = n_interrupts;
    if (!is_first)
        target_signal(&recorder->target, SIGKILL);
    else if (is_sent)
        target_signal(&recorder->target, last_signal);
}

/* BEFORE, the processes that outlive the program, "2 processes (sleep 4711, ...)", and AFTER. */
static void say_rest(const struct recorder *recorder, const char *before, const char *after)
{
    struct proc_text room = { 0 };
    char processes[192], text[512];
    struct tree *tree = malloc(sizeof *tree);
    if (!tree)
        return;
    tree_find((uint32_t)getpid(), tree, &room);
    if (tree->n) {
        tree_print(tree, processes, sizeof processes, &room);
        (void)snprintf(text, sizeof text, "%s%s%s", before, processes, after);
        say(recorder, text);
    }
    proc_text_fini(&room);
    free(tree);
}

/* Is the program's part in it over? Its processes may outlive it. After an interrupt they have a
 * second to end; without one, the recording waits for them until there is one. */
static const char *look_for_end(struct recorder *recorder, uint64_t now_ns)
{
    if (!target_poll(&recorder->target, false))
        return NULL;
    if (!recorder->target.has_rest)
        return "the program ended";
    if (!recorder->end_ns) {
        recorder->end_ns = now_ns;
        recorder->n_passed_at_end = recorder->n_passed;
    }
    const uint64_t rest_ns = now_ns - recorder->end_ns;
    if (recorder->n_passed > recorder->n_passed_at_end ||
        (recorder->n_passed && rest_ns >= LEAVE_NS))
        return "interrupted";
    if (!recorder->has_told_rest && !recorder->n_passed && rest_ns >= REST_NS) {
        recorder->has_told_rest = true;
        say_rest(recorder, "the program has ended; the recording continues with ",
                 "; Ctrl-C ends it, --wait child does not wait for them");
    }
    return NULL;
}

/* Why it ends now; NULL: it does not. */
static const char *reason_to_end(struct recorder *recorder)
{
    const uint64_t now_ns = session_clock_ns(CLOCK_MONOTONIC);
    const char *why = NULL;
    pass_interrupts(recorder);
    if (recorder->target.pid)
        why = look_for_end(recorder, now_ns);
    else if (!recorder->opts->all && attached_is_over(recorder))
        why = "the program ended";
    else if (n_interrupts)
        why = "interrupted";
    if (!why && recorder->opts->duration_ns &&
        now_ns - recorder->start_ns >= recorder->opts->duration_ns)
        why = "the duration is over";
    return why;
}

/* A reader has to see that it was not the program that ended it. */
static enum weft_code put_interruption(struct recorder *recorder, struct weft_err *err)
{
    char text[64];
    if (!n_interrupts)
        return WEFT_OK;
    const int n_text = snprintf(text, sizeof text, "ended=interrupted by SIG%s\n",
                                sigabbrev_np(last_signal) ? sigabbrev_np(last_signal) : "NAL");
    return session_put(recorder->output, WEFT_PIECE_META, 0, 0, WEFT_STR(""),
                       (struct weft_str){ text, (size_t)n_text }, err);
}

/* What follows may take long on a busy machine, and belongs to the recorder alone. */
static enum weft_code put_stop(const struct recorder *recorder, struct weft_err *err)
{
    char text[48];
    const int n_text =
        snprintf(text, sizeof text, "stop_ns=%" PRIu64 "\n", session_clock_ns(CLOCK_MONOTONIC));
    return session_put(recorder->output, WEFT_PIECE_META, 0, 0, WEFT_STR(""),
                       (struct weft_str){ text, (size_t)n_text }, err);
}

static void say_refused(const struct recorder *recorder)
{
    const uint64_t n_refused = recorder->programs.asks.n_refused;
    char text[128];
    (void)snprintf(text, sizeof text,
                   "%" PRIu64 " datagrams to the recorder were no requests, or too many: dropped",
                   n_refused);
    if (n_refused)
        say(recorder, text);
}

static enum weft_code finish(struct recorder *recorder, const char *why, struct weft_err *err)
{
    uint32_t fill;
    if (recorder->levels.kernel)
        weft_kernel_stop(recorder->levels.kernel);
    enum weft_code code = put_stop(recorder, err);
    WEFT_THEN(code, programs_stop(&recorder->programs, err));
    WEFT_THEN(code, recorder_poll_kernel(recorder, &fill, err));
    WEFT_THEN(code, look_at_followed(recorder, true, err));
    WEFT_THEN(code, jit_maps_put(&recorder->programs.jit, true, err));
    WEFT_THEN(code, recorder_put_kernel_names(recorder, err));
    WEFT_THEN(code, recorder_put_losses(recorder, err));
    WEFT_THEN(code, end_ledger(recorder, err));
    WEFT_THEN(code, recorder_put_unplaced(recorder, err));
    WEFT_THEN(code, recorder_put_cost(recorder, err));
    WEFT_THEN(code, put_interruption(recorder, err));
    WEFT_THEN(code, recorder_put_clock(recorder, err));
    WEFT_THEN(code, look_for_snapshots(recorder, err));
    WEFT_THEN(code, session_output_end(recorder->output, weft_str_of(why), err));
    return code;
}

/* What went wrong ends the recording, not the program. */
static void give_up(struct recorder *recorder, const struct weft_err *err)
{
    char cause[1024], text[1200];
    weft_err_print(err, cause, sizeof cause);
    (void)snprintf(text, sizeof text, "recording stopped: %s%s", cause,
                   recorder->target.pid && !recorder->target.has_ended ? "; the program continues"
                                                                       : "");
    if (recorder->opts->stopped)
        recorder->opts->stopped(recorder->opts->context, text);
    if (recorder->levels.kernel)
        weft_kernel_stop(recorder->levels.kernel);
    asks_stop(&recorder->programs.asks);
    for (size_t k = 0; k < recorder->programs.files.n; k++)
        ring_file_stop(&recorder->programs.files.items[k]);
    ledger_finish(recorder->ledger, WEFT_LEDGER_STOPPED, session_clock_ns(CLOCK_MONOTONIC));
}

static void record(struct recorder *recorder)
{
    struct weft_err err = { 0 };
    const char *why = NULL;
    enum weft_code code = WEFT_OK;
    uint32_t fill_percent = 0;
    while (code == WEFT_OK && !(why = reason_to_end(recorder))) {
        sleep_a_little(recorder, fill_percent);
        code = do_round(recorder, &fill_percent, &err);
    }
    recorder->stop_ns = session_clock_ns(CLOCK_MONOTONIC);
    WEFT_THEN(code, finish(recorder, why, &err));
    recorder->has_stopped_early = code != WEFT_OK;
    if (code != WEFT_OK)
        give_up(recorder, &err);
    recorder->has_stopped = true;
    say_refused(recorder);
    if (recorder->target.pid && !recorder->target.has_ended && code == WEFT_OK)
        say(recorder, "the recording is over; the program continues, and weft waits for its end");
    else if (recorder->target.has_rest && code == WEFT_OK)
        say_rest(recorder, "the recording is over; no longer recorded: ", "");
}

/* ---- the beginning -----------------------------------------------------------------------------
 */

/* So that `weft mark` finds flight recorders. */
static enum weft_code write_about(const struct recorder *recorder, struct weft_err *err)
{
    const int fd = openat(recorder->programs.folder_fd, SESSION_ABOUT_NAME,
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return weft_fail_errno(err, errno, "cannot write into the folder of rings");
    const enum weft_code code =
        weft_fd_write(fd, recorder->opts->output, strlen(recorder->opts->output), err);
    (void)close(fd);
    return code;
}

static enum weft_code open_output(struct recorder *recorder, struct weft_err *err)
{
    const struct session_output_opts opts = { .path = recorder->opts->output,
                                              .size_bytes = recorder->opts->size_bytes,
                                              .snapshot_ns = recorder->opts->snapshot_ns };
    enum weft_code code = WEFT_OK;
    if (recorder->opts->trigger)
        code = trigger_new(recorder->opts->trigger, &recorder->trigger, err);
    WEFT_THEN(code, session_output_open(&opts, &recorder->output, err));
    WEFT_THEN(code, programs_open(&recorder->programs, recorder->output, recorder->trigger, err));
    if (code == WEFT_OK && recorder->opts->snapshot_ns)
        code = write_about(recorder, err);
    return code == WEFT_OK ? session_filter_open(recorder->opts, recorder->programs.folder_fd,
                                                 &recorder->programs.filter, err)
                           : code;
}

/* The program is held until the kernel is ready: its first step is recorded. */
static enum weft_code start_target(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_recorder_opts *opts = recorder->opts;
    char ask[128];
    const bool has_ask = asks_print(&recorder->programs.asks, ask, sizeof ask);
    const struct target_opts target_opts = { .argv = opts->argv,
                                             .folder = recorder->programs.folder,
                                             .ask = has_ask ? ask : NULL,
                                             .preload = recorder->levels.preload,
                                             .follows = opts->follows,
                                             .waits_for_tree =
                                                 opts->follows && !opts->waits_for_program,
                                             .with_operations = opts->with_locks };
    levels_find_libraries(opts, &recorder->levels);
    return opts->argv ? target_start(&target_opts, &recorder->target, err) : WEFT_OK;
}

static enum weft_code start_kernel(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_recorder_opts *opts = recorder->opts;
    struct weft_err why = { 0 };
    char cause[1024], text[1200];
    enum weft_code code = levels_open(opts, &recorder->levels, &why);
    if (code == WEFT_OK && recorder->levels.kernel && opts->argv)
        code = weft_kernel_add_target(recorder->levels.kernel, recorder_target(recorder), &why);
    else if (code == WEFT_OK && recorder->levels.kernel)
        code = attached_add_targets(recorder, &why);
    if (code == WEFT_OK && recorder->levels.kernel)
        code = weft_kernel_start(recorder->levels.kernel, &why);
    if (code != WEFT_OK) { /* the other levels work without */
        weft_err_print(&why, cause, sizeof cause);
        (void)snprintf(text, sizeof text, "the kernel is not recorded: %s", cause);
        say(recorder, text);
        levels_close(&recorder->levels);
    }
    recorder->loadable.is_on = recorder->levels.preload[0] != '\0';
    recorder->loadable.has_kernel = recorder->levels.kernel != NULL;
    recorder->loadable.say = opts->say;
    recorder->loadable.context = opts->context;
    if (opts->argv)
        loadable_look_at_command(&recorder->loadable, opts->argv[0]);
    if (!opts->argv && !recorder->levels.kernel)
        return weft_fail(
            err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
            "a process that runs already is recorded by the kernel's level alone, which "
            "is not allowed here: run weft as root, or with CAP_BPF and CAP_PERFMON");
    return WEFT_OK;
}

static enum weft_code begin_ledger(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_recorder_opts *opts = recorder->opts;
    const bool has_library = opts->argv && strstr(recorder->levels.preload, "libweft-preload");
    const struct ledger_opts ledger_opts = { .has_library = has_library,
                                             .follows = opts->follows,
                                             .is_attached = !opts->argv,
                                             .spaces = &recorder->programs.spaces };
    char program[PATH_MAX];
    if (!opts->argv && opts->all)
        return WEFT_OK;
    recorder->ledger = recorder->programs.ledger = ledger_new(&ledger_opts);
    if (!recorder->ledger)
        return weft_no_memory(err, "the ledger");
    if (!opts->argv || !proc_find_program(opts->argv[0], program))
        program[0] = '\0';
    ledger_begin(recorder->ledger, recorder_target(recorder), program,
                 session_clock_ns(CLOCK_MONOTONIC), recorder->levels.kernel != NULL);
    /* Before anything that may fill a disk. */
    const enum weft_code code = ledger_put(recorder->ledger, recorder->output, true, err);
    return code == WEFT_OK ? session_flush(recorder->output, err) : code;
}

/* Processes whose maps the recorder itself has to read. */
static enum weft_code follow(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_recorder_opts *opts = recorder->opts;
    if (!recorder->levels.kernel)
        return WEFT_OK;
    if (!followed_open(&recorder->followed, &recorder->programs,
                       recorder->levels.preload[0] != '\0', opts->follows))
        return weft_no_memory(err, "processes");
    return opts->argv ? followed_add(&recorder->followed, recorder_target(recorder),
                                     (uint32_t)getpid(), recorder->start_ns, err)
                      : attached_begin(recorder, err);
}

static enum weft_code begin(struct recorder *recorder, struct weft_err *err)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    enum weft_code code = recorder_put_clock(recorder, err);
    (void)nanosleep(&pause, NULL); /* two pairs show how fast ticks are */
    WEFT_THEN(code, recorder_put_clock(recorder, err));
    WEFT_THEN(code, recorder_put_meta(recorder, err));
    WEFT_THEN(code, begin_ledger(recorder, err));
    WEFT_THEN(code, follow(recorder, err));
    if (code == WEFT_OK && recorder->opts->argv) {
        code = target_go(&recorder->target, recorder->opts->argv[0], err);
        recorder->is_not_run = code == WEFT_E_ARG;
    }
    return code == WEFT_OK ? session_flush(recorder->output, err) : code; /* it has its name now */
}

static enum weft_code run(struct recorder *recorder, struct weft_err *err)
{
    if (weft_progress_is_cancelled(recorder->opts->progress)) /* before signals came here */
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    enum weft_code code = open_output(recorder, err);
    recorder->is_wrong_usage = code == WEFT_E_ARG;
    WEFT_THEN(code, attached_open(recorder, err));
    WEFT_THEN(code, start_target(recorder, err));
    WEFT_THEN(code, start_kernel(recorder, err));
    recorder->start_ns = recorder->due_ns = recorder->clock_ns = recorder->show_ns =
        recorder->cost_ns = recorder->lost_since_ns = session_clock_ns(CLOCK_MONOTONIC);
    recorder->sleep_ns = LEAST_POLL_NS;
    /* Programs that fill a CPU leave the recorder none, or they lose records: it takes little, and
     * takes that at once. Without the right to it stays as it is. */
    (void)setpriority(PRIO_PROCESS, 0, NICENESS);
    recorder->cpu_at_start_ns =
        recorder_own_cpu_ns(); /* what came before was no cost to the program */
    WEFT_THEN(code, begin(recorder, err));
    if (code == WEFT_OK)
        record(recorder);
    return code;
}

static enum weft_code take_result(struct recorder *recorder, struct weft_recorder_result *result,
                                  struct weft_err *err)
{
    const size_t n_files = recorder->output ? session_output_n_files(recorder->output) : 0;
    result->state = recorder_state(recorder);
    result->ledger = ledger_totals(recorder->ledger, &result->n_further);
    result->n_lost_reports = recorder_lost_reports(recorder);
    result->has_stopped_early = recorder->has_stopped_early;
    result->is_interrupted = n_interrupts > 0;
    result->files = calloc(n_files + 1, sizeof *result->files);
    for (; result->files && result->n_files < n_files; result->n_files++) {
        result->files[result->n_files] =
            strdup(session_output_file(recorder->output, result->n_files));
        if (!result->files[result->n_files])
            break;
    }
    return result->files && result->n_files == n_files ? WEFT_OK : weft_no_memory(err, "names");
}

/* Signals are let in only while it waits: one that came after it looked for them would be passed on
 * no sooner than the next. */
static void wait_for_end(struct recorder *recorder)
{
    struct pollfd fd = { .fd = recorder->target.pidfd, .events = POLLIN };
    const struct timespec pause = { .tv_nsec = 100000000 };
    sigset_t caught, before;
    (void)sigemptyset(&caught);
    for (size_t k = 0; k < N_SIGNALS; k++)
        (void)sigaddset(&caught, signals[k]);
    (void)pthread_sigmask(SIG_BLOCK, &caught, &before);
    while (!target_poll(&recorder->target, false)) {
        pass_interrupts(recorder);
        (void)ppoll(&fd, 1, fd.fd >= 0 ? NULL : &pause, &before);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A recording that ended before the program is of use at once; the program's status comes later. */
static void wait_for_program(struct recorder *recorder, struct weft_recorder_result *result)
{
    if (recorder->target.pid && !recorder->target.has_ended) {
        session_output_close(recorder->output);
        recorder->output = NULL;
        if (recorder->opts->over)
            recorder->opts->over(recorder->opts->context, result);
        wait_for_end(recorder);
    }
    if (recorder->target.has_ended)
        result->exit_status = target_exit_status(&recorder->target);
}

enum weft_code weft_recorder_run(const struct weft_recorder_opts *opts,
                                 struct weft_recorder_result *result, struct weft_err *err)
{
    struct recorder recorder = { .opts = opts,
                                 .programs = { .folder_fd = -1, .notify_fd = -1, .asks.fd = -1 },
                                 .target = { .pidfd = -1, .go_fd = -1, .ask_fd = -1 },
                                 .watched = { 0 } };
    struct sigaction before[N_SIGNALS];
    const int niceness = getpriority(PRIO_PROCESS, 0);
    *result = (struct weft_recorder_result){ 0 };
    (void)prctl(PR_SET_NAME, WEFT_RECORDER_NAME); /* as it takes CPU time from what it records */
    catch_signals(before);
    enum weft_code code = run(&recorder, err);
    /* Where the program could not be run at all nothing is left. */
    const enum weft_code taken = recorder.output ? take_result(&recorder, result, err) : code;
    for (size_t k = 0; code != WEFT_OK && k < result->n_files; k++)
        (void)unlink(result->files[k]);
    result->is_wrong_usage = recorder.is_wrong_usage;
    result->is_not_run = recorder.is_not_run;
    levels_close(&recorder.levels);
    (void)setpriority(PRIO_PROCESS, 0, niceness);
    if (code == WEFT_OK)
        wait_for_program(&recorder, result);
    target_close(&recorder.target);
    programs_close(&recorder.programs);
    session_output_close(recorder.output);
    trigger_free(recorder.trigger);
    ledger_free(recorder.ledger);
    free(recorder.lost_on_cpu);
    loadable_close(&recorder.loadable);
    attached_close(&recorder);
    followed_close(&recorder.followed);
    restore_signals(before);
    return code == WEFT_OK ? taken : code;
}

void weft_recorder_result_fini(struct weft_recorder_result *result)
{
    for (size_t k = 0; k < result->n_files; k++)
        free(result->files[k]);
    free(result->files);
    *result = (struct weft_recorder_result){ 0 };
}
