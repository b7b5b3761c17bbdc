/* SPDX-License-Identifier: MIT
 *
 * Tables of edge sources, sorted by key and time with a radix order, and the search for the last
 * source of a key before a time. A small direct-mapped cache keeps the range of recent keys, since
 * a walk asks for the same keys repeatedly. Tables lie in base/room.h, in files if they are large.
 */
#include "model/graph/edges.h"

#include "base/checked.h"
#include "base/order.h"
#include "base/room.h"
#include "base/search.h"
#include "model/events.h"

#include <stdlib.h>

/* FNV-1a. */
static uint64_t hash_of(struct weft_str text, uint64_t hash)
{
    for (size_t i = 0; i < text.n_bytes; i++)
        hash = (hash ^ (uint8_t)text.bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Packets of one connection may have equal numbers in both directions: the rest of the header is in
 * the object. Of locks the object is all; numbers of flows count for flows of one name, if they
 * have any; requests to devices are distinguished by their first sector. */
uint64_t weft_graph_key(const struct weft_event *event)
{
    if (event->kind == WEFT_EVENT_LOCK_REQUEST || event->kind == WEFT_EVENT_LOCK_ACQUIRED ||
        event->kind == WEFT_EVENT_LOCK_FAILED || event->kind == WEFT_EVENT_LOCK_RELEASED)
        return event->object_id;
    if (event->kind == WEFT_EVENT_PACKET_SENT || event->kind == WEFT_EVENT_PACKET_RECEIVED)
        return event->value * UINT64_C(0x9e3779b97f4a7c15) + event->object_id;
    if (event->kind == WEFT_EVENT_IO_BEGIN || event->kind == WEFT_EVENT_IO_END)
        return (uint64_t)event->object_id << 32 | event->prev_state;
    return event->name.n_bytes ? hash_of(event->name, hash_of(event->category, event->value))
                               : event->value;
}

/* By key, then time, then thread: they come in that order of threads. */
static enum weft_code put_in_order(struct weft_graph_sources *sources, struct weft_err *err)
{
    struct weft_order order = { 0 };
    const size_t n = sources->n;
    bool is_good = weft_order_reserve(&order, n);
    for (size_t i = 0; i < n && is_good; i++)
        order.items[i] = (struct weft_order_item){ sources->items[i].at_ns, (uint32_t)i };
    if (is_good)
        weft_order_sort(&order, n);
    for (size_t i = 0; i < n && is_good; i++)
        order.items[i].key = sources->items[order.items[i].place].key;
    if (is_good)
        weft_order_sort(&order, n);
    is_good = is_good && weft_order_apply(&order, n, sources->items, sizeof *sources->items);
    weft_order_fini(&order);
    return is_good ? WEFT_OK : weft_no_memory(err, "edges");
}

static enum weft_code add(const struct weft_graph_wanted *wanted, uint32_t thread_id,
                          const struct weft_event *event, struct weft_err *err)
{
    const uint64_t key = weft_graph_key(event);
    if (wanted->keys && weft_map_find(wanted->keys, key) == WEFT_MAP_NONE)
        return WEFT_OK;
    struct weft_graph_source *source = WEFT_ROOM_PUSH(wanted->into);
    if (!source)
        return weft_no_memory(err, "edges");
    *source =
        (struct weft_graph_source){ .key = key, .at_ns = event->time_ns, .thread_id = thread_id };
    return WEFT_OK;
}

static enum weft_code add_thread(uint32_t thread_id, struct weft_events *events,
                                 const struct weft_graph_wanted *wanted, size_t n_wanted,
                                 struct weft_err *err)
{
    const struct weft_event *event = NULL;
    enum weft_code code;
    while ((code = weft_events_next(events, &event, err)) == WEFT_OK && event)
        for (size_t i = 0; i < n_wanted && code == WEFT_OK; i++) {
            if (event->kind == wanted[i].kind)
                code = add(&wanted[i], thread_id, event, err);
            if (code != WEFT_OK)
                return code;
        }
    return code;
}

enum weft_code weft_graph_sources_collect(const struct weft_trace *trace,
                                          const struct weft_graph_wanted *wanted, size_t n_wanted,
                                          uint64_t from_ns, uint64_t to_ns, struct weft_err *err)
{
    struct weft_events *events = NULL;
    uint32_t kinds = 0;
    for (size_t i = 0; i < n_wanted; i++)
        kinds |= UINT32_C(1) << wanted[i].kind;
    enum weft_code code =
        weft_events_open(trace, 0, kinds, from_ns, weft_add_sat_u64(to_ns, 1), &events, err);
    for (uint32_t id = 0; id < weft_trace_n_threads(trace) && code == WEFT_OK; id++) {
        weft_events_turn(events, id);
        code = add_thread(id, events, wanted, n_wanted, err);
    }
    weft_events_close(events);
    for (size_t i = 0; i < n_wanted && code == WEFT_OK; i++) {
        struct weft_graph_sources *into = wanted[i].into;
        code = into->n ? put_in_order(into, err) : WEFT_OK;
        into->is_made = code == WEFT_OK;
    }
    return code;
}

enum weft_code weft_graph_sources_make(const struct weft_trace *trace, enum weft_event_kind kind,
                                       uint64_t from_ns, uint64_t to_ns,
                                       struct weft_graph_sources *sources, struct weft_err *err)
{
    const struct weft_graph_wanted wanted = { .kind = kind, .into = sources };
    return sources->is_made ? WEFT_OK
                            : weft_graph_sources_collect(trace, &wanted, 1, from_ns, to_ns, err);
}

/* Keys of events of one kind. */
static enum weft_code keys_find(const struct weft_trace *trace, enum weft_event_kind kind,
                                uint64_t from_ns, uint64_t to_ns, struct weft_map *keys,
                                struct weft_err *err)
{
    struct weft_events *events = NULL;
    enum weft_code code = weft_events_open(trace, 0, UINT32_C(1) << kind, from_ns,
                                           weft_add_sat_u64(to_ns, 1), &events, err);
    for (uint32_t id = 0; id < weft_trace_n_threads(trace) && code == WEFT_OK; id++) {
        const struct weft_event *event = NULL;
        bool is_new;
        weft_events_turn(events, id);
        while ((code = weft_events_next(events, &event, err)) == WEFT_OK && event)
            if (weft_map_add(keys, weft_graph_key(event), &is_new) == WEFT_MAP_NONE) {
                code = weft_no_memory(err, "edges");
                break;
            }
    }
    weft_events_close(events);
    return code;
}

enum weft_code weft_graph_sources_make_asked(const struct weft_trace *trace,
                                             enum weft_event_kind kind, enum weft_event_kind asking,
                                             uint64_t from_ns, uint64_t to_ns,
                                             struct weft_graph_sources *sources,
                                             struct weft_err *err)
{
    if (sources->is_made)
        return WEFT_OK;
    struct weft_map *keys = weft_map_new();
    const struct weft_graph_wanted wanted = { .kind = kind, .into = sources, .keys = keys };
    enum weft_code code =
        keys ? keys_find(trace, asking, from_ns, to_ns, keys, err) : weft_no_memory(err, "edges");
    if (code == WEFT_OK && weft_map_count(keys) > 0)
        code = weft_graph_sources_collect(trace, &wanted, 1, from_ns, to_ns, err);
    sources->is_made = code == WEFT_OK;
    weft_map_free(keys);
    return code;
}

static struct weft_graph_sources_key *key_of(struct weft_graph_sources *sources, uint64_t key)
{
    const struct weft_graph_source *items = sources->items;
    struct weft_graph_sources_key *known =
        &sources->keys[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % WEFT_GRAPH_KEYS];
    if (known->end && known->key == key)
        return known;
    *known = (struct weft_graph_sources_key){ .key = key };
    WEFT_SEARCH(known->first, sources->n, items[known->first].key < key);
    WEFT_SEARCH(known->end, sources->n, items[known->end].key <= key);
    known->near = known->first;
    return known;
}

const struct weft_graph_source *weft_graph_sources_find(struct weft_graph_sources *sources,
                                                        uint64_t key, uint64_t from_ns,
                                                        uint64_t to_ns, uint32_t except_thread_id)
{
    struct weft_graph_sources_key *known = key_of(sources, key);
    size_t low; /* first after to_ns */
    WEFT_SEARCH_NEAR(low, known->end, known->near,
                     low < known->first || sources->items[low].at_ns <= to_ns);
    known->near = low;
    while (low > known->first) {
        const struct weft_graph_source *source = &sources->items[--low];
        if (source->at_ns < from_ns)
            return NULL;
        if (source->thread_id != except_thread_id)
            return source;
    }
    return NULL;
}

void weft_graph_sources_fini(struct weft_graph_sources *sources)
{
    WEFT_ROOM_FINI(sources);
    memset(sources->keys, 0, sizeof sources->keys);
    sources->is_made = false;
}
