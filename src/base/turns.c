/* SPDX-License-Identifier: MIT
 *
 * One mutex and one condition for all parts and items. Items of the pool start in ascending order,
 * so the item that comes next is always in work and waiting cannot deadlock; a failed item releases
 * those behind it. query/build.c uses it to write results in order.
 */
#include "base/turns.h"

#include <stdbool.h>
#include <stdint.h>

void weft_turns_init(struct weft_turns *turns)
{
    *turns = (struct weft_turns){ .failed = SIZE_MAX };
    (void)pthread_mutex_init(&turns->lock, NULL);
    (void)pthread_cond_init(&turns->is_next, NULL);
}

void weft_turns_fini(struct weft_turns *turns)
{
    (void)pthread_cond_destroy(&turns->is_next);
    (void)pthread_mutex_destroy(&turns->lock);
}

enum weft_code weft_turns_wait(struct weft_turns *turns, unsigned part, size_t item,
                               struct weft_err *err)
{
    (void)pthread_mutex_lock(&turns->lock);
    while (turns->n_done[part] < item && turns->failed > item)
        (void)pthread_cond_wait(&turns->is_next, &turns->lock);
    const bool is_next = turns->n_done[part] == item;
    (void)pthread_mutex_unlock(&turns->lock);
    return is_next ? WEFT_OK
                   : weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "an item before it failed");
}

void weft_turns_pass(struct weft_turns *turns, unsigned part)
{
    (void)pthread_mutex_lock(&turns->lock);
    turns->n_done[part]++;
    (void)pthread_cond_broadcast(&turns->is_next);
    (void)pthread_mutex_unlock(&turns->lock);
}

void weft_turns_fail(struct weft_turns *turns, size_t item)
{
    (void)pthread_mutex_lock(&turns->lock);
    turns->failed = item < turns->failed ? item : turns->failed;
    (void)pthread_cond_broadcast(&turns->is_next);
    (void)pthread_mutex_unlock(&turns->lock);
}
