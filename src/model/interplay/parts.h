/* SPDX-License-Identifier: MIT
 *
 * Steps of making an interplay (model/interplay/interplay.h), in this order.
 */
#ifndef WEFT_MODEL_INTERPLAY_PARTS_H
#define WEFT_MODEL_INTERPLAY_PARTS_H

#include "model/interplay/interplay.h"

/* Operations on locks become waits; each is joined with what ended it. */
WEFT_CHECKED enum weft_code weft_interplay_join(struct weft_interplay *interplay,
                                                struct weft_err *err);

/* States from kernel events: wakeups confirm, or correct, which thread ended waits for locks. On
 * all workers. */
WEFT_CHECKED enum weft_code weft_interplay_kernel(struct weft_interplay *interplay,
                                                  const struct weft_run *run, struct weft_err *err);

/* Calls: where waits and releases were, what else blocks. On all workers. */
WEFT_CHECKED enum weft_code weft_interplay_scan(struct weft_interplay *interplay,
                                                const struct weft_run *run, struct weft_err *err);

/* Sleeps that no lock explains: they belong to calls that block, or are waits of their own. */
WEFT_CHECKED enum weft_code weft_interplay_sleeps(struct weft_interplay *interplay,
                                                  struct weft_err *err);

/* Whether the operation was one that let others go on: a lock given back, a barrier come to. */
static inline bool weft_interplay_lets_go(const struct weft_shared_object *object,
                                          const struct weft_lock_op *op)
{
    const bool is_held = weft_shared_is_held(object->kind);
    return (is_held && !(op->flags & (WEFT_LOCK_FAILED | WEFT_LOCK_NO_RELEASE))) ||
           object->kind == WEFT_SHARED_BARRIER;
}

/* A loss of records of a thread, after its word at that time. False without memory. */
bool weft_interplay_add_loss(struct weft_interplay *interplay, uint32_t thread_id, uint64_t at_ns,
                             uint64_t n_records);
/* Once all are there, and lives are known. */
void weft_interplay_order_losses(struct weft_interplay *interplay);
/* What ended waits is doubtful where records are lost; has_untimed: some losses have no time. */
void weft_interplay_mark_losses(struct weft_interplay *interplay, bool has_untimed);

/* Puts the waits in order. */
void weft_interplay_sort(struct weft_interplay *interplay);

#endif
