/* SPDX-License-Identifier: MIT
 *
 * What every command gets: common options, workers, progress, the opened trace, the output. Only
 * this folder prints and exits.
 */
#ifndef WEFT_CLI_CLI_H
#define WEFT_CLI_CLI_H

#include "base/error.h"
#include "base/pool.h"
#include "cli/options.h"
#include "query/session.h"
#include "render/text/render.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_exit {
    WEFT_EXIT_DONE = 0,
    WEFT_EXIT_FAILED = 1,
    WEFT_EXIT_USAGE = 2,
    WEFT_EXIT_SIGNAL = 128, /* and the number of the signal that interrupted it */
};

/* The signal that interrupted the program; 0: none. */
int weft_cli_signal(void);

/* Which common options a command takes. */
enum weft_common_mask {
    WEFT_COMMON_FORMAT = 1, /* --json, --format, --raw, --color, --wide */
    WEFT_COMMON_OUTPUT = 2,
    WEFT_COMMON_TID = 4,
    WEFT_COMMON_WORK = 8,  /* --jobs, --mem */
    WEFT_COMMON_TALK = 16, /* --quiet, --verbose */
    WEFT_COMMON_ALL = 31,
    WEFT_COMMON_MEMORY = 32,    /* --mem alone */
    WEFT_COMMON_PROCESSES = 64, /* --all-processes; without it, of the recorded program alone */
    WEFT_COMMON_PATHS = 128,    /* --with-paths; without it, what is written has no folders */
};

struct weft_common {
    const char *output; /* NULL: standard output */
    struct weft_numbers tids;
    uint64_t jobs, memory_bytes;
    unsigned format; /* enum weft_format */
    unsigned color;
    bool all_processes, json, raw, wide, quiet, verbose, help, force, with_paths;
};

struct weft_cli;

/* A row of the table in main.c. */
struct weft_command {
    const char *name;
    const char *summary;
    const char *arguments; /* "TRACE" in usage lines */
    const char *about;     /* a few sentences for --help; lines broken by hand */
    const struct weft_option *options;
    size_t n_options;
    unsigned common; /* enum weft_common_mask */
    size_t n_inputs_min, n_inputs_max;
    int (*run)(struct weft_cli *cli, int argc, char **argv);
    bool is_hidden;
    bool takes_no_traces; /* its arguments are something else than traces */
    bool takes_words;     /* its arguments are not even files */
    bool takes_a_program; /* its arguments are a program, and the arguments of that */
    bool writes_traces;   /* what -o names becomes a trace; else text */
};

struct weft_progress_line;

struct weft_cli {
    const struct weft_command *command;
    struct weft_common common;
    const void *fields; /* what the options of the command were parsed into */
    const char **inputs;
    size_t n_inputs;
    struct weft_run run;
    struct weft_progress *progress;
    struct weft_progress_line *line; /* NULL: none drawn */
    struct weft_session *session;
    char *shown_path; /* of inputs[0], if that became a temporary; else NULL */
    struct {
        char **items; /* paths of temporaries, which live as long */
        size_t n, cap;
    } asides;
    char *scratch;  /* a temporary folder that the program's end removes (outputs.h); or NULL */
    int scratch_fd; /* it is locked as long as the program runs */
    uint64_t begin_ns;
    struct weft_err err;
    int exit_status; /* when weft_cli_parse says no */
};

/* The commands, sorted by name. */
extern const struct weft_command weft_cmd_compare, weft_cmd_completion, weft_cmd_cpu, weft_cmd_cut,
    weft_cmd_diagnose, weft_cmd_executions, weft_cmd_export, weft_cmd_flame, weft_cmd_functions,
    weft_cmd_help, weft_cmd_import, weft_cmd_info, weft_cmd_interplay, weft_cmd_interval,
    weft_cmd_locks, weft_cmd_mark, weft_cmd_merge, weft_cmd_outliers, weft_cmd_path,
    weft_cmd_record, weft_cmd_regtime, weft_cmd_report, weft_cmd_serve, weft_cmd_shapes,
    weft_cmd_states, weft_cmd_waits;
/* ui/src/gen/tables.ts: names and types of the columns of all tables. */
void weft_types_print(struct weft_output *out);

/* Those of analyses that answer with a plain list; at most n_max. */
size_t weft_list_commands(const struct weft_command **commands, size_t n_max);

/* All, sorted by name. */
const struct weft_command *const *weft_commands(size_t *n_commands);
const struct weft_command *weft_command_find(const char *name);

/* "weft: unknown command ...; did you mean ...?" on stderr; returns WEFT_EXIT_USAGE. */
int weft_command_unknown(const char *name);

/* Parses a command's options into `fields` and the common ones into the cli. False when there is
 * nothing left to do: --help was printed, or usage was wrong; the status is then in exit_status. */
bool weft_cli_parse(struct weft_cli *cli, void *fields, int argc, char **argv);

/* "weft: COMMAND: text" and where help is, on stderr; returns WEFT_EXIT_USAGE. */
int weft_cli_usage(const struct weft_cli *cli, const char *text);

/* Reads "0,-1.5ms,+20us", one for each input; NULL gives NULL. The array is the caller's to free.
 * False after wrong usage; the status is then in exit_status. */
bool weft_cli_offsets(struct weft_cli *cli, const char *text, int64_t **offsets_ns);

/* Starts workers and the progress line. */
WEFT_CHECKED enum weft_code weft_cli_begin(struct weft_cli *cli);

/* weft_cli_begin, and opens inputs[0] as the session, restricted to --tid; once. */
WEFT_CHECKED enum weft_code weft_cli_open(struct weft_cli *cli);

/* Opens a trace, restricted to --tid, and says on stderr if its file ends early (but --quiet). */
WEFT_CHECKED enum weft_code weft_cli_open_trace(struct weft_cli *cli, const char *path,
                                                struct weft_session **session);

/* For stderr: the file of a trace (%s) ends early. Whoever reads a result must know. */
/* Prints to standard error, as printf; arguments of %s are foreign text, which is made plain. */
void weft_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define WEFT_ENDS_EARLY                                                                            \
    "weft: %s: the file ends early: read without its directory, what followed its last whole "     \
    "block is missing\n"

/* The window that --from and --to name (NULL: the trace's start and end). */
WEFT_CHECKED enum weft_code weft_cli_window(struct weft_cli *cli, const char *from, const char *to,
                                            uint64_t *from_ns, uint64_t *to_ns);

/* Opens where -o leads, for long output: the progress line stays, unless both would be seen on one
 * terminal. weft_cli_quiet_line ends it. */
WEFT_CHECKED enum weft_code weft_cli_output(struct weft_cli *cli, struct weft_output **out);
void weft_cli_quiet_line(struct weft_cli *cli);

/* After a command that wrote the trace `path`, which it was asked to call `shown_path`: prints what
 * 'weft info' prints of it, unless
 * --quiet. The summary is of the file, not of what the writer believes. */
WEFT_CHECKED enum weft_code weft_cli_summarise(struct weft_cli *cli, const char *path,
                                               const char *shown_path);

/* Ends the progress line and opens where -o, --format and --color lead. */
WEFT_CHECKED enum weft_code weft_cli_view(struct weft_cli *cli, struct weft_view *view);

/* Frees everything; prints the error if there is one. Returns the exit status. */
int weft_cli_end(struct weft_cli *cli, enum weft_code code);

/* --help of a command, and of weft itself. */
void weft_help_command(const struct weft_command *command, struct weft_output *out);
void weft_help_program(struct weft_output *out);

/* The common options that `mask` admits, one after the other; `*count` of them. */
const struct weft_option *weft_common_options(void);
size_t weft_common_count(void);
bool weft_common_admits(unsigned mask, size_t option);

/* Prints to standard output through one function that reports write errors. */
int weft_cli_print(void (*print)(const void *context, struct weft_output *out),
                   const void *context);

#endif
