/* SPDX-License-Identifier: MIT */
#include "analysis/execution_sums.h"

#include "base/search.h"

#include <stdlib.h>

void weft_sums_fini(struct weft_sums *sums)
{
    free(sums->whole);
    free(sums->n_open);
    free(sums->starts);
    *sums = (struct weft_sums){ 0 };
}

static bool make(struct weft_sums *sums, const struct weft_sum_borders *borders)
{
    if (sums->whole)
        return true;
    sums->whole = calloc(borders->n + 1, sizeof *sums->whole);
    sums->n_open = calloc(borders->n + 1, sizeof *sums->n_open);
    sums->starts = calloc(borders->n + 1, sizeof *sums->starts);
    return sums->whole && sums->n_open && sums->starts;
}

/* The first border at at_ns or later; n if there is none. */
static size_t border_at(const struct weft_sum_borders *borders, uint64_t at_ns)
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
        sums->whole[border_at(borders, at_ns + 1)] += amount;
    return true;
}

bool weft_sums_add_time(struct weft_sums *sums, const struct weft_sum_borders *borders,
                        uint64_t start_ns, uint64_t end_ns)
{
    if (!make(sums, borders))
        return false;
    if (start_ns >= end_ns)
        return true;
    const size_t first = border_at(borders, start_ns + 1), behind = border_at(borders, end_ns);
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
        n_open += sums->n_open[i];
        starts += sums->starts[i];
        sums->whole[i] = whole + n_open * borders->ns[i] - starts;
    }
    sums->is_summed = true;
}

uint64_t weft_sums_get(struct weft_sums *sums, const struct weft_sum_borders *borders,
                       uint64_t start_ns, uint64_t end_ns)
{
    if (!sums->whole)
        return 0;
    if (!sums->is_summed)
        sum_up(sums, borders);
    return sums->whole[border_at(borders, end_ns)] - sums->whole[border_at(borders, start_ns)];
}
