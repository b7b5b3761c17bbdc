/* SPDX-License-Identifier: MIT
 *
 * Sums over many intervals of one thread, which may overlap, from events in any order: what lies
 * before each border is summed, so that an interval's sum is the difference at its ends. O(log n)
 * for an event, whatever the number of intervals that it lies in.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_SUMS_H
#define WEFT_ANALYSIS_EXECUTIONS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where intervals begin and end, ascending, each once. */
struct weft_sum_borders {
    uint64_t *ns;
    size_t n, cap;
};

/* All zero is empty. */
struct weft_sums {
    uint64_t *whole;  /* by border: sums of what is over there */
    uint64_t *n_open; /* changes of how many pieces of time are under way */
    uint64_t *starts; /* and of the sum of their starts */
    size_t whole_cap, open_cap;
    bool is_used, has_times; /* since the last reset */
    bool is_summed;
};

void weft_sums_fini(struct weft_sums *sums);

/* Empties it, for other borders; its memory is used again. */
void weft_sums_reset(struct weft_sums *sums);

/* Something at at_ns; false without memory. */
bool weft_sums_add(struct weft_sums *sums, const struct weft_sum_borders *borders, uint64_t at_ns,
                   uint64_t amount);

/* The time [start_ns, end_ns), as much of it as lies in an interval; false without memory. */
bool weft_sums_add_time(struct weft_sums *sums, const struct weft_sum_borders *borders,
                        uint64_t start_ns, uint64_t end_ns);

/* The first border at at_ns or later; n if there is none. */
size_t weft_sum_place(const struct weft_sum_borders *borders, uint64_t at_ns);

/* What lies before a border, but for a constant: an interval's sum is the difference at its ends.
 * Nothing may be added any more. */
uint64_t weft_sums_before(struct weft_sums *sums, const struct weft_sum_borders *borders,
                          size_t place);

#endif
