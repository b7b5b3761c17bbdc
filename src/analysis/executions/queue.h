/* SPDX-License-Identifier: MIT
 *
 * The points of one thread on their way into order of time: those of its calls and those of its
 * events come in that order each, nearly all of them; ends of spans lie ahead, and wait in a heap.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_QUEUE_H
#define WEFT_ANALYSIS_EXECUTIONS_QUEUE_H

#include "analysis/executions/pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points in order; those before `at` are gone. */
struct weft_execution_list {
    struct weft_execution_point *items;
    size_t n, cap, at;
};

void weft_execution_list_fini(struct weft_execution_list *list); /* with the values */

/* A place at the end, zeroed; NULL without memory. Places that are gone are used again: O(1) on
 * average. */
struct weft_execution_point *weft_execution_list_add(struct weft_execution_list *list);

/* Of one ns, points of calls come before those of events, each in the order of their sequence. */
enum { WEFT_POINTS_OF_CALLS, WEFT_POINTS_OF_EVENTS, WEFT_POINT_LISTS };

/* All zero is empty. */
struct weft_execution_queue {
    struct weft_execution_list lists[WEFT_POINT_LISTS];
    struct {
        struct weft_execution_point *items; /* the first one in order on top */
        size_t n, cap;
    } heap;
    uint64_t n_put[WEFT_POINT_LISTS];
};

void weft_execution_queue_fini(struct weft_execution_queue *queue);

static inline size_t weft_execution_queue_n(const struct weft_execution_queue *queue)
{
    return queue->heap.n + queue->lists[0].n - queue->lists[0].at + queue->lists[1].n -
           queue->lists[1].at;
}

/* Takes a point, in the sequence of its list; `is_ahead`: others that come later may be before it.
 * O(1), else O(log of those that wait). False without memory; then the values stay the caller's. */
bool weft_execution_queue_put(struct weft_execution_queue *queue, unsigned list,
                              const struct weft_execution_point *point, bool is_ahead);

/* The first point in order, if it is earlier than before_ns; the values are the caller's. */
bool weft_execution_queue_take(struct weft_execution_queue *queue, uint64_t before_ns,
                               struct weft_execution_point *point);

#endif
