/* SPDX-License-Identifier: MIT
 *
 * weft_nest against a slow twin, on thousands of random threads of spans, entries and exits close
 * together: both make the same calls.
 */
#include "schema/nest.h"
#include "tap.h"

enum { ROUNDS = 30000, MOST_EVENTS = 14, MOST_CALLS = 64, N_KEYS = 4 };

/* Names of the functions: 0 and 1 share one. */
static const uint32_t name_of_key[N_KEYS] = { 0, 0, 1, 2 };

struct call {
    uint64_t begin, end; /* end UINT64_MAX: open */
    uint32_t key;
};

struct calls {
    struct call items[MOST_CALLS];
    size_t n;
    unsigned n_early; /* exits that match nothing on an empty stack */
};

/* ---- the sink balances ---------------------------------------------------------------------- */

struct balance {
    struct weft_sink sink;
    struct calls calls;
    size_t stack[MOST_CALLS];
    size_t depth;
    uint64_t clock;
    unsigned n_wrong;
};

static void balance_exit(struct balance *self, const struct weft_call_event *event)
{
    size_t at = self->depth;
    while (at > 0 && self->calls.items[self->stack[at - 1]].key != event->function_key)
        at--;
    self->n_wrong += at == 0 && self->depth > 0; /* the nest should not have told it */
    self->calls.n_early += self->depth == 0;
    while (at > 0 && self->depth >= at)
        self->calls.items[self->stack[--self->depth]].end = event->time_ns;
}

static enum weft_code take_calls(struct weft_sink *sink, uint32_t thread_id,
                                 const struct weft_call_event *events, size_t n_events,
                                 struct weft_err *err)
{
    struct balance *self = (struct balance *)sink;
    (void)thread_id;
    (void)err;
    for (size_t k = 0; k < n_events; k++) {
        self->n_wrong += events[k].time_ns < self->clock;
        self->clock = events[k].time_ns;
        if (events[k].kind == WEFT_CALL_ENTER) {
            self->stack[self->depth++] = self->calls.n;
            self->calls.items[self->calls.n++] = (struct call){ .begin = events[k].time_ns,
                                                                .end = UINT64_MAX,
                                                                .key = events[k].function_key };
        } else {
            balance_exit(self, &events[k]);
        }
    }
    return WEFT_OK;
}

static enum weft_code take_end(struct weft_sink *sink, uint32_t thread_id, uint64_t last_ns,
                               struct weft_err *err)
{
    (void)sink;
    (void)thread_id;
    (void)last_ns;
    (void)err;
    return WEFT_OK;
}

static enum weft_code take_note(struct weft_sink *sink, const struct weft_note *note,
                                struct weft_err *err)
{
    (void)sink;
    (void)note;
    (void)err;
    return WEFT_OK;
}

/* ---- the slow twin -------------------------------------------------------------------------- */

struct slow_frame {
    size_t call;
    uint64_t end; /* as the span says; UINT64_MAX: an entry */
};

struct slow {
    struct calls calls;
    struct slow_frame stack[MOST_CALLS];
    size_t depth;
    uint32_t orphans[MOST_CALLS];
    size_t n_orphans;
};

/* Ends all from the top down to `depth` at one time. */
static void slow_pop(struct slow *slow, size_t depth, uint64_t time)
{
    while (slow->depth > depth) {
        struct slow_frame *frame = &slow->stack[--slow->depth];
        slow->calls.items[frame->call].end = time;
        if (slow->depth > depth && frame->end == UINT64_MAX)
            slow->orphans[slow->n_orphans++] = slow->calls.items[frame->call].key;
    }
}

/* The span that ends first, of several the innermost, takes with it all that is above it. */
static void slow_advance(struct slow *slow, uint64_t time, bool is_before_exit)
{
    for (;;) {
        size_t first = slow->depth;
        for (size_t k = 0; k < slow->depth; k++)
            if (slow->stack[k].end != UINT64_MAX &&
                (first == slow->depth || slow->stack[k].end <= slow->stack[first].end))
                first = k;
        if (first == slow->depth || slow->stack[first].end > time)
            return;
        if (is_before_exit && slow->stack[first].end == time &&
            slow->stack[slow->depth - 1].end == UINT64_MAX)
            return;
        slow_pop(slow, first, slow->stack[first].end);
    }
}

static void slow_push(struct slow *slow, uint64_t time, uint64_t end, uint32_t key)
{
    slow_advance(slow, time, false);
    slow->stack[slow->depth++] = (struct slow_frame){ .call = slow->calls.n, .end = end };
    slow->calls.items[slow->calls.n++] =
        (struct call){ .begin = time, .end = UINT64_MAX, .key = key };
}

static bool slow_agrees(enum weft_nest_match match, uint32_t key, uint32_t other)
{
    return match == WEFT_NEST_ANY || key == other ||
           (match == WEFT_NEST_NAME && name_of_key[key] == name_of_key[other]);
}

static void slow_exit(struct slow *slow, uint64_t time, enum weft_nest_match match, uint32_t key)
{
    slow_advance(slow, time, true);
    for (size_t k = slow->depth; k-- > 0;)
        if (slow->stack[k].end == UINT64_MAX &&
            slow_agrees(match, key, slow->calls.items[slow->stack[k].call].key)) {
            slow_pop(slow, k, time);
            return;
        }
    for (size_t k = slow->n_orphans; k-- > 0;)
        if (slow_agrees(match, key, slow->orphans[k])) {
            memmove(&slow->orphans[k], &slow->orphans[k + 1],
                    (slow->n_orphans - k - 1) * sizeof *slow->orphans);
            slow->n_orphans--;
            return;
        }
    slow->calls.n_early += slow->depth == 0 && key != WEFT_ID_NONE;
}

/* ---- both ----------------------------------------------------------------------------------- */

static bool run_both(uint64_t *state, struct weft_nest *nest, struct slow *slow)
{
    uint64_t time = 0;
    bool is_good = true;
    for (uint64_t n = tap_random(state) % MOST_EVENTS; n; n--) {
        uint32_t key = (uint32_t)(tap_random(state) % N_KEYS);
        enum weft_nest_match match = (enum weft_nest_match)(tap_random(state) % 3);
        time += tap_random(state) % 4;
        uint64_t end = time + tap_random(state) % 12;
        switch (tap_random(state) % 4) {
        case 0:
        case 1:
            is_good &= weft_nest_span(nest,
                                      &(struct weft_nest_span){ .time_ns = time,
                                                                .end_ns = end,
                                                                .key = key,
                                                                .level = WEFT_NEST_NO_LEVEL },
                                      NULL) == WEFT_OK;
            slow_push(slow, time, end, key);
            break;
        case 2:
            is_good &= weft_nest_enter(nest, time, key, NULL) == WEFT_OK;
            slow_push(slow, time, UINT64_MAX, key);
            break;
        default:
            if (match == WEFT_NEST_ANY)
                key = WEFT_ID_NONE;
            is_good &= weft_nest_exit(nest, time, match, key, NULL) == WEFT_OK;
            slow_exit(slow, time, match, key);
            break;
        }
    }
    slow_advance(slow, UINT64_MAX - 1, false);
    return is_good && weft_nest_end(nest, time, NULL) == WEFT_OK;
}

int main(void)
{
    static const struct weft_sink_ops ops = { .calls = take_calls,
                                              .thread_end = take_end,
                                              .note = take_note };
    uint64_t seed = tap_seed(1);
    unsigned n_different = 0;
    uint64_t n_calls = 0;
    static struct balance balance;
    struct weft_nest *nest = weft_nest_new(&balance.sink, N_KEYS, name_of_key);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t state = seed + round;
        struct slow slow = { 0 };
        memset(&balance, 0, sizeof balance);
        balance.sink.ops = &ops;
        weft_nest_start(nest, 0); /* what the thread before left open is forgotten */
        bool is_good = run_both(&state, nest, &slow) && balance.n_wrong == 0 &&
                       memcmp(&balance.calls, &slow.calls, sizeof slow.calls) == 0;
        if (!is_good && n_different++ < 5)
            tap_note("WEFT_SEED=%" PRIu64 ": they differ", seed + round);
        n_calls += slow.calls.n;
    }
    weft_nest_free(nest);
    tap_eq_u64(n_different, 0, "%d random threads nest as the slow way", ROUNDS);
    tap_ok(n_calls > ROUNDS, "%" PRIu64 " calls", n_calls);
    return tap_done();
}
