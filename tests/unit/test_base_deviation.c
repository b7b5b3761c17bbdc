/* SPDX-License-Identifier: MIT
 *
 * Standard deviations from integer sums: beside two passes over the values in long double.
 */
#include "base/deviation.h"
#include "tap.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

enum { ROUNDS = 20000, MOST = 200 };

/* Values around some height: where all are high and near each other, much would be lost by
 * subtracting squares of doubles. */
static bool check(uint64_t *state)
{
    uint64_t values[MOST], sum = 0;
    weft_u128 squares = 0;
    const size_t n = 1 + tap_random(state) % MOST;
    const uint64_t base = tap_random(state) >> (14 + tap_random(state) % 50);
    const uint64_t spread = 1 + (tap_random(state) >> (14 + tap_random(state) % 50));
    long double mean = 0, far = 0;
    for (size_t i = 0; i < n; i++) {
        values[i] = base + tap_random(state) % spread;
        sum += values[i];
        squares += (weft_u128)values[i] * values[i];
        mean += (long double)values[i];
    }
    mean /= (long double)n;
    for (size_t i = 0; i < n; i++)
        far += ((long double)values[i] - mean) * ((long double)values[i] - mean);
    const double want = (double)sqrtl(far / (long double)n), got = weft_deviation(n, sum, squares);
    const bool is_ok = fabs(got - want) <= 1e-9 * want + 1e-9;
    if (!is_ok)
        tap_note("%zu values from %" PRIu64 ": %.17g, want %.17g", n, base, got, want);
    return is_ok;
}

int main(void)
{
    uint64_t state = tap_seed(11);
    unsigned n_ok = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        n_ok += check(&state);
    tap_ok(n_ok == ROUNDS, "%u random lists", n_ok);
    tap_ok(weft_deviation(0, 0, 0) == 0, "of nothing");
    tap_ok(weft_deviation(1, 7, 49) == 0, "of one");
    tap_ok(weft_deviation(2, 4, 10) == 1, "of 1 and 3");
    tap_ok(weft_deviation(3, 12, 48) == 0, "of equals");
    tap_ok(weft_deviation(2, UINT64_MAX, 1) >= 0, "of sums that cannot be: no less than 0");
    return tap_done();
}
