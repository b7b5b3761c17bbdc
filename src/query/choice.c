/* SPDX-License-Identifier: MIT
 *
 * See choice.h.
 */
#include "query/choice.h"

#include "analysis/compare/names.h"
#include "render/output.h"

#include <string.h>

enum { MANY = 8, NAMED = 12 };

bool weft_proposal_is_call(const struct weft_execution_proposal *proposal)
{
    return proposal->kind == WEFT_PROPOSAL_CALLS || proposal->kind == WEFT_PROPOSAL_TASKS;
}

/* NULL of an empty text. False without memory. */
static bool copy(struct weft_arena *arena, struct weft_str text, const char **copied)
{
    *copied = text.n_bytes > 0 ? weft_arena_copy(arena, text).bytes : NULL;
    return *copied || text.n_bytes == 0;
}

enum weft_code weft_proposal_rule(const struct weft_execution_proposal *proposal,
                                  struct weft_arena *arena, struct weft_rule_options *rule,
                                  struct weft_err *err)
{
    *rule = (struct weft_rule_options){ .type = NULL };
    return copy(arena, proposal->name, &rule->type) && copy(arena, proposal->begin, &rule->begin) &&
                   copy(arena, proposal->end, &rule->end) &&
                   copy(arena, proposal->match, &rule->match) &&
                   copy(arena, proposal->within, &rule->within)
               ? WEFT_OK
               : weft_no_memory(err, "rules");
}

/* A connection may last as long as its client does, and carry many requests: what the threads of a
 * server do from wait to wait is looked at, too. */
static bool is_beside(const struct weft_execution_proposal *proposal,
                      const struct weft_execution_proposal *best)
{
    return best->kind == WEFT_PROPOSAL_CONNECTIONS && proposal->kind == WEFT_PROPOSAL_TURNS;
}

/* Does the trace have a thread that only that runtime has? */
static bool has_thread(const struct weft_trace *trace, const char *name)
{
    for (uint32_t id = 0; id < weft_trace_n_threads(trace); id++)
        if (weft_str_equal(weft_trace_thread(trace, id)->info.name, weft_str_of(name)))
            return true;
    return false;
}

/* Threads of Java's and JavaScript's runtimes that compile and collect beside the program, by their
 * names, which the kernel cuts to 15 bytes. */
static bool is_of_runtime(const struct weft_trace *trace,
                          const struct weft_execution_proposal *proposal)
{
    static const char java[] =
        "C1 CompilerThre|C2 CompilerThre|VM Thread|VM Periodic Tas|G1 Service|G1 Main Marker|"
        "G1 Conc|G1 Refine|GC Thread|Signal Dispatch|Service Thread|Monitor Deflati|"
        "Common-Cleaner|Reference Handl|Finalizer|Notification Th|Attach Listener|Sweeper thread";
    static const char node[] =
        "V8 Worker|V8Worker|V8 DefaultWorke|DelayedTaskSche|::PlatformWorkerThread";
    const struct weft_str thread = weft_loop_name_of(proposal->name).thread;
    return proposal->kind == WEFT_PROPOSAL_TURNS &&
           (weft_str_is_one_of(thread, node) ||
            (weft_str_is_one_of(thread, java) && has_thread(trace, "VM Periodic Tas")));
}

/* Does a connection carry many requests? Then it is none: a client that thinks is not slow. An
 * event loop's iterations say nothing of that, as each is of any connection. */
static bool is_of_many(const struct weft_execution_proposals *proposals,
                       const struct weft_execution_proposal *connection)
{
    for (size_t i = 0; i < proposals->n; i++)
        if (proposals->items[i].kind == WEFT_PROPOSAL_TURNS &&
            proposals->items[i].count >= MANY * connection->count &&
            weft_str_is_one_of(weft_loop_name_of(proposals->items[i].name).call,
                               "read|recv|recvfrom"))
            return true;
    return false;
}

/* The first that occurs often enough; NULL: none does. */
static const struct weft_execution_proposal *
best_of(const struct weft_execution_proposals *proposals)
{
    for (size_t i = 0; i < proposals->n; i++)
        if (proposals->items[i].count >= WEFT_PROPOSAL_EXECUTIONS)
            return &proposals->items[i];
    return NULL;
}

static bool is_wanted(const struct weft_trace *trace,
                      const struct weft_execution_proposals *proposals, size_t i, const char *type)
{
    const struct weft_execution_proposal *proposal = &proposals->items[i],
                                         *best = best_of(proposals);
    if (type)
        return weft_str_equal(proposal->name, weft_str_of(type));
    return best && proposal->count >= WEFT_PROPOSAL_EXECUTIONS && !is_of_runtime(trace, proposal) &&
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
static bool is_library_alone(const struct weft_trace *trace,
                             const struct weft_execution_proposals *proposals)
{
    size_t n = 0;
    for (size_t i = 0; i < proposals->n; i++) {
        if (!is_wanted(trace, proposals, i, NULL))
            continue;
        if (!weft_proposal_is_call(&proposals->items[i]) || !proposals->items[i].is_of_library ||
            weft_name_is_of_std(proposals->items[i].name))
            return false;
        n++;
    }
    return n > 0;
}

size_t weft_proposals_choose(const struct weft_trace *trace,
                             const struct weft_execution_proposals *proposals, const char *type,
                             const struct weft_execution_proposal **chosen)
{
    size_t n = 0, n_work = 0;
    if (!type && is_library_alone(trace, proposals))
        return 0;
    for (size_t i = 0; i < proposals->n; i++)
        if (is_wanted(trace, proposals, i, type))
            chosen[n++] = &proposals->items[i];
    for (size_t i = 0; i < n && !type; i++) /* the others are reported if there is nothing else */
        if (!is_lesser(chosen[i]))
            chosen[n_work++] = chosen[i];
    return n_work > 0 ? n_work : n;
}

enum weft_code weft_proposals_none(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "no operation in the trace occurs at least %d times: expected "
                     "--begin RULE or --rules FILE; which threads wait for which: weft interplay",
                     WEFT_PROPOSAL_EXECUTIONS);
}

/* "a, b, c"; without memory as many as there is for. */
static void put_names(struct weft_output *out, const struct weft_execution_proposals *proposals)
{
    for (size_t i = 0; i < proposals->n && i < NAMED; i++) {
        weft_output_text(out, i ? ", " : "");
        weft_output_plain(out, proposals->items[i].name);
    }
    weft_output_text(out, proposals->n > NAMED ? " ..." : "");
}

enum weft_code weft_proposals_no_type(const struct weft_execution_proposals *proposals,
                                      const char *type, struct weft_err *err)
{
    struct weft_output *out;
    if (proposals->n == 0)
        return weft_proposals_none(err);
    WEFT_TRY(weft_output_to_memory(&out, err));
    put_names(out, proposals);
    const struct weft_str names = weft_output_held(out);
    const enum weft_code code =
        weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                  "no executions of type '%.60s' are detected in the trace; there are %.*s "
                  "(others: --begin RULE or --rules FILE)",
                  type, (int)names.n_bytes, names.bytes);
    weft_output_abort(out);
    return code;
}
