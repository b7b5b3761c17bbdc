/* SPDX-License-Identifier: MIT
 *
 * Compares files by device and inode, so that links do not hide an input from outputs.c. A folder
 * counts with all its files, a database with its journal, and files named by options count as well.
 */
#include "cli/inputs.h"

#include "query/database/database.h"
#include "record/session/proc.h"

#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Folders of traces have a few hundred files: larger ones are searched as far as this. */
enum { FOLDER_FILES_MAX = 100000 };

static bool is_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Through symbolic links, too. */
static bool folder_holds(const char *folder, const struct stat *about)
{
    char path[PATH_MAX];
    if (strlen(folder) >= sizeof path)
        return false;
    memcpy(path, folder, strlen(folder) + 1);
    char *const paths[] = { path, NULL };
    FTS *tree = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    const FTSENT *entry;
    bool is_held = false;
    for (int n = 0; tree && !is_held && n < FOLDER_FILES_MAX && (entry = fts_read(tree)); n++)
        is_held = entry->fts_info == FTS_F && is_file(entry->fts_statp, about);
    if (tree)
        (void)fts_close(tree);
    return is_held;
}

/* A database is also what SQLite keeps beside it. */
static bool database_holds(const char *path, const struct stat *about)
{
    static const char *const suffixes[] = { "-journal", "-wal", "-shm" };
    char beside[PATH_MAX];
    struct stat found;
    for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++) {
        const int n = snprintf(beside, sizeof beside, "%s%s", path, suffixes[k]);
        if (n > 0 && n < (int)sizeof beside && stat(beside, &found) == 0 && is_file(&found, about))
            return true;
    }
    return false;
}

static bool input_is(const char *input, const struct stat *about, bool with_folders)
{
    struct stat found;
    const bool is_standard = strcmp(input, "-") == 0;
    if (is_standard ? fstat(STDIN_FILENO, &found) != 0 : stat(input, &found) != 0)
        return false;
    if (S_ISDIR(found.st_mode))
        return with_folders && folder_holds(input, about);
    return is_file(&found, about) || (weft_database_is(input) && database_holds(input, about));
}

static const char *value_of(const struct weft_option *option, const void *fields)
{
    const char *value;
    memcpy(&value, (const char *)fields + option->field, sizeof value);
    return value;
}

/* Files that options name to be read: rules, maps, colours. Folders are places to look in. */
static const char *find_in_options(const struct weft_cli *cli, const struct stat *about)
{
    for (size_t k = 0; k < cli->command->n_options; k++) {
        const struct weft_option *option = &cli->command->options[k];
        const char *value = option->type == WEFT_OPTION_FILE ? value_of(option, cli->fields) : NULL;
        if (value && input_is(value, about, false))
            return value;
    }
    return NULL;
}

const char *weft_inputs_find(const struct weft_cli *cli, const struct stat *about,
                             bool with_folders)
{
    char program[PATH_MAX];
    for (size_t k = 0; k < cli->n_inputs && !cli->command->takes_words; k++)
        if (input_is(cli->inputs[k], about, with_folders && !cli->command->takes_a_program))
            return cli->inputs[k];
    if (cli->command->takes_a_program && cli->n_inputs > 0 &&
        proc_find_program(cli->inputs[0], program) && input_is(program, about, false))
        return cli->inputs[0];
    return find_in_options(cli, about);
}

size_t weft_inputs_outputs(const struct weft_cli *cli, const char **outputs, bool *is_database)
{
    size_t n = 0;
    if (cli->common.output) {
        is_database[n] = false;
        outputs[n++] = cli->common.output;
    }
    for (size_t k = 0; k < cli->command->n_options; k++) {
        const struct weft_option *option = &cli->command->options[k];
        const bool is_output =
            option->type == WEFT_OPTION_OUTPUT || option->type == WEFT_OPTION_DATABASE;
        const char *value = is_output ? value_of(option, cli->fields) : NULL;
        if (!value || n == WEFT_OUTPUTS_MAX)
            continue;
        is_database[n] = option->type == WEFT_OPTION_DATABASE;
        outputs[n++] = value;
    }
    return n;
}
