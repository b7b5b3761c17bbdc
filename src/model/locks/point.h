/* SPDX-License-Identifier: MIT
 *
 * Points (model/locks/points.h) one by one, and in their order.
 */
#ifndef WEFT_MODEL_LOCKS_POINT_H
#define WEFT_MODEL_LOCKS_POINT_H

#include "model/locks/points.h"
#include "schema/event.h"

/* What an event of a lock, one of WEFT_EVENT_LOCK_*, says of an object; without a site. */
struct weft_lock_point weft_lock_point_of(const struct weft_event *event, uint32_t object,
                                          bool is_shared);

/* By time, and of one time as they were added; numbers them in that order. O(n) if they are in
 * order, else O(n log n). */
void weft_lock_points_sort(struct weft_lock_points *points);

#endif
