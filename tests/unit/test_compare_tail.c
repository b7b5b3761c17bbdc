/* SPDX-License-Identifier: MIT
 *
 * Where slow executions begin: what is put in is found, one hump of any shape is left whole.
 */
#include "analysis/compare/tail.h"
#include "failing_alloc.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 20000 };

static double uniform(uint64_t *state)
{
    return ((double)(tap_random(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * M_PI * uniform(state));
}

enum shape { NORMAL, LOG_NORMAL, WIDE_LOG_NORMAL, EXPONENTIAL, UNIFORM, POWER_LAW, SUM, SHAPES };
static const char *const names[SHAPES] = { "normal",      "log-normal", "wide log-normal",
                                           "exponential", "uniform",    "a power law",
                                           "a sum of two" };

/* About a millisecond. */
static double of_shape(enum shape shape, uint64_t *state)
{
    switch (shape) {
    case NORMAL:
        return 1e6 * fmax(0.1, 1 + 0.1 * normal(state));
    case LOG_NORMAL:
        return 1e6 * exp(0.3 * normal(state));
    case WIDE_LOG_NORMAL:
        return 1e6 * exp(1.2 * normal(state));
    case EXPONENTIAL:
        return -1e6 * log(uniform(state));
    case UNIFORM:
        return 2e6 * uniform(state);
    case POWER_LAW:
        return 1e6 * pow(uniform(state), -0.4);
    default:
        return 5e5 * exp(0.4 * normal(state)) + 4e5 * exp(0.9 * normal(state));
    }
}

static struct weft_slow_tails find(const uint64_t *ns, size_t n)
{
    struct weft_slow_tails tails;
    struct weft_err err = { 0 };
    if (weft_slow_tails_find(ns, n, &tails, &err) != WEFT_OK)
        tap_note("%s", err.text);
    return tails;
}

static bool any(const struct weft_slow_tails *tails, bool is_alone)
{
    bool is_any = false;
    for (size_t i = 0; i < tails->n_cuts; i++)
        is_any = is_any || (is_alone ? tails->cuts[i].is_alone : tails->cuts[i].is_found);
    return is_any;
}

/* One hump has no slow ones: neither a tail nor single ones, but for chance. */
static void test_one_hump(uint64_t *state)
{
    static const size_t sizes[] = { 8, 30, 200, 2000, MOST };
    static uint64_t ns[MOST];
    for (size_t shape = 0; shape < SHAPES; shape++) {
        unsigned n_found = 0, n_alone = 0, n_all = 0;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (unsigned round = 0; round < (sizes[s] > 1000 ? 10 : 60); round++, n_all++) {
                for (size_t i = 0; i < sizes[s]; i++)
                    ns[i] = (uint64_t)of_shape((enum shape)shape, state);
                const struct weft_slow_tails tails = find(ns, sizes[s]);
                n_found += any(&tails, false);
                n_alone += any(&tails, true);
            }
        tap_note("%s: %u tails and %u single ones in %u", names[shape], n_found, n_alone, n_all);
        tap_ok(n_found <= 10 && n_alone <= 10, "%s is one hump", names[shape]);
    }
}

/* Few among many, some times slower, or anything up to that. */
static void test_rare(uint64_t *state, size_t n, size_t n_slow, bool is_spread)
{
    static uint64_t ns[MOST];
    for (size_t i = 0; i < n; i++)
        ns[i] = (uint64_t)of_shape(LOG_NORMAL, state);
    for (size_t i = 0; i < n_slow; i++)
        ns[tap_random(state) % (n / n_slow) + i * (n / n_slow)] =
            (uint64_t)(is_spread ? 8e6 + 4e7 * uniform(state) : 2e7 * exp(0.1 * normal(state)));
    const struct weft_slow_tails tails = find(ns, n);
    const struct weft_slow_tail *found = NULL;
    for (size_t i = 0; i < tails.n_cuts && !found; i++)
        if (tails.cuts[i].is_found)
            found = &tails.cuts[i];
    for (size_t i = 0; i < tails.n_cuts; i++)
        tap_note("cut of %" PRIu64 ", p %g, found %d, worthy %d", tails.cuts[i].n_slow,
                 tails.cuts[i].p, tails.cuts[i].is_found, tails.cuts[i].is_worthy);
    tap_ok(found && found->n_slow >= n_slow * 3 / 4 && found->n_slow <= n_slow * 5 / 4,
           "%zu of %zu slow ones%s are found", n_slow, n, is_spread ? ", spread out," : "");
}

static void test_alone(uint64_t *state, size_t n, size_t n_slow)
{
    static uint64_t ns[MOST];
    for (size_t i = 0; i < n; i++)
        ns[i] = (uint64_t)of_shape(LOG_NORMAL, state);
    for (size_t i = 0; i < n_slow; i++)
        ns[i] = (uint64_t)(1e8 + 5e7 * uniform(state));
    const struct weft_slow_tails tails = find(ns, n);
    const struct weft_slow_tail *last = &tails.cuts[tails.n_cuts - 1];
    tap_ok(last->is_alone && last->n_slow == n_slow && last->n_fast == n - n_slow,
           "%zu of %zu stand alone", n_slow, n);
}

/* Short statements, commits, and a few that wait for what others hold: there is no gap between. */
static void test_costly(uint64_t *state)
{
    enum { ALL = 400, COMMITS = 180, WAITS = 20 };
    static uint64_t ns[ALL];
    size_t n_found = 0;
    for (size_t trial = 0; trial < 50; trial++) {
        for (size_t i = 0; i < ALL; i++)
            ns[i] = (uint64_t)(i < WAITS             ? 4e7 + 1.6e8 * uniform(state)
                               : i < WAITS + COMMITS ? 2e6 * exp(0.9 * normal(state))
                                                     : 1.5e5 * exp(0.5 * normal(state)));
        const struct weft_slow_tails tails = find(ns, ALL);
        for (size_t i = 0; i < tails.n_cuts; i++)
            if (tails.cuts[i].is_found && tails.cuts[i].n_slow >= WAITS / 2 &&
                tails.cuts[i].n_slow <= 2 * WAITS) {
                n_found++;
                break;
            }
    }
    tap_ok(n_found >= 45, "few that are far slower and cost most are found in %zu of 50", n_found);
}

static void test_edges(void)
{
    static const uint64_t same[200] = { 0 }, two[] = { 1, 1000000 };
    for (size_t n = 0; n <= 200; n++) {
        const struct weft_slow_tails tails = find(same, n);
        if (tails.n_cuts != 1 || tails.cuts[0].is_worthy)
            tap_ok(false, "%zu equal ones have no slow ones", n);
    }
    tap_ok(true, "equal ones have no slow ones");
    const struct weft_slow_tails tails = find(two, 2);
    tap_ok(tails.n_cuts == 1 && !tails.cuts[0].is_worthy, "of two nothing is said");
    uint64_t longest[60];
    for (size_t i = 0; i < 60; i++)
        longest[i] = i < 40 ? 1000 + i : UINT64_MAX - i; /* as in a damaged database */
    const struct weft_slow_tails far = find(longest, 60);
    tap_ok(far.cuts[0].is_found && far.cuts[0].slow_min_ns == UINT64_MAX,
           "the longest durations stay the longest (%" PRIu64 ")", far.cuts[0].slow_min_ns);
}

/* Clocks count in steps: most durations are equal then. */
static void test_steps(uint64_t *state)
{
    static uint64_t ns[MOST];
    unsigned n_found = 0;
    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < MOST; i++)
            ns[i] = 100 * (uint64_t)(of_shape(LOG_NORMAL, state) / 5e5);
        const struct weft_slow_tails tails = find(ns, MOST);
        n_found += any(&tails, false) || any(&tails, true);
    }
    tap_ok(n_found <= 3, "steps of a clock are no slow ones (%u of 20)", n_found);
}

static void test_memory(void)
{
    uint64_t ns[50];
    struct weft_slow_tails tails;
    unsigned n_failures = 0;
    for (uint64_t i = 0; i < 50; i++)
        ns[i] = 1000 + i;
    for (int n = 0; n < 100; n++) {
        struct weft_err err = { 0 };
        n_until_failure = n;
        const enum weft_code code = weft_slow_tails_find(ns, 50, &tails, &err);
        n_until_failure = -1;
        if (code == WEFT_OK)
            break;
        n_failures += code == WEFT_E_NOMEM;
    }
    tap_eq_u64(n_failures, 4, "each failing allocation is an error");
}

int main(void)
{
    uint64_t state = tap_seed(20261123);
    test_edges();
    test_costly(&state);
    test_one_hump(&state);
    test_steps(&state);
    test_rare(&state, MOST, 20, false);
    test_rare(&state, MOST, 20, true);
    test_rare(&state, 10000, 10, false);
    test_rare(&state, 2000, 20, true);
    test_rare(&state, 500, 40, false);
    for (size_t n_slow = 1; n_slow <= 4; n_slow++) {
        test_alone(&state, 1000, n_slow);
        test_alone(&state, 60, n_slow);
    }
    test_memory();
    return tap_done();
}
