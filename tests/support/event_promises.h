/* SPDX-License-Identifier: MIT
 *
 * What store/reader.h promises of events, whatever the bytes of the file: a block that loads is as
 * its summary says, loads again, and needs no further checks.
 */
#ifndef WEFT_TESTS_EVENT_PROMISES_H
#define WEFT_TESTS_EVENT_PROMISES_H

#include "store/reader.h"

#include <stdlib.h>

static inline bool event_promise_text(struct weft_str text)
{
    char *copy = malloc(text.n_bytes + 1);
    if (!copy)
        return false;
    memcpy(copy, text.bytes, text.n_bytes); /* it can be read */
    free(copy);
    return true;
}

/* `*row`: of the arguments before. */
static inline bool event_promise(const struct weft_store *store, uint32_t thread_id,
                                 const struct weft_event_block_info *info,
                                 const struct weft_event *event, uint64_t *row)
{
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    if ((unsigned)event->kind >= WEFT_EVENT_KINDS || !(info->kinds >> event->kind & 1) ||
        event->time_ns < info->first_ns || event->time_ns > info->last_ns ||
        event->duration_ns > info->last_ns - event->time_ns ||
        (event->next_thread_id >= meta->n_threads && event->next_thread_id != WEFT_ID_NONE) ||
        !event_promise_text(event->name) || !event_promise_text(event->category) ||
        !event_promise_text(event->payload))
        return false;
    if (event->kind != WEFT_EVENT_CALL_ARGS)
        return true;
    const bool ascends = event->value >= *row;
    const bool is_lost = meta->is_recovered && event->value == UINT64_MAX;
    *row = event->value;
    return ascends && (is_lost || event->value < weft_store_thread_get(store, thread_id)->calls);
}

static inline bool event_promise_block(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                       struct weft_event_buf *buf, uint64_t *row)
{
    const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, block);
    const struct weft_event *events;
    size_t n_events;
    if (weft_store_load_events(store, thread_id, block, buf, &events, &n_events, NULL) != WEFT_OK)
        return true;
    bool is_kept = n_events == info->n_events;
    for (size_t i = 0; i < n_events && is_kept; i++)
        is_kept = event_promise(store, thread_id, info, &events[i], row);
    return is_kept && weft_store_load_events(store, thread_id, block, buf, &events, &n_events,
                                             NULL) == WEFT_OK;
}

/* Loads each block of events twice: checked and trusted. */
__attribute__((unused)) static bool event_promises_kept(struct weft_store *store)
{
    struct weft_event_buf *buf = weft_event_buf_new();
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    bool is_kept = buf != NULL;
    uint64_t n_all = 0;
    for (uint32_t i = 0; i < meta->n_threads && is_kept; i++) {
        const struct weft_store_thread *thread = weft_store_thread_get(store, i);
        uint64_t row = 0;
        uint64_t n_events = 0;
        for (uint64_t j = 0; j < thread->n_event_blocks && is_kept; j++) {
            const struct weft_event_block_info *info = weft_store_event_block_get(store, i, j);
            n_events += info->n_events;
            is_kept = event_promise_block(store, i, j, buf, &row) &&
                      info->first_ns >= thread->first_ns && info->last_ns <= thread->last_ns;
        }
        is_kept = is_kept && n_events == thread->events;
        n_all += n_events;
    }
    weft_event_buf_free(buf);
    return is_kept && n_all == meta->events;
}

#endif
