/* SPDX-License-Identifier: MIT
 *
 * Pairs lock requests with their acquisitions or failures; a stack of open requests suffices, as a
 * thread awaits one lock at a time. Waits go through a bounded external sorter, because events
 * record them at their end.
 */
#include "analysis/executions/waits.h"

#include "base/vec.h"
#include "model/events.h"

#include <stdlib.h>

enum { SORTER_BYTES = 4 << 20 };

/* A lock that was asked for. */
struct request {
    uint32_t object_id;
    uint64_t at_ns;
};

struct requests {
    struct request *items;
    size_t n, cap;
};

void weft_execution_waits_fini(struct weft_execution_waits *waits)
{
    weft_sort_reader_close(waits->reader);
    weft_sorter_free(waits->sorter);
    *waits = (struct weft_execution_waits){ 0 };
}

static enum weft_code add_wait(struct weft_execution_waits *waits, uint64_t start_ns,
                               uint64_t end_ns, struct weft_err *err)
{
    const struct weft_sort_record record = { .key = start_ns, .words = { end_ns } };
    if (!waits->sorter)
        waits->sorter = weft_sorter_new(SORTER_BYTES);
    return waits->sorter ? weft_sorter_add(waits->sorter, 0, &record, err)
                         : weft_no_memory(err, "waits of executions");
}

static enum weft_code see_lock(struct weft_execution_waits *waits, struct requests *requests,
                               const struct weft_event *event, struct weft_err *err)
{
    if (event->kind == WEFT_EVENT_LOCK_REQUEST) {
        struct request *request = WEFT_VEC_PUSH(requests);
        if (!request)
            return weft_no_memory(err, "waits of executions");
        *request = (struct request){ event->object_id, event->time_ns };
        return WEFT_OK;
    }
    for (size_t i = requests->n; i-- > 0;) {
        const struct request request = requests->items[i];
        if (request.object_id != event->object_id)
            continue;
        requests->n = i; /* what was asked for later and never granted is forgotten */
        return event->time_ns >= request.at_ns + WEFT_LOCK_WAIT_LEAST_NS
                   ? add_wait(waits, request.at_ns, event->time_ns, err)
                   : WEFT_OK;
    }
    return WEFT_OK;
}

enum weft_code weft_execution_waits_read(struct weft_execution_waits *waits,
                                         const struct weft_trace *trace, uint32_t thread_id,
                                         struct weft_err *err)
{
    const uint32_t kinds = UINT32_C(1) << WEFT_EVENT_LOCK_REQUEST |
                           UINT32_C(1) << WEFT_EVENT_LOCK_ACQUIRED |
                           UINT32_C(1) << WEFT_EVENT_LOCK_FAILED;
    struct requests requests = { 0 };
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    *waits = (struct weft_execution_waits){ 0 };
    if (weft_trace_meta(trace)->events_of_kind[WEFT_EVENT_LOCK_REQUEST] == 0)
        return WEFT_OK;
    enum weft_code code = weft_events_open(trace, thread_id, kinds, 0, UINT64_MAX, &events, err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event)
        code = see_lock(waits, &requests, event, err);
    weft_events_close(events);
    WEFT_VEC_FINI(&requests);
    return code == WEFT_OK && waits->sorter
               ? weft_sort_reader_open(waits->sorter, 0, &waits->reader, err)
               : code;
}

enum weft_code weft_execution_waits_next(struct weft_execution_waits *waits, uint64_t before_ns,
                                         struct weft_lock_wait *wait, bool *is_there,
                                         struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    *is_there = false;
    if (waits->reader && waits->at == waits->n_records) {
        waits->at = 0;
        code = weft_sort_reader_next(waits->reader, &waits->records, &waits->n_records, err);
    }
    if (code != WEFT_OK || waits->at == waits->n_records ||
        waits->records[waits->at].key >= before_ns)
        return code;
    *wait = (struct weft_lock_wait){ waits->records[waits->at].key,
                                     waits->records[waits->at].words[0] };
    waits->at++;
    *is_there = true;
    return WEFT_OK;
}
