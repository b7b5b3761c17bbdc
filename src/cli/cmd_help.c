/* SPDX-License-Identifier: MIT
 *
 * weft help, and --help of every command: both are printed from the tables of options, which are
 * also the source of completion and of the option lists of man pages.
 */
#include "cli/cli.h"
#include "render/text/compare_words.h"

#include <stdio.h>
#include <string.h>

enum { OPTION_COLUMNS = 30 };

/* "  -j, --jobs N" padded, then the sentence. */
static void print_option(const struct weft_option *option, struct weft_output *out)
{
    char text[96];
    int n =
        snprintf(text, sizeof text, "  %c%c%c --%s%s%s", option->letter ? '-' : ' ',
                 option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
                 option->argument ? " " : "", option->argument ? option->argument : "");
    weft_output_text(out, text);
    if (n >= OPTION_COLUMNS) {
        weft_output_text(out, "\n");
        n = 0;
    }
    weft_output_repeat(out, " ", (size_t)(OPTION_COLUMNS - n));
    weft_words_wrapped(out, weft_str_of(option->help), OPTION_COLUMNS);
}

void weft_help_command(const struct weft_command *command, struct weft_output *out)
{
    weft_output_printf(out, "weft %s: %s\n\nusage: weft %s [options] %s\n", command->name,
                       command->summary, command->name, command->arguments);
    if (command->about)
        weft_output_printf(out, "\n%s\n", command->about);
    weft_output_text(out, "\noptions:\n");
    for (size_t i = 0; i < command->n_options; i++)
        print_option(&command->options[i], out);
    for (size_t i = 0; i < weft_common_count(); i++)
        if (weft_common_admits(command->common, i))
            print_option(&weft_common_options()[i], out);
}

void weft_help_program(struct weft_output *out)
{
    size_t n_commands;
    const struct weft_command *const *commands = weft_commands(&n_commands);
    weft_output_text(out, "weft: why were the threads of a program slow?\n\n"
                          "usage: weft COMMAND [options] ...\n\ncommands:\n");
    for (size_t i = 0; i < n_commands; i++)
        if (!commands[i]->is_hidden)
            weft_output_printf(out, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
    weft_output_text(out,
                     "\nA trace is imported once, then asked:\n"
                     "  weft import -o app.weft --binary ./app xray-log.app.*\n"
                     "  weft regtime app.weft\n"
                     "  weft outliers app.weft\n"
                     "  weft report app.weft -o app.html\n"
                     "\n'weft COMMAND --help' lists the options of a command; 'weft --version' "
                     "prints the version.\nData goes to stdout, talk to stderr. Exit status: 0 "
                     "done, 1 failed, 2 wrong usage, 128 + N\n"
                     "interrupted by signal N (130: Ctrl-C).\n");
}

static void print_command(const void *context, struct weft_output *out)
{
    weft_help_command(context, out);
}

static void print_program(const void *context, struct weft_output *out)
{
    (void)context;
    weft_help_program(out);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    if (!weft_cli_parse(cli, NULL, argc, argv))
        return cli->exit_status;
    if (cli->n_inputs == 0)
        return weft_cli_print(print_program, NULL);
    const struct weft_command *command = weft_command_find(cli->inputs[0]);
    if (!command)
        return weft_command_unknown(cli->inputs[0]);
    return weft_cli_print(print_command, command);
}

const struct weft_command weft_cmd_help = {
    .name = "help",
    .summary = "print the help of a command",
    .arguments = "[COMMAND]",
    .n_inputs_max = 1,
    .run = run,
    .takes_words = true,
};
