/* SPDX-License-Identifier: MIT
 *
 * Rounds of barriers. No thread can come to a round before the last one has come to the round
 * before: in the order in which threads come, each N of them are a round, and the last of these
 * releases the others. No source records N: it is the number with which no thread leaves before the
 * last one has come, and none comes twice.
 */
#ifndef WEFT_MODEL_LOCKS_ROUNDS_H
#define WEFT_MODEL_LOCKS_ROUNDS_H

#include "base/error.h"
#include "model/locks/locks.h"

/* Of operations [0, n) of one barrier: `last_of[i]` becomes the one that came last to the round of
 * i, or WEFT_ID_NONE where its round is not whole, or none is found. Tries every N up to the number
 * of threads: O(n x threads + n log n). WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_lock_rounds_find(const struct weft_lock_op *ops, size_t n,
                                                  uint32_t *last_of, struct weft_err *err);

#endif
