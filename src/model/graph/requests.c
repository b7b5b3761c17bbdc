/* SPDX-License-Identifier: MIT
 *
 * Pairs the starts and ends of requests by device and first sector: an end belongs to the last
 * start of its key before it; a start without an end lasts until the next one, or to the end of the
 * part. Sorted by start; `longest_ns` bounds how far back a search for overlapping requests must
 * begin.
 */
#include "model/graph/requests.h"

#include "base/room.h"
#include "base/search.h"
#include "model/events.h"
#include "model/graph/edges.h"

#include <stdlib.h>

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

enum weft_code weft_graph_requests_make(const struct weft_trace *trace, uint64_t from_ns,
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

size_t weft_graph_requests_first(const struct weft_graph_requests *requests, uint64_t at_ns)
{
    const uint64_t from_ns = at_ns > requests->longest_ns ? at_ns - requests->longest_ns : 0;
    size_t low;
    WEFT_SEARCH(low, requests->n, requests->items[low].start_ns < from_ns);
    return low;
}

void weft_graph_requests_fini(struct weft_graph_requests *requests)
{
    WEFT_ROOM_FINI(requests);
    requests->is_made = false;
}
