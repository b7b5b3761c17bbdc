/* SPDX-License-Identifier: MIT
 *
 * A program that is started with another environment is recorded like one that inherits it: what is
 * missing of LD_PRELOAD and of the recorder's settings is added. Wrappers run in children of vfork
 * and in handlers of signals: they allocate nothing, and look nothing up. What the C library starts
 * by itself (system, popen) has the environment of the process: clearenv leaves the settings in it.
 */
#include "record/runtime/journal.h"
#include "record/runtime/real.h"

#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    KEPT_MAX = 16,         /* variables */
    KEPT_BYTES = 1 << 14,  /* with their values */
    STACK_BYTES = 1 << 11, /* of an environment on the stack, which may be a small one of signals */
};

static const char front[] = "WEFT_RECORD";
static const char preload_name[] = "LD_PRELOAD=";
enum { FRONT_BYTES = sizeof front - 1, PRELOAD_BYTES = sizeof preload_name - 1 };

/* As the program was started with them; none: it is not recorded, or its children are not to be. */
static char kept_bytes[KEPT_BYTES];
static size_t n_kept_bytes;
static char *kept[KEPT_MAX]; /* "NAME=VALUE" */
static size_t n_kept;
static char
    *kept_preload; /* "LD_PRELOAD=" and the libraries of the recorder, with colons between */

/* ---- what is kept */

static bool keep_text(const char *text, size_t n_bytes)
{
    if (n_bytes > sizeof kept_bytes - n_kept_bytes)
        return false;
    memcpy(kept_bytes + n_kept_bytes, text, n_bytes);
    n_kept_bytes += n_bytes;
    return true;
}

/* Does the entry of LD_PRELOAD name a library of the recorder? */
static bool is_own(const char *entry, size_t n_bytes)
{
    static const char name[] = "/libweft-";
    for (size_t at = n_bytes; at-- > 0;)
        if (entry[at] == '/')
            return n_bytes - at > sizeof name && memcmp(entry + at, name, sizeof name - 1) == 0;
    return false;
}

static void keep_preload(const char *list)
{
    char *const start = kept_bytes + n_kept_bytes;
    bool is_kept = keep_text(preload_name, PRELOAD_BYTES);
    size_t n_entries = 0;
    for (size_t n; is_kept && *list; list += n) {
        list += strspn(list, ": ");
        n = strcspn(list, ": ");
        if (is_own(list, n))
            is_kept = (n_entries++ == 0 || keep_text(":", 1)) && keep_text(list, n);
    }
    if (is_kept && n_entries && keep_text("", 1))
        kept_preload = start;
}

void weft_exec_begin(void)
{
    if (!weft_ring_is_on || secure_getenv("WEFT_RECORD_ONLY"))
        return;
    for (char **at = environ; at && *at; at++) {
        if (strncmp(*at, preload_name, PRELOAD_BYTES) == 0 && !kept_preload)
            keep_preload(*at + PRELOAD_BYTES);
        if (strncmp(*at, front, FRONT_BYTES) != 0 || n_kept == KEPT_MAX)
            continue;
        char *const start = kept_bytes + n_kept_bytes;
        if (keep_text(*at, strlen(*at) + 1))
            kept[n_kept++] = start;
    }
}

/* ---- what is added */

/* Bytes of the name of "NAME=VALUE", with the equals sign. */
static size_t name_bytes(const char *variable)
{
    return strcspn(variable, "=") + 1;
}

static bool has_name(const char *variable, const char *other)
{
    return strncmp(variable, other, name_bytes(other)) == 0;
}

/* Are all libraries of the recorder in the list? */
static bool has_libraries(const char *list)
{
    for (const char *own = kept_preload + PRELOAD_BYTES; *own; own += *own == ':') {
        const size_t n = strcspn(own, ":");
        const char *at = list;
        bool is_there = false;
        for (size_t n_entry; *at && !is_there; at += n_entry) {
            at += strspn(at, ": ");
            n_entry = strcspn(at, ": ");
            is_there = n_entry == n && memcmp(at, own, n) == 0;
        }
        if (!is_there)
            return false;
        own += n;
    }
    return true;
}

/* What an environment lacks. */
struct lack {
    size_t n_variables;    /* that it has */
    uint32_t is_missing;   /* bit k: kept[k] is not there */
    bool has_no_libraries; /* some, or all */
    const char *preload;   /* its own value of LD_PRELOAD; NULL: none */
    size_t n_bytes;        /* that an environment with them takes; 0: it lacks nothing */
};

static size_t preload_bytes(const struct lack *lack)
{
    return lack->has_no_libraries
               ? strlen(kept_preload) + 2 + (lack->preload ? strlen(lack->preload) : 0)
               : 0;
}

/* The environment of another recording is left as it is. */
static struct lack lack_of(char *const *variables)
{
    struct lack lack = { .is_missing = (UINT32_C(1) << n_kept) - 1,
                         .has_no_libraries = kept_preload != NULL };
    if (n_kept == 0)
        return lack;
    for (char *const *at = variables; at && *at; at++, lack.n_variables++) {
        if (strncmp(*at, preload_name, PRELOAD_BYTES) == 0 && !lack.preload) {
            lack.preload = *at + PRELOAD_BYTES;
            lack.has_no_libraries = kept_preload && !has_libraries(lack.preload);
        }
        if (strncmp(*at, front, FRONT_BYTES) != 0)
            continue;
        for (size_t k = 0; k < n_kept; k++)
            if (has_name(*at, kept[k])) {
                lack.is_missing &= ~(UINT32_C(1) << k);
                if (has_name(*at, WEFT_RING_ENV "=") && strcmp(*at, kept[k]) != 0)
                    return (struct lack){ 0 };
            }
    }
    if (lack.is_missing || lack.has_no_libraries)
        lack.n_bytes = (lack.n_variables + n_kept + 2) * sizeof(char *) + preload_bytes(&lack);
    return lack;
}

/* LD_PRELOAD with the libraries behind those that are there. */
static char *fill_preload(char *to, const struct lack *lack)
{
    const size_t n_own = lack->preload ? strlen(lack->preload) : 0;
    char *at = to;
    memcpy(at, preload_name, PRELOAD_BYTES);
    at += PRELOAD_BYTES;
    if (n_own) {
        memcpy(at, lack->preload, n_own);
        at += n_own;
        *at++ = ':';
    }
    memcpy(at, kept_preload + PRELOAD_BYTES, strlen(kept_preload + PRELOAD_BYTES) + 1);
    return to;
}

/* Into n_bytes. */
static char **fill(char **to, char *const *variables, const struct lack *lack)
{
    char *const text = (char *)(to + lack->n_variables + n_kept + 2);
    size_t n = 0;
    for (char *const *at = variables; at && *at; at++)
        if (!lack->has_no_libraries || strncmp(*at, preload_name, PRELOAD_BYTES) != 0)
            to[n++] = *at;
    for (size_t k = 0; k < n_kept; k++)
        if (lack->is_missing >> k & 1)
            to[n++] = kept[k];
    if (lack->has_no_libraries)
        to[n++] = fill_preload(text, lack);
    to[n] = NULL;
    return to;
}

/* Room for an environment that the stack is too small for; NULL: none. A child of vfork that
 * becomes another program leaves it to its parent. */
static char **map_room(size_t n_bytes)
{
    const int kept_errno = errno;
    void *map = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = kept_errno;
    return map == MAP_FAILED ? NULL : map;
}

/* It was not needed, or another process has it. */
static int done(char **room, const struct lack *lack, int result)
{
    const int kept_errno = errno;
    if (room && lack->n_bytes > STACK_BYTES)
        (void)munmap(room, lack->n_bytes);
    errno = kept_errno;
    return result;
}

/* ---- wrappers */

#define WITH(variables, call)                                                                      \
    do {                                                                                           \
        const struct lack lack = lack_of(variables);                                               \
        char **const room = lack.n_bytes == 0            ? NULL                                    \
                            : lack.n_bytes > STACK_BYTES ? map_room(lack.n_bytes)                  \
                                                         : __builtin_alloca(lack.n_bytes);         \
        char *const *const completed = room ? fill(room, (variables), &lack) : (variables);        \
        weft_ring_starts_program();                                                                \
        return done(room, &lack, (call));                                                          \
    } while (0)

/* The journal says of a process that becomes another program, in case that has no ring. */
#define BECOME(path, variables, call)                                                              \
    do {                                                                                           \
        (void)weft_journal_exec((uint32_t)getpid(), (uint32_t)getppid(), (path));                  \
        WITH(variables, not_become(call));                                                         \
    } while (0)

static int not_become(int result)
{
    (void)weft_journal_put(WEFT_JOURNAL_NO_EXEC, (uint32_t)getpid(), (uint32_t)getppid(), 0);
    return result;
}

/* What was spawned runs another program at once. */
static int spawned(int result, const pid_t *child, const char *path, pid_t *pid, uint64_t ticks)
{
    if (result == 0)
        weft_journal_spawned((uint32_t)*child, (uint32_t)getpid(), path, ticks);
    if (result == 0 && pid)
        *pid = *child;
    return result;
}

WEFT_WRAP int execve(const char *path, char *const argv[], char *const envp[])
{
    BECOME(path, envp, WEFT_REAL(execve)(path, argv, completed));
}

WEFT_WRAP int execv(const char *path, char *const argv[])
{
    BECOME(path, environ, WEFT_REAL(execve)(path, argv, completed));
}

WEFT_WRAP int execvpe(const char *file, char *const argv[], char *const envp[])
{
    BECOME(file, envp, WEFT_REAL(execvpe)(file, argv, completed));
}

WEFT_WRAP int execvp(const char *file, char *const argv[])
{
    BECOME(file, environ, WEFT_REAL(execvpe)(file, argv, completed));
}

WEFT_WRAP int fexecve(int fd, char *const argv[], char *const envp[])
{
    BECOME(NULL, envp, WEFT_REAL(fexecve)(fd, argv, completed));
}

WEFT_WRAP int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    BECOME(path, envp, WEFT_REAL(execveat)(fd, path, argv, completed, flags));
}

WEFT_WRAP int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const argv[],
                          char *const envp[])
{
    const uint64_t ticks = weft_ring_ticks();
    pid_t child = 0;
    WITH(envp, spawned(WEFT_REAL(posix_spawn)(&child, path, actions, attributes, argv, completed),
                       &child, path, pid, ticks));
}

WEFT_WRAP int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const argv[],
                           char *const envp[])
{
    const uint64_t ticks = weft_ring_ticks();
    pid_t child = 0;
    WITH(envp, spawned(WEFT_REAL(posix_spawnp)(&child, file, actions, attributes, argv, completed),
                       &child, file, pid, ticks));
}

/* ---- arguments one by one: collected on the stack, as the C library does */

/* Arguments from `first` on, without the NULL. */
static size_t count(const char *first, va_list rest)
{
    size_t n = 0;
    for (const char *argument = first; argument; argument = va_arg(rest, const char *))
        n++;
    return n;
}

/* Defines `argv`; `rest` is then behind the NULL. */
#define COLLECT(first, rest)                                                                       \
    va_start(rest, first);                                                                         \
    const size_t n_arguments = count((first), rest);                                               \
    va_end(rest);                                                                                  \
    char **const argv = __builtin_alloca((n_arguments + 1) * sizeof *argv);                        \
    argv[0] = (char *)(uintptr_t)(first);                                                          \
    va_start(rest, first);                                                                         \
    for (size_t k = 1; k <= n_arguments; k++)                                                      \
    argv[k] = va_arg(rest, char *)

WEFT_WRAP int execl(const char *path, const char *first, ...)
{
    va_list rest;
    COLLECT(first, rest);
    va_end(rest);
    BECOME(path, environ, WEFT_REAL(execve)(path, argv, completed));
}

WEFT_WRAP int execlp(const char *file, const char *first, ...)
{
    va_list rest;
    COLLECT(first, rest);
    va_end(rest);
    BECOME(file, environ, WEFT_REAL(execvpe)(file, argv, completed));
}

WEFT_WRAP int execle(const char *path, const char *first, ...)
{
    va_list rest;
    COLLECT(first, rest);
    char *const *const envp = va_arg(rest, char *const *);
    va_end(rest);
    BECOME(path, envp, WEFT_REAL(execve)(path, argv, completed));
}

/* ---- the process's own environment */

WEFT_WRAP int clearenv(void)
{
    const int result = WEFT_REAL(clearenv)();
    for (size_t k = 0; result == 0 && k < n_kept; k++)
        (void)putenv(kept[k]);
    if (result == 0 && kept_preload)
        (void)putenv(kept_preload);
    return result;
}
