/* SPDX-License-Identifier: MIT
 *
 * Objects that are made and destroyed: one address may be several objects, one after the other.
 */
#ifndef WEFT_MODEL_LOCKS_LIVES_H
#define WEFT_MODEL_LOCKS_LIVES_H

#include "model/locks/machine.h"
#include "model/locks/points.h"

/* What is asked of, or done to, an object from its next life on is another object's: operations (by
 * their begin) and signals get its number. What was held at the end of a life ends there. After all
 * reading, before anything is put in order. WEFT_E_NOMEM. O(n log n). */
WEFT_CHECKED enum weft_code weft_lock_lives_split(struct weft_lock_finder *finder,
                                                  struct weft_lock_ops *ops,
                                                  struct weft_lock_signals *signals,
                                                  struct weft_err *err);

#endif
