/* SPDX-License-Identifier: MIT
 *
 * Loads the blocks of arrivals that reach into a window and translates their events for machine.c.
 * A block is decoded into the caller's buffer; the list is in order of time.
 */
#include "model/states/arrival_reader.h"

#include "base/vec.h"

/* The first block of arrivals that reaches to `from_ns`. */
static uint64_t first_block(const struct weft_store *store, uint32_t row, uint64_t from_ns)
{
    uint64_t low = 0;
    uint64_t high = weft_store_n_arrival_blocks(store, row);
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (weft_store_arrival_block_get(store, row, mid)->last_ns < from_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The first event at or after `from_ns`. */
static size_t first_event(const struct weft_event *events, size_t n, uint64_t from_ns)
{
    size_t low = 0;
    while (low < n) {
        const size_t mid = low + (n - low) / 2;
        if (events[mid].time_ns < from_ns)
            low = mid + 1;
        else
            n = mid;
    }
    return low;
}

static enum weft_code arrival_put(const struct weft_trace *trace, const struct weft_event *event,
                                  struct weft_arrival_list *list, struct weft_err *err)
{
    struct weft_arrival *arrival = WEFT_VEC_PUSH(list);
    if (!arrival)
        return weft_no_memory(err, "states of threads");
    const bool is_wakeup = event->kind == WEFT_EVENT_WAKING || event->kind == WEFT_EVENT_WOKEN;
    const uint32_t source = event->next_thread_id;
    const bool is_idle = source != WEFT_ID_NONE && weft_trace_thread(trace, source)->info.tid == 0;
    *arrival = (struct weft_arrival){
        .time_ns = event->time_ns,
        .number = event->object_id == WEFT_ID_NONE ? 0 : event->object_id,
        .source = source,
        .cpu = is_wakeup ? (int32_t)event->value : event->cpu,
        .kind = (uint8_t)event->kind,
        .reason =
            (uint8_t)weft_wait_reason_of(event->name, event->object_id, event->category, is_idle),
        .is_displaced = event->kind == WEFT_EVENT_SWITCH && event->prev_state == 1,
    };
    return WEFT_OK;
}

enum weft_code weft_arrivals_load(const struct weft_trace *trace, struct weft_event_buf *buf,
                                  uint32_t thread_id, uint64_t from_ns, uint64_t to_ns,
                                  struct weft_arrival_list *list, struct weft_err *err)
{
    struct weft_store *store = weft_trace_store(trace);
    const uint64_t n_blocks = weft_store_n_arrival_blocks(store, thread_id);
    enum weft_code code = WEFT_OK;
    list->n = 0;
    for (uint64_t i = first_block(store, thread_id, from_ns); i < n_blocks; i++) {
        const struct weft_event *events;
        size_t n;
        if (weft_store_arrival_block_get(store, thread_id, i)->first_ns >= to_ns)
            break;
        code = weft_store_load_arrivals(store, thread_id, i, buf, &events, &n, err);
        if (code != WEFT_OK)
            break;
        for (size_t k = first_event(events, n, from_ns);
             k < n && events[k].time_ns < to_ns && code == WEFT_OK; k++)
            code = arrival_put(trace, &events[k], list, err);
        if (code != WEFT_OK)
            break;
    }
    return code;
}

enum weft_code weft_arrival_at(struct weft_store *store, struct weft_event_buf *buf,
                               uint32_t thread_id, uint64_t time_ns, bool *has,
                               struct weft_err *err)
{
    const uint64_t n_blocks = weft_store_n_arrival_blocks(store, thread_id);
    *has = false;
    for (uint64_t i = first_block(store, thread_id, time_ns); i < n_blocks && !*has; i++) {
        const struct weft_event *events;
        size_t n;
        if (weft_store_arrival_block_get(store, thread_id, i)->first_ns > time_ns)
            break;
        WEFT_TRY(weft_store_load_arrivals(store, thread_id, i, buf, &events, &n, err));
        const size_t at = first_event(events, n, time_ns);
        *has = at < n && events[at].time_ns == time_ns;
    }
    return WEFT_OK;
}
