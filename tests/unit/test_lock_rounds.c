/* SPDX-License-Identifier: MIT
 *
 * Rounds of barriers, found from when threads came and left alone, against rounds that were made.
 */
#include "model/locks/rounds.h"
#include "tap.h"

enum { SEEDS = 2000, MOST_THREADS = 7, MOST_ROUNDS = 12, MOST_OPS = MOST_THREADS * MOST_ROUNDS };

static int by_got(const void *a, const void *b)
{
    const struct weft_lock_op *x = a, *y = b;
    return (x->got_ns > y->got_ns) - (x->got_ns < y->got_ns);
}

/* Each thread comes some time after it left, and leaves some time after the last one came. */
static size_t make(uint64_t *state, unsigned n_threads, unsigned n_rounds, struct weft_lock_op *ops,
                   uint64_t last_ns[MOST_ROUNDS])
{
    uint64_t free_ns[MOST_THREADS] = { 0 };
    size_t n = 0;
    for (unsigned round = 0; round < n_rounds; round++) {
        last_ns[round] = 0;
        for (unsigned t = 0; t < n_threads; t++) {
            ops[n + t] = (struct weft_lock_op){ .thread_id = t, .release_site = round };
            ops[n + t].start_ns =
                (free_ns[t] + 1 + tap_random(state) % 40) * MOST_THREADS + t; /* no two at once */
            if (ops[n + t].start_ns > last_ns[round])
                last_ns[round] = ops[n + t].start_ns;
        }
        for (unsigned t = 0; t < n_threads; t++, n++) {
            free_ns[t] = last_ns[round] / MOST_THREADS + 1 + tap_random(state) % 60;
            ops[n].got_ns = free_ns[t] * MOST_THREADS + t;
        }
    }
    qsort(ops, n, sizeof *ops, by_got);
    return n;
}

/* Where a thread is missing from one round only, other numbers may fit as well: all take part. */
static bool try_seed(uint64_t seed)
{
    uint64_t state = seed, last_ns[MOST_ROUNDS];
    struct weft_lock_op ops[MOST_OPS];
    uint32_t last_of[MOST_OPS];
    struct weft_err err = { 0 };
    const unsigned n_threads = 2 + (unsigned)(tap_random(&state) % (MOST_THREADS - 1));
    const unsigned n_rounds = 1 + (unsigned)(tap_random(&state) % MOST_ROUNDS);
    const size_t n = make(&state, n_threads, n_rounds, ops, last_ns);
    if (weft_lock_rounds_find(ops, n, last_of, &err) != WEFT_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        if (last_of[i] >= n || ops[last_of[i]].release_site != ops[i].release_site ||
            ops[last_of[i]].start_ns != last_ns[ops[i].release_site])
            return false;
    return true;
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    struct weft_err err = { 0 };
    uint32_t last_of[2] = { 7, 7 };
    uint64_t n_bad = 0;
    for (uint64_t i = 0; i < SEEDS; i++)
        n_bad += !try_seed(seed + i);
    tap_eq_u64(n_bad, 0, "rounds are found as they were made");
    const struct weft_lock_op apart[2] = { { .start_ns = 1, .got_ns = 2, .thread_id = 0 },
                                           { .start_ns = 3, .got_ns = 4, .thread_id = 1 } };
    tap_ok(weft_lock_rounds_find(apart, 2, last_of, &err) == WEFT_OK &&
               last_of[0] == WEFT_ID_NONE && last_of[1] == WEFT_ID_NONE,
           "who left before the other came was in no round with it");
    tap_ok(weft_lock_rounds_find(apart, 0, last_of, &err) == WEFT_OK, "none at all");
    return tap_done();
}
