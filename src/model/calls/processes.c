/* SPDX-License-Identifier: MIT
 *
 * Groups threads into processes by union-find. Two events join threads: a fork whose child does not
 * exec another program, and a wake-up within a futex call outside interrupts, since private futexes
 * do not cross processes. The leader of a group is its thread with the lowest tid. One pass over
 * the events; only analysis/ecct/names.c asks.
 */
#include "model/calls/processes.h"

#include "base/vec.h"
#include "model/events.h"

#include <stdlib.h>

struct fork {
    uint32_t parent, child;
};

struct finding {
    const struct weft_trace *trace;
    uint32_t *leaders; /* by thread: one that it is tied to, itself at last */
    uint8_t *has_run;  /* by thread: another program */
    struct {
        struct fork *items;
        size_t n, cap;
    } forks;
};

/* Where the events of a thread are read. */
struct place {
    bool is_in_futex;
    unsigned n_interrupts; /* one within the other */
};

bool weft_processes_are_unknown(const struct weft_trace *trace)
{
    for (uint32_t id = 0; id < weft_trace_n_threads(trace); id++)
        if (weft_trace_thread(trace, id)->info.pid)
            return false;
    return weft_trace_has_switches(trace);
}

static uint64_t tid_of(const struct finding *finding, uint32_t thread_id)
{
    return weft_trace_thread(finding->trace, thread_id)->info.tid;
}

/* Halves the way to it. */
static uint32_t leader_of(struct finding *finding, uint32_t thread_id)
{
    uint32_t *leaders = finding->leaders;
    while (leaders[thread_id] != thread_id) {
        leaders[thread_id] = leaders[leaders[thread_id]];
        thread_id = leaders[thread_id];
    }
    return thread_id;
}

static void tie(struct finding *finding, uint32_t a, uint32_t b)
{
    const uint32_t n_threads = weft_trace_n_threads(finding->trace);
    if (a >= n_threads || b >= n_threads || !tid_of(finding, a) || !tid_of(finding, b))
        return; /* none, or an idle task */
    const uint32_t x = leader_of(finding, a), y = leader_of(finding, b);
    if (tid_of(finding, x) <= tid_of(finding, y))
        finding->leaders[y] = x;
    else
        finding->leaders[x] = y;
}

static bool is_exec(const struct weft_event *event)
{
    static const char name[] = "sched_process_exec";
    const size_t n_name = sizeof name - 1, n = event->name.n_bytes;
    return n >= n_name && memcmp(event->name.bytes + n - n_name, name, n_name) == 0;
}

static bool see(struct finding *finding, uint32_t thread_id, const struct weft_event *event,
                struct place *place)
{
    struct fork *fork;
    switch (event->kind) {
    case WEFT_EVENT_SYSCALL_ENTER:
    case WEFT_EVENT_SYSCALL_EXIT:
        place->is_in_futex = event->kind == WEFT_EVENT_SYSCALL_ENTER &&
                             weft_str_equal(event->name, WEFT_STR("futex"));
        break;
    case WEFT_EVENT_IRQ_ENTER:
        place->n_interrupts++;
        break;
    case WEFT_EVENT_IRQ_EXIT:
        place->n_interrupts -= place->n_interrupts > 0;
        break;
    case WEFT_EVENT_WAKING:
        if (place->is_in_futex && place->n_interrupts == 0)
            tie(finding, thread_id, event->next_thread_id);
        break;
    case WEFT_EVENT_INSTANT:
        finding->has_run[thread_id] |= is_exec(event);
        break;
    case WEFT_EVENT_FORK:
        fork = WEFT_VEC_PUSH(&finding->forks);
        if (fork)
            *fork = (struct fork){ thread_id, event->next_thread_id };
        return fork != NULL;
    default:
        break;
    }
    return true;
}

static enum weft_code read_threads(struct finding *finding, struct weft_err *err)
{
    const uint32_t kinds = 1U << WEFT_EVENT_FORK | 1U << WEFT_EVENT_WAKING |
                           1U << WEFT_EVENT_SYSCALL_ENTER | 1U << WEFT_EVENT_SYSCALL_EXIT |
                           1U << WEFT_EVENT_IRQ_ENTER | 1U << WEFT_EVENT_IRQ_EXIT |
                           1U << WEFT_EVENT_INSTANT;
    const uint32_t n_threads = weft_trace_n_threads(finding->trace);
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code =
        n_threads ? weft_events_open(finding->trace, 0, kinds, 0, UINT64_MAX, &events, err)
                  : WEFT_OK;
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++) {
        struct place place = { 0 };
        weft_events_turn(events, id);
        while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK &&
               event)
            if (!see(finding, id, event, &place))
                code = weft_no_memory(err, "forks");
    }
    weft_events_close(events);
    return code;
}

enum weft_code weft_processes_find(const struct weft_trace *trace, uint32_t *leaders,
                                   struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(trace);
    struct finding finding = { .trace = trace,
                               .leaders = leaders,
                               .has_run = calloc((size_t)n_threads + 1, 1) };
    for (uint32_t id = 0; id < n_threads; id++)
        leaders[id] = id;
    enum weft_code code = finding.has_run ? WEFT_OK : weft_no_memory(err, "threads");
    WEFT_THEN(code, read_threads(&finding, err));
    for (size_t i = 0; i < finding.forks.n && code == WEFT_OK; i++) {
        const struct fork *fork = &finding.forks.items[i];
        if (fork->child < n_threads && !finding.has_run[fork->child])
            tie(&finding, fork->parent, fork->child);
    }
    for (uint32_t id = 0; id < n_threads; id++)
        leaders[id] = leader_of(&finding, id);
    free(finding.has_run);
    WEFT_VEC_FINI(&finding.forks);
    return code;
}
