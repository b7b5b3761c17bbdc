/* SPDX-License-Identifier: MIT
 *
 * Shell completion, option lists and whole pages of the manual, from the same tables as --help; and
 * the types of tables for the page (cli/types.c).
 */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/* Every option of a command, its own first. */
typedef void (*option_fn)(const struct weft_option *option, struct weft_output *out);

static void each_option(const struct weft_command *command, option_fn print,
                        struct weft_output *out)
{
    for (size_t i = 0; i < command->n_options; i++)
        print(&command->options[i], out);
    for (size_t i = 0; i < weft_common_count(); i++)
        if (weft_common_admits(command->common, i))
            print(&weft_common_options()[i], out);
}

static bool takes_file(const struct weft_option *option)
{
    return option->type == WEFT_OPTION_FILE || option->type == WEFT_OPTION_OUTPUT ||
           option->type == WEFT_OPTION_DATABASE;
}

static void print_names(const char *before, const char *after, struct weft_output *out)
{
    size_t n_commands;
    const struct weft_command *const *commands = weft_commands(&n_commands);
    for (size_t i = 0; i < n_commands; i++)
        if (!commands[i]->is_hidden)
            weft_output_printf(out, "%s%s%s", before, commands[i]->name, after);
}

/* ---- bash
 * ---------------------------------------------------------------------------------------- */

static void bash_word(const struct weft_option *option, struct weft_output *out)
{
    if (option->letter)
        weft_output_printf(out, "-%c ", option->letter);
    weft_output_printf(out, "--%s ", option->name);
}

/* A case of the option before the word: its choices, files, or nothing that can be guessed. */
static void bash_value(const struct weft_option *option, struct weft_output *out)
{
    if (option->type == WEFT_OPTION_FLAG)
        return;
    weft_output_printf(out, "        --%s", option->name);
    if (option->letter)
        weft_output_printf(out, "|-%c", option->letter);
    weft_output_text(out, ") ");
    if (option->type == WEFT_OPTION_CHOICE) {
        weft_output_text(out, "COMPREPLY=($(compgen -W '");
        for (size_t i = 0; option->choices[i]; i++)
            weft_output_printf(out, "%s%s", i > 0 ? " " : "", option->choices[i]);
        weft_output_text(out, "' -- \"$word\")); ");
    } else if (takes_file(option)) {
        weft_output_text(out, "COMPREPLY=($(compgen -f -- \"$word\")); ");
    }
    weft_output_text(out, "return ;;\n");
}

static void print_bash(struct weft_output *out)
{
    size_t n_commands;
    const struct weft_command *const *commands = weft_commands(&n_commands);
    weft_output_text(out, "# bash completion for weft, written by 'weft completion bash'\n"
                          "_weft()\n{\n"
                          "    local word=${COMP_WORDS[COMP_CWORD]}\n"
                          "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                          "    local options=\n"
                          "    COMPREPLY=()\n"
                          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                          "        COMPREPLY=($(compgen -W '");
    print_names("", " ", out);
    weft_output_text(out, "--help --version' -- \"$word\"))\n        return\n    fi\n"
                          "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < n_commands; i++) {
        if (commands[i]->is_hidden)
            continue;
        weft_output_printf(out, "    %s)\n        options='", commands[i]->name);
        each_option(commands[i], bash_word, out);
        weft_output_text(out, "'\n        case $before in\n");
        each_option(commands[i], bash_value, out);
        weft_output_text(out, "        esac ;;\n");
    }
    weft_output_text(out, "    esac\n"
                          "    case $word in\n"
                          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
                          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                          "    esac\n}\ncomplete -o filenames -F _weft weft\n");
}

/* ---- zsh
 * ----------------------------------------------------------------------------------------- */

/* Text inside '...[...]': brackets, colons and quotes would end it. */
static void zsh_text(const char *text, struct weft_output *out)
{
    for (; *text; text++)
        if (*text == '\'')
            weft_output_text(out, "'\\''");
        else
            weft_output_printf(out, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
}

static void zsh_spec(const struct weft_option *option, const char *dashes, const char *name,
                     struct weft_output *out)
{
    bool has_value = option->type != WEFT_OPTION_FLAG;
    bool is_long = dashes[1] != '\0';
    weft_output_printf(out, "        '%s%s%s[", dashes, name,
                       !has_value ? ""
                       : is_long  ? "="
                                  : "+");
    zsh_text(option->help, out);
    weft_output_text(out, "]");
    if (has_value) {
        weft_output_text(out, ":");
        zsh_text(option->argument, out);
        weft_output_text(out, ":");
    }
    if (option->type == WEFT_OPTION_CHOICE) {
        for (size_t i = 0; option->choices[i]; i++)
            weft_output_printf(out, "%s%s", i > 0 ? " " : "(", option->choices[i]);
        weft_output_text(out, ")");
    } else if (takes_file(option)) {
        weft_output_text(out, "_files");
    }
    weft_output_text(out, "' \\\n");
}

static void zsh_option(const struct weft_option *option, struct weft_output *out)
{
    const char letter[2] = { option->letter, '\0' };
    if (option->letter)
        zsh_spec(option, "-", letter, out);
    zsh_spec(option, "--", option->name, out);
}

static void print_zsh(struct weft_output *out)
{
    size_t n_commands;
    const struct weft_command *const *commands = weft_commands(&n_commands);
    weft_output_text(out, "#compdef weft\n# zsh completion for weft, written by 'weft completion "
                          "zsh'\n\n_weft_commands()\n{\n    local -a commands=(\n");
    for (size_t i = 0; i < n_commands; i++) {
        if (commands[i]->is_hidden)
            continue;
        weft_output_printf(out, "        '%s:", commands[i]->name);
        zsh_text(commands[i]->summary, out);
        weft_output_text(out, "'\n");
    }
    weft_output_text(out, "    )\n    _describe command commands\n}\n\n_weft()\n{\n"
                          "    if (( CURRENT == 2 )); then\n        _weft_commands\n        "
                          "return\n    fi\n"
                          "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
                          "    case $command in\n");
    for (size_t i = 0; i < n_commands; i++) {
        if (commands[i]->is_hidden)
            continue;
        weft_output_printf(out, "    %s)\n        _arguments \\\n", commands[i]->name);
        each_option(commands[i], zsh_option, out);
        weft_output_text(out, commands[i]->run == weft_cmd_help.run
                                  ? "        '*:command:_weft_commands' ;;\n"
                                  : "        '*:file:_files' ;;\n");
    }
    weft_output_text(out, "    esac\n}\n\n_weft \"$@\"\n");
}

/* ---- man
 * ----------------------------------------------------------------------------------------- */

static void man_option(const struct weft_option *option, struct weft_output *out)
{
    char argument[64] = "";
    if (option->argument)
        snprintf(argument, sizeof argument, " _%s_", option->argument);
    if (option->letter)
        weft_output_printf(out, "*-%c*%s, ", option->letter, argument);
    weft_output_printf(out, "*--%s*%s\n\t%s.\n\n", option->name, argument, option->help);
}

/* The whole page of a command whose analysis answers with a plain list. */
static void man_page(const struct weft_command *command, const struct weft_analysis *analysis,
                     struct weft_output *out)
{
    weft_output_printf(out,
                       "weft-%s(1)\n\n# NAME\n\nweft-%s - %s\n\n# SYNOPSIS\n\n"
                       "*weft %s* [options] _TRACE_\n\n# DESCRIPTION\n\n%s\n\n# OPTIONS\n\n",
                       command->name, command->name, command->summary, command->name,
                       command->about);
    each_option(command, man_option, out);
    weft_output_text(out,
                     "# COLUMNS\n\nOf text by their heads, of CSV and JSON by their keys.\n\n");
    for (size_t i = 0; i < analysis->type->n_fields; i++) {
        const struct weft_field *field = &analysis->type->fields[i];
        if (field->key)
            weft_output_printf(out, "*%s*%s%s%s (%s)\n\t%s.\n\n", field->key,
                               field->head ? ", in text _" : "", field->head ? field->head : "",
                               field->head ? "_" : "", weft_unit_name(field->unit), field->doc);
    }
    weft_output_text(out, "# JSON\n\n_from_ns_ and _to_ns_ of the window, _found_ rows, _columns_ "
                          "(key, unit, text), and _rows_.\n\n# SEE ALSO\n\n*weft*(1)\n");
}

/* ---- the command
 * ----------------------------------------------------------------------------------- */

static void print_completion(const void *context, struct weft_output *out)
{
    const char *const *words = context;
    if (strcmp(words[0], "bash") == 0)
        print_bash(out);
    else if (strcmp(words[0], "zsh") == 0)
        print_zsh(out);
    else if (strcmp(words[0], "types") == 0)
        weft_types_print(out);
    else if (strcmp(words[0], "page") == 0)
        man_page(weft_command_find(words[1]), weft_analysis_find(words[1]), out);
    else
        each_option(weft_command_find(words[1]), man_option, out);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    if (!weft_cli_parse(cli, NULL, argc, argv))
        return cli->exit_status;
    bool is_man = cli->n_inputs == 2 && strcmp(cli->inputs[0], "man") == 0;
    bool is_shell = cli->n_inputs == 1 &&
                    (strcmp(cli->inputs[0], "bash") == 0 || strcmp(cli->inputs[0], "zsh") == 0);
    if (is_man && !weft_command_find(cli->inputs[1]))
        return weft_command_unknown(cli->inputs[1]);
    const struct weft_analysis *analysis = cli->n_inputs == 2 && strcmp(cli->inputs[0], "page") == 0
                                               ? weft_analysis_find(cli->inputs[1])
                                               : NULL;
    const bool is_types = cli->n_inputs == 1 && strcmp(cli->inputs[0], "types") == 0;
    if (!is_man && !is_shell && !is_types && !(analysis && analysis->list))
        return weft_cli_usage(cli, "expected bash, zsh, types, man and a command, or page and an "
                                   "analysis that answers with a list");
    return weft_cli_print(print_completion, cli->inputs);
}

const struct weft_command weft_cmd_completion = {
    .name = "completion",
    .summary = "print shell completion, or the option list of a man page",
    .arguments = "bash|zsh|types|man COMMAND|page ANALYSIS",
    .n_inputs_min = 1,
    .n_inputs_max = 2,
    .run = run,
    .takes_words = true,
    .is_hidden = true,
};
