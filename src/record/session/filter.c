/* SPDX-License-Identifier: MIT
 *
 * See filter.h: the program and those of its libraries that are not the system's are read, and what
 * matches is written as ranges of addresses, so that the program itself needs no names. Libraries
 * and programs that are loaded later are read when the recorder meets them in the maps.
 */
#include "record/session/filter.h"

#include "base/map.h"
#include "base/regex.h"
#include "record/session/proc.h"
#include "symbols/elf_file.h"
#include "symbols/symbols.h"
#include "symbols/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Of the first line, which counts how often lines were added. */
enum { VERSION_OFF = 8, VERSION_DIGITS = 8 };

struct session_filter {
    const struct weft_recorder_opts *opts;
    FILE *out;
    struct weft_regex *only, *skip; /* NULL: not asked for */
    struct weft_symbols *symbols;   /* to make names plain */
    struct weft_strtab *modules;    /* that were read, by path */
    uint64_t n_only, n_lines;
    unsigned version;
    bool may_grow; /* something that was read can load or run other things */
};

/* ---- the program -------------------------------------------------------------------------------
 */

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

static void write_range(struct session_filter *filter, const char *what, const char *module,
                        const struct weft_symtab_function *function)
{
    const uint64_t n_bytes = function->n_bytes ? function->n_bytes : 1;
    fprintf(filter->out, "%s %s %" PRIx64 " %" PRIx64 "\n", what, module, function->address,
            function->address + n_bytes);
    filter->n_lines++;
}

static enum weft_code write_functions(struct session_filter *filter, const char *module,
                                      const struct weft_symtab *symtab, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < weft_symtab_count(symtab); k++) {
        const struct weft_symtab_function function = weft_symtab_at(symtab, k);
        const struct weft_str name = weft_symbols_plain(filter->symbols, function.name.bytes);
        bool is_only = false, is_skip = false;
        if (filter->only)
            code = weft_regex_match(filter->only, name, &is_only, err);
        if (filter->skip && code == WEFT_OK)
            code = weft_regex_match(filter->skip, name, &is_skip, err);
        if (is_only)
            write_range(filter, "only", module, &function);
        if (is_skip)
            write_range(filter, "skip", module, &function);
        filter->n_only += is_only;
    }
    return code;
}

/* Does it ask for a function that loads libraries or runs programs? */
static bool may_load(const struct weft_elf_file *file)
{
    static const char *const names[] = { "dlopen",      "dlmopen", "system",      "popen",
                                         "posix_spawn", "execve",  "execvp",      "execv",
                                         "execl",       "execlp",  "posix_spawnp" };
    GElf_Shdr table;
    Elf_Scn *section = NULL;
    GElf_Sym symbol;
    while ((section = elf_nextscn(file->elf, section)))
        if (gelf_getshdr(section, &table) && table.sh_type == SHT_DYNSYM)
            break;
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    const size_t n = section && table.sh_entsize ? table.sh_size / table.sh_entsize : 0;
    for (size_t k = 0; data && k < n && k < INT_MAX && gelf_getsym(data, (int)k, &symbol); k++) {
        const char *name = elf_strptr(file->elf, table.sh_link, symbol.st_name);
        for (size_t i = 0; symbol.st_shndx == SHN_UNDEF && name && i < sizeof names / sizeof *names;
             i++)
            if (strcmp(name, names[i]) == 0)
                return true;
    }
    return false;
}

static enum weft_code write_module(struct session_filter *filter, const char *module,
                                   struct weft_err *err)
{
    struct weft_elf_file file;
    struct weft_symtab *symtab = NULL;
    const uint32_t n_before = weft_strtab_count(filter->modules);
    uint32_t id;
    enum weft_code code = weft_strtab_intern(filter->modules, weft_str_of(module), &id, err);
    if (code != WEFT_OK || id < n_before || !weft_elf_file_open(module, &file))
        return code;
    filter->may_grow |= may_load(&file);
    code = weft_symtab_read(&file, &symtab, err);
    WEFT_THEN(code, write_functions(filter, module, symtab, err));
    weft_symtab_free(symtab);
    weft_elf_file_close(&file);
    return code;
}

static enum weft_code write_modules(struct session_filter *filter, const char *name,
                                    struct weft_err *err)
{
    char program[PATH_MAX], line[PATH_MAX + 64], path[PATH_MAX];
    pid_t pid = 0;
    if (!proc_find_program(name, program))
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

static enum weft_code compile(const char *option, const char *text, struct weft_regex **expression,
                              struct weft_err *err)
{
    if (!text || weft_regex_new(weft_str_of(text), expression, err) == WEFT_OK)
        return WEFT_OK;
    return weft_within(err, "--%s", option);
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

static enum weft_code compile_both(struct session_filter *filter, struct weft_err *err)
{
    const struct weft_recorder_opts *opts = filter->opts;
    const enum weft_code code = compile("function", opts->function, &filter->only, err);
    return code == WEFT_OK ? compile("no-function", opts->no_function, &filter->skip, err) : code;
}

/* Nothing is called so: a mistake, unless it comes with what is loaded later. */
static enum weft_code tell_of_none(const struct session_filter *filter, struct weft_err *err)
{
    const struct weft_recorder_opts *opts = filter->opts;
    char text[512], program[PATH_MAX];
    if (opts->argv && !proc_find_program(opts->argv[0], program))
        return WEFT_OK; /* that it cannot be run will be said */
    if (!filter->may_grow)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "--function %s: no function of %s is called so", opts->function,
                         opts->argv ? opts->argv[0] : "the program");
    (void)snprintf(text, sizeof text,
                   "--function %.200s: no function of %.200s is called so; what it loads or runs "
                   "later is looked at then",
                   opts->function, opts->argv[0]);
    if (opts->say)
        opts->say(opts->context, text);
    return WEFT_OK;
}

static enum weft_code write_file(struct session_filter *filter, struct weft_err *err)
{
    const struct weft_recorder_opts *opts = filter->opts;
    enum weft_code code = compile_both(filter, err);
    const bool by_name = filter->only || filter->skip;
    if (by_name)
        fprintf(filter->out, "further %0*u\n", VERSION_DIGITS, filter->version);
    if (filter->only)
        fprintf(filter->out, "none\n");
    write_limits(opts, filter->out);
    if (code == WEFT_OK && by_name && opts->argv)
        code = write_modules(filter, opts->argv[0], err);
    if (code == WEFT_OK && filter->only && filter->n_only == 0)
        code = tell_of_none(filter, err);
    if (code == WEFT_OK && fflush(filter->out) != 0)
        code = weft_fail_errno(err, errno, "cannot write the filter of functions");
    return code;
}

void session_filter_close(struct session_filter *filter)
{
    if (!filter)
        return;
    weft_regex_free(filter->only);
    weft_regex_free(filter->skip);
    if (filter->out)
        (void)fclose(filter->out);
    weft_symbols_free(filter->symbols);
    weft_strtab_free(filter->modules);
    free(filter);
}

enum weft_code session_filter_open(const struct weft_recorder_opts *opts, int folder_fd,
                                   struct session_filter **opened, struct weft_err *err)
{
    *opened = NULL;
    if (!opts->function && !opts->no_function && !opts->depth && !opts->min_ns && !opts->cull)
        return WEFT_OK;
    struct session_filter *filter = calloc(1, sizeof *filter);
    if (!filter)
        return weft_no_memory(err, "a filter");
    filter->opts = opts;
    const int fd = openat(folder_fd, "filter", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    filter->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    filter->symbols = weft_symbols_new(NULL);
    filter->modules = weft_strtab_new();
    enum weft_code code = WEFT_OK;
    if (!filter->out)
        code = weft_fail_errno(err, errno, "cannot write the filter of functions");
    else if (!filter->symbols || !filter->modules)
        code = weft_no_memory(err, "symbols");
    WEFT_THEN(code, write_file(filter, err));
    if (code == WEFT_OK && (filter->only || filter->skip))
        *opened = filter;
    else
        session_filter_close(filter);
    return code;
}

/* What was found in it before is kept, and what was not looked at is as if it did not match. */
static void say_not_filtered(const struct session_filter *filter, const char *module,
                             const struct weft_err *err)
{
    char reason[640], text[1200];
    weft_err_print(err, reason, sizeof reason);
    (void)snprintf(text, sizeof text, "the filter leaves functions of %.500s out of account: %s",
                   module, reason);
    if (filter->opts->say)
        filter->opts->say(filter->opts->context, text);
}

/* The lines first, then the version that makes programs read them. */
void session_filter_module(struct session_filter *filter, struct weft_str path)
{
    char module[PATH_MAX], digits[VERSION_DIGITS + 1];
    struct weft_err err = { 0 };
    if (!filter || path.n_bytes == 0 || path.n_bytes >= sizeof module || path.bytes[0] != '/')
        return;
    (void)snprintf(module, sizeof module, "%.*s", (int)path.n_bytes, path.bytes);
    const uint64_t n_before = filter->n_lines;
    const enum weft_code code = is_of_system(module) ? WEFT_OK : write_module(filter, module, &err);
    if (code != WEFT_OK)
        say_not_filtered(filter, module, &err);
    if (fflush(filter->out) != 0 || filter->n_lines == n_before)
        return;
    filter->version = (filter->version + 1) % 100000000;
    (void)snprintf(digits, sizeof digits, "%0*u", VERSION_DIGITS, filter->version);
    (void)!pwrite(fileno(filter->out), digits, VERSION_DIGITS, VERSION_OFF);
}
