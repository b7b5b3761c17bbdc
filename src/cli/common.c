/* SPDX-License-Identifier: MIT
 *
 * The life of a command: common options, checks of inputs and outputs, the worker pool, the memory
 * limit on the whole process, the session, the output with its colours and form, messages and exit
 * status. The only file that sets process-wide limits.
 */
#include "base/clock.h"
#include "base/pool.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/outputs.h"
#include "cli/recording.h"
#include "query/database/database.h"
#include "render/human.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- progress -------------------------------------------------------------------------------- */

/* The line on a terminal that says how far long work is: what, how much, how fast, how long yet. A
 * thread that redraws one line ten times a second, after half a second of silence, from the shared
 * counters of base/progress.h. The rate counts from the start of each activity. */

struct weft_progress_line;

enum { TICK_MS = 100, LINE_BYTES = 256 };

/* A rate over less than this says nothing. */
#define LEAST_SECONDS 0.25

#define QUIET_NS UINT64_C(500000000)

struct weft_progress_line {
    struct weft_progress *progress;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool is_stopping;
    bool is_drawn;
    uint64_t begin_ns; /* of the activity now under way */
    const char *activity;
};

static struct weft_human amount(const char *unit, uint64_t n)
{
    if (unit && strcmp(unit, "bytes") == 0)
        return weft_human_bytes(n);
    return weft_human_rough_count(n);
}

/* "reading  45 %  286 MB of 631 MB, 410 MB/s, 0.84 s left" */
static void compose(const struct weft_progress_line *line, uint64_t now_ns, char *out, size_t n_out)
{
    const struct weft_progress *progress = line->progress;
    uint64_t done = atomic_load(&progress->done), total = atomic_load(&progress->total);
    const char *unit = atomic_load(&progress->unit);
    bool is_bytes = unit && strcmp(unit, "bytes") == 0;
    double seconds = (double)(now_ns - line->begin_ns) / 1e9;
    uint64_t rate = seconds > 0 ? (uint64_t)((double)done / seconds) : 0;
    const char *noun = is_bytes || !unit ? "" : unit;
    const char *gap = *noun ? " " : "";
    if (total == 0 || done > total) {
        snprintf(out, n_out, "%s  %s%s%s, %s/s", line->activity, amount(unit, done).text, gap, noun,
                 amount(unit, rate).text);
        return;
    }
    if (seconds < LEAST_SECONDS || done == 0) {
        snprintf(out, n_out, "%s  %3.0f %%  %s of %s%s%s", line->activity,
                 100.0 * (double)done / (double)total, amount(unit, done).text,
                 amount(unit, total).text, gap, noun);
        return;
    }
    uint64_t left_ns = (uint64_t)(seconds * 1e9 / (double)done * (double)(total - done));
    snprintf(out, n_out, "%s  %3.0f %%  %s of %s%s%s, %s/s, %s left", line->activity,
             100.0 * (double)done / (double)total, amount(unit, done).text,
             amount(unit, total).text, gap, noun, amount(unit, rate).text,
             weft_human_ns(left_ns).text);
}

/* Notices when another activity begins; its rate counts from there. */
static void observe(struct weft_progress_line *line, uint64_t now_ns)
{
    const char *activity = atomic_load(&line->progress->activity);
    if (activity == line->activity)
        return;
    line->activity = activity;
    line->begin_ns = now_ns;
}

static void draw(struct weft_progress_line *line, uint64_t now_ns)
{
    char text[LINE_BYTES];
    struct winsize size = { 0 };
    if (!line->activity)
        return;
    compose(line, now_ns, text, sizeof text);
    bool has_size = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    int width = has_size && size.ws_col < sizeof text ? size.ws_col - 1 : (int)sizeof text - 1;
    weft_say("\r%.*s\033[K", width, text);
    line->is_drawn = true;
}

static struct timespec next_tick(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += TICK_MS * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

static void *run(void *context)
{
    struct weft_progress_line *line = context;
    uint64_t start_ns = weft_clock_now_ns();
    pthread_mutex_lock(&line->mutex);
    observe(line, start_ns);
    while (!line->is_stopping) {
        struct timespec until = next_tick();
        pthread_cond_timedwait(&line->stopped, &line->mutex, &until);
        uint64_t now_ns = weft_clock_now_ns();
        observe(line, now_ns);
        if (!line->is_stopping && now_ns - start_ns > QUIET_NS)
            draw(line, now_ns);
    }
    pthread_mutex_unlock(&line->mutex);
    return NULL;
}

static bool begin(struct weft_progress_line *line)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&line->mutex, NULL);
    pthread_cond_init(&line->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    line->begin_ns = weft_clock_now_ns();
    return pthread_create(&line->thread, NULL, run, line) == 0;
}

/* Draws on stderr, from a thread of its own, once the work takes longer than half a second. NULL
 * when stderr is no terminal (or without memory: progress is a courtesy). */
static struct weft_progress_line *weft_progress_line_start(struct weft_progress *progress)
{
    const char *term = getenv("TERM");
    if (!isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0)
        return NULL;
    struct weft_progress_line *line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    line->progress = progress;
    if (begin(line))
        return line;
    free(line);
    return NULL;
}

/* Erases the line and frees; NULL is allowed. */
static void weft_progress_line_stop(struct weft_progress_line *line)
{
    if (!line)
        return;
    pthread_mutex_lock(&line->mutex);
    line->is_stopping = true;
    pthread_cond_signal(&line->stopped);
    pthread_mutex_unlock(&line->mutex);
    pthread_join(line->thread, NULL);
    if (line->is_drawn)
        weft_say("\r\033[K");
    pthread_cond_destroy(&line->stopped);
    pthread_mutex_destroy(&line->mutex);
    free(line);
}

/* ---- common ---------------------------------------------------------------------------------- */

enum { LINE_COLUMNS = 100, JOBS_MAX = 1024, MEMORY_MAX_BYTES = 1 << 30, WORKER_BYTES = 48 << 20 };

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* ---- options
 * ------------------------------------------------------------------------------------- */

static const char *const formats[] = { "text", "csv", "json", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };

#define FIELD(member) offsetof(struct weft_common, member)

static const struct weft_option common_options[] = {
    { 0, "json", NULL, "the same as --format json", WEFT_OPTION_FLAG, FIELD(json), NULL },
    { 0, "format", "text|csv|json", "how results are written (default: text)", WEFT_OPTION_CHOICE,
      FIELD(format), formats },
    { 0, "raw", NULL, "CSV: names exactly as they are, unsafe for terminals and spreadsheets",
      WEFT_OPTION_FLAG, FIELD(raw), NULL },
    { 0, "color", "auto|always|never",
      "colours in text; auto: on a terminal, unless NO_COLOR is set", WEFT_OPTION_CHOICE,
      FIELD(color), colors },
    { 0, "wide", NULL, "text: all columns and full names; else at most 100 columns a line",
      WEFT_OPTION_FLAG, FIELD(wide), NULL },
    { 'o', "output", "FILE", "write to FILE, which appears whole or not at all", WEFT_OPTION_OUTPUT,
      FIELD(output), NULL },
    { 0, "force", NULL, "overwrite a trace, a recording or a database", WEFT_OPTION_FLAG,
      FIELD(force), NULL },
    { 0, "tid", "TID,...", "only these threads, by the system's thread ids", WEFT_OPTION_NUMBERS,
      FIELD(tids), NULL },
    { 0, "all-processes", NULL, "also threads of other processes than the recorded program's",
      WEFT_OPTION_FLAG, FIELD(all_processes), NULL },
    { 0, "with-paths", NULL, "keep absolute paths; by default only the names of files are written",
      WEFT_OPTION_FLAG, FIELD(with_paths), NULL },
    { 'j', "jobs", "N", "worker threads (default: one a CPU, as far as memory allows)",
      WEFT_OPTION_COUNT, FIELD(jobs), NULL },
    { 0, "mem", "BYTES",
      "ceiling for memory, such as 512M (default: a quarter of the machine's, at most 1 GiB)",
      WEFT_OPTION_BYTES, FIELD(memory_bytes), NULL },
    { 'q', "quiet", NULL, "no progress line and no remarks on stderr", WEFT_OPTION_FLAG,
      FIELD(quiet), NULL },
    { 'v', "verbose", NULL, "report time and memory on stderr", WEFT_OPTION_FLAG, FIELD(verbose),
      NULL },
    { 'h', "help", NULL, "print this help", WEFT_OPTION_FLAG, FIELD(help), NULL },
};

/* The group of each common option; 0: every command has it. */
static const unsigned common_groups[] = {
    WEFT_COMMON_FORMAT, WEFT_COMMON_FORMAT, WEFT_COMMON_FORMAT,
    WEFT_COMMON_FORMAT, WEFT_COMMON_FORMAT, WEFT_COMMON_OUTPUT,
    WEFT_COMMON_OUTPUT, WEFT_COMMON_TID,    WEFT_COMMON_PROCESSES,
    WEFT_COMMON_PATHS,  WEFT_COMMON_WORK,   WEFT_COMMON_WORK | WEFT_COMMON_MEMORY,
    WEFT_COMMON_TALK,   WEFT_COMMON_TALK,   0,
};

enum { N_COMMON = sizeof common_options / sizeof *common_options };
_Static_assert(sizeof common_groups / sizeof *common_groups == N_COMMON, "one group an option");

const struct weft_option *weft_common_options(void)
{
    return common_options;
}

size_t weft_common_count(void)
{
    return N_COMMON;
}

bool weft_common_admits(unsigned mask, size_t option)
{
    return common_groups[option] == 0 || (mask & common_groups[option]) != 0;
}

int weft_cli_usage(const struct weft_cli *cli, const char *text)
{
    weft_say("weft: %s: %s\nTry 'weft %s --help'.\n", cli->command->name, text, cli->command->name);
    return WEFT_EXIT_USAGE;
}

static void print_help(const void *context, struct weft_output *out)
{
    weft_help_command(context, out);
}

static bool check_inputs(struct weft_cli *cli)
{
    const struct weft_command *command = cli->command;
    char text[160];
    if (cli->n_inputs >= command->n_inputs_min)
        return true;
    snprintf(text, sizeof text, "expected %s", command->arguments);
    cli->exit_status = weft_cli_usage(cli, text);
    return false;
}

static bool check_jobs(struct weft_cli *cli)
{
    if (cli->common.jobs <= JOBS_MAX)
        return true;
    cli->exit_status = weft_cli_usage(cli, "--jobs: expected at most 1024");
    return false;
}

static bool check_outputs(struct weft_cli *cli)
{
    const enum weft_code code = weft_outputs_check(cli);
    if (code != WEFT_OK)
        cli->exit_status = weft_cli_end(cli, code);
    return code == WEFT_OK;
}

bool weft_cli_parse(struct weft_cli *cli, void *fields, int argc, char **argv)
{
    const struct weft_command *command = cli->command;
    struct weft_option admitted[N_COMMON];
    size_t n_admitted = 0;
    for (size_t i = 0; i < N_COMMON; i++)
        if (weft_common_admits(command->common, i))
            admitted[n_admitted++] = common_options[i];
    cli->inputs = calloc((size_t)argc + 1, sizeof *cli->inputs);
    struct weft_arguments args = {
        .sets = { { command->options, command->n_options, fields },
                  { admitted, n_admitted, &cli->common } },
        .positional = cli->inputs,
        .n_max = cli->inputs ? command->n_inputs_max : 0,
    };
    struct weft_err err = { 0 };
    enum weft_code code = weft_options_parse(&args, argc, argv, &err);
    cli->n_inputs = args.n_positional;
    if (cli->common.help) {
        cli->exit_status = weft_cli_print(print_help, command);
        return false;
    }
    if (code != WEFT_OK) {
        char text[WEFT_ERR_TEXT_BYTES + 160];
        const bool is_of_program = command->takes_a_program && cli->n_inputs > 0;
        (void)snprintf(text, sizeof text, "%s%s%.60s%s", err.text,
                       is_of_program ? "; if it is an option of the program, write -- before that: "
                                       "weft record ... -- "
                                     : "",
                       is_of_program ? cli->inputs[0] : "", is_of_program ? " ..." : "");
        cli->exit_status = weft_cli_usage(cli, text);
        return false;
    }
    if (cli->common.json)
        cli->common.format = WEFT_FORMAT_JSON;
    cli->fields = fields;
    return check_inputs(cli) && check_jobs(cli) && check_outputs(cli);
}

/* ---- work
 * ---------------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif

/* A quarter of the machine's memory, at most 1 GiB; 0 (no ceiling) under a sanitizer, whose own
 * memory would count. */
static uint64_t default_memory(void)
{
#ifdef HAS_SANITIZER
    return 0;
#else
    const long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    const uint64_t quarter =
        n_pages > 0 && page_bytes > 0 ? (uint64_t)n_pages * (uint64_t)page_bytes / 4 : 0;
    return quarter > 0 && quarter < MEMORY_MAX_BYTES ? quarter : MEMORY_MAX_BYTES;
#endif
}

/* A worker has tables and decoded blocks of its own: with little memory, fewer of them. */
static void limit_workers(struct weft_common *common)
{
    const uint64_t n_fit = common->memory_bytes / WORKER_BYTES;
    const long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (common->jobs == 0 && common->memory_bytes > 0 && n_cpus > 0 && (uint64_t)n_cpus > n_fit)
        common->jobs = n_fit > 0 ? n_fit : 1;
}

/* Holds the process to --mem: an allocation beyond it fails, and the command says so. Mapped inputs
 * do not count: their pages are the kernel's to drop. */
static enum weft_code limit_memory(struct weft_cli *cli)
{
    struct rlimit limit;
    if (cli->common.memory_bytes == 0)
        cli->common.memory_bytes = default_memory();
    const rlim_t n_bytes = (rlim_t)cli->common.memory_bytes;
    if (n_bytes == 0)
        return WEFT_OK;
    limit_workers(&cli->common);
    if (getrlimit(RLIMIT_DATA, &limit) != 0)
        return weft_fail_errno(&cli->err, errno, "cannot read the limit on memory");
    limit.rlim_cur = n_bytes < limit.rlim_max ? n_bytes : limit.rlim_max;
    if (setrlimit(RLIMIT_DATA, &limit) != 0)
        return weft_fail_errno(&cli->err, errno, "cannot limit memory");
    return WEFT_OK;
}

enum weft_code weft_cli_begin(struct weft_cli *cli)
{
    enum weft_code code = limit_memory(cli);
    if (code != WEFT_OK)
        return code;
    cli->begin_ns = weft_clock_now_ns();
    cli->run = (struct weft_run){ .pool = weft_pool_new((unsigned)cli->common.jobs),
                                  .progress = cli->progress,
                                  .memory_bytes = cli->common.memory_bytes };
    if (!cli->run.pool)
        return weft_no_memory(&cli->err, "workers");
    if (!cli->common.quiet)
        cli->line = weft_progress_line_start(cli->progress);
    for (size_t k = 0; code == WEFT_OK && k < cli->n_inputs && !cli->command->takes_no_traces; k++)
        code = weft_cli_complete(cli, &cli->inputs[k]);
    return code;
}

static void warn_if_recovered(const struct weft_cli *cli, const char *path,
                              const struct weft_session *session)
{
    const struct weft_store_meta *meta = weft_trace_meta(weft_session_trace(session));
    if (meta->is_recovered && !cli->common.quiet)
        weft_say(WEFT_ENDS_EARLY, path);
}

/* A question about a recording of one program is about its threads, unless options say otherwise.
 */
static bool leaves_out_foreign(const struct weft_cli *cli)
{
    return cli->command->common & WEFT_COMMON_PROCESSES && !cli->common.all_processes &&
           cli->common.tids.n == 0;
}

enum weft_code weft_cli_open_trace(struct weft_cli *cli, const char *path,
                                   struct weft_session **session)
{
    enum weft_code code = weft_cli_complete(cli, &path);
    if (code == WEFT_OK && weft_database_is(path))
        return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected a trace, found a database of executions, which weft info, "
                         "compare, flame, diagnose and serve read");
    WEFT_THEN(code, weft_session_open(path, &cli->run, session, &cli->err));
    if (code != WEFT_OK)
        return code;
    warn_if_recovered(cli, path, *session);
    if (cli->command->common & WEFT_COMMON_PATHS && !cli->common.with_paths) {
        code = weft_session_hide_paths(*session, &cli->err);
        if (code != WEFT_OK)
            return code;
    }
    if (leaves_out_foreign(cli))
        return weft_session_keep_program(*session, &cli->err);
    return weft_session_keep_tids(*session, cli->common.tids.items, cli->common.tids.n, &cli->err);
}

enum weft_code weft_cli_open(struct weft_cli *cli)
{
    if (cli->session)
        return WEFT_OK;
    WEFT_TRY(weft_cli_begin(cli));
    return weft_cli_open_trace(cli, cli->inputs[0], &cli->session);
}

static bool wants_colour(const struct weft_cli *cli)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if (cli->common.color != COLOR_AUTO)
        return cli->common.color == COLOR_ALWAYS;
    return !cli->common.output && isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
           !(term && strcmp(term, "dumb") == 0);
}

/* Of a line of text: a narrow terminal has fewer. 0 with --wide: any number. */
static size_t line_columns(const struct weft_cli *cli)
{
    struct winsize size;
    if (cli->common.wide)
        return 0;
    if (cli->common.output || !isatty(STDOUT_FILENO) ||
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return LINE_COLUMNS;
    return size.ws_col < LINE_COLUMNS ? size.ws_col : LINE_COLUMNS;
}

static bool is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

enum weft_code weft_cli_window(struct weft_cli *cli, const char *from, const char *to,
                               uint64_t *from_ns, uint64_t *to_ns)
{
    return weft_session_window(cli->session, from, to, from_ns, to_ns, &cli->err);
}

/* Where the reader is gone (`weft states F | head`), the program ends as others do: by SIGPIPE,
 * without a word. */
static enum weft_code open_stdout(struct weft_output **out, struct weft_err *err)
{
    (void)signal(SIGPIPE, SIG_DFL);
    return weft_output_to_fd(STDOUT_FILENO, "standard output", out, err);
}

static enum weft_output_form form_of(const struct weft_view *view, bool is_raw)
{
    if (view->format == WEFT_FORMAT_JSON)
        return WEFT_OUTPUT_JSON;
    if (view->format == WEFT_FORMAT_CSV && is_raw)
        return WEFT_OUTPUT_EXACT;
    return view->style.has_colour ? WEFT_OUTPUT_COLOUR : WEFT_OUTPUT_TEXT;
}

static enum weft_code open_output(struct weft_cli *cli, struct weft_output **out)
{
    if (is_stdout(cli->common.output))
        return open_stdout(out, &cli->err);
    return weft_outputs_open(cli, cli->common.output, out);
}

void weft_cli_quiet_line(struct weft_cli *cli)
{
    weft_progress_line_stop(cli->line);
    cli->line = NULL;
}

enum weft_code weft_cli_output(struct weft_cli *cli, struct weft_output **out)
{
    if (is_stdout(cli->common.output) && isatty(STDOUT_FILENO))
        weft_cli_quiet_line(cli);
    return open_output(cli, out);
}

enum weft_code weft_cli_view(struct weft_cli *cli, struct weft_view *view)
{
    weft_cli_quiet_line(cli);
    *view = (struct weft_view){
        .trace = cli->session ? weft_session_trace(cli->session) : NULL,
        .path = cli->shown_path ? cli->shown_path : cli->inputs[0],
        .format = (enum weft_format)cli->common.format,
        .style = { .has_colour = wants_colour(cli), .n_columns = line_columns(cli) },
        .has_filter = cli->common.tids.n > 0,
    };
    if (view->trace && leaves_out_foreign(cli))
        view->n_left_out = weft_trace_n_foreign(view->trace);
    const enum weft_code code = open_output(cli, &view->out);
    if (code == WEFT_OK)
        weft_output_set_form(view->out, form_of(view, cli->common.raw));
    return code;
}

enum weft_code weft_cli_summarise(struct weft_cli *cli, const char *path, const char *shown_path)
{
    struct weft_view view;
    if (cli->common.quiet && cli->common.format != WEFT_FORMAT_JSON)
        return WEFT_OK;
    enum weft_code code = weft_session_open(path, &cli->run, &cli->session, &cli->err);
    if (code != WEFT_OK) {
        (void)weft_in_file(&cli->err, path);
        return code;
    }
    cli->common.output = NULL;
    code = weft_cli_view(cli, &view);
    if (code != WEFT_OK)
        return code;
    view.path = shown_path;
    weft_render_info(&view, &(struct weft_info_view){ 0 });
    return weft_output_close(view.out, &cli->err);
}

static void print_effort(const struct weft_cli *cli)
{
    struct rusage usage;
    if (!cli->common.verbose || getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    weft_say("weft: %s: %s, at most %s of memory\n", cli->command->name,
             weft_human_ns(weft_clock_now_ns() - cli->begin_ns).text,
             weft_human_bytes((uint64_t)usage.ru_maxrss * 1024).text);
}

static int print_error(struct weft_cli *cli, enum weft_code code)
{
    char text[WEFT_ERR_FILE_BYTES + WEFT_ERR_TEXT_BYTES + WEFT_ERR_PLACE_BYTES + 64];
    if (code == WEFT_E_CANCELLED) {
        weft_say("weft: interrupted\n");
        return WEFT_EXIT_SIGNAL + weft_cli_signal();
    }
    if (cli->err.code == WEFT_OK) /* no exit is without a reason */
        (void)weft_fail(&cli->err, code, WEFT_NO_OFFSET, "%s failed: %s", cli->command->name,
                        weft_code_name(code));
    if (cli->n_inputs > 0)
        (void)weft_in_file(&cli->err, cli->inputs[0]);
    weft_err_print(&cli->err, text, sizeof text);
    weft_say("weft: %s\n", text);
    if (cli->err.code == WEFT_E_NOMEM)
        weft_say("There was no memory for it. %s\n",
                 cli->common.memory_bytes ? "Give more with --mem, or use fewer workers (-j 1)."
                                          : "Use fewer workers (-j 1).");
    return WEFT_EXIT_FAILED;
}

int weft_cli_end(struct weft_cli *cli, enum weft_code code)
{
    weft_cli_quiet_line(cli);
    weft_session_close(cli->session);
    cli->session = NULL;
    weft_pool_free(cli->run.pool);
    cli->run.pool = NULL;
    if (code == WEFT_OK)
        print_effort(cli);
    const int status = code == WEFT_OK ? WEFT_EXIT_DONE : print_error(cli, code);
    for (size_t k = 0; k < cli->asides.n; k++)
        free(cli->asides.items[k]);
    WEFT_VEC_FINI(&cli->asides);
    weft_outputs_end(cli);
    free(cli->shown_path);
    cli->shown_path = NULL;
    return status;
}

int weft_cli_print(void (*print)(const void *context, struct weft_output *out), const void *context)
{
    struct weft_output *out;
    struct weft_err err = { 0 };
    enum weft_code code = open_stdout(&out, &err);
    if (code == WEFT_OK) {
        print(context, out);
        code = weft_output_close(out, &err);
    }
    if (code == WEFT_OK)
        return WEFT_EXIT_DONE;
    char text[512];
    weft_err_print(&err, text, sizeof text);
    weft_say("weft: %s\n", text);
    return WEFT_EXIT_FAILED;
}
