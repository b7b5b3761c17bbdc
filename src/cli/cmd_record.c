/* SPDX-License-Identifier: MIT
 *
 * weft record: options to record/session/recorder.h, the status line, and, when the recording ends,
 * the trace beside it. The recorder runs in this process; the program keeps its terminal and its
 * exit status becomes weft's.
 */
#include "cli/cli.h"
#include "cli/closing.h"
#include "cli/outputs.h"
#include "cli/recording.h"
#include "record/session/recorder.h"
#include "render/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE_HZ = 997, SAMPLE_HZ_MAX = 50000, WAIT_THRESHOLD_NS = 100000, NOT_FOUND = 127 };

struct options {
    uint64_t pid, hz, wait_threshold_ns, duration_ns, snapshot_ns, size_bytes;
    uint64_t depth, min_ns, cull;
    const char *trigger, *function, *no_function;
    const char *name, *cgroup, *container;
    unsigned wait; /* WAIT_TREE, WAIT_CHILD */
    bool all, faults, no_kernel, no_stacks, no_locks, no_functions, no_follow, no_bpf, no_command;
};

enum { WAIT_TREE, WAIT_CHILD };

static const char *const waits[] = { "tree", "child", NULL };

#define FIELD(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    { 'p', "pid", "PID", "attach to a running process and its descendants (kernel level)",
      WEFT_OPTION_COUNT, FIELD(pid), NULL },
    { 0, "name", "COMM", "attach to all processes of this name, also later ones", WEFT_OPTION_TEXT,
      FIELD(name), NULL },
    { 0, "cgroup", "PATH", "attach to a cgroup and those below it: system.slice/nginx.service",
      WEFT_OPTION_TEXT, FIELD(cgroup), NULL },
    { 0, "container", "ID",
      "attach to a container: id (docker, podman) or name (lxc, systemd-nspawn)", WEFT_OPTION_TEXT,
      FIELD(container), NULL },
    { 'a', "all", NULL, "record the whole machine (kernel level)", WEFT_OPTION_FLAG, FIELD(all),
      NULL },
    { 0, "no-kernel", NULL, "no kernel events: scheduling, disk requests, packets, stacks",
      WEFT_OPTION_FLAG, FIELD(no_kernel), NULL },
    { 0, "no-stacks", NULL, "no stacks: neither samples nor those of waits", WEFT_OPTION_FLAG,
      FIELD(no_stacks), NULL },
    { 0, "no-locks", NULL, "no locks, waits and I/O of the program", WEFT_OPTION_FLAG,
      FIELD(no_locks), NULL },
    { 0, "no-functions", NULL, "no calls of instrumented functions", WEFT_OPTION_FLAG,
      FIELD(no_functions), NULL },
    { 0, "faults", NULL,
      "also page faults of the program, one record each; with them, executions have the metric "
      "page_faults",
      WEFT_OPTION_FLAG, FIELD(faults), NULL },
    { 0, "no-follow", NULL, "do not record child processes", WEFT_OPTION_FLAG, FIELD(no_follow),
      NULL },
    { 0, "no-command-line", NULL,
      "do not record the command line (by default it is recorded with secrets replaced)",
      WEFT_OPTION_FLAG, FIELD(no_command), NULL },
    { 0, "wait", "tree|child",
      "record until no process of the program is left, or until the program itself ends "
      "(default: tree)",
      WEFT_OPTION_CHOICE, FIELD(wait), waits },
    { 0, "no-bpf", NULL, "use perf events instead of BPF", WEFT_OPTION_FLAG, FIELD(no_bpf), NULL },
    { 0, "hz", "N", "stacks a second on each CPU (default: 997)", WEFT_OPTION_COUNT, FIELD(hz),
      NULL },
    { 0, "wait-threshold", "TIME", "record stacks of waits of at least TIME (default: 100us)",
      WEFT_OPTION_DURATION, FIELD(wait_threshold_ns), NULL },
    { 0, "function", "REGEX", "only functions whose names match", WEFT_OPTION_TEXT, FIELD(function),
      NULL },
    { 0, "no-function", "REGEX", "not the functions whose names match", WEFT_OPTION_TEXT,
      FIELD(no_function), NULL },
    { 0, "depth", "N", "no calls below N others", WEFT_OPTION_COUNT, FIELD(depth), NULL },
    { 0, "min-duration", "TIME", "drop calls shorter than TIME (unless they contain a longer one)",
      WEFT_OPTION_DURATION, FIELD(min_ns), NULL },
    { 0, "cull", "N", "stop recording a function after N calls under 1 us on a thread",
      WEFT_OPTION_COUNT, FIELD(cull), NULL },
    { 'd', "duration", "TIME", "stop recording after TIME; leave the program running",
      WEFT_OPTION_DURATION, FIELD(duration_ns), NULL },
    { 0, "snapshot", "TIME", "flight recorder: keep the last TIME, write on request",
      WEFT_OPTION_DURATION, FIELD(snapshot_ns), NULL },
    { 0, "trigger", "FUNCTION>TIME", "write a snapshot when a call of FUNCTION took longer",
      WEFT_OPTION_TEXT, FIELD(trigger), NULL },
    { 0, "size", "BYTES", "start another file at this size; flight recorder: its memory",
      WEFT_OPTION_BYTES, FIELD(size_bytes), NULL },
};

/* ---- what the user sees ------------------------------------------------------------------------
 */

struct talk {
    struct weft_cli *cli;
    bool is_quiet, shows_line, has_line;
    bool is_closed;      /* traces were made, and the closing lines printed */
    enum weft_code code; /* of that */
};

static void clear_line(struct talk *talk)
{
    if (talk->has_line)
        weft_say("\r\033[K");
    talk->has_line = false;
}

static void say(void *context, const char *text)
{
    struct talk *talk = context;
    clear_line(talk);
    if (!talk->is_quiet)
        weft_say("weft: record: %s\n", text);
}

/* The exit status says that it failed: so the reason is said even with --quiet. */
static void say_stopped(void *context, const char *text)
{
    clear_line(context);
    weft_say("weft: record: %s\n", text);
}

/* "recording 12.3 s, 1.2 M events, 0 lost, 34 MB, recorder 49.0 ms CPU (0.4 % of a CPU)" */
static void show(void *context, const struct weft_recorder_state *state)
{
    struct talk *talk = context;
    char cost[96];
    if (!talk->shows_line)
        return;
    weft_closing_cost(state, cost, sizeof cost);
    weft_say("\r\033[Krecording %s, %s events, %s lost, %s, %s",
             weft_human_ns(state->elapsed_ns).text, weft_human_rough_count(state->events).text,
             weft_human_rough_count(state->lost).text, weft_human_bytes(state->bytes).text, cost);
    talk->has_line = true;
}

/* What there was, and what of it is missing: the second line where that is not all recorded. */
static void show_ledger(const struct weft_recorder_result *result)
{
    const struct weft_ledger_totals *ledger = &result->ledger;
    char text[512];
    if (ledger->n_processes == 0)
        return;
    weft_ledger_describe(ledger, text, sizeof text);
    weft_say("weft: program: %s", text);
    if (ledger->n_lost_threads)
        weft_say("; %s of %s threads not recorded", weft_human_count(ledger->n_lost_threads).text,
                 weft_human_count(ledger->n_threads).text);
    if (result->n_further)
        weft_say("; %s further processes are not listed", weft_human_count(result->n_further).text);
    if (result->n_lost_reports)
        weft_say("; %s of its reports of forks, programs and failures were lost",
                 weft_human_count(result->n_lost_reports).text);
    if (result->has_stopped_early)
        weft_say("; later activity is not recorded");
    weft_say("\n");
}

/* ---- running -----------------------------------------------------------------------------------
 */

static bool is_attached(const struct options *opts)
{
    return opts->pid > 0 || opts->name || opts->cgroup || opts->container;
}

/* "prog.weft" in the current folder; the caller frees. */
static char *default_output(const struct weft_cli *cli, const struct options *opts)
{
    char *path = NULL;
    int n_path;
    if (cli->n_inputs > 0) {
        const char *slash = strrchr(cli->inputs[0], '/');
        n_path = asprintf(&path, "%s.weft", slash ? slash + 1 : cli->inputs[0]);
    } else if (opts->pid) {
        n_path = asprintf(&path, "pid-%" PRIu64 ".weft", opts->pid);
    } else if (is_attached(opts)) {
        const char *name = opts->name ? opts->name : opts->cgroup ? opts->cgroup : opts->container;
        const struct weft_str base = weft_str_base(weft_str_of(name));
        n_path = asprintf(&path, "%.*s.weft", base.n_bytes ? (int)base.n_bytes : 6,
                          base.n_bytes ? base.bytes : "cgroup");
    } else {
        n_path = asprintf(&path, "system.weft");
    }
    return n_path < 0 ? NULL : path;
}

/* What was recorded becomes traces. One that cannot stays a recording, which any command opens. */
static enum weft_code make_traces(struct weft_cli *cli, const struct weft_recorder_result *result)
{
    cli->n_inputs = 0; /* errors are of the files, not of the program */
    enum weft_code code = weft_cli_begin(cli);
    size_t n_made = 0;
    while (code == WEFT_OK && n_made < result->n_files) {
        const char *path = result->files[n_made];
        code = weft_cli_finish_recording(cli, path, true);
        n_made += code == WEFT_OK;
        if (code == WEFT_OK && !cli->common.quiet) {
            weft_cli_quiet_line(cli);
            code = weft_closing_trace(cli, path);
        }
        if (code != WEFT_OK)
            (void)weft_in_file(&cli->err, path);
    }
    for (size_t k = n_made; k < result->n_files && !cli->common.quiet; k++)
        weft_closing_recording(result->files[k], &result->state);
    if (result->n_files == 0 && !cli->common.quiet)
        weft_say("weft: no snapshot requested: nothing is written\n");
    return code;
}

/* The recording is over; the program may go on. */
static void close_recording(void *context, const struct weft_recorder_result *result)
{
    struct talk *talk = context;
    if (talk->is_closed)
        return;
    talk->is_closed = true;
    clear_line(talk);
    talk->code = make_traces(talk->cli, result);
    if (!talk->is_quiet) /* also where no trace could be made */
        show_ledger(result);
    if (!talk->is_quiet && talk->code == WEFT_OK && result->n_files > 0 && weft_cli_signal() == 0)
        weft_closing_finding(talk->cli, result->files[result->n_files - 1]);
}

/* Without any event, of processes that were not recorded, the trace is of no use: that is an error.
 * A program that is recorded, and does nothing that there is a record of, is none. */
static enum weft_code check_empty(const struct weft_recorder_opts *opts,
                                  const struct weft_recorder_result *result, struct weft_err *err)
{
    const char *advice = opts->with_kernel
                             ? "run weft as root, or with CAP_BPF and CAP_PERFMON, which the "
                               "kernel's level needs"
                             : "record without --no-kernel: the kernel's level needs no library in "
                               "the program";
    if (result->n_files == 0 || result->state.events > 0 ||
        result->ledger.n_in_state[WEFT_LEDGER_RECORDED] > 0)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET, "nothing was recorded: %s", advice);
}

static int record(struct weft_cli *cli, const struct options *opts, const char *path)
{
    struct talk talk = { .cli = cli,
                         .is_quiet = cli->common.quiet,
                         .shows_line =
                             !cli->common.quiet && isatty(STDERR_FILENO) && cli->n_inputs == 0 };
    const struct weft_recorder_opts recorder_opts = {
        .output = path,
        .argv = cli->n_inputs ? (char *const *)(uintptr_t)cli->inputs : NULL,
        .pid = (uint32_t)opts->pid,
        .name = opts->name,
        .cgroup = opts->cgroup,
        .container = opts->container,
        .all = opts->all,
        .with_kernel = !opts->no_kernel,
        .with_stacks = !opts->no_stacks,
        .with_locks = !opts->no_locks,
        .with_functions = !opts->no_functions,
        .with_faults = opts->faults,
        .follows = !opts->no_follow,
        .waits_for_program = opts->wait == WAIT_CHILD,
        .without_bpf = opts->no_bpf,
        .without_command = opts->no_command,
        .sample_hz = (uint32_t)opts->hz,
        .wait_threshold_ns = opts->wait_threshold_ns,
        .function = opts->function,
        .no_function = opts->no_function,
        .depth = opts->depth,
        .min_ns = opts->min_ns,
        .cull = opts->cull,
        .duration_ns = opts->duration_ns,
        .snapshot_ns = opts->snapshot_ns,
        .size_bytes = opts->size_bytes,
        .trigger = opts->trigger,
        .progress = cli->progress,
        .say = say,
        .stopped = say_stopped,
        .show = show,
        .over = close_recording,
        .context = &talk,
    };
    struct weft_recorder_result result;
    enum weft_code code = weft_recorder_run(&recorder_opts, &result, &cli->err);
    clear_line(&talk);
    const bool has_run = code == WEFT_OK;
    if (has_run) {
        close_recording(&talk, &result);
        code = talk.code;
    } else {
        cli->n_inputs = 0;
    }
    WEFT_THEN(code, check_empty(&recorder_opts, &result, &cli->err));
    int status = weft_cli_end(cli, code);
    if (has_run && result.exit_status)
        status = result.exit_status;
    else if (has_run && result.has_stopped_early && status == 0)
        status = WEFT_EXIT_FAILED;
    else if (result.is_wrong_usage || result.is_not_run)
        status = result.is_not_run ? NOT_FOUND : WEFT_EXIT_USAGE;
    weft_recorder_result_fini(&result);
    return status;
}

static bool check(struct weft_cli *cli, const struct options *opts)
{
    const int n_subjects = (cli->n_inputs > 0) + is_attached(opts) + opts->all;
    const char *wrong = NULL;
    if (n_subjects == 0)
        wrong = "expected a program, -p PID, --name, --cgroup, --container or -a";
    else if (n_subjects > 1)
        wrong = "a program, processes that run already (-p, --name, --cgroup, --container) and -a "
                "exclude each other";
    else if (opts->hz == 0 || opts->hz > SAMPLE_HZ_MAX)
        wrong = "--hz: expected 1 to 50000; --no-stacks for none";
    else if (opts->trigger && !opts->snapshot_ns)
        wrong = "--trigger needs --snapshot TIME: what it writes";
    else if (opts->no_kernel && cli->n_inputs == 0)
        wrong = "a running process is only recorded at kernel level: omit "
                "--no-kernel";
    else if (opts->pid > UINT32_MAX)
        wrong = "-p: no such process";
    if (wrong)
        cli->exit_status = weft_cli_usage(cli, wrong);
    return !wrong;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .hz = SAMPLE_HZ, .wait_threshold_ns = WAIT_THRESHOLD_NS };
    if (!weft_cli_parse(cli, &opts, argc, argv) || !check(cli, &opts))
        return cli->exit_status;
    if (cli->common.output && strcmp(cli->common.output, "-") == 0)
        return weft_cli_usage(cli, "a trace cannot be written to standard output");
    char *made = cli->common.output ? NULL : default_output(cli, &opts);
    const char *path = cli->common.output ? cli->common.output : made;
    const char *file = NULL;
    const enum weft_code code = path ? weft_outputs_trace(cli, path, &file) : WEFT_E_NOMEM;
    const int status = code == WEFT_OK ? record(cli, &opts, file) : weft_cli_end(cli, code);
    free(made);
    return status;
}

const struct weft_command weft_cmd_record = {
    .name = "record",
    .summary = "record a program: kernel, stacks, locks, functions, markers",
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .about =
        "Runs a program and records all levels that the privileges allow, on one clock. What is\n"
        "missing is reported once, with what would allow it. Locks, waits, I/O and markers\n"
        "(weft/mark.h) come from a library that is loaded into the program; functions from "
        "programs\n"
        "built with -finstrument-functions or XRay; scheduling, wakeups, stacks, disk requests "
        "and\n"
        "packets from the kernel. The exit status is the program's, or 128 plus the signal that\n"
        "ended it. Write -- before a program whose arguments start with dashes.\n"
        "\n"
        "The recording ends when the program and all its descendants have ended. With --duration "
        "it\n"
        "ends earlier: weft writes the trace, waits for the program, and returns its exit status;\n"
        "Ctrl-C then ends the program. The first Ctrl-C ends the program, the second one kills "
        "it;\n"
        "the recording is kept. If the recorder is killed, the first command that opens its "
        "recording\n"
        "makes it a trace.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_OUTPUT | WEFT_COMMON_WORK | WEFT_COMMON_TALK,
    .n_inputs_min = 0,
    .n_inputs_max = SIZE_MAX,
    .run = run,
    .takes_no_traces = true,
    .takes_a_program = true,
    .writes_traces = true,
};
