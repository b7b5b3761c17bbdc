/* SPDX-License-Identifier: MIT
 *
 * See choice.h.
 */
#include "query/choice.h"

#include "analysis/compare/names.h"

#include <string.h>

enum { MANY = 3 };

bool weft_proposal_is_call(const struct weft_execution_proposal *proposal)
{
    return proposal->kind == WEFT_PROPOSAL_CALLS || proposal->kind == WEFT_PROPOSAL_TASKS;
}

/* A connection may last as long as its client does, and carry many requests: what the threads of a
 * server do from wait to wait is looked at, too. */
static bool is_beside(const struct weft_execution_proposal *proposal,
                      const struct weft_execution_proposal *best)
{
    return best->kind == WEFT_PROPOSAL_CONNECTIONS && proposal->kind == WEFT_PROPOSAL_TURNS;
}

/* Threads of Java's and JavaScript's runtimes that compile and collect beside the program: by the
 * start of their names. */
static bool is_of_runtime(const struct weft_execution_proposal *proposal)
{
    static const char *const starts[] = { "C1 CompilerThre",
                                          "C2 CompilerThre",
                                          "VM Thread",
                                          "VM Periodic Tas",
                                          "G1 ",
                                          "GC Thread",
                                          "Signal Dispatch",
                                          "Service Thread",
                                          "Monitor Deflati",
                                          "Common-Cleaner",
                                          "Reference Handl",
                                          "Finalizer",
                                          "Notification Th",
                                          "Attach Listener",
                                          "Sweeper thread",
                                          "V8 Worker",
                                          "V8Worker",
                                          "V8 DefaultWorke",
                                          "DelayedTaskSche",
                                          "::PlatformWorkerThread" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (proposal->kind == WEFT_PROPOSAL_TURNS && proposal->name.n_bytes >= strlen(starts[i]) &&
            memcmp(proposal->name.bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Does a connection carry many requests? Then it is none: a client that thinks is not slow. */
static bool is_of_many(const struct weft_execution_proposals *proposals,
                       const struct weft_execution_proposal *connection)
{
    static const char *const reads[] = { " after read", " after recv", " after recvfrom",
                                         " after epoll_wait", " after poll" };
    for (size_t i = 0; i < proposals->n; i++)
        for (size_t k = 0; k < sizeof reads / sizeof *reads; k++)
            if (proposals->items[i].kind == WEFT_PROPOSAL_TURNS &&
                proposals->items[i].count >= MANY * connection->count &&
                memmem(proposals->items[i].name.bytes, proposals->items[i].name.n_bytes, reads[k],
                       strlen(reads[k])))
                return true;
    return false;
}

static bool is_wanted(const struct weft_execution_proposals *proposals, size_t i, const char *type)
{
    const struct weft_execution_proposal *proposal = &proposals->items[i],
                                         *best = &proposals->items[0];
    if (type)
        return weft_str_equal(proposal->name, weft_str_of(type));
    return proposal->count >= WEFT_PROPOSAL_EXECUTIONS && !is_of_runtime(proposal) &&
           (proposal->kind != WEFT_PROPOSAL_CONNECTIONS || !is_of_many(proposals, proposal)) &&
           (proposal->kind == best->kind || is_beside(proposal, best));
}

/* Is it a call that moves bytes, or what the library of C++ is made of, rather than work of the
 * program? How long the one takes says what the other side does; the other calls whatever it is
 * given, as std::function does. */
static bool is_lesser(const struct weft_execution_proposal *proposal)
{
    static const char *const names[] = { "read",  "write",   "pread",    "pwrite", "pread64",
                                         "readv", "writev",  "pwrite64", "recv",   "recvfrom",
                                         "send",  "recvmsg", "sendmsg",  "sendto", "close",
                                         "open",  "openat",  "lseek",    "malloc", "free" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (weft_str_equal(proposal->name, weft_str_of(names[i])))
            return weft_proposal_is_call(proposal);
    return weft_proposal_is_call(proposal) && weft_name_is_of_std(proposal->name);
}

/* Has the trace nothing but calls of a library that repeat? They are no requests. */
static bool is_library_alone(const struct weft_execution_proposals *proposals)
{
    size_t n = 0;
    for (size_t i = 0; i < proposals->n; i++) {
        if (!is_wanted(proposals, i, NULL))
            continue;
        if (!weft_proposal_is_call(&proposals->items[i]) || !proposals->items[i].is_of_library ||
            weft_name_is_of_std(proposals->items[i].name))
            return false;
        n++;
    }
    return n > 0;
}

size_t weft_proposals_choose(const struct weft_execution_proposals *proposals, const char *type,
                             const struct weft_execution_proposal **chosen)
{
    size_t n = 0, n_work = 0;
    if (!type && is_library_alone(proposals))
        return 0;
    for (size_t i = 0; i < proposals->n; i++)
        if (is_wanted(proposals, i, type))
            chosen[n++] = &proposals->items[i];
    for (size_t i = 0; i < n && !type; i++) /* the others are reported if there is nothing else */
        if (!is_lesser(chosen[i]))
            chosen[n_work++] = chosen[i];
    return n_work > 0 ? n_work : n;
}
