/* SPDX-License-Identifier: MIT
 *
 * Turns lock events into points, and sorts the points of a thread only if they are out of order,
 * which is rare.
 */
#include "model/locks/point.h"

#include "base/room.h"

#include <stdlib.h>

struct weft_lock_point weft_lock_point_of(const struct weft_event *event, uint32_t object,
                                          bool is_shared)
{
    return (struct weft_lock_point){
        .at_ns = event->time_ns,
        .object = object,
        .site = WEFT_ID_NONE,
        .kind = event->kind == WEFT_EVENT_LOCK_REQUEST    ? WEFT_LOCK_POINT_REQUEST
                : event->kind == WEFT_EVENT_LOCK_RELEASED ? WEFT_LOCK_POINT_RELEASED
                : event->kind == WEFT_EVENT_LOCK_FAILED || event->prev_state != 0
                    ? WEFT_LOCK_POINT_FAILED
                    : WEFT_LOCK_POINT_ACQUIRED,
        .source = WEFT_LOCK_BY_EVENTS,
        .is_shared = is_shared,
    };
}

static int by_time(const void *a, const void *b)
{
    const struct weft_lock_point *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void weft_lock_points_sort(struct weft_lock_points *points)
{
    bool is_ordered = true; /* as points of events mostly are */
    for (size_t i = 1; i < points->n; i++)
        is_ordered &= by_time(&points->items[i - 1], &points->items[i]) <= 0;
    if (!is_ordered)
        weft_room_sort(points->items, points->n, sizeof *points->items, by_time);
    for (size_t i = 0; i < points->n; i++)
        points->items[i].order = (uint32_t)i;
}
