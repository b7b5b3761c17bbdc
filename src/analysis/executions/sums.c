/* SPDX-License-Identifier: MIT
 *
 * An event is added to the gap between two borders by binary search; prefix sums are made once, on
 * the first question. Intervals enter as their start and end, so that overlaps need no special
 * case. Sums are modulo 2^64.
 */
#include "analysis/executions/sums.h"

#include "base/search.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void weft_sums_fini(struct weft_sums *sums)
{
    free(sums->whole);
    free(sums->n_open);
    free(sums->starts);
    *sums = (struct weft_sums){ 0 };
}

void weft_sums_reset(struct weft_sums *sums)
{
    sums->is_used = sums->has_times = sums->is_summed = false;
}

/* One for each border, and for what lies behind the last. */
static bool make(struct weft_sums *sums, const struct weft_sum_borders *borders)
{
    if (sums->is_used)
        return true;
    if (!weft_vec_reserve(&sums->whole, &sums->whole_cap, borders->n + 1, sizeof *sums->whole))
        return false;
    memset(sums->whole, 0, (borders->n + 1) * sizeof *sums->whole);
    sums->is_used = true;
    return true;
}

static bool make_times(struct weft_sums *sums, const struct weft_sum_borders *borders)
{
    size_t cap = sums->open_cap;
    if (sums->has_times)
        return true;
    if (!weft_vec_reserve(&sums->n_open, &cap, borders->n + 1, sizeof *sums->n_open) ||
        !weft_vec_reserve(&sums->starts, &sums->open_cap, borders->n + 1, sizeof *sums->starts))
        return false;
    memset(sums->n_open, 0, (borders->n + 1) * sizeof *sums->n_open);
    memset(sums->starts, 0, (borders->n + 1) * sizeof *sums->starts);
    sums->has_times = true;
    return true;
}

size_t weft_sum_place(const struct weft_sum_borders *borders, uint64_t at_ns)
{
    size_t place;
    WEFT_SEARCH(place, borders->n, borders->ns[place] < at_ns);
    return place;
}

bool weft_sums_add(struct weft_sums *sums, const struct weft_sum_borders *borders, uint64_t at_ns,
                   uint64_t amount)
{
    if (!make(sums, borders))
        return false;
    if (at_ns < UINT64_MAX)
        sums->whole[weft_sum_place(borders, at_ns + 1)] += amount;
    return true;
}

bool weft_sums_add_time(struct weft_sums *sums, const struct weft_sum_borders *borders,
                        uint64_t start_ns, uint64_t end_ns)
{
    if (start_ns >= end_ns)
        return true;
    if (!make(sums, borders) || !make_times(sums, borders))
        return false;
    const size_t first = weft_sum_place(borders, start_ns + 1);
    const size_t behind = weft_sum_place(borders, end_ns);
    sums->n_open[first]++;
    sums->starts[first] += start_ns;
    sums->n_open[behind]--;
    sums->starts[behind] -= start_ns;
    sums->whole[behind] += end_ns - start_ns;
    return true;
}

/* From changes to sums. Those of starts may go beyond 64 bits: differences are right modulo 2^64.
 */
static void sum_up(struct weft_sums *sums, const struct weft_sum_borders *borders)
{
    uint64_t whole = 0, n_open = 0, starts = 0;
    for (size_t i = 0; i < borders->n; i++) {
        whole += sums->whole[i];
        if (sums->has_times) {
            n_open += sums->n_open[i];
            starts += sums->starts[i];
        }
        sums->whole[i] = whole + n_open * borders->ns[i] - starts;
    }
    sums->is_summed = true;
}

uint64_t weft_sums_before(struct weft_sums *sums, const struct weft_sum_borders *borders,
                          size_t place)
{
    if (!sums->is_used)
        return 0;
    if (!sums->is_summed)
        sum_up(sums, borders);
    return sums->whole[place];
}
