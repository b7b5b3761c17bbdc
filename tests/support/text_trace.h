/* SPDX-License-Identifier: MIT
 *
 * A trace written as text, one event a line:
 *
 *     10 0 switch 1 0 2       at 10 ns, on processor 0, thread 1 leaves in state 0, 2 comes
 *     10 0 switch 1 0 2 8     and 1 has run for 8 ns by its own clock
 *     20 1 waking 2 1 0       2 wakes 1 for processor 0; woken: the same
 *     20 1 irq 2 softirq 3    an interrupt on 2's processor, with name and number; done: its end
 *     20 1 call 2 read         enters a system call; return: leaves it
 *     20 1 sample 2 kernel     a sample by time, in that mode, or in user mode
 *     13 0 sent 1 7           packet 7; received: the same
 *     5 0 fork 1 2            1 makes 2; a third number is its handle
 *     4 0 request 1 9         lock 9; acquired, released: the same
 *     6 0 begin 1 33          flow 33; end: the same
 *     2 0 enter 1 4           function 4 is called; exit: it returns. A third number is an argument
 *     2 0 args 1 {"ready":[]} text of arguments of the call that was entered last
 *     7 0 ready 1 5           1 made descriptor 5 ready
 *     9 0 file 1 4            1 has waited 4 ns for a file
 *
 * Threads are numbered from 0 as they are named to text_trace_write; thread ids are those numbers.
 * Those with a tid from TOLD_PROCESS on are of one process, the others of one each; those from
 * TOLD_FOREIGN on are not of the recorded program.
 */
#ifndef WEFT_TESTS_TOLD_TRACE_H
#define WEFT_TESTS_TOLD_TRACE_H

#include "store/writer.h"
#include "tap.h"

#include <stddef.h>

enum { TOLD_LINES = 256, TOLD_PROCESS = 1000, TOLD_FOREIGN = 2000 };

struct text_thread {
    uint64_t tid;
    uint32_t host_id, generation;
};

struct told_line {
    uint64_t time_ns;
    int cpu;
    uint32_t thread_id;
    char kind[16], first[16], second[16], third[16];
};

static enum weft_event_kind told_kind(const char *kind)
{
    static const struct {
        const char *name;
        enum weft_event_kind kind;
    } kinds[] = {
        { "switch", WEFT_EVENT_SWITCH },
        { "waking", WEFT_EVENT_WAKING },
        { "woken", WEFT_EVENT_WOKEN },
        { "irq", WEFT_EVENT_IRQ_ENTER },
        { "done", WEFT_EVENT_IRQ_EXIT },
        { "call", WEFT_EVENT_SYSCALL_ENTER },
        { "return", WEFT_EVENT_SYSCALL_EXIT },
        { "sample", WEFT_EVENT_SAMPLE },
        { "sent", WEFT_EVENT_PACKET_SENT },
        { "received", WEFT_EVENT_PACKET_RECEIVED },
        { "fork", WEFT_EVENT_FORK },
        { "request", WEFT_EVENT_LOCK_REQUEST },
        { "acquired", WEFT_EVENT_LOCK_ACQUIRED },
        { "released", WEFT_EVENT_LOCK_RELEASED },
        { "begin", WEFT_EVENT_FLOW_BEGIN },
        { "end", WEFT_EVENT_FLOW_END },
        { "args", WEFT_EVENT_CALL_ARGS },
        { "ready", WEFT_EVENT_INSTANT },
        { "file", WEFT_EVENT_INSTANT },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, kind) == 0)
            return kinds[i].kind;
    abort();
}

static struct weft_event told_event(const struct told_line *line)
{
    const uint64_t first = strtoull(line->first, NULL, 10),
                   second = strtoull(line->second, NULL, 10);
    struct weft_event event = { .time_ns = line->time_ns,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .cpu = line->cpu,
                                .kind = told_kind(line->kind) };
    switch (event.kind) {
    case WEFT_EVENT_SWITCH:
        event.prev_state = (uint32_t)first;
        event.next_thread_id = (uint32_t)second;
        event.value = strtoull(line->third, NULL, 10);
        break;
    case WEFT_EVENT_SYSCALL_ENTER:
    case WEFT_EVENT_SYSCALL_EXIT:
        event.name = weft_str_of(line->first);
        break;
    case WEFT_EVENT_SAMPLE:
        event.category = WEFT_STR("cpu-clock");
        event.value = 1;
        event.prev_state = line->first[0] == 'u'   ? WEFT_SAMPLE_IN_USER
                           : line->first[0] == 'k' ? WEFT_SAMPLE_IN_KERNEL
                                                   : WEFT_SAMPLE_MODE_UNKNOWN;
        break;
    case WEFT_EVENT_IRQ_ENTER:
    case WEFT_EVENT_IRQ_EXIT:
        event.name = weft_str_of(line->first);
        event.value = second;
        break;
    case WEFT_EVENT_LOCK_REQUEST:
    case WEFT_EVENT_LOCK_ACQUIRED:
    case WEFT_EVENT_LOCK_RELEASED:
        event.object_id = (uint32_t)first;
        break;
    case WEFT_EVENT_CALL_ARGS:
        event.payload = weft_str_of(line->first);
        break;
    case WEFT_EVENT_INSTANT:
        event.name = line->kind[0] == 'r' ? WEFT_STR("made ready") : WEFT_STR("waited for a file");
        event.category = WEFT_STR("descriptor");
        event.value = first;
        break;
    case WEFT_EVENT_PACKET_SENT:
    case WEFT_EVENT_PACKET_RECEIVED:
    case WEFT_EVENT_FLOW_BEGIN:
    case WEFT_EVENT_FLOW_END:
        event.value = first;
        break;
    default:
        event.next_thread_id = (uint32_t)first;
        event.value = second;
    }
    return event;
}

static size_t told_read(const char *text, struct told_line *lines)
{
    size_t n = 0;
    while (text && *text && n < TOLD_LINES) {
        struct told_line *line = &lines[n];
        char copy[64] = "";
        *line = (struct told_line){ 0 };
        (void)snprintf(copy, sizeof copy, "%.*s", (int)strcspn(text, "\n"), text);
        if (sscanf(copy, "%" SCNu64 " %d %15s %u %15s %15s %15s", &line->time_ns, &line->cpu,
                   line->kind, &line->thread_id, line->first, line->second, line->third) < 5)
            abort();
        n++;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return n;
}

static enum weft_code told_deliver(struct weft_sink *sink, uint32_t id,
                                   const struct told_line *line, struct weft_err *err)
{
    const bool is_enter = strcmp(line->kind, "enter") == 0;
    if (is_enter || strcmp(line->kind, "exit") == 0) {
        const struct weft_call_event call = { .time_ns = line->time_ns,
                                              .function_key =
                                                  (uint32_t)strtoul(line->first, NULL, 10),
                                              .kind = is_enter ? WEFT_CALL_ENTER : WEFT_CALL_EXIT };
        const struct weft_call_event argument = { .value = strtoull(line->second, NULL, 10),
                                                  .kind = WEFT_CALL_ARG };
        const enum weft_code code = sink->ops->calls(sink, id, &call, 1, err);
        return code == WEFT_OK && line->second[0] ? sink->ops->calls(sink, id, &argument, 1, err)
                                                  : code;
    }
    const struct weft_event event = told_event(line);
    return sink->ops->events(sink, id, &event, 1, err);
}

static enum weft_code told_functions(struct weft_sink *sink, struct weft_err *err)
{
    static const char *const names[] = { "main",   "work", "cond_wait", "task",
                                         "helper", "lock", "RunTask",   "pthread_join",
                                         "poll",   "read", "fsync" };
    enum weft_code code = WEFT_OK;
    for (uint32_t key = 0; key < sizeof names / sizeof *names && code == WEFT_OK; key++) {
        const struct weft_function_info info = { .key = key, .name = weft_str_of(names[key]) };
        code = sink->ops->function(sink, &info, err);
    }
    return code;
}

static uint64_t told_pid(uint64_t tid)
{
    return tid >= TOLD_PROCESS && tid < TOLD_FOREIGN ? TOLD_PROCESS : tid;
}

/* Writes the trace; functions are main, work, cond_wait, task, helper, lock, RunTask, pthread_join,
 * poll, read, fsync. */
static enum weft_code text_trace_write(const char *path, const struct text_thread *threads,
                                       size_t n_threads, const char *text)
{
    static struct told_line lines[TOLD_LINES];
    const size_t n = told_read(text, lines);
    const struct weft_writer_opts opts = { .source_name = "told", .block_rows = 4 };
    const struct weft_sink_begin begin = { .format = WEFT_STR("told"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    struct weft_writer *writer = NULL;
    struct weft_err err = { 0 };
    enum weft_code code = weft_writer_open(path, &opts, &writer, &err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (code == WEFT_OK)
        code = sink->ops->begin(sink, &begin, &err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, &err);
    if (code == WEFT_OK)
        code = told_functions(sink, &err);
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++) {
        const struct weft_thread_info info = { .tid = threads[id].tid,
                                               .pid = told_pid(threads[id].tid),
                                               .host_id = threads[id].host_id,
                                               .generation = threads[id].generation,
                                               .is_foreign = threads[id].tid >= TOLD_FOREIGN };
        uint32_t given;
        code = sink->ops->thread(sink, &info, &given, &err);
    }
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++) {
        for (size_t i = 0; i < n && code == WEFT_OK; i++)
            if (lines[i].thread_id == id)
                code = told_deliver(sink, id, &lines[i], &err);
        if (code == WEFT_OK)
            code = sink->ops->thread_end(sink, id, 0, &err);
    }
    if (code == WEFT_OK)
        code = weft_writer_commit(writer, NULL, &err);
    if (code != WEFT_OK)
        tap_note("%s", err.text);
    return code;
}

#endif
