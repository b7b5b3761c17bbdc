/* SPDX-License-Identifier: MIT
 *
 * The table of C library functions that weft record wraps, each with the system calls that it
 * stands for. Rules on system calls (docs/rules.md) use it where the trace contains calls but no
 * system calls.
 */
#include "model/operations.h"

#include "schema/rules.h"

#include <stddef.h>
#include <string.h>

/* A function that is wrapped, and the system calls that it, and those recorded as it, make. */
static const struct {
    const char *function;
    const char *calls[8];
} operations[] = {
    { "accept", { "accept", "accept4" } },
    { "close", { "close" } },
    { "connect", { "connect" } },
    { "epoll_wait", { "epoll_wait", "epoll_pwait", "epoll_pwait2" } },
    { "fsync", { "fsync", "fdatasync" } },
    { "nanosleep", { "nanosleep", "clock_nanosleep" } },
    { "poll", { "poll", "ppoll", "select", "pselect6" } },
    { "read", { "read", "readv", "pread64", "preadv", "pread" } },
    { "recv", { "recv", "recvfrom", "recvmsg", "recvmmsg" } },
    { "send", { "send", "sendto", "sendmsg", "sendmmsg" } },
    { "shutdown", { "shutdown" } },
    { "waitpid", { "waitpid", "wait4", "waitid" } },
    { "write", { "write", "writev", "pwrite64", "pwritev", "pwrite" } },
};

/* A trace of some system calls, such as futexes, has these operations by its library all the same.
 */
static bool has_system_calls(const struct weft_trace *trace)
{
    return weft_trace_has_calls(trace);
}

bool weft_operation_is(const struct weft_trace *trace, uint32_t function_id,
                       struct weft_str pattern)
{
    const struct weft_function *function = weft_trace_function(trace, function_id);
    if (function->module.n_bytes > 0 || has_system_calls(trace))
        return false;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (!weft_str_equal(function->name, weft_str_of(operations[i].function)))
            continue;
        for (size_t k = 0; k < 8 && operations[i].calls[k]; k++)
            if (weft_rule_text_matches(pattern, weft_str_of(operations[i].calls[k])))
                return true;
    }
    return false;
}

bool weft_operation_makes_descriptor(struct weft_str name)
{
    static const char *const names[] = { "accept",
                                         "accept4",
                                         "creat",
                                         "dup",
                                         "dup2",
                                         "dup3",
                                         "epoll_create",
                                         "epoll_create1",
                                         "eventfd",
                                         "eventfd2",
                                         "fanotify_init",
                                         "fsmount",
                                         "fsopen",
                                         "fspick",
                                         "inotify_init",
                                         "inotify_init1",
                                         "io_uring_setup",
                                         "landlock_create_ruleset",
                                         "memfd_create",
                                         "memfd_secret",
                                         "mq_open",
                                         "open",
                                         "open_by_handle_at",
                                         "open_tree",
                                         "openat",
                                         "openat2",
                                         "perf_event_open",
                                         "pidfd_getfd",
                                         "pidfd_open",
                                         "signalfd",
                                         "signalfd4",
                                         "socket",
                                         "timerfd_create",
                                         "userfaultfd" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (weft_str_equal(name, weft_str_of(names[i])))
            return true;
    return false;
}

bool weft_operation_lacks_descriptor(struct weft_str name)
{
    static const char *const fronts[] = { "pthread_", "sem_",  "nanosleep", "clock_nanosleep",
                                          "poll",     "ppoll", "select",    "pselect",
                                          "waitpid",  "wait4", "waitid",    "futex" };
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (name.n_bytes >= strlen(fronts[i]) &&
            memcmp(name.bytes, fronts[i], strlen(fronts[i])) == 0)
            return true;
    return false;
}
