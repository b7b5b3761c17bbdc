/* SPDX-License-Identifier: MIT
 *
 * Where edges begin that are found by a key, not by a thread: packets sent, locks released, flows
 * begun. All of a part of the trace, sorted by key and time.
 */
#ifndef WEFT_MODEL_GRAPH_EDGES_H
#define WEFT_MODEL_GRAPH_EDGES_H

#include "base/map.h"
#include "model/trace.h"

struct weft_graph_source {
    uint64_t key, at_ns;
    uint32_t thread_id;
};

enum { WEFT_GRAPH_KEYS = 64 };

/* Where those of a key lie, and which of them was asked for last. */
struct weft_graph_sources_key {
    uint64_t key;
    size_t first, end, near;
};

struct weft_graph_sources {
    struct weft_graph_source *items;
    size_t n, cap;
    struct weft_graph_sources_key keys[WEFT_GRAPH_KEYS]; /* that were asked for; end 0: none */
    bool is_made;
};

/* The key of an event that begins or ends such an edge. */
uint64_t weft_graph_key(const struct weft_event *event);

/* A kind of events, and the list that they go to. */
struct weft_graph_wanted {
    enum weft_event_kind kind;
    struct weft_graph_sources *into;
    const struct weft_map *keys; /* of no others; NULL: of all */
};

/* The events of several kinds in [from_ns, to_ns], each to its list, in one go. Reads the blocks of
 * all threads that hold such events of that time. */
WEFT_CHECKED enum weft_code weft_graph_sources_collect(const struct weft_trace *trace,
                                                       const struct weft_graph_wanted *wanted,
                                                       size_t n_wanted, uint64_t from_ns,
                                                       uint64_t to_ns, struct weft_err *err);

/* The events of one kind in [from_ns, to_ns], once. */
WEFT_CHECKED enum weft_code
weft_graph_sources_make(const struct weft_trace *trace, enum weft_event_kind kind, uint64_t from_ns,
                        uint64_t to_ns, struct weft_graph_sources *sources, struct weft_err *err);

/* The same, only of keys that events of another kind have in that time: most locks that are
 * released have no waiter. */
WEFT_CHECKED enum weft_code
weft_graph_sources_make_asked(const struct weft_trace *trace, enum weft_event_kind kind,
                              enum weft_event_kind asking, uint64_t from_ns, uint64_t to_ns,
                              struct weft_graph_sources *sources, struct weft_err *err);

/* The latest of `key` in [from_ns, to_ns] that is not of `except_thread_id`, or NULL. O(log n +
 * those of that thread), less if what was asked for before is near. */
const struct weft_graph_source *weft_graph_sources_find(struct weft_graph_sources *sources,
                                                        uint64_t key, uint64_t from_ns,
                                                        uint64_t to_ns, uint32_t except_thread_id);

void weft_graph_sources_fini(struct weft_graph_sources *sources);

#endif
