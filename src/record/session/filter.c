/* SPDX-License-Identifier: MIT
 *
 * Which functions are recorded, by their names: the program and those of its libraries that are not
 * the system's are read, and what matches is written as ranges of addresses, so that the program
 * itself knows no names.
 */
#include "record/session/levels.h"
#include "symbols/elf_file.h"
#include "symbols/symbols.h"
#include "symbols/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <regex.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct filter {
    FILE *out;
    regex_t only, skip;
    bool has_only, has_skip;
    struct weft_symbols *symbols; /* to make names plain */
    uint64_t n_only;
};

/* ---- the program -------------------------------------------------------------------------------
 */

/* Where execvp would find it; false: nowhere. */
static bool find_program(const char *name, char *path)
{
    char tried[PATH_MAX];
    const char *at = getenv("PATH");
    if (strchr(name, '/'))
        return realpath(name, path) != NULL;
    while (at && *at) {
        const size_t n_place = strcspn(at, ":");
        if (snprintf(tried, sizeof tried, "%.*s/%s", (int)n_place, at, name) < (int)sizeof tried &&
            access(tried, X_OK) == 0)
            return realpath(tried, path) != NULL;
        at += n_place;
        at += *at == ':';
    }
    return false;
}

/* Libraries of the system are not instrumented. */
static bool is_of_system(const char *path)
{
    static const char *const fronts[] = { "/lib/", "/usr/lib/", "/lib64/", "/usr/lib64/" };
    for (size_t k = 0; k < sizeof fronts / sizeof *fronts; k++)
        if (strncmp(path, fronts[k], strlen(fronts[k])) == 0)
            return true;
    return false;
}

/* The dynamic loader, asked to list what it would load instead of running the program. */
static FILE *list_libraries(const char *program, pid_t *pid)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    size_t n_env = 0;
    while (environ[n_env])
        n_env++;
    char **env = calloc(n_env + 2, sizeof(char *));
    char ask[] = "LD_TRACE_LOADED_OBJECTS=1", *argv[] = { strdup(program), NULL };
    FILE *lines = NULL;
    if (env && argv[0] && pipe2(ends, O_CLOEXEC) == 0) {
        memcpy(env, environ, n_env * sizeof(char *));
        env[n_env] = ask;
        (void)posix_spawn_file_actions_init(&actions);
        (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (posix_spawn(pid, program, &actions, NULL, argv, env) == 0)
            lines = fdopen(ends[0], "r");
        (void)posix_spawn_file_actions_destroy(&actions);
        (void)close(ends[1]);
        if (!lines)
            (void)close(ends[0]);
    }
    free(argv[0]);
    free(env);
    return lines;
}

/* ---- functions ---------------------------------------------------------------------------------
 */

static bool matches(const regex_t *expression, const char *name)
{
    return regexec(expression, name, 0, NULL, 0) == 0;
}

static void write_range(struct filter *filter, const char *what, const char *module,
                        const struct weft_symtab_function *function)
{
    const uint64_t n_bytes = function->n_bytes ? function->n_bytes : 1;
    fprintf(filter->out, "%s %s %" PRIx64 " %" PRIx64 "\n", what, module, function->address,
            function->address + n_bytes);
}

static void write_functions(struct filter *filter, const char *module,
                            const struct weft_symtab *symtab)
{
    for (size_t k = 0; k < weft_symtab_count(symtab); k++) {
        const struct weft_symtab_function function = weft_symtab_at(symtab, k);
        char name[4096];
        const struct weft_str plain = weft_symbols_plain(filter->symbols, function.name.bytes);
        (void)snprintf(name, sizeof name, "%.*s", (int)plain.n_bytes, plain.bytes);
        if (filter->has_only && matches(&filter->only, name)) {
            write_range(filter, "only", module, &function);
            filter->n_only++;
        }
        if (filter->has_skip && matches(&filter->skip, name))
            write_range(filter, "skip", module, &function);
    }
}

static enum weft_code write_module(struct filter *filter, const char *module, struct weft_err *err)
{
    struct weft_elf_file file;
    struct weft_symtab *symtab = NULL;
    if (!weft_elf_file_open(module, &file))
        return WEFT_OK;
    const enum weft_code code = weft_symtab_read(file.elf, &symtab, err);
    if (code == WEFT_OK)
        write_functions(filter, module, symtab);
    weft_symtab_free(symtab);
    weft_elf_file_close(&file);
    return code;
}

static enum weft_code write_modules(struct filter *filter, const char *name, struct weft_err *err)
{
    char program[PATH_MAX], line[PATH_MAX + 64], path[PATH_MAX];
    pid_t pid = 0;
    if (!find_program(name, program))
        return WEFT_OK; /* that it cannot be run will be said */
    enum weft_code code = write_module(filter, program, err);
    FILE *lines = code == WEFT_OK ? list_libraries(program, &pid) : NULL;
    while (lines && code == WEFT_OK && fgets(line, sizeof line, lines)) {
        const char *at = strstr(line, "=> ");
        char *end = strstr(line, " (0x");
        if (!at || !end || end < at + 3)
            continue;
        *end = '\0';
        if (!is_of_system(at + 3) && realpath(at + 3, path))
            code = write_module(filter, path, err);
    }
    if (lines)
        (void)fclose(lines);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
    return code;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static enum weft_code compile(const char *option, const char *text, regex_t *expression,
                              bool *is_there, struct weft_err *err)
{
    char reason[160];
    if (!text)
        return WEFT_OK;
    const int status = regcomp(expression, text, REG_EXTENDED | REG_NOSUB);
    *is_there = status == 0;
    if (status == 0)
        return WEFT_OK;
    (void)regerror(status, expression, reason, sizeof reason);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "--%s %s: %s", option, text, reason);
}

static void write_limits(const struct weft_recorder_opts *opts, FILE *out)
{
    if (opts->depth)
        fprintf(out, "depth %" PRIu64 "\n", opts->depth);
    if (opts->min_ns)
        fprintf(out, "min_ns %" PRIu64 "\n", opts->min_ns);
    if (opts->cull)
        fprintf(out, "cull %" PRIu64 "\n", opts->cull);
}

static enum weft_code write_file(const struct weft_recorder_opts *opts, struct filter *filter,
                                 struct weft_err *err)
{
    enum weft_code code =
        compile("function", opts->function, &filter->only, &filter->has_only, err);
    if (code == WEFT_OK)
        code = compile("no-function", opts->no_function, &filter->skip, &filter->has_skip, err);
    write_limits(opts, filter->out);
    if (code == WEFT_OK && (filter->has_only || filter->has_skip) && opts->argv)
        code = write_modules(filter, opts->argv[0], err);
    if (code == WEFT_OK && filter->has_only && filter->n_only == 0)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "--function %s: no function of %s is called so", opts->function,
                         opts->argv ? opts->argv[0] : "the program");
    if (filter->has_only)
        regfree(&filter->only);
    if (filter->has_skip)
        regfree(&filter->skip);
    return code;
}

enum weft_code levels_write_filter(const struct weft_recorder_opts *opts, int folder_fd,
                                   struct weft_err *err)
{
    struct filter filter = { 0 };
    if (!opts->function && !opts->no_function && !opts->depth && !opts->min_ns && !opts->cull)
        return WEFT_OK;
    const int fd = openat(folder_fd, "filter", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    filter.out = fd >= 0 ? fdopen(fd, "w") : NULL;
    filter.symbols = weft_symbols_new(NULL);
    enum weft_code code = WEFT_OK;
    if (!filter.out)
        code = weft_fail_errno(err, errno, "cannot write the filter of functions");
    else if (!filter.symbols)
        code = weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for symbols");
    if (code == WEFT_OK)
        code = write_file(opts, &filter, err);
    if (filter.out && fclose(filter.out) != 0 && code == WEFT_OK)
        code = weft_fail_errno(err, errno, "cannot write the filter of functions");
    weft_symbols_free(filter.symbols);
    return code;
}
