/* SPDX-License-Identifier: MIT
 *
 * Random streams of call events whose times cluster and whose stacks mostly, but not always,
 * balance.
 */
#ifndef WEFT_TESTS_RANDOM_CALLS_H
#define WEFT_TESTS_RANDOM_CALLS_H

#include "schema/event.h"
#include "tap.h"

struct random_calls {
    uint64_t state; /* of tap_random */
    uint32_t n_functions;
    unsigned enter_percent;
    bool has_marked_exits;
    unsigned odd_percent; /* exits of a wrong function, times that step back, tails, arguments */
};

static inline uint64_t random_delta_ns(uint64_t *state)
{
    switch (tap_random(state) % 40) {
    case 0:
        return 248 + tap_random(state) % 10; /* around the first escape */
    case 1:
        return 65530 + tap_random(state) % 12;
    case 2:
        return (UINT64_C(1) << 24) - 3 + tap_random(state) % 6;
    case 3:
        return (UINT64_C(1) << 32) - 3 + tap_random(state) % 6;
    case 4:
        return tap_random(state) % (UINT64_C(1) << 40);
    default:
        return tap_random(state) % 4;
    }
}

/* Fills `events`; `stack` has room for n_events keys. */
__attribute__((unused)) static void random_calls_fill(struct random_calls *random,
                                                      struct weft_call_event *events,
                                                      size_t n_events, uint32_t *stack)
{
    uint64_t *state = &random->state;
    uint64_t time_ns = tap_random(state) % 1000;
    size_t depth = 0;
    for (size_t i = 0; i < n_events; i++) {
        const bool is_odd = tap_random(state) % 100 < random->odd_percent;
        time_ns += random_delta_ns(state);
        struct weft_call_event event = { .time_ns = time_ns };
        event.function_key = (uint32_t)(tap_random(state) % random->n_functions) * 7;
        if (tap_random(state) % 100 < random->enter_percent) {
            stack[depth++] = event.function_key;
            if (is_odd)
                event.time_ns -= event.time_ns > 5 ? tap_random(state) % 5 : 0;
        } else if (is_odd && tap_random(state) % 3 == 0) {
            event.kind = WEFT_CALL_ARG;
            event.value = tap_random(state) >> (tap_random(state) % 64);
        } else {
            event.kind = tap_random(state) % 8 ? WEFT_CALL_EXIT : WEFT_CALL_TAIL_EXIT;
            if (random->has_marked_exits && tap_random(state) % 8 == 0) {
                event.kind = WEFT_CALL_MARKED_EXIT;
                event.flags = (uint8_t)(tap_random(state) % 8 * WEFT_CALL_CUT_END);
            }
            if (!is_odd && depth > 0)
                event.function_key = stack[--depth];
        }
        events[i] = event;
    }
}

#endif
