/* SPDX-License-Identifier: MIT
 *
 * Examines what stands at a path before it is opened: devices and pipes are written directly, files
 * by rename when complete. Temporary traces live in a locked scratch folder, which ends with the
 * command.
 */
#include "cli/outputs.h"

#include "base/vec.h"
#include "cli/cli.h"
#include "import/own.h"
#include "query/database/database.h"
#include "record/session/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Which files a command reads and which it writes, as its arguments and its table of options say.
 * Compares files by device and inode, so that links do not hide an input from an output. A folder
 * counts with all its files, a database with its journal, and files named by options count as
 * well. */

enum { WEFT_OUTPUTS_MAX = 8 };

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

/* The input of the command that is the file `about`, or NULL. An input that is a folder is all
 * files in it, if `with_folders`. */
static const char *weft_inputs_find(const struct weft_cli *cli, const struct stat *about,
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

/* The files that options name to be written: at most WEFT_OUTPUTS_MAX; how many they are. */
static size_t weft_inputs_outputs(const struct weft_cli *cli, const char **outputs,
                                  bool *is_database)
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

/* ---- outputs --------------------------------------------------------------------------------- */

enum { MAX_LINKS = 40, WAIT_NS = 20000000, NULL_MAJOR = 1, NULL_MINOR = 3 };

/* ---- what stands at a path ---------------------------------------------------------------------
 */

/* What a file holds that text must not replace; NULL: nothing of the kind. */
static const char *kept_content(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return NULL;
    if (weft_database_is(path))
        return "a database";
    const enum weft_own own = weft_own_of(path);
    return own == WEFT_OWN_TRACE ? "a trace" : own == WEFT_OWN_RECORDING ? "a recording" : NULL;
}

/* The number of the descriptor of this process that `path` leads to (/dev/stdout, /dev/fd/N,
 * /proc/self/fd/N and links to them), or -1. */
static int own_descriptor(const char *path)
{
    char at[PATH_MAX], folder[PATH_MAX], own[64], link[PATH_MAX];
    (void)snprintf(own, sizeof own, "/proc/%d/", (int)getpid());
    if (strlen(path) >= sizeof at)
        return -1;
    memcpy(at, path, strlen(path) + 1);
    for (int n_links = 0; n_links < MAX_LINKS; n_links++) {
        char *slash = strrchr(at, '/');
        const char *name = slash ? slash + 1 : at;
        char name_copy[NAME_MAX + 1], *end;
        if (strlen(name) > NAME_MAX)
            return -1;
        memcpy(name_copy, name, strlen(name) + 1);
        if (slash)
            slash[slash == at] = '\0';
        if (!realpath(slash ? at : ".", folder))
            return -1;
        const size_t n_folder = strlen(folder);
        const long number = strtol(name_copy, &end, 10);
        if (strncmp(folder, own, strlen(own)) == 0 && n_folder > 3 &&
            strcmp(folder + n_folder - 3, "/fd") == 0 && end != name_copy && !*end)
            return number >= 0 && number <= INT_MAX ? (int)number : -1;
        const int n_at = snprintf(at, sizeof at, "%s/%s", folder, name_copy);
        if (n_at < 0 || n_at >= (int)sizeof at)
            return -1;
        const ssize_t n_link = readlink(at, link, sizeof link - 1);
        if (n_link < 0)
            return -1;
        link[n_link] = '\0';
        const int n_next = link[0] == '/' ? snprintf(at, sizeof at, "%s", link)
                                          : snprintf(at, sizeof at, "%s/%s", folder, link);
        if (n_next < 0 || n_next >= (int)sizeof at)
            return -1;
    }
    return -1;
}

/* "-" is standard output. False if nothing is there yet. */
static bool look_at(const char *path, struct stat *about)
{
    return strcmp(path, "-") == 0 ? fstat(STDOUT_FILENO, about) == 0 : stat(path, about) == 0;
}

static bool is_null_device(const struct stat *about)
{
    return S_ISCHR(about->st_mode) && about->st_rdev == makedev(NULL_MAJOR, NULL_MINOR);
}

/* ---- checks ------------------------------------------------------------------------------------
 */

static enum weft_code refuse(struct weft_cli *cli, const char *path, const char *text)
{
    (void)weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET, "%s", text);
    return weft_in_file(&cli->err, path);
}

static enum weft_code check_kind(struct weft_cli *cli, const char *path, const struct stat *about)
{
    const bool is_trace = cli->command->writes_traces;
    if (S_ISDIR(about->st_mode))
        return refuse(cli, path, "expected the output to be a file, found a folder");
    if (S_ISBLK(about->st_mode))
        return refuse(cli, path, "expected the output to be a file, found a disk");
    if (is_trace && !S_ISREG(about->st_mode) && !is_null_device(about))
        return refuse(cli, path,
                      "a trace needs a regular file or /dev/null; it cannot be written to a pipe, "
                      "a device or a socket");
    if (is_trace && own_descriptor(path) >= 0 && !is_null_device(about))
        return refuse(cli, path,
                      "a trace needs the name of a file; it cannot be written to an open "
                      "descriptor");
    return WEFT_OK;
}

/* What `path` holds may be replaced by what the command writes. */
static enum weft_code check_content(struct weft_cli *cli, const char *path)
{
    const char *kept = kept_content(path);
    char text[160];
    /* A new trace in the place of an old one is what the names of traces are for. */
    if (!kept || cli->common.force || own_descriptor(path) >= 0 ||
        (cli->command->writes_traces && strcmp(kept, "a database") != 0))
        return WEFT_OK;
    (void)snprintf(text, sizeof text, "the file is %s; use --force to overwrite it", kept);
    return refuse(cli, path, text);
}

static enum weft_code check_output(struct weft_cli *cli, const char *path)
{
    struct stat about;
    if (!look_at(path, &about))
        return WEFT_OK; /* it does not exist yet */
    /* Beside foreign files in a folder there may be traces that were made of them. */
    const bool with_folders = !kept_content(path);
    const char *input = S_ISREG(about.st_mode) ? weft_inputs_find(cli, &about, with_folders) : NULL;
    if (input)
        return refuse(cli, path,
                      "the output is also an input of this command; choose another file");
    enum weft_code code = strcmp(path, "-") == 0 ? WEFT_OK : check_kind(cli, path, &about);
    return code == WEFT_OK && strcmp(path, "-") != 0 ? check_content(cli, path) : code;
}

/* A database is written in place, and holds what was in it. */
static enum weft_code check_database(struct weft_cli *cli, const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && weft_inputs_find(cli, &about, false)
               ? refuse(cli, path,
                        "the database is also an input of this command; choose another file")
               : WEFT_OK;
}

/* Two outputs of one command: the second would replace the first. */
static bool are_same(const char *a, const char *b)
{
    struct stat about_a, about_b;
    if (!look_at(a, &about_a) || !look_at(b, &about_b))
        return strcmp(a, b) == 0;
    return S_ISREG(about_a.st_mode) && about_a.st_dev == about_b.st_dev &&
           about_a.st_ino == about_b.st_ino;
}

/* Standard output and standard error that lead into an input would damage it, too. */
static enum weft_code check_standard(struct weft_cli *cli)
{
    struct stat about;
    /* What they print is of no file, or the program's own. */
    if (cli->command->takes_words || cli->command->takes_a_program)
        return WEFT_OK;
    if (fstat(STDERR_FILENO, &about) == 0 && S_ISREG(about.st_mode) &&
        weft_inputs_find(cli, &about, true)) {
        const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nothing >= 0)
            (void)dup2(nothing, STDERR_FILENO); /* the message must not go there either */
        return refuse(cli, "standard error", "it is redirected to an input of this command");
    }
    if (fstat(STDOUT_FILENO, &about) == 0 && S_ISREG(about.st_mode) &&
        weft_inputs_find(cli, &about, true))
        return refuse(cli, "standard output",
                      "it is redirected to an input of this command; choose another file");
    return WEFT_OK;
}

enum weft_code weft_outputs_check(struct weft_cli *cli)
{
    const char *outputs[WEFT_OUTPUTS_MAX];
    bool is_database[WEFT_OUTPUTS_MAX];
    const size_t n_outputs = weft_inputs_outputs(cli, outputs, is_database);
    enum weft_code code = check_standard(cli);
    for (size_t k = 0; code == WEFT_OK && k < n_outputs; k++) {
        code = is_database[k] ? check_database(cli, outputs[k]) : check_output(cli, outputs[k]);
        for (size_t i = 0; code == WEFT_OK && i < k; i++)
            if (are_same(outputs[i], outputs[k]))
                code = refuse(cli, outputs[k], "the same file is named for two outputs");
    }
    return code;
}

/* ---- opening -----------------------------------------------------------------------------------
 */

/* A pipe has to wait for its reader, and may be interrupted meanwhile. */
static enum weft_code open_device(struct weft_cli *cli, const char *path, bool is_pipe, int *fd)
{
    const struct timespec pause = { .tv_nsec = WAIT_NS };
    while ((*fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0) {
        if (errno != ENXIO || !is_pipe) {
            (void)weft_fail_errno(&cli->err, errno, "cannot open");
            return weft_in_file(&cli->err, path);
        }
        if (atomic_load(&cli->progress->is_cancelled))
            return weft_fail(&cli->err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        (void)nanosleep(&pause, NULL);
    }
    (void)fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
    return WEFT_OK;
}

/* `*fd`: what is written directly; -1: a file. */
static enum weft_code open_special(struct weft_cli *cli, const char *path, int *fd)
{
    struct stat about;
    const int own = strcmp(path, "-") == 0 ? STDOUT_FILENO : own_descriptor(path);
    *fd = -1;
    if (own >= 0) {
        *fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
        if (*fd >= 0)
            return WEFT_OK;
        (void)weft_fail_errno(&cli->err, errno, "cannot open");
        return weft_in_file(&cli->err, path);
    }
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode))
        return WEFT_OK;
    return open_device(cli, path, S_ISFIFO(about.st_mode), fd);
}

enum weft_code weft_outputs_open(struct weft_cli *cli, const char *path, struct weft_output **out)
{
    int fd = -1;
    enum weft_code code = check_output(cli, path);
    WEFT_THEN(code, open_special(cli, path, &fd));
    if (code != WEFT_OK || fd < 0)
        return code == WEFT_OK ? weft_output_to_file(path, out, &cli->err) : code;
    (void)signal(SIGPIPE, SIG_DFL); /* as for standard output */
    code = weft_output_to_fd(fd, path, out, &cli->err);
    if (code == WEFT_OK)
        weft_output_own_fd(*out);
    else
        (void)close(fd);
    return code;
}

/* ---- traces ------------------------------------------------------------------------------------
 */

/* Locked, so that no recorder takes it for one that was left behind (record/session/programs.c). */
static enum weft_code make_scratch(struct weft_cli *cli)
{
    const char *place = getenv("TMPDIR");
    if (cli->scratch)
        return WEFT_OK;
    if (asprintf(&cli->scratch, "%s/weft-XXXXXX", place && *place ? place : "/var/tmp") < 0) {
        cli->scratch = NULL;
        return weft_no_memory(&cli->err, "a path");
    }
    if (!mkdtemp(cli->scratch)) {
        const enum weft_code code =
            weft_fail_errno(&cli->err, errno, "cannot create a temporary folder");
        free(cli->scratch);
        cli->scratch = NULL;
        return code;
    }
    cli->scratch_fd = open(cli->scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cli->scratch_fd >= 0)
        (void)flock(cli->scratch_fd, LOCK_EX | LOCK_NB);
    return WEFT_OK;
}

enum weft_code weft_outputs_scratch(struct weft_cli *cli, const char **file)
{
    const enum weft_code code = make_scratch(cli);
    char **place = code == WEFT_OK ? WEFT_VEC_PUSH(&cli->asides) : NULL;
    if (code != WEFT_OK)
        return code;
    if (!place || asprintf(place, "%s/%zu.weft", cli->scratch, cli->asides.n) < 0) {
        cli->asides.n -= place != NULL;
        return weft_no_memory(&cli->err, "a path");
    }
    *file = *place;
    return WEFT_OK;
}

enum weft_code weft_outputs_trace(struct weft_cli *cli, const char *path, const char **file)
{
    struct stat about;
    const enum weft_code code = check_output(cli, path);
    *file = path;
    return code == WEFT_OK && stat(path, &about) == 0 && is_null_device(&about)
               ? weft_outputs_scratch(cli, file)
               : code;
}

void weft_outputs_end(struct weft_cli *cli)
{
    DIR *folder = cli->scratch ? opendir(cli->scratch) : NULL;
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
    if (cli->scratch) {
        (void)rmdir(cli->scratch);
        if (cli->scratch_fd >= 0)
            (void)close(cli->scratch_fd);
    }
    free(cli->scratch);
    cli->scratch = NULL;
}
