/* SPDX-License-Identifier: MIT */
#include "naive.h"
#include "schema/activity.h"

#include <stdlib.h>

struct event {
    uint64_t at_ns;
    int innermost; /* call open after it, or -1 */
};

static int caller_of(const struct memory_thread *thread, int i)
{
    for (int j = i - 1; j >= 0 && thread->calls[i].depth; j--)
        if (thread->calls[j].depth == thread->calls[i].depth - 1)
            return j;
    return -1;
}

/* Entries and exits in order: after the entry of call i come the exits of all calls before call
 * i + 1 that are not its callers. */
static size_t list_events(const struct memory_thread *thread, struct event *events)
{
    size_t n = 0;
    int last = (int)thread->n_calls - 1;
    for (int i = 0; i <= last; i++) {
        if ((size_t)i >= thread->n_cut)
            events[n++] = (struct event){ thread->calls[i].start_ns, i };
        int up = i, next_caller = i < last ? caller_of(thread, i + 1) : -1;
        for (; up >= 0 && up != next_caller; up = caller_of(thread, up))
            events[n++] = (struct event){ thread->calls[up].end_ns, caller_of(thread, up) };
    }
    return n;
}

static uint64_t clip(const struct weft_window *window, uint64_t at_ns)
{
    if (window && at_ns < window->from_ns)
        return window->from_ns;
    return window && at_ns > window->to_ns ? window->to_ns : at_ns;
}

struct weft_activity_thread naive_activity(const struct memory_trace *trace, uint32_t thread_id,
                                           const bool *is_wait, uint64_t threshold_ns,
                                           const struct weft_window *window)
{
    const struct memory_thread *thread = &trace->threads[thread_id];
    struct weft_activity_thread out = { .thread_id = thread_id };
    struct event *events = calloc(2 * thread->n_calls + 2, sizeof *events);
    size_t n = list_events(thread, events);
    out.pauses = calloc(n + 1, sizeof *out.pauses);
    out.first_ns = n ? clip(window, events[0].at_ns) : 0;
    out.last_ns = n ? clip(window, events[n - 1].at_ns) : 0;
    for (size_t i = 0; i + 1 < n; i++) {
        uint64_t begin_ns = clip(window, events[i].at_ns);
        uint64_t end_ns = clip(window, events[i + 1].at_ns), ns = end_ns - begin_ns;
        int at = events[i].innermost;
        uint32_t function_id = at >= 0 ? thread->calls[at].function_id : WEFT_ID_NONE;
        bool waits = at >= 0 && is_wait[function_id];
        if (ns <= threshold_ns) {
            out.short_wait_ns += waits ? ns : 0;
            out.running_ns += ns;
            continue;
        }
        struct weft_pause_row *row = &out.pauses[out.n_pauses++];
        row->kind = at < 0 ? WEFT_PAUSE_IDLE : waits ? WEFT_PAUSE_WAIT : WEFT_PAUSE_STILL;
        row->function_id = function_id;
        row->depth = at >= 0 ? thread->calls[at].depth : 0;
        row->start_ns = begin_ns;
        row->end_ns = end_ns;
        out.idle_ns += row->kind == WEFT_PAUSE_IDLE ? ns : 0;
        out.wait_ns += row->kind == WEFT_PAUSE_WAIT ? ns : 0;
        out.still_ns += row->kind == WEFT_PAUSE_STILL ? ns : 0;
    }
    out.n_pauses_all = out.n_pauses;
    free(events);
    return out;
}
