/* SPDX-License-Identifier: MIT
 *
 * Parts of the items of a loop (base/pool.h) that are done one after the other, in the order of the
 * items, while workers are at others: what is made by many is put in its place by one at a time.
 */
#ifndef WEFT_BASE_TURNS_H
#define WEFT_BASE_TURNS_H

#include "base/error.h"

#include <pthread.h>
#include <stddef.h>

enum { WEFT_TURNS_PARTS = 2 };

struct weft_turns {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t is_next;
    size_t n_done[WEFT_TURNS_PARTS]; /* items, of each part */
    size_t failed;                   /* the first item that ended early; SIZE_MAX: none did */
};

void weft_turns_init(struct weft_turns *turns);
void weft_turns_fini(struct weft_turns *turns);

/* Waits until all items before this one have done the part. WEFT_E_CANCELLED if one of them never
 * will: the loop reports that one. Items are handed out in ascending order, so that the first of
 * those that are not done never waits. */
WEFT_CHECKED enum weft_code weft_turns_wait(struct weft_turns *turns, unsigned part, size_t item,
                                            struct weft_err *err);

/* The item, which was next, has done the part. */
void weft_turns_pass(struct weft_turns *turns, unsigned part);

/* The item ends early, wherever it is. */
void weft_turns_fail(struct weft_turns *turns, size_t item);

#endif
