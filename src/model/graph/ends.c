/* SPDX-License-Identifier: MIT
 *
 * Reads fork and descriptor events once for each part of the trace, sorts them by process and key,
 * and answers by binary search. Files are bounded by the longest file wait, so that a scan from
 * there on meets all that overlap.
 */
#include "model/graph/ends.h"

#include "base/checked.h"
#include "base/room.h"
#include "base/search.h"
#include "model/events.h"

#include <stdlib.h>

void weft_graph_ends_fini(struct weft_graph_ends *ends)
{
    WEFT_ROOM_FINI(&ends->handles);
    WEFT_ROOM_FINI(&ends->ready);
    WEFT_ROOM_FINI(&ends->files);
    ends->longest_ns = 0;
    ends->has_handles = ends->has_points = false;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Keeps an event of a thread. False without memory. */
typedef bool (*keep_fn)(struct weft_graph_ends *ends, const struct weft_trace *trace,
                        uint32_t thread_id, const struct weft_event *event);

struct wanted {
    enum weft_event_kind kind;
    keep_fn keep;
};

static enum weft_code read_thread(struct weft_graph_ends *ends, const struct weft_trace *trace,
                                  uint32_t thread_id, struct weft_events *events,
                                  const struct wanted *wanted, struct weft_err *err)
{
    const struct weft_event *event = NULL;
    enum weft_code code;
    weft_events_turn(events, thread_id);
    while ((code = weft_events_next(events, &event, err)) == WEFT_OK && event)
        if (!wanted->keep(ends, trace, thread_id, event))
            return weft_no_memory(err, "ends of waits");
    return code;
}

static enum weft_code read_all(struct weft_graph_ends *ends, const struct weft_trace *trace,
                               const struct wanted *wanted, uint64_t from_ns, uint64_t to_ns,
                               struct weft_err *err)
{
    struct weft_events *events = NULL;
    const uint32_t n_threads = weft_trace_n_threads(trace);
    if (weft_trace_meta(trace)->events_of_kind[wanted->kind] == 0 || n_threads == 0)
        return WEFT_OK;
    enum weft_code code = weft_events_open(trace, 0, UINT32_C(1) << wanted->kind, from_ns,
                                           weft_add_sat_u64(to_ns, 1), &events, err);
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++)
        code = read_thread(ends, trace, id, events, wanted, err);
    weft_events_close(events);
    return code;
}

static bool keep_handle(struct weft_graph_ends *ends, const struct weft_trace *trace,
                        uint32_t thread_id, const struct weft_event *event)
{
    (void)thread_id;
    if (event->value == 0 || event->next_thread_id >= weft_trace_n_threads(trace))
        return true;
    struct weft_graph_handle *made = WEFT_ROOM_PUSH(&ends->handles);
    if (!made)
        return false;
    const struct weft_thread_info *info = &weft_trace_thread(trace, event->next_thread_id)->info;
    *made = (struct weft_graph_handle){ .pid = info->pid,
                                        .handle = event->value,
                                        .at_ns = event->time_ns,
                                        .host_id = info->host_id,
                                        .thread_id = event->next_thread_id };
    return true;
}

static bool keep_point(struct weft_graph_ends *ends, const struct weft_trace *trace,
                       uint32_t thread_id, const struct weft_event *event)
{
    if (!weft_str_equal(event->category, WEFT_STR("descriptor")))
        return true;
    if (weft_str_equal(event->name, WEFT_STR("waited for a file"))) {
        struct weft_graph_file *file = WEFT_ROOM_PUSH(&ends->files);
        const uint64_t took_ns = event->value < event->time_ns ? event->value : event->time_ns;
        if (file)
            *file = (struct weft_graph_file){ event->time_ns - took_ns, event->time_ns, thread_id };
        ends->longest_ns = took_ns > ends->longest_ns ? took_ns : ends->longest_ns;
        return file != NULL;
    }
    const struct weft_thread_info *info = &weft_trace_thread(trace, thread_id)->info;
    struct weft_graph_ready *ready = WEFT_ROOM_PUSH(&ends->ready);
    if (ready)
        *ready = (struct weft_graph_ready){ .pid = info->pid,
                                            .fd = event->value,
                                            .at_ns = event->time_ns,
                                            .host_id = info->host_id,
                                            .thread_id = thread_id };
    return ready != NULL;
}

/* ---- order ----------------------------------------------------------------------------------- */

#define BY(member)                                                                                 \
    if (x->member != y->member)                                                                    \
    return x->member < y->member ? -1 : 1

static int by_handle(const void *a, const void *b)
{
    const struct weft_graph_handle *x = a, *y = b;
    BY(host_id);
    BY(pid);
    BY(handle);
    BY(at_ns);
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

static int by_descriptor(const void *a, const void *b)
{
    const struct weft_graph_ready *x = a, *y = b;
    BY(host_id);
    BY(pid);
    BY(fd);
    BY(at_ns);
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

static int by_start(const void *a, const void *b)
{
    const struct weft_graph_file *x = a, *y = b;
    BY(start_ns);
    BY(end_ns);
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

enum weft_code weft_graph_ends_handles(struct weft_graph_ends *ends, const struct weft_trace *trace,
                                       uint64_t to_ns, struct weft_err *err)
{
    const struct wanted wanted = { WEFT_EVENT_FORK, keep_handle };
    if (ends->has_handles)
        return WEFT_OK;
    const enum weft_code code = read_all(ends, trace, &wanted, 0, to_ns, err);
    ends->has_handles = code == WEFT_OK;
    if (ends->handles.n)
        weft_room_sort(ends->handles.items, ends->handles.n, sizeof *ends->handles.items,
                       by_handle);
    return code;
}

enum weft_code weft_graph_ends_points(struct weft_graph_ends *ends, const struct weft_trace *trace,
                                      uint64_t from_ns, uint64_t to_ns, struct weft_err *err)
{
    const struct wanted wanted = { WEFT_EVENT_INSTANT, keep_point };
    if (ends->has_points)
        return WEFT_OK;
    const uint64_t first_ns = from_ns > WEFT_GRAPH_BESIDE_NS ? from_ns - WEFT_GRAPH_BESIDE_NS : 0;
    const uint64_t last_ns = weft_add_sat_u64(to_ns, WEFT_GRAPH_BESIDE_NS);
    const enum weft_code code = read_all(ends, trace, &wanted, first_ns, last_ns, err);
    ends->has_points = code == WEFT_OK;
    if (ends->ready.n)
        weft_room_sort(ends->ready.items, ends->ready.n, sizeof *ends->ready.items, by_descriptor);
    if (ends->files.n)
        weft_room_sort(ends->files.items, ends->files.n, sizeof *ends->files.items, by_start);
    return code;
}

/* ---- looking up ------------------------------------------------------------------------------ */

uint32_t weft_graph_ends_thread(const struct weft_graph_ends *ends,
                                const struct weft_thread_info *thread, uint64_t handle,
                                uint64_t at_ns)
{
    const struct weft_graph_handle last = { thread->pid, handle, at_ns, thread->host_id,
                                            WEFT_ID_NONE };
    const struct weft_graph_handle *items = ends->handles.items;
    size_t place; /* the first that was made later */
    WEFT_SEARCH(place, ends->handles.n, by_handle(&items[place], &last) <= 0);
    if (place == 0)
        return WEFT_ID_NONE;
    const struct weft_graph_handle *found = &items[place - 1];
    return found->host_id == thread->host_id && found->pid == thread->pid && found->handle == handle
               ? found->thread_id
               : WEFT_ID_NONE;
}

const struct weft_graph_ready *weft_graph_ends_ready(const struct weft_graph_ends *ends,
                                                     const struct weft_thread_info *thread,
                                                     uint32_t thread_id, uint64_t fd,
                                                     uint64_t from_ns, uint64_t to_ns)
{
    const struct weft_graph_ready first = { thread->pid, fd, from_ns, thread->host_id, 0 };
    const struct weft_graph_ready *items = ends->ready.items;
    size_t place;
    WEFT_SEARCH(place, ends->ready.n, by_descriptor(&items[place], &first) < 0);
    for (; place < ends->ready.n; place++) {
        const struct weft_graph_ready *ready = &items[place];
        if (ready->host_id != thread->host_id || ready->pid != thread->pid || ready->fd != fd ||
            ready->at_ns > to_ns)
            return NULL;
        if (ready->thread_id != thread_id)
            return ready;
    }
    return NULL;
}

size_t weft_graph_ends_file(const struct weft_graph_ends *ends, uint64_t at_ns)
{
    const uint64_t from_ns = at_ns > ends->longest_ns ? at_ns - ends->longest_ns : 0;
    size_t place;
    WEFT_SEARCH(place, ends->files.n, ends->files.items[place].start_ns < from_ns);
    return place;
}
