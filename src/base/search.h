/* SPDX-License-Identifier: MIT
 *
 * Binary search, for all that is in some order:
 *
 *     size_t row;
 *     WEFT_SEARCH(row, n_rows, rows[row].start_ns < at_ns); // the first that begins no earlier
 */
#ifndef WEFT_BASE_SEARCH_H
#define WEFT_BASE_SEARCH_H

/* Between search_low and search_high, of either search below. */
#define WEFT_SEARCH_REST(place, is_before)                                                         \
    while (search_low < search_high) {                                                             \
        (place) = search_low + (search_high - search_low) / 2;                                     \
        if (is_before)                                                                             \
            search_low = (place) + 1;                                                              \
        else                                                                                       \
            search_high = (place);                                                                 \
    }                                                                                              \
    (place) = search_low

/* Sets the variable `place` to the first place below `n` at which `is_before`, an expression of
 * `place`, is false: it is true of those before, false of those behind. `n`, if there is none. */
#define WEFT_SEARCH(place, n, is_before)                                                           \
    do {                                                                                           \
        __typeof__(place) search_low = 0, search_high = (n);                                       \
        WEFT_SEARCH_REST(place, is_before);                                                        \
    } while (0)

/* The same, if the approximate place is known: O(log of how far it is from there). */
#define WEFT_SEARCH_NEAR(place, n, near, is_before)                                                \
    do {                                                                                           \
        __typeof__(place) search_low = 0, search_high = (n), search_step = 1;                      \
        (place) = (near);                                                                          \
        if ((place) < search_high && (is_before)) {                                                \
            for (search_low = (place) + 1; search_high - search_low >= search_step &&              \
                                           ((place) = search_low + search_step - 1, (is_before));  \
                 search_step *= 2)                                                                 \
                search_low = (place) + 1;                                                          \
            if (search_high - search_low >= search_step)                                           \
                search_high = search_low + search_step - 1;                                        \
        } else {                                                                                   \
            search_high = (place) < search_high ? (place) : search_high;                           \
            for (; search_high >= search_step &&                                                   \
                   ((place) = search_high - search_step, !(is_before));                            \
                 search_step *= 2)                                                                 \
                search_high = (place);                                                             \
            if (search_high >= search_step)                                                        \
                search_low = search_high - search_step + 1;                                        \
        }                                                                                          \
        WEFT_SEARCH_REST(place, is_before);                                                        \
    } while (0)

#endif
