/* SPDX-License-Identifier: MIT
 *
 * Which of the executions that a trace suggests are looked at: of lists made by hand.
 */
#include "model/trace.h"
#include "query/choice.h"
#include "store/writer.h"
#include "tap.h"

#include <unistd.h>

/* Writes a trace of two threads, one of that name, and no events. */
static enum weft_code write_threads(struct weft_sink *sink, const char *name, struct weft_err *err)
{
    const struct weft_sink_begin begin = { .format = WEFT_STR("test"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    const struct weft_thread_info threads[] = { { .tid = 1, .name = WEFT_STR("main") },
                                                { .tid = 2, .name = weft_str_of(name) } };
    WEFT_TRY(sink->ops->begin(sink, &begin, err));
    WEFT_TRY(sink->ops->clock(sink, &clock, err));
    for (size_t i = 0; i < 2; i++) {
        uint32_t id;
        WEFT_TRY(sink->ops->thread(sink, &threads[i], &id, err));
        WEFT_TRY(sink->ops->thread_end(sink, id, 0, err));
    }
    return WEFT_OK;
}

static struct weft_trace *trace_with(const char *name)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    const struct weft_writer_opts opts = { .source_name = "test" };
    struct weft_writer *writer;
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    char path[512];
    (void)snprintf(path, sizeof path, "%s/test_choice.%d.weft", root ? root : ".", (int)getpid());
    if (weft_writer_open(path, &opts, &writer, &err) != WEFT_OK ||
        write_threads(weft_writer_sink(writer), name, &err) != WEFT_OK ||
        weft_writer_commit(writer, NULL, &err) != WEFT_OK ||
        weft_trace_open(path, &trace, &err) != WEFT_OK) {
        tap_note("%s", err.text);
        abort();
    }
    (void)unlink(path);
    return trace;
}

enum { MOST = 16 };

/* "get, put": which of the proposals, the last of which has no name, are looked at. */
static const char *chosen_of(const struct weft_trace *trace, const char *type,
                             struct weft_execution_proposal *items)
{
    static char said[300];
    const struct weft_execution_proposal *chosen[MOST];
    struct weft_execution_proposals proposals = { .items = items };
    while (items[proposals.n].name.n_bytes > 0)
        proposals.n++;
    const size_t n = weft_proposals_choose(trace, &proposals, type, chosen);
    said[0] = 0;
    for (size_t i = 0; i < n; i++)
        (void)snprintf(said + strlen(said), sizeof said - strlen(said), "%s%.*s", i ? ", " : "",
                       (int)chosen[i]->name.n_bytes, chosen[i]->name.bytes);
    return said;
}

#define ITEM_OF(what, text, n, is_library)                                                         \
    {                                                                                              \
        .kind = WEFT_PROPOSAL_##what, .name = { text, sizeof(text) - 1 }, .count = (n),            \
        .is_of_library = (is_library)                                                              \
    }
#define ITEM(what, text, n) ITEM_OF(what, text, n, false)
#define LIBRARY_ITEM(what, text, n) ITEM_OF(what, text, n, true)
#define CHOSEN_OF(trace, type, wanted, ...)                                                        \
    tap_eq_str(                                                                                    \
        chosen_of(trace, type,                                                                     \
                  (struct weft_execution_proposal[MOST + 1]){ __VA_ARGS__, { .count = 0 } }),      \
        wanted, "%d: %s", __LINE__, wanted)
#define CHOSEN(wanted, ...) CHOSEN_OF(trace, NULL, wanted, __VA_ARGS__)

/* Of the best kind, those that occur often enough; of a type that is given, that. */
static void test_best(const struct weft_trace *trace)
{
    CHOSEN("get, put", ITEM(MARKED, "get", 10), ITEM(MARKED, "put", 1000), ITEM(CALLS, "f", 5000));
    CHOSEN("put", ITEM(MARKED, "get", 9), ITEM(MARKED, "put", 10));
    CHOSEN("f, g", ITEM(MARKED, "get", 9), ITEM(CALLS, "f", 15), ITEM(CALLS, "g", 10),
           ITEM(TURNS, "main after poll", 10));
    CHOSEN("", ITEM(MARKED, "get", 9));
    CHOSEN("main after poll", ITEM(TURNS, "main after poll", 20), ITEM(CONNECTIONS, "peer", 20));
    CHOSEN_OF(trace, "f", "f", ITEM(MARKED, "get", 10), ITEM(CALLS, "f", 3));
    CHOSEN_OF(trace, "g", "", ITEM(MARKED, "get", 10), ITEM(CALLS, "f", 3));
}

/* Connections with what the threads of a server do from wait to wait; without those of which each
 * carries many requests. */
static void test_connections(const struct weft_trace *trace)
{
#define CONNECTIONS(n) ITEM(CONNECTIONS, "connection", n)
    CHOSEN("connection, io after read", CONNECTIONS(100), ITEM(TURNS, "io after read", 799),
           ITEM(CALLS, "f", 800));
    CHOSEN("io after read", CONNECTIONS(100), ITEM(TURNS, "io after read", 800));
    CHOSEN("io after recv in serve", CONNECTIONS(100), ITEM(TURNS, "io after recv in serve", 800));
    CHOSEN("io after recvfrom", CONNECTIONS(100), ITEM(TURNS, "io after recvfrom", 900));
    CHOSEN("connection, io after epoll_wait", CONNECTIONS(100),
           ITEM(TURNS, "io after epoll_wait", 8000));
    CHOSEN("connection, io after write", CONNECTIONS(100), ITEM(TURNS, "io after write", 8000));
    CHOSEN("connection", CONNECTIONS(100), ITEM(CALLS, "io after read", 8000));
    CHOSEN_OF(trace, "connection", "connection", CONNECTIONS(100),
              ITEM(TURNS, "io after read", 800));
    CHOSEN("get", ITEM(SPANS, "get", 100), ITEM(TURNS, "io after read", 800));
}

/* Threads of a runtime, by their names: of Java, if the trace has one that only Java has. */
static void test_runtimes(const struct weft_trace *trace, const struct weft_trace *java)
{
    static const char *const names[] = {
        "C1 CompilerThre",
        "C2 CompilerThre",
        "VM Thread",
        "VM Periodic Tas",
        "G1 Service",
        "G1 Main Marker",
        "G1 Conc",
        "G1 Refine",
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
        "::PlatformWorkerThread",
    };
    enum { N_JAVA = 18 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char turns[64];
        (void)snprintf(turns, sizeof turns, "%s after futex", names[i]);
        struct weft_execution_proposal items[] = { ITEM(TURNS, "", 20), { .count = 0 } };
        items[0].name = weft_str_of(turns);
        tap_eq_str(chosen_of(java, NULL, items), "", "%s, in Java", names[i]);
        tap_eq_str(chosen_of(trace, NULL, items), i < N_JAVA ? turns : "", "%s, elsewhere",
                   names[i]);
        tap_eq_str(chosen_of(java, turns, items), turns, "%s, where it is given", names[i]);
        items[0].kind = WEFT_PROPOSAL_SPANS;
        tap_eq_str(chosen_of(java, NULL, items), turns, "spans of %s", names[i]);
    }
    CHOSEN_OF(java, NULL, "http-nio after read", ITEM(TURNS, "GC Thread after futex", 50),
              ITEM(TURNS, "http-nio after read", 20));
}

/* Calls that move bytes, and those of C++'s library, are looked at if there is nothing else. */
static void test_lesser(const struct weft_trace *trace)
{
    static const char *const names[] = {
        "read",     "write",    "pread",
        "pwrite",   "pread64",  "readv",
        "writev",   "pwrite64", "recv",
        "recvfrom", "send",     "recvmsg",
        "sendmsg",  "sendto",   "close",
        "open",     "openat",   "lseek",
        "malloc",   "free",     "std::function<void ()>::operator()"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct weft_execution_proposal items[] = { ITEM(CALLS, "", 20),
                                                   ITEM(CALLS, "get", 20),
                                                   { .count = 0 } };
        items[0].name = weft_str_of(names[i]);
        tap_eq_str(chosen_of(trace, NULL, items), "get", "%s beside work", names[i]);
        items[1].count = 9;
        tap_eq_str(chosen_of(trace, NULL, items), names[i], "%s alone", names[i]);
        tap_eq_str(chosen_of(trace, names[i], items), names[i], "%s, where it is given", names[i]);
    }
    CHOSEN("read, get", ITEM(SPANS, "read", 20), ITEM(SPANS, "get", 20));
    CHOSEN("std::sort, get", ITEM(SPANS, "std::sort", 20), ITEM(SPANS, "get", 20));
    CHOSEN_OF(trace, "read", "read, read", ITEM(CALLS, "read", 20), ITEM(SPANS, "read", 20));
    CHOSEN("read_row, get", ITEM(CALLS, "read_row", 20), ITEM(CALLS, "get", 20));
    CHOSEN("get", ITEM(TASKS, "write", 20), ITEM(TASKS, "get", 20));
}

/* A trace of nothing but calls of a library has no requests. */
static void test_library(const struct weft_trace *trace)
{
    CHOSEN("", LIBRARY_ITEM(CALLS, "read", 20), LIBRARY_ITEM(CALLS, "qsort", 20));
    CHOSEN("qsort, get", LIBRARY_ITEM(CALLS, "qsort", 20), ITEM(CALLS, "get", 20));
    CHOSEN("", LIBRARY_ITEM(CALLS, "qsort", 20), ITEM(CALLS, "get", 9));
    CHOSEN("std::sort", LIBRARY_ITEM(CALLS, "std::sort", 20));
    CHOSEN("qsort", LIBRARY_ITEM(SPANS, "qsort", 20));
    CHOSEN_OF(trace, "read", "read", LIBRARY_ITEM(CALLS, "read", 20));
}

/* The message names those that there are, up to twelve. */
static void test_no_type(void)
{
    struct weft_execution_proposal items[13] = { ITEM(CALLS, "get", 3), ITEM(SPANS, "put", 3) };
    struct weft_execution_proposals proposals = { .items = items, .n = 2 };
    struct weft_err err = { 0 };
    tap_ok(weft_proposals_no_type(&proposals, "scan", &err) == WEFT_E_ARG &&
               strstr(err.text, "'scan'") && strstr(err.text, "there are get, put ("),
           "%s", err.text);
    for (size_t i = 0; i < 13; i++)
        items[i].name = WEFT_STR("f");
    proposals.n = 12;
    err = (struct weft_err){ 0 };
    tap_ok(weft_proposals_no_type(&proposals, "scan", &err) == WEFT_E_ARG &&
               strstr(err.text, "f, f, f, f, f, f, f, f, f, f, f, f ("),
           "twelve");
    proposals.n = 13;
    err = (struct weft_err){ 0 };
    tap_ok(weft_proposals_no_type(&proposals, "scan", &err) == WEFT_E_ARG &&
               strstr(err.text, "f, f, f, f, f, f, f, f, f, f, f, f ... ("),
           "more than twelve");
    proposals.n = 0;
    err = (struct weft_err){ 0 };
    tap_ok(weft_proposals_no_type(&proposals, "scan", &err) == WEFT_E_ARG &&
               strstr(err.text, "at least 10 times"),
           "none");
}

/* The rules of a proposal, as options give them: what is empty is not given. */
static void test_rule(void)
{
    struct weft_arena *arena = weft_arena_new(0);
    const struct weft_execution_proposal proposal = { .name = WEFT_STR("get"),
                                                      .begin = WEFT_STR("call get"),
                                                      .match = WEFT_STR("thread") };
    struct weft_rule_options rule;
    struct weft_err err = { 0 };
    if (!arena || weft_proposal_rule(&proposal, arena, &rule, &err) != WEFT_OK)
        abort();
    tap_eq_str(rule.type, "get", "type");
    tap_eq_str(rule.begin, "call get", "begin");
    tap_eq_str(rule.match, "thread", "match");
    tap_ok(!rule.end && !rule.within, "the others are not given");
    weft_arena_free(arena);
}

int main(void)
{
    struct weft_trace *trace = trace_with("VM Periodic"), *java = trace_with("VM Periodic Tas");
    test_best(trace);
    test_connections(trace);
    test_runtimes(trace, java);
    test_lesser(trace);
    test_library(trace);
    test_no_type();
    test_rule();
    weft_trace_close(trace);
    weft_trace_close(java);
    return tap_done();
}
