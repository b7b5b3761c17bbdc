/* SPDX-License-Identifier: MIT
 *
 * Which types of executions a trace suggests: names are counted, and what has a begin and an end,
 * and repeats, is proposed.
 */
#include "analysis/compare/names.h"
#include "base/vec.h"
#include "model/events.h"
#include "model/graph/waiting.h"
#include "model/operations.h"
#include "query/executions.h"
#include "query/repeated_functions.h"
#include "query/rules.h"
#include "query/session.h"
#include "query/thread_turns.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NAMES = 1 << 16, /* names that are counted; of others nothing is said */
    LEAST_SPANS = 2,
    ENOUGH = 20,      /* executions of a type, for something to be said about them */
    MOST_THREADS = 8, /* thread names that distinguish points */
    SHOWN_BYTES = 200,
};

/* A name, and of points and prints the thread's name, behind a NUL. */
struct counted {
    uint64_t count, sum_ns;
    uint8_t source;
    bool has_id;
    bool is_part;        /* most calls of the function are parts of others that repeat */
    bool is_after_sleep; /* turns, from the end of the thread's own sleep */
    bool is_of_library;  /* a call that weft record saw of the C library, or one of C++'s */
};

struct counting {
    const struct weft_trace *trace;
    struct weft_strtab *names;
    struct {
        struct counted *items; /* by name */
        size_t n, cap;
    } list;
    struct weft_arena *arena;
    struct weft_err *err;
    bool has_functions; /* of the program: not of the C library alone */
};

/* The counter of "SOURCE text NUL more"; NULL in `*counted` beyond the limit. */
static enum weft_code count(struct counting *counting, enum weft_proposal_kind source,
                            struct weft_str text, struct weft_str more, struct counted **counted)
{
    char key[2 * SHOWN_BYTES + 2];
    const size_t n_text = text.n_bytes < SHOWN_BYTES ? text.n_bytes : SHOWN_BYTES;
    const size_t n_more = more.n_bytes < SHOWN_BYTES ? more.n_bytes : SHOWN_BYTES;
    uint32_t id;
    *counted = NULL;
    if (weft_strtab_count(counting->names) >= MOST_NAMES)
        return WEFT_OK;
    key[0] = (char)('a' + source);
    if (n_text)
        memcpy(key + 1, text.bytes, n_text);
    key[1 + n_text] = '\0';
    if (n_more)
        memcpy(key + 2 + n_text, more.bytes, n_more);
    enum weft_code code = weft_strtab_intern(
        counting->names, (struct weft_str){ key, 2 + n_text + n_more }, &id, counting->err);
    if (code == WEFT_OK && id == counting->list.n && !WEFT_VEC_PUSH(&counting->list))
        code = weft_no_memory(counting->err, "proposals");
    if (code != WEFT_OK)
        return code;
    *counted = &counting->list.items[id];
    (*counted)->source = (uint8_t)source;
    (*counted)->count++;
    return WEFT_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* "action:dom:17" is one of "action:dom:*". */
static struct weft_str without_number(struct weft_str name)
{
    size_t n = name.n_bytes;
    while (n > 0 && name.bytes[n - 1] >= '0' && name.bytes[n - 1] <= '9')
        n--;
    return n > 0 && n < name.n_bytes && strchr(":#_-. /", name.bytes[n - 1])
               ? (struct weft_str){ name.bytes, n }
               : name;
}

static enum weft_code see_span(struct counting *counting, const struct weft_event *event)
{
    const bool is_marked = weft_str_equal(event->category, WEFT_STR("execution"));
    const struct weft_str name = is_marked ? event->name : without_number(event->name);
    struct counted *counted;
    if (event->name.n_bytes == 0)
        return WEFT_OK;
    enum weft_code code =
        count(counting, is_marked ? WEFT_PROPOSAL_MARKED : WEFT_PROPOSAL_SPANS, name,
              name.n_bytes < event->name.n_bytes ? WEFT_STR("*") : WEFT_STR(""), &counted);
    if (counted)
        counted->sum_ns += event->duration_ns;
    return code;
}

static bool is_of_kernel(struct weft_str name)
{
    static const char *const systems[] = {
        "sched:",    "irq:",          "lock:", "block:", "net:",       "timer:",
        "syscalls:", "raw_syscalls:", "kmem:", "tcp:",   "sock:",      "power:",
        "ext4:",     "writeback:",    "skb:",  "napi:",  "workqueue:", "exceptions:"
    };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (name.n_bytes > strlen(systems[i]) &&
            memcmp(name.bytes, systems[i], strlen(systems[i])) == 0)
            return true;
    return false;
}

/* A member "id":... of a payload. */
static bool tells_id(struct weft_str payload)
{
    return payload.n_bytes && memmem(payload.bytes, payload.n_bytes, "\"id\":", 5);
}

/* The text of a line of trace_marker; empty for another payload. *is_text: the member is "text", as
 * traces that are text have it, under other names of the point. */
static struct weft_str printed(struct weft_str payload, bool *is_text)
{
    static const char *const fronts[] = { "\"buf\":\"", "\"text\":\"" };
    for (size_t i = 0; payload.n_bytes && i < sizeof fronts / sizeof *fronts; i++) {
        const char *at = memmem(payload.bytes, payload.n_bytes, fronts[i], strlen(fronts[i]));
        if (!at)
            continue;
        at += strlen(fronts[i]);
        const size_t n_left = payload.n_bytes - (size_t)(at - payload.bytes);
        const char *end = memchr(at, '"', n_left);
        *is_text = i == 1;
        return (struct weft_str){ at, end ? (size_t)(end - at) : n_left };
    }
    return (struct weft_str){ 0 };
}

/* "B ctl 17": the letter, and the name. */
static enum weft_code see_print(struct counting *counting, struct weft_str text, bool is_text)
{
    const struct weft_str begin = is_text ? WEFT_STR("B text") : WEFT_STR("B"),
                          end = is_text ? WEFT_STR("E text") : WEFT_STR("E");
    struct counted *counted;
    if (text.n_bytes < 3 || (text.bytes[0] != 'B' && text.bytes[0] != 'E') || text.bytes[1] != ' ')
        return WEFT_OK;
    const struct weft_str rest = { text.bytes + 2, text.n_bytes - 2 };
    const char *blank = memchr(rest.bytes, ' ', rest.n_bytes);
    const struct weft_str name = { rest.bytes,
                                   blank ? (size_t)(blank - rest.bytes) : rest.n_bytes };
    enum weft_code code =
        count(counting, WEFT_PROPOSAL_PRINTS, name, text.bytes[0] == 'B' ? begin : end, &counted);
    if (counted)
        counted->has_id = blank && blank[1] >= '0' && blank[1] <= '9';
    return code;
}

static enum weft_code see_point(struct counting *counting, uint32_t thread_id,
                                const struct weft_event *event)
{
    struct counted *counted;
    bool is_text = false;
    const struct weft_str text = printed(event->payload, &is_text);
    if (weft_str_equal(event->name, WEFT_STR("print")) || text.n_bytes)
        return see_print(counting, text, is_text);
    enum weft_code code = count(
        counting, is_of_kernel(event->name) ? WEFT_PROPOSAL_KERNEL_POINTS : WEFT_PROPOSAL_POINTS,
        event->name, weft_trace_thread(counting->trace, thread_id)->info.name, &counted);
    if (counted)
        counted->has_id = tells_id(event->payload);
    return code;
}

static enum weft_code see_event(struct counting *counting, uint32_t thread_id,
                                const struct weft_event *event)
{
    struct counted *counted;
    if (event->kind == WEFT_EVENT_SPAN)
        return see_span(counting, event);
    if (event->kind == WEFT_EVENT_INSTANT)
        return see_point(counting, thread_id, event);
    return weft_str_equal(event->category, WEFT_STR("task"))
               ? count(counting, WEFT_PROPOSAL_TASKS, event->name, WEFT_STR(""), &counted)
               : WEFT_OK;
}

static enum weft_code read_events(struct counting *counting)
{
    const uint32_t kinds =
        1U << WEFT_EVENT_SPAN | 1U << WEFT_EVENT_INSTANT | 1U << WEFT_EVENT_FLOW_END;
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    if (weft_trace_n_threads(counting->trace) == 0)
        return WEFT_OK;
    enum weft_code code =
        weft_events_open(counting->trace, 0, kinds, 0, UINT64_MAX, &events, counting->err);
    for (uint32_t id = 0; id < weft_trace_n_threads(counting->trace) && code == WEFT_OK; id++) {
        weft_events_turn(events, id);
        while (code == WEFT_OK &&
               (code = weft_events_next(events, &event, counting->err)) == WEFT_OK && event)
            code = see_event(counting, id, event);
    }
    weft_events_close(events);
    return code;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Of all functions of a name. */
struct called {
    struct weft_repeated_function sums;
    bool is_of_program; /* any of them; others are the C library's, as weft record saw them */
};

struct calls_job {
    struct weft_repeated_function *functions; /* by number */
    uint32_t n_functions;
};

/* Of a connection: what repeats is not that. */
static bool is_last_word(const struct weft_trace *trace, uint32_t function_id)
{
    return weft_operation_is(trace, function_id, WEFT_STR("shutdown")) ||
           weft_operation_is(trace, function_id, WEFT_STR("close"));
}

static uint64_t n_operations(const struct counting *counting, const struct calls_job *job,
                             struct weft_str name)
{
    uint64_t n = 0;
    for (uint32_t f = 0; f < job->n_functions; f++)
        if (weft_operation_is(counting->trace, f, name))
            n += job->functions[f].n_calls;
    return n;
}

/* Accepted, and shut down, unless most are closed without that. */
static enum weft_code count_connections(struct counting *counting, const struct calls_job *job)
{
    const uint64_t n_accepted = n_operations(counting, job, WEFT_STR("accept")),
                   n_shut = n_operations(counting, job, WEFT_STR("shutdown")),
                   n_closed = n_operations(counting, job, WEFT_STR("close"));
    const bool is_shut = n_shut >= n_accepted / 2 && n_shut > 0;
    struct counted *counted;
    if (n_accepted < LEAST_SPANS || (!is_shut && n_closed == 0))
        return WEFT_OK;
    const enum weft_code code = count(counting, WEFT_PROPOSAL_CONNECTIONS, WEFT_STR("connection"),
                                      is_shut ? WEFT_STR("shutdown") : WEFT_STR("close"), &counted);
    if (counted)
        counted->count = n_accepted;
    return code;
}

static bool is_recording(const struct weft_trace *trace)
{
    return weft_str_equal(weft_trace_meta(trace)->format, WEFT_STR("weft record"));
}

/* Others are the C library's, as weft record saw them. */
static bool is_of_program(const struct weft_trace *trace, uint32_t function_id)
{
    return !is_recording(trace) || weft_trace_function(trace, function_id)->module.n_bytes > 0;
}

/* A rule finds all calls of a name: they are what is counted. */
static enum weft_code unite_names(const struct counting *counting, const struct calls_job *job,
                                  struct weft_strtab *names, struct called *called)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t f = 0; f < job->n_functions && code == WEFT_OK; f++) {
        uint32_t id;
        code = weft_strtab_intern(names, weft_trace_function(counting->trace, f)->name, &id,
                                  counting->err);
        if (code != WEFT_OK)
            break;
        struct weft_repeated_function *sums = &called[id].sums;
        sums->n_calls += job->functions[f].n_calls;
        sums->sum_ns += job->functions[f].sum_ns;
        sums->n_at += job->functions[f].n_at;
        sums->n_below += job->functions[f].n_below;
        sums->is_repeated |= job->functions[f].is_repeated && !is_last_word(counting->trace, f);
        called[id].is_of_program |=
            job->functions[f].n_calls > 0 && is_of_program(counting->trace, f);
    }
    return code;
}

static enum weft_code count_names(struct counting *counting, const struct weft_strtab *names,
                                  const struct called *called)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; id < weft_strtab_count(names) && code == WEFT_OK; id++) {
        const struct weft_str name = weft_strtab_get(names, id);
        struct counted *counted;
        counting->has_functions |= called[id].is_of_program;
        if (!called[id].sums.is_repeated || weft_is_wait_name(name))
            continue;
        code = count(counting, WEFT_PROPOSAL_CALLS, name, WEFT_STR(""), &counted);
        if (counted) {
            counted->is_of_library = !called[id].is_of_program || weft_name_is_of_std(name);
            counted->count += called[id].sums.n_calls - 1;
            counted->sum_ns += called[id].sums.sum_ns;
            counted->is_part = called[id].sums.n_below > called[id].sums.n_at;
        }
    }
    return code;
}

static enum weft_code take_names(struct counting *counting, const struct calls_job *job)
{
    struct weft_strtab *names = weft_strtab_new();
    struct called *called = calloc((size_t)job->n_functions + 1, sizeof *called);
    enum weft_code code = names && called ? WEFT_OK : weft_no_memory(counting->err, "proposals");
    WEFT_THEN(code, unite_names(counting, job, names, called));
    WEFT_THEN(code, count_names(counting, names, called));
    weft_strtab_free(names);
    free(called);
    return code;
}

/* Which functions are told of themselves, and so have parts: not what waits, nor a call of the C
 * library that weft record saw, nor C++'s. By number; NULL without memory. The caller frees. */
static bool *find_wholes(const struct weft_trace *trace)
{
    const uint32_t n_functions = weft_trace_n_functions(trace);
    bool *is_whole = calloc((size_t)n_functions + 1, sizeof *is_whole);
    for (uint32_t f = 0; is_whole && f < n_functions; f++) {
        const struct weft_str name = weft_trace_function(trace, f)->name;
        is_whole[f] = is_of_program(trace, f) && !weft_is_wait_name(name) &&
                      !weft_name_is_of_std(name) && !is_last_word(trace, f);
    }
    return is_whole;
}

static enum weft_code read_calls(struct counting *counting, const struct weft_run *run)
{
    struct calls_job job = { .n_functions = weft_trace_n_functions(counting->trace) };
    bool *is_whole = find_wholes(counting->trace);
    enum weft_code code = is_whole ? weft_repeated_functions(counting->trace, is_whole, run,
                                                             &job.functions, counting->err)
                                   : weft_no_memory(counting->err, "proposals");
    free(is_whole);
    WEFT_THEN(code, take_names(counting, &job));
    WEFT_THEN(code, count_connections(counting, &job));
    free(job.functions);
    return code;
}

/* ---- proposals ------------------------------------------------------------------------------- */

struct proposed {
    struct weft_execution_proposal proposal;
    enum weft_proposal_kind source;
    uint64_t sum_ns;
};

struct proposing {
    struct counting *counting;
    struct {
        struct proposed *items;
        size_t n, cap;
    } list;
};

static struct weft_str name_of(const struct counting *counting, uint32_t id, struct weft_str *more)
{
    const struct weft_str key = weft_strtab_get(counting->names, id);
    const size_t n_text = strnlen(key.bytes + 1, key.n_bytes - 1);
    *more = (struct weft_str){ key.bytes + n_text + 2, key.n_bytes - n_text - 2 };
    return (struct weft_str){ key.bytes + 1, n_text };
}

/* A printed text in the arena; {NULL, 0} without memory. */
__attribute__((format(printf, 2, 3))) static struct weft_str put(struct weft_arena *arena,
                                                                 const char *format, ...)
{
    char text[4 * SHOWN_BYTES];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return n < 0 ? (struct weft_str){ 0 } : weft_arena_copy(arena, weft_str_of(text));
}

static enum weft_code propose(struct proposing *proposing, const struct counted *counted,
                              struct weft_str name, struct weft_str begin, struct weft_str end,
                              struct weft_str match)
{
    struct counting *counting = proposing->counting;
    struct proposed *made = WEFT_VEC_PUSH(&proposing->list);
    const struct weft_str copy = weft_arena_copy(counting->arena, name);
    const bool is_on_thread = match.n_bytes > 0 && counted->source != WEFT_PROPOSAL_CONNECTIONS;
    if (!made || !copy.bytes || !begin.bytes || !end.bytes)
        return weft_no_memory(counting->err, "proposals");
    made->source = (enum weft_proposal_kind)counted->source;
    made->sum_ns = counted->sum_ns;
    made->proposal = (struct weft_execution_proposal){ .name = copy,
                                                       .begin = begin,
                                                       .end = end,
                                                       .match = match,
                                                       .within = is_on_thread ? WEFT_STR("thread")
                                                                              : WEFT_STR(""),
                                                       .kind = counted->source,
                                                       .is_part = counted->is_part,
                                                       .is_of_library = counted->is_of_library,
                                                       .is_after_sleep = counted->is_after_sleep,
                                                       .count = counted->count };
    return WEFT_OK;
}

/* The number of a name that was counted, or WEFT_ID_NONE. */
static uint32_t find_name(const struct counting *counting, enum weft_proposal_kind source,
                          struct weft_str text, struct weft_str more)
{
    for (uint32_t id = 0; id < counting->list.n; id++) {
        struct weft_str found_more;
        const struct weft_str found = name_of(counting, id, &found_more);
        if (counting->list.items[id].source == source && weft_str_equal(found, text) &&
            weft_str_equal(found_more, more))
            return id;
    }
    return WEFT_ID_NONE;
}

/* What ends what a point of this name begins, on threads of the same name: "x_end" of "x_begin".
 * WEFT_ID_NONE if nothing does. */
static uint32_t find_end(const struct counting *counting, enum weft_proposal_kind source,
                         struct weft_str name, struct weft_str thread)
{
    static const char *const pairs[][2] = {
        { "begin", "end" },    { "start", "end" },  { "start", "stop" }, { "start", "done" },
        { "start", "finish" }, { "enter", "exit" }, { "entry", "exit" }, { "entry", "return" },
        { "Begin", "End" },    { "Start", "End" },  { "Start", "Stop" },
    };
    char end[SHOWN_BYTES + 16];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const size_t n_word = strlen(pairs[i][0]);
        const char *place = memmem(name.bytes, name.n_bytes, pairs[i][0], n_word);
        if (!place)
            continue;
        const size_t n_front = (size_t)(place - name.bytes);
        (void)snprintf(end, sizeof end, "%.*s%s%.*s", (int)n_front, name.bytes, pairs[i][1],
                       (int)(name.n_bytes - n_front - n_word), place + n_word);
        const uint32_t id = find_name(counting, source, weft_str_of(end), thread);
        if (id != WEFT_ID_NONE)
            return id;
    }
    return WEFT_ID_NONE;
}

/* Of how many thread names are points of this name, how many in all, and the first of them? */
static unsigned n_threads_of(const struct counting *counting, struct weft_str name,
                             uint64_t *n_points, uint32_t *first)
{
    unsigned n = 0;
    *n_points = 0;
    *first = WEFT_ID_NONE;
    for (uint32_t id = 0; id < counting->list.n; id++) {
        struct weft_str more;
        const struct weft_str found = name_of(counting, id, &more);
        const uint8_t source = counting->list.items[id].source;
        if ((source != WEFT_PROPOSAL_POINTS && source != WEFT_PROPOSAL_KERNEL_POINTS) ||
            !weft_str_equal(found, name))
            continue;
        *first = *first == WEFT_ID_NONE ? id : *first;
        *n_points += counting->list.items[id].count;
        n++;
    }
    return n;
}

/* The rule of a point, on threads of this name unless it is empty. */
static struct weft_str point_text(struct weft_arena *arena, struct weft_str name,
                                  struct weft_str thread)
{
    const struct weft_str rule = weft_rule_text(arena, "instant", name);
    return thread.n_bytes == 0 || !rule.bytes
               ? rule
               : put(arena, "%.*s where thread=\"%.*s\"", (int)rule.n_bytes, rule.bytes,
                     (int)thread.n_bytes, thread.bytes);
}

/* Points on threads of different names are different types, if there are few. The end is on the
 * thread of the begin: else other threads might use the same numbers. */
static enum weft_code propose_points(struct proposing *proposing, uint32_t id)
{
    const struct counting *counting = proposing->counting;
    struct counted counted = counting->list.items[id];
    struct weft_str thread, end_thread;
    const struct weft_str name = name_of(counting, id, &thread);
    const uint32_t end = find_end(counting, (enum weft_proposal_kind)counted.source, name, thread);
    if (end == WEFT_ID_NONE || counted.count < LEAST_SPANS)
        return WEFT_OK;
    uint64_t n_points;
    uint32_t first;
    const struct weft_str end_text = name_of(counting, end, &end_thread);
    const unsigned n_threads = n_threads_of(counting, name, &n_points, &first);
    const bool is_split = n_threads > 1 && n_threads <= MOST_THREADS && thread.n_bytes > 0 &&
                          !memchr(thread.bytes, '"', thread.n_bytes);
    const bool has_id = counted.has_id && counting->list.items[end].has_id;
    struct weft_arena *arena = counting->arena;
    if (!is_split && id != first)
        return WEFT_OK;
    if (!is_split)
        counted.count = n_points;
    return propose(proposing, &counted,
                   !is_split ? name
                   : counted.source == WEFT_PROPOSAL_KERNEL_POINTS
                       ? put(arena, "%.*s: %.*s", (int)thread.n_bytes, thread.bytes,
                             (int)name.n_bytes, name.bytes)
                       : thread,
                   point_text(arena, name, is_split ? thread : WEFT_STR("")),
                   point_text(arena, end_text, is_split ? thread : WEFT_STR("")),
                   has_id ? WEFT_STR("id") : WEFT_STR(""));
}

static enum weft_code propose_prints(struct proposing *proposing, uint32_t id)
{
    const struct counting *counting = proposing->counting;
    const struct counted *counted = &counting->list.items[id];
    struct weft_arena *arena = counting->arena;
    struct weft_str letter;
    const struct weft_str name = name_of(counting, id, &letter);
    const int n = (int)name.n_bytes;
    const bool is_text = weft_str_equal(letter, WEFT_STR("B text"));
    const char *point = is_text ? "*" : "print", *field = is_text ? "text" : "buf";
    if ((!is_text && !weft_str_equal(letter, WEFT_STR("B"))) || counted->count < LEAST_SPANS ||
        memchr(name.bytes, '"', name.n_bytes) || memchr(name.bytes, '\\', name.n_bytes) ||
        find_name(counting, WEFT_PROPOSAL_PRINTS, name,
                  is_text ? WEFT_STR("E text") : WEFT_STR("E")) == WEFT_ID_NONE)
        return WEFT_OK;
    return propose(
        proposing, counted, name,
        put(arena, "instant:%s where %s.1=B and %s.2=\"%.*s\"", point, field, field, n, name.bytes),
        put(arena, "instant:%s where %s.1=E and %s.2=\"%.*s\"", point, field, field, n, name.bytes),
        counted->has_id ? is_text ? WEFT_STR("text.3") : WEFT_STR("buf.3") : WEFT_STR(""));
}

/* Names that end with a number are of one type. */
static enum weft_code propose_span(struct proposing *proposing, uint32_t id)
{
    struct weft_arena *arena = proposing->counting->arena;
    const struct counted *counted = &proposing->counting->list.items[id];
    struct weft_str star;
    const struct weft_str name = name_of(proposing->counting, id, &star);
    if (counted->count < LEAST_SPANS)
        return WEFT_OK;
    const struct weft_str pattern =
        put(arena, "%.*s%.*s", (int)name.n_bytes, name.bytes, (int)star.n_bytes, star.bytes);
    if (!pattern.bytes)
        return weft_no_memory(proposing->counting->err, "proposals");
    return propose(
        proposing, counted, pattern,
        weft_rule_text(arena, counted->source == WEFT_PROPOSAL_MARKED ? "mark" : "span", pattern),
        WEFT_STR(""), WEFT_STR(""));
}

static enum weft_code propose_call(struct proposing *proposing, uint32_t id)
{
    const struct counting *counting = proposing->counting;
    const struct counted *counted = &counting->list.items[id];
    struct weft_str more;
    const struct weft_str name = name_of(counting, id, &more);
    if (counted->source == WEFT_PROPOSAL_CALLS &&
        find_name(counting, WEFT_PROPOSAL_TASKS, name, WEFT_STR("")) != WEFT_ID_NONE)
        return WEFT_OK;
    struct weft_str pattern = name;
    if (name.n_bytes == SHOWN_BYTES) /* the rest was not kept */
        pattern = put(counting->arena, "%.*s*", (int)name.n_bytes, name.bytes);
    if (!pattern.bytes)
        return weft_no_memory(proposing->counting->err, "proposals");
    return propose(proposing, counted, name, weft_rule_text(counting->arena, "call", pattern),
                   WEFT_STR(""), WEFT_STR(""));
}

static enum weft_code propose_connection(struct proposing *proposing, uint32_t id)
{
    const struct counting *counting = proposing->counting;
    struct weft_str end;
    const struct weft_str name = name_of(counting, id, &end);
    return propose(proposing, &counting->list.items[id], name, WEFT_STR("syscall_exit:accept*"),
                   weft_rule_text(counting->arena, "syscall_enter", end), WEFT_STR("fd"));
}

/* What threads do between two waits, if nothing in the trace tells what functions they call. */
static enum weft_code propose_turns(struct proposing *proposing, const struct weft_run *run)
{
    struct counting *counting = proposing->counting;
    struct weft_thread_turn *turns;
    size_t n_turns;
    if (counting->has_functions || !is_recording(counting->trace))
        return WEFT_OK;
    enum weft_code code = weft_thread_turns_find(counting->trace, run, counting->arena, &turns,
                                                 &n_turns, counting->err);
    for (size_t i = 0; code == WEFT_OK && i < n_turns; i++) {
        const struct counted counted = { .count = turns[i].count,
                                         .sum_ns = turns[i].sum_ns,
                                         .source = WEFT_PROPOSAL_TURNS,
                                         .is_after_sleep = turns[i].is_after_sleep };
        code =
            propose(proposing, &counted, turns[i].name, turns[i].begin, turns[i].end, WEFT_STR(""));
    }
    return code;
}

/* What the kernel does for itself comes last, before that what is too rare to compare, or a step of
 * the C library's. */
static unsigned rank_of(const struct proposed *proposed)
{
    return proposed->source == WEFT_PROPOSAL_KERNEL_POINTS
               ? 2
               : proposed->proposal.count < ENOUGH || proposed->proposal.is_of_library;
}

static int by_rank(const void *a_void, const void *b_void)
{
    const struct proposed *a = a_void, *b = b_void;
    if (rank_of(a) != rank_of(b))
        return rank_of(a) < rank_of(b) ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->sum_ns != b->sum_ns)
        return a->sum_ns > b->sum_ns ? -1 : 1;
    if (a->proposal.count != b->proposal.count)
        return a->proposal.count > b->proposal.count ? -1 : 1;
    return weft_str_compare(a->proposal.begin, b->proposal.begin);
}

static enum weft_code propose_all(struct proposing *proposing, const struct weft_run *run)
{
    static enum weft_code (*const propose_one[WEFT_PROPOSAL_KINDS])(struct proposing *,
                                                                    uint32_t) = {
        [WEFT_PROPOSAL_MARKED] = propose_span,
        [WEFT_PROPOSAL_POINTS] = propose_points,
        [WEFT_PROPOSAL_PRINTS] = propose_prints,
        [WEFT_PROPOSAL_TASKS] = propose_call,
        [WEFT_PROPOSAL_SPANS] = propose_span,
        [WEFT_PROPOSAL_CALLS] = propose_call,
        [WEFT_PROPOSAL_CONNECTIONS] = propose_connection,
        [WEFT_PROPOSAL_KERNEL_POINTS] = propose_points,
    };
    const struct counting *counting = proposing->counting;
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; id < counting->list.n && code == WEFT_OK; id++)
        code = propose_one[counting->list.items[id].source](proposing, id);
    WEFT_THEN(code, propose_turns(proposing, run));
    if (proposing->list.n)
        qsort(proposing->list.items, proposing->list.n, sizeof *proposing->list.items, by_rank);
    return code;
}

static enum weft_code keep(const struct proposing *proposing,
                           struct weft_execution_proposals **proposals, struct weft_err *err)
{
    struct weft_arena *arena = proposing->counting->arena;
    struct weft_execution_proposals *made =
        WEFT_ARENA_NEW(arena, 1, struct weft_execution_proposals);
    const size_t n =
        proposing->list.n < WEFT_PROPOSALS_MOST ? proposing->list.n : (size_t)WEFT_PROPOSALS_MOST;
    struct weft_execution_proposal *items =
        WEFT_ARENA_NEW(arena, n, struct weft_execution_proposal);
    if (!made || !items)
        return weft_no_memory(err, "proposals");
    for (size_t i = 0; i < n; i++)
        items[i] = proposing->list.items[i].proposal;
    *made = (struct weft_execution_proposals){ .arena = arena, .items = items, .n = n };
    *proposals = made;
    return WEFT_OK;
}

enum weft_code weft_execution_proposals(struct weft_session *session,
                                        struct weft_execution_proposals **proposals,
                                        struct weft_err *err)
{
    struct counting counting = { .trace = weft_session_trace(session),
                                 .names = weft_strtab_new(),
                                 .arena = weft_arena_new(0),
                                 .err = err };
    struct proposing proposing = { .counting = &counting };
    *proposals = NULL;
    enum weft_code code =
        counting.names && counting.arena ? WEFT_OK : weft_no_memory(err, "proposals");
    WEFT_THEN(code, read_events(&counting));
    WEFT_THEN(code, read_calls(&counting, weft_session_run(session)));
    WEFT_THEN(code, propose_all(&proposing, weft_session_run(session)));
    WEFT_THEN(code, keep(&proposing, proposals, err));
    if (code != WEFT_OK && counting.arena)
        weft_arena_free(counting.arena);
    weft_strtab_free(counting.names);
    WEFT_VEC_FINI(&counting.list);
    WEFT_VEC_FINI(&proposing.list);
    return code;
}

void weft_execution_proposals_free(struct weft_execution_proposals *proposals)
{
    if (proposals)
        weft_arena_free(proposals->arena);
}
