/* SPDX-License-Identifier: MIT
 *
 * What a thread's calls say of its states, block by block: runs of time in which it is in a
 * function that waits, in another one, or in none. Made once for all graphs of a trace.
 */
#ifndef WEFT_MODEL_GRAPH_SPANS_H
#define WEFT_MODEL_GRAPH_SPANS_H

#include "model/graph/wait_arguments.h"
#include "model/graph/waiting.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From start_ns to that of the next one. */
struct weft_graph_span {
    uint64_t start_ns;
    bool is_wait;     /* in a function that waits */
    bool is_gap;      /* in no call */
    uint8_t for_what; /* enum weft_wait_for, of the outermost function on the way that says it */
};

/* Of whole blocks of a thread; spans tile [from_ns, to_ns). */
struct weft_graph_spans {
    uint64_t from_ns, to_ns;
    struct {
        struct weft_graph_span *items;
        size_t n, cap;
    } spans;
    struct {
        struct weft_wait_call *items; /* by span */
        size_t n, cap;
    } calls;
};

void weft_graph_spans_free(struct weft_graph_spans *spans);

/* What graphs of one trace share. Thread-safe. */
struct weft_graph_known;

/* Keeps at most `memory_bytes` of spans (0: no bound): what comes first. The trace must live
 * longer. NULL without memory. */
struct weft_graph_known *weft_graph_known_new(const struct weft_trace *trace,
                                              uint64_t memory_bytes);
/* NULL is allowed. */
void weft_graph_known_free(struct weft_graph_known *known);

/* Room to read in; of one worker. All zero at first. */
struct weft_graph_spans_room {
    struct weft_block_buf *buf;
    struct {
        uint64_t *items; /* ends of the calls that are open, by depth */
        size_t n, cap;
    } open;
};

void weft_graph_spans_room_fini(struct weft_graph_spans_room *room);

/* The spans of blocks [first, end) of a thread; first 0 begins at time 0, and the last block ends
 * where the next one begins. `*own` is the caller's to free, or NULL if they are kept for all. */
WEFT_CHECKED enum weft_code weft_graph_spans_of(struct weft_graph_known *known, uint32_t thread_id,
                                                uint64_t first, uint64_t end,
                                                struct weft_graph_spans_room *room,
                                                const struct weft_graph_spans **spans,
                                                struct weft_graph_spans **own,
                                                struct weft_err *err);

#endif
