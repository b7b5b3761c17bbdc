/* SPDX-License-Identifier: MIT
 *
 * weft: the table of commands, and the two variables that a signal handler may touch.
 */
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What signals ask to stop, and the last of them. */
static struct weft_progress work;
static volatile sig_atomic_t last_signal;

static const struct weft_command *const written[] = {
    &weft_cmd_compare,   &weft_cmd_completion, &weft_cmd_cpu,    &weft_cmd_cut,
    &weft_cmd_diagnose,  &weft_cmd_executions, &weft_cmd_export, &weft_cmd_flame,
    &weft_cmd_functions, &weft_cmd_help,       &weft_cmd_import, &weft_cmd_info,
    &weft_cmd_interplay, &weft_cmd_interval,   &weft_cmd_locks,  &weft_cmd_mark,
    &weft_cmd_merge,     &weft_cmd_outliers,   &weft_cmd_path,   &weft_cmd_record,
    &weft_cmd_regtime,   &weft_cmd_report,     &weft_cmd_serve,  &weft_cmd_shapes,
    &weft_cmd_states,    &weft_cmd_waits,
};

enum { N_WRITTEN = sizeof written / sizeof *written, COMMANDS_MAX = N_WRITTEN + 64 };

static int by_name(const void *a, const void *b)
{
    const struct weft_command *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

const struct weft_command *const *weft_commands(size_t *n_commands)
{
    static const struct weft_command *all[COMMANDS_MAX];
    static size_t n_all;
    if (n_all == 0) {
        memcpy(all, written, sizeof written);
        n_all = N_WRITTEN + weft_list_commands(all + N_WRITTEN, COMMANDS_MAX - N_WRITTEN);
        qsort(all, n_all, sizeof *all, by_name);
    }
    *n_commands = n_all;
    return all;
}

const struct weft_command *weft_command_find(const char *name)
{
    size_t n_commands;
    const struct weft_command *const *commands = weft_commands(&n_commands);
    for (size_t i = 0; i < n_commands; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int weft_command_unknown(const char *name)
{
    size_t n_commands;
    const struct weft_command *const *commands = weft_commands(&n_commands);
    const char *names[COMMANDS_MAX];
    for (size_t i = 0; i < n_commands; i++)
        names[i] = commands[i]->name;
    const char *nearest = weft_nearest(name, names, n_commands);
    weft_say("weft: unknown command '%.60s'", name);
    if (nearest)
        weft_say("; did you mean '%s'?", nearest);
    weft_say("\nTry 'weft --help'.\n");
    return WEFT_EXIT_USAGE;
}

/* Asks the work to stop; a second signal ends the program the hard way. */
static void on_signal(int number)
{
    last_signal = number;
    atomic_store(&work.is_cancelled, true);
}

int weft_cli_signal(void)
{
    return last_signal;
}

static void catch_signals(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP };
    struct sigaction before;
    struct sigaction stop = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigemptyset(&stop.sa_mask);
    sigemptyset(&ignore.sa_mask);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        /* Under nohup(1) it stays ignored that the terminal is gone. */
        if (numbers[k] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 ||
            before.sa_handler != SIG_IGN)
            sigaction(numbers[k], &stop, NULL);
    /* A closed pipe is a write error like any other, but for standard output (common.c). */
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* and so is a limit on the size of files */
}

static int run_command(const struct weft_command *command, int argc, char **argv)
{
    struct weft_cli cli = { .command = command, .progress = &work };
    int status = command->run(&cli, argc, argv);
    free(cli.inputs);
    return status;
}

static void print_program(const void *context, struct weft_output *out)
{
    (void)context;
    weft_help_program(out);
}

static void print_version(const void *context, struct weft_output *out)
{
    (void)context;
    weft_output_text(out, "weft " WEFT_VERSION "\n");
}

static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

int main(int argc, char **argv)
{
    catch_signals();
    if (argc < 2) {
        weft_say("weft: expected a command\nTry 'weft --help'.\n");
        return WEFT_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return weft_cli_print(print_program, NULL);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return weft_cli_print(print_version, NULL);
    const struct weft_command *command = weft_command_find(argv[1]);
    if (!command && is_file(argv[1])) /* a trace alone */
        return run_command(&weft_cmd_diagnose, argc - 1, argv + 1);
    return command ? run_command(command, argc - 2, argv + 2) : weft_command_unknown(argv[1]);
}
