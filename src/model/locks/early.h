/* SPDX-License-Identifier: MIT
 *
 * Points (model/locks/points.h) that the survey of a part of a trace has made already, so that
 * events are not read a second time; as far as memory admits.
 */
#ifndef WEFT_MODEL_LOCKS_EARLY_H
#define WEFT_MODEL_LOCKS_EARLY_H

#include "model/locks/points.h"

/* Zeroed: keeps none. */
struct weft_lock_early {
    struct weft_lock_points points;
    struct weft_lock_early_thread *threads;
    size_t n_most; /* points, of all threads */
    bool is_kept;
};

/* For `n_threads`. False without memory. */
bool weft_lock_early_init(struct weft_lock_early *early, size_t n_threads, size_t n_most);
void weft_lock_early_fini(struct weft_lock_early *early);

/* Points of a thread follow. `is_whole`: it has no others but those of calls. */
void weft_lock_early_begin(struct weft_lock_early *early, uint32_t thread_id, bool is_whole);
void weft_lock_early_add(struct weft_lock_early *early, uint32_t thread_id,
                         const struct weft_lock_point *point);

/* Adds those of a thread to `points`, if they are all that there are: else *is_known is false.
 * False without memory. */
bool weft_lock_early_read(const struct weft_lock_early *early, uint32_t thread_id,
                          struct weft_lock_points *points, bool *is_known);

#endif
