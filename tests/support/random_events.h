/* SPDX-License-Identifier: MIT
 *
 * Random events of all kinds that are not calls: mostly what a source would give, sometimes the
 * extremes of a field.
 */
#ifndef WEFT_TESTS_RANDOM_EVENTS_H
#define WEFT_TESTS_RANDOM_EVENTS_H

#include "schema/event.h"
#include "tap.h"

struct random_events {
    uint64_t state;   /* of tap_random */
    uint64_t time_ns; /* of the event before */
    uint32_t n_threads;
    uint32_t kinds;    /* bit k: kind k may come; 0: all */
    size_t most_bytes; /* of a payload */
    const char *bytes; /* payloads and long names are taken from here */
    size_t n_bytes;
};

static inline uint64_t random_number(uint64_t *state)
{
    switch (tap_random(state) % 8) {
    case 0:
        return tap_random(state);
    case 1:
        return UINT64_MAX - tap_random(state) % 3;
    case 2:
        return 0;
    default:
        return tap_random(state) % 1000;
    }
}

static inline uint32_t random_id(uint64_t *state, uint32_t n_ids)
{
    return tap_random(state) % 3 ? WEFT_ID_NONE : (uint32_t)(tap_random(state) % n_ids);
}

static inline struct weft_str random_text(const struct random_events *random, uint64_t *state,
                                          size_t most_bytes)
{
    const size_t at = tap_random(state) % random->n_bytes;
    const size_t n_bytes = tap_random(state) % most_bytes;
    const size_t n_left = random->n_bytes - at;
    return (struct weft_str){ random->bytes + at, n_bytes < n_left ? n_bytes : n_left };
}

static inline struct weft_str random_name(const struct random_events *random, uint64_t *state)
{
    static const char *const names[] = { "", "lock", "read", "main;run;step", "\xff\x80", "x" };
    if (tap_random(state) % 20 == 0)
        return random_text(random, state, 300);
    return weft_str_of(names[tap_random(state) % (sizeof names / sizeof names[0])]);
}

static inline enum weft_event_kind random_kind(const struct random_events *random, uint64_t *state)
{
    for (;;) {
        const uint64_t kind = tap_random(state) % WEFT_EVENT_KINDS;
        if (random->kinds == 0 || (random->kinds >> kind & 1))
            return (enum weft_event_kind)kind;
    }
}

/* The strings point into `random->bytes` or are constant. */
__attribute__((unused)) static struct weft_event random_event(struct random_events *random)
{
    uint64_t *state = &random->state;
    struct weft_event event = { .cpu = -1, .payload = WEFT_STR("") };
    event.kind = random_kind(random, state); /* one by one: initialisers have no order */
    event.next_thread_id = random_id(state, random->n_threads);
    event.object_id = random_id(state, 5);
    event.stack_id = random_id(state, UINT32_MAX);
    event.name = random_name(random, state);
    event.category = random_name(random, state);
    random->time_ns += tap_random(state) % 5000;
    if (tap_random(state) % 10 == 0)
        random->time_ns = tap_random(state) % (random->time_ns + 1);
    event.time_ns = random->time_ns;
    if (tap_random(state) % 4 == 0)
        event.duration_ns = random_number(state) >> (2 + random->time_ns % 60);
    if (tap_random(state) % 2)
        event.value = random_number(state);
    if (event.kind == WEFT_EVENT_COUNTER)
        event.value = weft_counter_value((double)(tap_random(state) % 1000) / 4);
    if (tap_random(state) % 3 == 0)
        event.cpu = (int32_t)(tap_random(state) % 64);
    else if (tap_random(state) % 9 == 0)
        event.cpu = (int32_t)(uint32_t)tap_random(state);
    if (tap_random(state) % 9 == 0)
        event.prev_state = (uint32_t)random_number(state);
    if (random->most_bytes > 0 && tap_random(state) % 3 == 0)
        event.payload = random_text(random, state, random->most_bytes);
    return event;
}

__attribute__((unused)) static bool event_same(const struct weft_event *a,
                                               const struct weft_event *b)
{
    return a->kind == b->kind && a->time_ns == b->time_ns && a->duration_ns == b->duration_ns &&
           a->value == b->value && a->next_thread_id == b->next_thread_id &&
           a->object_id == b->object_id && a->stack_id == b->stack_id && a->cpu == b->cpu &&
           a->prev_state == b->prev_state && weft_str_equal(a->name, b->name) &&
           weft_str_equal(a->category, b->category) && weft_str_equal(a->payload, b->payload);
}

#endif
