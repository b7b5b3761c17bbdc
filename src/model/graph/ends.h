/* SPDX-License-Identifier: MIT
 *
 * How a recording without kernel events shows what ended a wait: threads by the handles that they
 * are joined by, descriptors that a thread made ready, files that threads waited for. The importer
 * of recordings puts the latter two down as instants of the category "descriptor": "made ready",
 * value the descriptor, when the output begins; "waited for a file", value the ns, when the call
 * ends.
 */
#ifndef WEFT_MODEL_GRAPH_ENDS_H
#define WEFT_MODEL_GRAPH_ENDS_H

#include "model/graph/graph.h"
#include "model/trace.h"

/* What happened so long before the path matters to waits that began before it; calls that wait for
 * a file are known as far as they end so long after it. */
#define WEFT_GRAPH_BESIDE_NS UINT64_C(2000000000)

struct weft_graph_handle { /* of a thread, since it was made */
    uint64_t pid, handle, at_ns;
    uint32_t host_id, thread_id;
};

struct weft_graph_ready {
    uint64_t pid, fd, at_ns;
    uint32_t host_id, thread_id; /* the thread that made it ready */
};

struct weft_graph_file {
    uint64_t start_ns, end_ns;
    uint32_t thread_id;
};

struct weft_graph_ends {
    struct {
        struct weft_graph_handle *items; /* by host, process, handle, time */
        size_t n, cap;
    } handles;
    struct {
        struct weft_graph_ready *items; /* by host, process, descriptor, time */
        size_t n, cap;
    } ready;
    struct {
        struct weft_graph_file *items; /* by start */
        size_t n, cap;
    } files;
    uint64_t longest_ns; /* of the files */
    bool has_handles, has_points;
};

void weft_graph_ends_fini(struct weft_graph_ends *ends);

/* Reads which thread created which, until `to_ns`; and what happened to descriptors in [from_ns,
 * to_ns], and WEFT_GRAPH_BESIDE_NS before and behind that. Once each. */
WEFT_CHECKED enum weft_code weft_graph_ends_handles(struct weft_graph_ends *ends,
                                                    const struct weft_trace *trace, uint64_t to_ns,
                                                    struct weft_err *err);
WEFT_CHECKED enum weft_code weft_graph_ends_points(struct weft_graph_ends *ends,
                                                   const struct weft_trace *trace, uint64_t from_ns,
                                                   uint64_t to_ns, struct weft_err *err);

/* The thread of the same process as `thread` that had the handle last at `at_ns`, or WEFT_ID_NONE.
 * O(log n). */
uint32_t weft_graph_ends_thread(const struct weft_graph_ends *ends,
                                const struct weft_thread_info *thread, uint64_t handle,
                                uint64_t at_ns);

/* The first time in [from_ns, to_ns] that another thread of the same process made the descriptor
 * ready, or NULL. O(log n + those of the thread itself). */
const struct weft_graph_ready *weft_graph_ends_ready(const struct weft_graph_ends *ends,
                                                     const struct weft_thread_info *thread,
                                                     uint32_t thread_id, uint64_t fd,
                                                     uint64_t from_ns, uint64_t to_ns);

/* The place of the first file that may be waited for at `at_ns` or later. O(log n). */
size_t weft_graph_ends_file(const struct weft_graph_ends *ends, uint64_t at_ns);

#endif
