/* SPDX-License-Identifier: MIT
 *
 * Patterns that show in the order of waits: convoys, leaders and followers, two threads that
 * alternate, the last arrivals at barriers; and threads that wake by time.
 */
#ifndef WEFT_ANALYSIS_INTERPLAY_TURNS_H
#define WEFT_ANALYSIS_INTERPLAY_TURNS_H

#include "analysis/interplay/tables.h"

/* One that was found; `threads` are all that have part in it. */
struct weft_turns {
    enum weft_pattern_kind kind;
    uint32_t thread_id;
    const uint32_t *threads;
    size_t n_threads;
    uint32_t object; /* of the model, or WEFT_ID_NONE */
    uint64_t from_ns, to_ns, count, value_ns, before_ns;
    double share;
};

struct weft_turns_question {
    const struct weft_interplay *interplay;
    const uint8_t *is_kept; /* by thread */
    uint64_t from_ns, to_ns;
    enum weft_code (*see)(void *context, const struct weft_turns *turns, struct weft_err *err);
    void *context;
};

/* O(n log n) for n waits. */
WEFT_CHECKED enum weft_code weft_turns_find(const struct weft_turns_question *question,
                                            struct weft_err *err);

#endif
