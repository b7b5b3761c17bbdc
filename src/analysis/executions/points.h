/* SPDX-License-Identifier: MIT
 *
 * The begins and ends of executions on one thread, from its calls and events, as rules say: read a
 * block at a time, and handed out in order of time.
 *
 *     while (!reader.is_done) {
 *         weft_execution_reader_step(&reader, scan, buf, &rows, err)
 *         while (weft_execution_reader_next(&reader, &point)) ...
 *     }
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_POINTS_H
#define WEFT_ANALYSIS_EXECUTIONS_POINTS_H

#include "analysis/executions/pairs.h"
#include "analysis/executions/plan.h"
#include "analysis/executions/queue.h"
#include "analysis/executions/rule_view.h"
#include "model/calls/overlap.h"
#include "model/calls/scan.h"
#include "model/events.h"

/* What is known of a call's arguments. */
struct weft_execution_arguments {
    const uint64_t *values;
    size_t n;
    struct weft_str texts;
};

/* A call that rules for its end are for, while it lasts. */
struct weft_execution_call {
    uint64_t start_ns, end_ns;
    uint32_t function_id, depth;
    uint8_t flags;
    struct weft_execution_arguments *kept; /* owned; NULL: no rule asks for them at the end */
};

/* A thread, and how far it is read. Between two steps nothing of the thread stays decoded, but for
 * a block of texts where rules ask for those of calls. */
struct weft_execution_reader {
    struct weft_rule_plan *plan;
    uint32_t thread_id;
    bool is_done;
    size_t n_points_most;  /* that a step makes of calls, about */
    uint8_t *is_of_thread; /* by use */
    struct weft_rule_view view;
    struct weft_execution_queue queue;
    struct weft_executions_found *rows; /* of the step under way, as is err */
    struct weft_err *err;
    struct {
        bool is_begun, is_done;
        uint64_t reached_ns; /* no point comes before */
        struct weft_overlap overlap;
        uint64_t row; /* of the block last read, from which on it is still to be read; 0: none */
        struct {
            struct weft_execution_call *items;
            size_t n, cap;
        } open;
        struct weft_events *texts; /* of arguments, by rows of calls */
        const struct weft_event *text;
    } calls;
    struct {
        bool is_done;
        uint64_t reached_ns;
        uint64_t next_block, n_blocks;
        uint64_t *first_ns; /* by block: the earliest event in it and in those behind it */
    } events;
};

/* `n_points_most` 0: no limit. WEFT_E_NOMEM. In both cases to be finished. */
WEFT_CHECKED enum weft_code weft_execution_reader_init(struct weft_execution_reader *reader,
                                                       struct weft_rule_plan *plan,
                                                       uint32_t thread_id, size_t n_points_most,
                                                       struct weft_err *err);
void weft_execution_reader_fini(struct weft_execution_reader *reader);

/* Reads on by a block of calls or of events, whichever lie behind. `scan`: of the thread, without a
 * window, not of necessity the same one each time; `buf`: any, for decoding. Whole executions go to
 * `rows`. Fails as loading blocks does. */
WEFT_CHECKED enum weft_code weft_execution_reader_step(struct weft_execution_reader *reader,
                                                       struct weft_scan *scan,
                                                       struct weft_event_buf *buf,
                                                       struct weft_executions_found *rows,
                                                       struct weft_err *err);

/* The next point, if none can come before it any more; its values are the caller's. */
bool weft_execution_reader_next(struct weft_execution_reader *reader,
                                struct weft_execution_point *point);

/* All points before this time were handed out. */
uint64_t weft_execution_reader_reached_ns(const struct weft_execution_reader *reader);

#endif
