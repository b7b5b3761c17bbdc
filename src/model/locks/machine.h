/* SPDX-License-Identifier: MIT
 *
 * From points (model/locks/points.h) to operations (model/locks/locks.h), a thread at a time.
 */
#ifndef WEFT_MODEL_LOCKS_MACHINE_H
#define WEFT_MODEL_LOCKS_MACHINE_H

#include "model/locks/locks.h"
#include "model/locks/points.h"
#include "model/states/thread_ends.h"

struct weft_lock_ops {
    struct weft_lock_op *items;
    size_t n, cap;
};

struct weft_lock_signals {
    struct weft_lock_signal *items;
    size_t n, cap;
};

struct weft_lock_machine;

/* Adds to `ops` and `signals`, vectors of base/room.h. NULL without memory. */
struct weft_lock_machine *weft_lock_machine_new(const struct weft_lock_finder *finder,
                                                struct weft_lock_ops *ops,
                                                struct weft_lock_signals *signals);
void weft_lock_machine_free(struct weft_lock_machine *machine);

/* The points of a thread, before `to_ns`. What is open then lasts until the thread's end. */
WEFT_CHECKED enum weft_code weft_lock_machine_run(struct weft_lock_machine *machine,
                                                  uint32_t thread_id,
                                                  const struct weft_lock_points *points,
                                                  struct weft_thread_ends *ends, uint64_t to_ns,
                                                  struct weft_err *err);

uint64_t weft_lock_machine_unmatched(const struct weft_lock_machine *machine);

#endif
