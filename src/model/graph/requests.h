/* SPDX-License-Identifier: MIT
 *
 * Requests to block devices: which thread issued them, from when to when they were served.
 */
#ifndef WEFT_MODEL_GRAPH_REQUESTS_H
#define WEFT_MODEL_GRAPH_REQUESTS_H

#include "model/trace.h"

#include <stdbool.h>

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

/* Those issued in [from_ns, to_ns], once; one without an end is served until to_ns. */
WEFT_CHECKED enum weft_code weft_graph_requests_make(const struct weft_trace *trace,
                                                     uint64_t from_ns, uint64_t to_ns,
                                                     struct weft_graph_requests *requests,
                                                     struct weft_err *err);

/* The first that may be served at `at_ns` or later. O(log n). */
size_t weft_graph_requests_first(const struct weft_graph_requests *requests, uint64_t at_ns);

void weft_graph_requests_fini(struct weft_graph_requests *requests);

#endif
