/* SPDX-License-Identifier: MIT
 *
 * The end of a thread is, in this order: its recorded exit, the stated end of its recording, or the
 * last event of its host. The graph, locks, interplay and thread states share this rule.
 */
#include "model/states/thread_ends.h"

#include "base/checked.h"
#include "model/events.h"

#define EXITS (UINT32_C(1) << WEFT_EVENT_EXIT)

/* The first exit since then; UINT64_MAX: none. */
static enum weft_code exit_find(const struct weft_trace *trace, uint32_t thread_id,
                                uint64_t since_ns, uint64_t *exit_ns, struct weft_err *err)
{
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    *exit_ns = UINT64_MAX;
    if (weft_trace_meta(trace)->events_of_kind[WEFT_EVENT_EXIT] == 0)
        return WEFT_OK;
    enum weft_code code =
        weft_events_open(trace, thread_id, EXITS, since_ns, UINT64_MAX, &events, err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event)
        if (!(event->prev_state & WEFT_EXIT_EARLIER))
            *exit_ns = weft_min_u64(*exit_ns, event->time_ns);
    weft_events_close(events);
    return code;
}

uint64_t weft_thread_stated_end(const struct weft_trace *trace, uint32_t thread_id)
{
    const struct weft_store *store = weft_trace_store(trace);
    const struct weft_model_thread *thread = weft_trace_thread(trace, thread_id);
    uint64_t last_ns = 0;
    if (thread->n_blocks)
        last_ns = weft_store_block_get(store, thread_id, thread->n_blocks - 1)->last_ns;
    for (uint64_t i = 0; i < thread->n_event_blocks; i++)
        last_ns = weft_max_u64(last_ns, weft_store_event_block_get(store, thread_id, i)->last_ns);
    return thread->last_ns > last_ns ? thread->last_ns : 0;
}

static uint64_t host_end(struct weft_thread_ends *ends, uint32_t host_id)
{
    if (ends->has_host && ends->host_id == host_id)
        return ends->host_ns;
    ends->has_host = true;
    ends->host_id = host_id;
    ends->host_ns = 0;
    for (uint32_t id = 0; id < weft_trace_n_threads(ends->trace); id++) {
        const struct weft_model_thread *thread = weft_trace_thread(ends->trace, id);
        if (thread->info.host_id == host_id)
            ends->host_ns = weft_max_u64(ends->host_ns, thread->last_ns);
    }
    return ends->host_ns;
}

enum weft_code weft_thread_ends_find(struct weft_thread_ends *ends, uint32_t thread_id,
                                     uint64_t since_ns, uint64_t *end_ns, struct weft_err *err)
{
    uint64_t exit_ns = UINT64_MAX, stated_ns = 0;
    uint32_t id = thread_id;
    enum weft_code code = WEFT_OK;
    do {
        uint64_t found_ns;
        code = exit_find(ends->trace, id, since_ns, &found_ns, err);
        exit_ns = code == WEFT_OK ? weft_min_u64(exit_ns, found_ns) : exit_ns;
        stated_ns = weft_max_u64(stated_ns, weft_thread_stated_end(ends->trace, id));
        id = ends->twins ? ends->twins->next[id] : thread_id;
    } while (code == WEFT_OK && id != thread_id);
    if (exit_ns == UINT64_MAX)
        exit_ns = stated_ns >= since_ns && stated_ns
                      ? stated_ns
                      : host_end(ends, weft_trace_thread(ends->trace, thread_id)->info.host_id);
    *end_ns = weft_max_u64(exit_ns, since_ns);
    return code;
}
