/* SPDX-License-Identifier: MIT
 *
 * Maps states of model/states/ to the graph's states, and finds the edge that ended a wait: the
 * packet by its key, the sender by the interrupted system call, the waker by the wake-up. For time
 * without a CPU it lists the threads that ran there, from runs read ahead a few thousand at a time,
 * because paths walk backward.
 */
#include "model/graph/kernel.h"

#include "base/checked.h"
#include "base/room.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/events.h"
#include "model/graph/edges.h"
#include "model/graph/waiting.h"
#include "model/states/machine.h"
#include "model/states/states.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests -------------------------------------------------------------------------------- */

/* Requests to block devices: which thread issued them, from when to when they were served. Pairs
 * the starts and ends of requests by device and first sector: an end belongs to the last start of
 * its key before it; a start without an end lasts until the next one, or to the end of the part.
 * Sorted by start; `longest_ns` bounds how far back a search for overlapping requests must begin.
 */

struct weft_graph_request {
    uint64_t start_ns, end_ns, key;
    uint32_t thread_id;
};

struct weft_graph_requests {
    struct weft_graph_request *items; /* by start_ns */
    size_t n, cap;
    uint64_t longest_ns;
    bool is_made;
};

static int by_start(const void *a, const void *b)
{
    const struct weft_graph_request *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Begins and ends of one key, in order of time: an end is that of the last begin. */
static bool join(const struct weft_graph_sources *begins, const struct weft_graph_sources *ends,
                 uint64_t to_ns, struct weft_graph_requests *requests)
{
    size_t end = 0;
    for (size_t i = 0; i < begins->n; i++) {
        const struct weft_graph_source *begin = &begins->items[i];
        const struct weft_graph_source *next =
            i + 1 < begins->n && begin[1].key == begin->key ? &begin[1] : NULL;
        while (end < ends->n &&
               (ends->items[end].key < begin->key ||
                (ends->items[end].key == begin->key && ends->items[end].at_ns < begin->at_ns)))
            end++;
        const bool has_end = end < ends->n && ends->items[end].key == begin->key &&
                             (!next || ends->items[end].at_ns <= next->at_ns);
        struct weft_graph_request *request = WEFT_ROOM_PUSH(requests);
        if (!request)
            return false;
        *request = (struct weft_graph_request){
            .start_ns = begin->at_ns,
            .end_ns = has_end ? ends->items[end].at_ns
                      : next  ? next->at_ns
                              : to_ns,
            .key = begin->key,
            .thread_id = begin->thread_id,
        };
        if (request->end_ns - request->start_ns > requests->longest_ns)
            requests->longest_ns = request->end_ns - request->start_ns;
    }
    return true;
}

/* Those issued in [from_ns, to_ns], once; one without an end is served until to_ns. */
static enum weft_code weft_graph_requests_make(const struct weft_trace *trace, uint64_t from_ns,
                                               uint64_t to_ns, struct weft_graph_requests *requests,
                                               struct weft_err *err)
{
    struct weft_graph_sources begins = { 0 }, ends = { 0 };
    if (requests->is_made)
        return WEFT_OK;
    const struct weft_graph_wanted wanted[] = { { WEFT_EVENT_IO_BEGIN, &begins, NULL },
                                                { WEFT_EVENT_IO_END, &ends, NULL } };
    enum weft_code code = weft_graph_sources_collect(trace, wanted, 2, from_ns, to_ns, err);
    if (code == WEFT_OK && !join(&begins, &ends, to_ns, requests))
        code = weft_no_memory(err, "requests");
    if (code == WEFT_OK && requests->n)
        weft_room_sort(requests->items, requests->n, sizeof *requests->items, by_start);
    requests->is_made = code == WEFT_OK;
    weft_graph_sources_fini(&begins);
    weft_graph_sources_fini(&ends);
    return code;
}

/* The first that may be served at `at_ns` or later. O(log n). */
static size_t weft_graph_requests_first(const struct weft_graph_requests *requests, uint64_t at_ns)
{
    const uint64_t from_ns = at_ns > requests->longest_ns ? at_ns - requests->longest_ns : 0;
    size_t low;
    WEFT_SEARCH(low, requests->n, requests->items[low].start_ns < from_ns);
    return low;
}

static void weft_graph_requests_fini(struct weft_graph_requests *requests)
{
    WEFT_ROOM_FINI(requests);
    requests->is_made = false;
}

/* ---- kernel ---------------------------------------------------------------------------------- */

/* How long before a wakeup, or after it, a packet may have been received that is its cause. */
#define PACKET_NEAR_NS UINT64_C(10000000)

/* Of memory; states, which stay from part to part, take so much at most. */
enum { HISTORY_SHARE = 2, HISTORY_BYTES = 32 << 20 };

/* Runs on one CPU, read ahead: segments come in order of time. */
struct runs {
    struct weft_cpu_run *items;
    size_t n, cap;
    uint64_t from_ns, to_ns; /* all of this part */
    uint32_t host_id;
    int32_t cpu;
};

enum { RUNS_AHEAD = 4096 };

struct weft_graph_kernel {
    const struct weft_trace *trace;
    struct {
        struct runs *items;
        size_t n, cap;
    } processors; /* that were asked for */
    struct weft_history *history;
    uint64_t from_ns, to_ns;
    struct weft_graph_sources sent;
    struct weft_graph_requests requests;
    bool has_packets;
    bool has_wakers; /* wakeups are recorded on the waker's CPU, not on the woken thread's */
};

static uint64_t of_kind(const struct weft_trace *trace, enum weft_event_kind kind)
{
    return weft_trace_meta(trace)->events_of_kind[kind];
}

enum weft_code weft_graph_kernel_open(const struct weft_trace *trace, uint64_t from_ns,
                                      uint64_t to_ns, uint64_t memory_bytes,
                                      struct weft_graph_kernel **kernel, struct weft_err *err)
{
    struct weft_graph_kernel *made = calloc(1, sizeof *made);
    *kernel = made;
    if (!made)
        return weft_no_memory(err, "a graph");
    made->trace = trace;
    made->from_ns = from_ns;
    made->to_ns = to_ns;
    made->has_packets = of_kind(trace, WEFT_EVENT_PACKET_SENT) > 0 &&
                        of_kind(trace, WEFT_EVENT_PACKET_RECEIVED) > 0;
    made->has_wakers = of_kind(trace, WEFT_EVENT_WAKING) > 0;
    return weft_history_open(trace, weft_min_u64(memory_bytes / HISTORY_SHARE, HISTORY_BYTES),
                             &made->history, err);
}

void weft_graph_kernel_window(struct weft_graph_kernel *kernel, uint64_t from_ns, uint64_t to_ns)
{
    kernel->from_ns = from_ns;
    kernel->to_ns = to_ns;
    weft_graph_sources_fini(&kernel->sent);
    weft_graph_requests_fini(&kernel->requests);
}

void weft_graph_kernel_close(struct weft_graph_kernel *kernel)
{
    if (!kernel)
        return;
    weft_graph_sources_fini(&kernel->sent);
    weft_graph_requests_fini(&kernel->requests);
    for (size_t i = 0; i < kernel->processors.n; i++)
        WEFT_VEC_FINI(&kernel->processors.items[i]);
    WEFT_VEC_FINI(&kernel->processors);
    weft_history_close(kernel->history);
    free(kernel);
}

bool weft_graph_kernel_knows(const struct weft_graph_kernel *kernel, uint32_t thread_id)
{
    const struct weft_store *store = weft_trace_store(kernel->trace);
    const uint64_t n_blocks = weft_store_thread_get(store, thread_id)->n_event_blocks;
    bool is_known = weft_store_n_arrival_blocks(store, thread_id) > 0;
    for (uint64_t i = 0; i < n_blocks && !is_known; i++)
        is_known = weft_store_event_block_get(store, thread_id, i)->kinds & WEFT_MACHINE_KINDS;
    return is_known;
}

uint64_t weft_graph_kernel_last_ns(const struct weft_graph_kernel *kernel)
{
    const struct weft_store *store = weft_trace_store(kernel->trace);
    uint64_t last_ns = 0;
    for (uint32_t i = 0; i < weft_store_n_processors(store); i++) {
        const uint32_t row = weft_store_processor_get(store, i).row;
        const uint64_t n_blocks = weft_store_n_arrival_blocks(store, row);
        const uint64_t end_ns =
            n_blocks ? weft_store_arrival_block_get(store, row, n_blocks - 1)->last_ns : 0;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns;
}

/* ---- states ---------------------------------------------------------------------------------- */

static enum weft_path_state state_of(enum weft_state_kind kind)
{
    static const uint8_t states[WEFT_STATE_KINDS] = {
        [WEFT_STATE_UNKNOWN] = WEFT_PATH_UNKNOWN,
        [WEFT_STATE_RUNNING] = WEFT_PATH_RUNNING,
        [WEFT_STATE_RUNNING_USER] = WEFT_PATH_USER,
        [WEFT_STATE_RUNNING_KERNEL] = WEFT_PATH_KERNEL,
        [WEFT_STATE_INTERRUPTED] = WEFT_PATH_INTERRUPTED,
        [WEFT_STATE_PREEMPTED] = WEFT_PATH_PREEMPTED,
        [WEFT_STATE_BLOCKED] = WEFT_PATH_BLOCKED,
    };
    return states[kind];
}

static enum weft_path_reason reason_of(enum weft_wait_reason reason)
{
    static const uint8_t reasons[WEFT_WAIT_REASONS] = {
        [WEFT_WAIT_NONE] = WEFT_PATH_NO_REASON,  [WEFT_WAIT_TIMER] = WEFT_PATH_TIMER,
        [WEFT_WAIT_NETWORK] = WEFT_PATH_NETWORK, [WEFT_WAIT_BLOCK_DEVICE] = WEFT_PATH_BLOCK_DEVICE,
        [WEFT_WAIT_DEVICE] = WEFT_PATH_DEVICE,   [WEFT_WAIT_IPI] = WEFT_PATH_IPI,
        [WEFT_WAIT_THREAD] = WEFT_PATH_THREAD,   [WEFT_WAIT_UNKNOWN] = WEFT_PATH_WAKER_UNKNOWN,
    };
    return reasons[reason];
}

enum weft_code weft_graph_kernel_before(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                        uint64_t at_ns, struct weft_graph_state *state,
                                        struct weft_err *err)
{
    struct weft_state from;
    enum weft_code code = weft_history_before(kernel->history, thread_id, at_ns, &from, err);
    *state = (struct weft_graph_state){ .cpu = -1, .waker_thread_id = WEFT_ID_NONE };
    if (code != WEFT_OK)
        return code;
    *state = (struct weft_graph_state){
        .start_ns = from.start_ns,
        .end_ns = from.end_ns,
        .state = state_of(from.kind),
        .reason = reason_of(from.reason),
        .cpu = from.cpu,
        .waker_thread_id = from.kind == WEFT_STATE_BLOCKED ? from.waker_thread_id : WEFT_ID_NONE,
        .name = from.name,
    };
    return WEFT_OK;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* The sender of the packet that `event` received, if that was in the interval. */
static enum weft_code sender_of(struct weft_graph_kernel *kernel, const struct weft_event *event,
                                struct weft_graph_edge *edge, struct weft_err *err)
{
    enum weft_code code = weft_graph_sources_make(
        kernel->trace, WEFT_EVENT_PACKET_SENT, kernel->from_ns, kernel->to_ns, &kernel->sent, err);
    const struct weft_graph_source *source =
        code == WEFT_OK ? weft_graph_sources_find(&kernel->sent, weft_graph_key(event), 0,
                                                  event->time_ns, WEFT_ID_NONE)
                        : NULL;
    if (source)
        *edge = (struct weft_graph_edge){ .from_ns = source->at_ns,
                                          .to_ns = event->time_ns,
                                          .from_thread_id = source->thread_id,
                                          .kind = WEFT_PATH_PACKET };
    return code;
}

/* The last packet that the software interrupt received which woke the thread: its events are those
 * of the thread that it interrupted. */
static enum weft_code packet_before(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                    uint64_t from_ns, uint64_t at_ns, struct weft_graph_edge *edge,
                                    struct weft_err *err)
{
    const uint32_t kinds = UINT32_C(1) << WEFT_EVENT_PACKET_RECEIVED | UINT32_C(1)
                                                                           << WEFT_EVENT_IRQ_EXIT;
    const uint64_t near_ns = at_ns > PACKET_NEAR_NS ? at_ns - PACKET_NEAR_NS : 0;
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code =
        weft_events_open(kernel->trace, thread_id, kinds, from_ns > near_ns ? from_ns : near_ns,
                         weft_add_sat_u64(at_ns, 1), &events, err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event) {
        if (event->kind == WEFT_EVENT_PACKET_RECEIVED)
            code = sender_of(kernel, event, edge, err);
        else if (weft_str_equal(event->name, weft_str_of("softirq")))
            *edge = (struct weft_graph_edge){ .from_thread_id = WEFT_ID_NONE };
    }
    weft_events_close(events);
    return code;
}

/* The first packet that the thread receives itself, once a device has woken it: it serves
 * interrupts. */
static enum weft_code packet_after(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                   uint64_t at_ns, struct weft_graph_edge *edge,
                                   struct weft_err *err)
{
    const uint32_t kinds = UINT32_C(1) << WEFT_EVENT_PACKET_RECEIVED | UINT32_C(1)
                                                                           << WEFT_EVENT_SWITCH;
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code = weft_events_open(kernel->trace, thread_id, kinds, at_ns,
                                           weft_add_sat_u64(at_ns, PACKET_NEAR_NS), &events, err);
    WEFT_THEN(code, weft_events_next(events, &event, err));
    if (code == WEFT_OK && event && event->kind == WEFT_EVENT_PACKET_RECEIVED)
        code = sender_of(kernel, event, edge, err);
    weft_events_close(events);
    return code;
}

/* A system call that sends, by name, or by number on x86-64, where a trace has no names. */
static bool sends(struct weft_str name)
{
    static const char *const numbers[] = { "#1",   "#3",   "#18",  "#20",  "#40",
                                           "#42",  "#44",  "#46",  "#48",  "#275",
                                           "#278", "#296", "#307", "#328", "#426" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (weft_str_equal(name, weft_str_of(numbers[i])))
            return true;
    return weft_is_sending_name(name);
}

/* Within one machine a packet is received in the context of its sender: the software interrupt that
 * woke the thread ran in a system call that sends. */
static enum weft_code sender_here(struct weft_graph_kernel *kernel,
                                  const struct weft_graph_state *state,
                                  struct weft_graph_edge *edge, struct weft_err *err)
{
    struct weft_state waker = { .kind = WEFT_STATE_INTERRUPTED, .start_ns = state->end_ns };
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && waker.kind == WEFT_STATE_INTERRUPTED && waker.start_ns > 0)
        code = weft_history_before(kernel->history, state->waker_thread_id, waker.start_ns, &waker,
                                   err);
    if (code == WEFT_OK && waker.kind == WEFT_STATE_RUNNING_KERNEL && sends(waker.name))
        *edge = (struct weft_graph_edge){ .from_ns = state->end_ns,
                                          .to_ns = state->end_ns,
                                          .from_thread_id = state->waker_thread_id,
                                          .kind = WEFT_PATH_PACKET,
                                          .is_uncertain = true };
    return code;
}

static enum weft_code cause_of_packet(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                      struct weft_graph_state *state, struct weft_graph_edge *edge,
                                      struct weft_err *err)
{
    const bool has_waker = state->waker_thread_id != WEFT_ID_NONE;
    enum weft_code code = WEFT_OK;
    if (kernel->has_packets && has_waker && state->reason == WEFT_PATH_NETWORK)
        code = packet_before(kernel, state->waker_thread_id, state->start_ns, state->end_ns, edge,
                             err);
    if (code == WEFT_OK && kernel->has_packets && !weft_graph_has_source(edge))
        code = packet_after(kernel, thread_id, state->end_ns, edge, err);
    if (code == WEFT_OK && has_waker && !weft_graph_has_source(edge) &&
        state->reason == WEFT_PATH_NETWORK)
        code = sender_here(kernel, state, edge, err);
    if (weft_graph_has_source(edge))
        state->reason = WEFT_PATH_NETWORK;
    return code;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static bool is_idle(const struct weft_graph_kernel *kernel, uint32_t thread_id)
{
    return weft_trace_thread(kernel->trace, thread_id)->info.tid == 0;
}

enum weft_code weft_graph_kernel_cause(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                       struct weft_graph_state *state, struct weft_graph_edge *edge,
                                       struct weft_err *err)
{
    if (state->reason == WEFT_PATH_NETWORK || state->reason == WEFT_PATH_DEVICE)
        return cause_of_packet(kernel, thread_id, state, edge, err);
    if (state->waker_thread_id == WEFT_ID_NONE)
        return WEFT_OK;
    if (is_idle(kernel, state->waker_thread_id)) {
        if (state->reason == WEFT_PATH_THREAD || state->reason == WEFT_PATH_WAKER_UNKNOWN)
            state->reason = WEFT_PATH_IDLE;
        return WEFT_OK;
    }
    if (state->reason != WEFT_PATH_THREAD)
        return WEFT_OK;
    *edge = (struct weft_graph_edge){ .from_ns = state->end_ns,
                                      .to_ns = state->end_ns,
                                      .from_thread_id = state->waker_thread_id,
                                      .kind = WEFT_PATH_WAKEUP,
                                      .is_uncertain = !kernel->has_wakers };
    return WEFT_OK;
}

/* The first packet that the thread received itself, not an interrupt on its CPU. */
static enum weft_code first_packet(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                   uint64_t from_ns, uint64_t to_ns, struct weft_graph_edge *edge,
                                   struct weft_err *err)
{
    const uint32_t kinds = UINT32_C(1) << WEFT_EVENT_PACKET_RECEIVED |
                           UINT32_C(1) << WEFT_EVENT_IRQ_ENTER | UINT32_C(1) << WEFT_EVENT_IRQ_EXIT;
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    unsigned depth = 0;
    enum weft_code code = weft_events_open(kernel->trace, thread_id, kinds, from_ns,
                                           weft_add_sat_u64(to_ns, 1), &events, err);
    while (code == WEFT_OK && !weft_graph_has_source(edge) &&
           (code = weft_events_next(events, &event, err)) == WEFT_OK && event) {
        if (event->kind == WEFT_EVENT_IRQ_ENTER)
            depth++;
        else if (event->kind == WEFT_EVENT_IRQ_EXIT)
            depth -= depth > 0;
        else if (depth == 0)
            code = sender_of(kernel, event, edge, err);
    }
    weft_events_close(events);
    return code;
}

enum weft_code weft_graph_kernel_arrival(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                         uint64_t from_ns, uint64_t to_ns,
                                         struct weft_graph_edge *edge, struct weft_err *err)
{
    uint64_t first_ns, last_ns;
    struct weft_state state;
    enum weft_code code = weft_history_life(kernel->history, thread_id, &first_ns, &last_ns, err);
    if (code != WEFT_OK || last_ns == 0 || first_ns < from_ns || first_ns > to_ns)
        return code;
    code = weft_history_before(kernel->history, thread_id, first_ns + 1, &state, err);
    if (code != WEFT_OK)
        return code;
    if (state.flags & WEFT_STATE_FORKED && state.waker_thread_id != WEFT_ID_NONE) {
        *edge = (struct weft_graph_edge){ .from_ns = first_ns,
                                          .to_ns = first_ns,
                                          .from_thread_id = state.waker_thread_id,
                                          .kind = WEFT_PATH_FORK };
        return WEFT_OK;
    }
    if (!kernel->has_packets)
        return WEFT_OK;
    code = first_packet(kernel, thread_id, first_ns, to_ns, edge, err);
    if (code == WEFT_OK && weft_graph_has_source(edge) && edge->from_ns <= first_ns)
        edge->to_ns = first_ns; /* it was under way when the thread was first heard of */
    return code;
}

static struct runs *runs_of(struct weft_graph_kernel *kernel, uint32_t host_id, int32_t cpu)
{
    for (size_t i = 0; i < kernel->processors.n; i++)
        if (kernel->processors.items[i].host_id == host_id &&
            kernel->processors.items[i].cpu == cpu)
            return &kernel->processors.items[i];
    struct runs *runs = WEFT_VEC_PUSH(&kernel->processors);
    if (runs) {
        runs->host_id = host_id;
        runs->cpu = cpu;
    }
    return runs;
}

static enum weft_code keep_run(struct runs *runs, const struct weft_cpu_run *run,
                               struct weft_err *err)
{
    struct weft_cpu_run *kept = WEFT_VEC_PUSH(runs);
    if (!kept)
        return weft_no_memory(err, "a CPU");
    *kept = *run;
    return WEFT_OK;
}

/* Reads the runs from from_ns to to_ns, and `n_least` in all if the path's part has so many. */
static enum weft_code read_runs(struct weft_graph_kernel *kernel, struct runs *runs,
                                uint64_t from_ns, uint64_t to_ns, size_t n_least,
                                struct weft_err *err)
{
    struct weft_cpu_runs *reader = NULL;
    const struct weft_cpu_run *run = NULL;
    runs->n = 0;
    runs->from_ns = from_ns;
    runs->to_ns = from_ns;
    enum weft_code code = weft_cpu_runs_open(kernel->history, runs->host_id, runs->cpu, from_ns,
                                             UINT64_MAX, &reader, err);
    while (code == WEFT_OK &&
           (runs->to_ns < to_ns || (runs->n < n_least && runs->to_ns < kernel->to_ns)) &&
           (code = weft_cpu_runs_next(reader, &run, err)) == WEFT_OK && run) {
        runs->to_ns = run->end_ns;
        code = keep_run(runs, run, err);
    }
    if (code == WEFT_OK && !run)
        runs->to_ns = UINT64_MAX;
    weft_cpu_runs_close(reader);
    if (code != WEFT_OK)
        runs->to_ns = runs->from_ns;
    return code;
}

/* The runs that a question needs. A caller that asks for what lies before the kept part walks
 * backward: as much as was kept, RUNS_AHEAD at most, is read ahead of it. */
static enum weft_code need_runs(struct weft_graph_kernel *kernel, struct runs *runs,
                                uint64_t from_ns, uint64_t to_ns, struct weft_err *err)
{
    if (from_ns >= runs->from_ns && to_ns <= runs->to_ns)
        return WEFT_OK;
    if (runs->n == 0 || from_ns >= runs->from_ns)
        return read_runs(kernel, runs, from_ns, to_ns, RUNS_AHEAD, err);
    uint64_t length_ns = runs->items[runs->n - 1].end_ns - runs->from_ns;
    if (runs->n > RUNS_AHEAD)
        length_ns = length_ns / runs->n * RUNS_AHEAD;
    const uint64_t begin_ns = from_ns > length_ns ? from_ns - length_ns : 0;
    const uint64_t least_ns = kernel->from_ns < from_ns ? kernel->from_ns : from_ns;
    return read_runs(kernel, runs, begin_ns > least_ns ? begin_ns : least_ns,
                     to_ns > runs->from_ns ? to_ns : runs->from_ns, 0, err);
}

/* The first run that ends after at_ns. */
static size_t first_run(const struct runs *runs, uint64_t at_ns)
{
    size_t low;
    WEFT_SEARCH(low, runs->n, runs->items[low].end_ns <= at_ns);
    return low;
}

enum weft_code weft_graph_kernel_occupants(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                           int32_t cpu, uint64_t from_ns, uint64_t to_ns,
                                           weft_graph_see_fn see, void *context,
                                           struct weft_err *err)
{
    if (cpu < 0)
        return WEFT_OK;
    struct runs *runs =
        runs_of(kernel, weft_trace_thread(kernel->trace, thread_id)->info.host_id, cpu);
    if (!runs)
        return weft_no_memory(err, "a CPU");
    enum weft_code code = need_runs(kernel, runs, from_ns, to_ns, err);
    for (size_t i = first_run(runs, from_ns); i < runs->n && code == WEFT_OK; i++) {
        const struct weft_cpu_run *run = &runs->items[i];
        const uint64_t start_ns = run->start_ns > from_ns ? run->start_ns : from_ns;
        const uint64_t end_ns = run->end_ns < to_ns ? run->end_ns : to_ns;
        if (run->start_ns >= to_ns)
            break;
        if (run->thread_id != WEFT_ID_NONE && run->thread_id != thread_id && !run->is_idle &&
            start_ns < end_ns)
            code = see(context, run->thread_id, start_ns, end_ns, err);
    }
    return code;
}

/* States of a kernel worker that are searched for its waker. */
enum { WORKER_STATES_MAX = 64 };

static bool is_worker(const struct weft_graph_kernel *kernel, uint32_t thread_id)
{
    const struct weft_str name = weft_trace_thread(kernel->trace, thread_id)->info.name;
    return name.n_bytes >= 7 && memcmp(name.bytes, "kworker", 7) == 0;
}

/* The thread that a request is for: a kernel worker issues it for its waker. */
static enum weft_code requester(struct weft_graph_kernel *kernel,
                                const struct weft_graph_request *request, uint32_t *thread_id,
                                struct weft_err *err)
{
    struct weft_state state = { .start_ns = request->start_ns };
    enum weft_code code = WEFT_OK;
    *thread_id = request->thread_id;
    if (!is_worker(kernel, request->thread_id))
        return WEFT_OK;
    for (unsigned n = 0; n < WORKER_STATES_MAX && state.start_ns > 0 && code == WEFT_OK; n++) {
        code =
            weft_history_before(kernel->history, request->thread_id, state.start_ns, &state, err);
        if (state.kind == WEFT_STATE_BLOCKED || state.kind == WEFT_STATE_UNKNOWN)
            break;
    }
    if (code == WEFT_OK && state.kind == WEFT_STATE_BLOCKED && state.reason == WEFT_WAIT_THREAD &&
        state.waker_thread_id != WEFT_ID_NONE)
        *thread_id = state.waker_thread_id;
    return code;
}

enum weft_code weft_graph_kernel_sharers(struct weft_graph_kernel *kernel, uint32_t thread_id,
                                         uint64_t from_ns, uint64_t to_ns, weft_graph_see_fn see,
                                         void *context, struct weft_err *err)
{
    enum weft_code code = weft_graph_requests_make(kernel->trace, kernel->from_ns, kernel->to_ns,
                                                   &kernel->requests, err);
    const struct weft_graph_requests *requests = &kernel->requests;
    for (size_t i = weft_graph_requests_first(requests, from_ns);
         i < requests->n && code == WEFT_OK; i++) {
        const struct weft_graph_request *request = &requests->items[i];
        const uint64_t start_ns = request->start_ns > from_ns ? request->start_ns : from_ns;
        const uint64_t end_ns = request->end_ns < to_ns ? request->end_ns : to_ns;
        if (request->start_ns >= to_ns)
            break;
        uint32_t other_id;
        if (start_ns >= end_ns)
            continue;
        code = requester(kernel, request, &other_id, err);
        if (code == WEFT_OK && other_id != thread_id)
            code = see(context, other_id, start_ns, end_ns, err);
    }
    return code;
}
