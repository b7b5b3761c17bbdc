/* SPDX-License-Identifier: MIT
 *
 * A reader over the event blocks of one thread; blocks without a wanted kind or time are skipped by
 * their summaries. `weft_events_turn` moves one reader on to the next thread, so that threads with
 * few events share decoded chunks.
 */
#include "model/events.h"

#include "base/checked.h"
#include "base/search.h"

#include <stdbool.h>
#include <stdlib.h>

enum { KEPT_SHARE = 8, LEAST_KEPT_BYTES = 4 << 20 /* some chunks that threads share */ };

struct weft_events {
    struct weft_store *store;
    uint64_t n_blocks, next_block;
    uint64_t from_ns, to_ns;
    uint32_t thread_id, kinds;
    struct weft_event_buf *buf;
    const struct weft_event *items; /* of the block now read */
    size_t n, at;
};

enum weft_code weft_events_open(const struct weft_trace *trace, uint32_t thread_id, uint32_t kinds,
                                uint64_t from_ns, uint64_t to_ns, struct weft_events **events,
                                struct weft_err *err)
{
    struct weft_events *made = calloc(1, sizeof *made);
    *events = made;
    if (!made)
        return weft_no_memory(err, "events");
    made->store = weft_trace_store(trace);
    made->kinds = kinds;
    made->from_ns = from_ns;
    made->to_ns = to_ns;
    weft_events_turn(made, thread_id);
    return WEFT_OK;
}

void weft_events_turn(struct weft_events *events, uint32_t thread_id)
{
    events->n_blocks = weft_store_thread_get(events->store, thread_id)->n_event_blocks;
    events->thread_id = thread_id;
    events->next_block = 0;
    events->n = events->at = 0;
}

static uint64_t last_row_of(const struct weft_events *events, uint64_t block)
{
    return weft_store_event_block_get(events->store, events->thread_id, block)->last_row;
}

void weft_events_skip_to_row(struct weft_events *events, uint64_t row)
{
    uint64_t block;
    if (events->next_block > 0 && last_row_of(events, events->next_block - 1) >= row)
        return;
    WEFT_SEARCH(block, events->n_blocks, last_row_of(events, block) < row);
    events->next_block = block;
    events->at = events->n;
}

void weft_events_close(struct weft_events *events)
{
    if (!events)
        return;
    weft_event_buf_free(events->buf);
    free(events);
}

static bool is_wanted(const struct weft_events *events, uint64_t block)
{
    const struct weft_event_block_info *info =
        weft_store_event_block_get(events->store, events->thread_id, block);
    return info->kinds & events->kinds && info->first_ns < events->to_ns &&
           info->last_ns >= events->from_ns;
}

static enum weft_code load(struct weft_events *events, uint64_t block, struct weft_err *err)
{
    events->at = events->n = 0;
    if (!events->buf)
        events->buf = weft_event_buf_new();
    if (!events->buf)
        return weft_no_memory(err, "events");
    enum weft_code code = weft_store_load_events(events->store, events->thread_id, block,
                                                 events->buf, &events->items, &events->n, err);
    if (code != WEFT_OK || !weft_event_buf_is_in_order(events->buf))
        return code;
    size_t end;
    WEFT_SEARCH(events->at, events->n, events->items[events->at].time_ns < events->from_ns);
    WEFT_SEARCH(end, events->n, events->items[end].time_ns < events->to_ns);
    events->n = end;
    return WEFT_OK;
}

enum weft_code weft_events_next(struct weft_events *events, const struct weft_event **event,
                                struct weft_err *err)
{
    *event = NULL;
    for (;;) {
        while (events->at < events->n) {
            const struct weft_event *next = &events->items[events->at++];
            if (events->kinds >> next->kind & 1 && next->time_ns < events->to_ns &&
                (next->time_ns >= events->from_ns ||
                 next->time_ns + next->duration_ns > events->from_ns)) {
                *event = next;
                return WEFT_OK;
            }
        }
        if (events->next_block >= events->n_blocks)
            return WEFT_OK;
        uint64_t block = events->next_block++;
        WEFT_TRY(is_wanted(events, block) ? load(events, block, err) : WEFT_OK);
    }
}

void weft_events_keep(const struct weft_trace *trace, uint64_t memory_bytes)
{
    weft_store_keep_events(weft_trace_store(trace),
                           weft_max_u64(memory_bytes / KEPT_SHARE, LEAST_KEPT_BYTES));
}

void weft_events_drop(const struct weft_trace *trace)
{
    weft_store_drop_events(weft_trace_store(trace));
}
