/* SPDX-License-Identifier: MIT
 *
 * Binary heaps in arrays: at the place 0 is the element that comes before all others.
 *
 *     #define IS_BEFORE(a, b) ((a)->time_ns < (b)->time_ns)
 *     WEFT_HEAP_MAKE(lanes, n_lanes, IS_BEFORE);
 *     advance(lanes[0]); // or: lanes[0] = lanes[--n_lanes];
 *     WEFT_HEAP_SINK(lanes, n_lanes, 0, IS_BEFORE);
 */
#ifndef WEFT_BASE_HEAP_H
#define WEFT_BASE_HEAP_H

#include <stddef.h>

/* Moves the element at `place` below those that come before it. O(log n). */
#define WEFT_HEAP_SINK(items, n, place, is_before)                                                 \
    do {                                                                                           \
        const size_t heap_n = (n);                                                                 \
        size_t heap_at = (place);                                                                  \
        if (heap_at >= heap_n)                                                                     \
            break;                                                                                 \
        const __typeof__(*(items)) heap_item = (items)[heap_at];                                   \
        for (size_t heap_child; (heap_child = 2 * heap_at + 1) < heap_n; heap_at = heap_child) {   \
            if (heap_child + 1 < heap_n &&                                                         \
                is_before((items)[heap_child + 1], (items)[heap_child]))                           \
                heap_child++;                                                                      \
            if (!is_before((items)[heap_child], heap_item))                                        \
                break;                                                                             \
            (items)[heap_at] = (items)[heap_child];                                                \
        }                                                                                          \
        (items)[heap_at] = heap_item;                                                              \
    } while (0)

/* Makes a heap of elements in any order. O(n). */
#define WEFT_HEAP_MAKE(items, n, is_before)                                                        \
    do {                                                                                           \
        for (size_t heap_from = (n) / 2; heap_from-- > 0;)                                         \
            WEFT_HEAP_SINK(items, n, heap_from, is_before);                                        \
    } while (0)

#endif
