/* SPDX-License-Identifier: MIT
 *
 * A futex shows no more than that its thread waits, or wakes others, at an address. What it is part
 * of shows in how all threads use that address: glibc's mutexes wait for the value 2; at a barrier
 * the last one wakes all; conditions and semaphores wait with a bit set, each condition at two
 * words beside each other; whoever joins a thread waits for the value that is its tid.
 */
#ifndef WEFT_MODEL_LOCKS_WORDS_H
#define WEFT_MODEL_LOCKS_WORDS_H

#include "model/trace.h"
#include "model/twins.h"
#include "schema/locks.h"

/* How an address is used as a futex. */
struct weft_lock_word {
    uint64_t waits, waits_for_2, bit_waits;
    bool wakes_all, is_pi;
    bool is_made; /* `object` is set by the user of this */
    uint32_t object;
};

/* Does the event of a futex call wait; wake others; wake all? */
bool weft_futex_waits(const struct weft_event *event);
bool weft_futex_wakes(const struct weft_event *event);
bool weft_futex_wakes_all(const struct weft_event *event);

struct weft_lock_words;

/* NULL without memory. `trace` and `twins` must live longer. */
struct weft_lock_words *weft_lock_words_new(const struct weft_trace *trace,
                                            const struct weft_twins *twins);
/* NULL is allowed. */
void weft_lock_words_free(struct weft_lock_words *words);

size_t weft_lock_words_n(const struct weft_lock_words *words);

/* The word of a key, made if it is new; valid until the next one is made. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_lock_word_of(struct weft_lock_words *words, struct weft_str key,
                                              struct weft_lock_word **word, struct weft_err *err);

/* Counts an event that waits or wakes. */
void weft_lock_word_see(struct weft_lock_word *word, const struct weft_event *event);
enum weft_lock_kind weft_lock_word_kind(const struct weft_lock_word *word);

/* The thread whose end the event of `thread_id` waits for, or WEFT_ID_NONE: glibc waits until the
 * kernel clears its tid. O(threads that have had the tid). */
uint32_t weft_lock_joined(const struct weft_lock_words *words, uint32_t thread_id,
                          const struct weft_event *event);

#endif
