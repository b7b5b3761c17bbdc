/* SPDX-License-Identifier: MIT
 *
 * Points go into one array, thread after thread, with the range of each. Once one more does not
 * fit, all of them are dropped and every thread is read from the trace again: the limit costs time,
 * never results.
 */
#include "model/locks/early.h"

#include "base/room.h"

#include <stdlib.h>

struct weft_lock_early_thread {
    size_t first, n; /* in points */
    bool is_whole;
};

bool weft_lock_early_init(struct weft_lock_early *early, size_t n_threads, size_t n_most)
{
    early->threads = weft_room_new(n_threads + 1, sizeof *early->threads);
    early->n_most = n_most;
    early->is_kept = true;
    return early->threads != NULL;
}

void weft_lock_early_fini(struct weft_lock_early *early)
{
    WEFT_ROOM_FINI(&early->points);
    weft_room_free(early->threads);
    *early = (struct weft_lock_early){ 0 };
}

void weft_lock_early_begin(struct weft_lock_early *early, uint32_t thread_id, bool is_whole)
{
    if (early->is_kept)
        early->threads[thread_id] =
            (struct weft_lock_early_thread){ .first = early->points.n, .is_whole = is_whole };
}

void weft_lock_early_add(struct weft_lock_early *early, uint32_t thread_id,
                         const struct weft_lock_point *point)
{
    if (!early->is_kept || !early->threads[thread_id].is_whole)
        return;
    struct weft_lock_point *kept =
        early->points.n < early->n_most ? WEFT_ROOM_PUSH(&early->points) : NULL;
    if (kept) {
        *kept = *point;
        early->threads[thread_id].n++;
    } else { /* all are read again, then */
        weft_lock_early_fini(early);
    }
}

bool weft_lock_early_read(const struct weft_lock_early *early, uint32_t thread_id,
                          struct weft_lock_points *points, bool *is_known)
{
    *is_known = early->is_kept && early->threads[thread_id].is_whole;
    if (!*is_known)
        return true;
    const struct weft_lock_early_thread *thread = &early->threads[thread_id];
    if (!weft_room_reserve(&points->items, &points->cap, points->n + thread->n,
                           sizeof *points->items))
        return false;
    for (size_t i = 0; i < thread->n; i++) {
        struct weft_lock_point *point = &points->items[points->n++];
        *point = early->points.items[thread->first + i];
        point->order = (uint32_t)points->n;
    }
    return true;
}
