/* SPDX-License-Identifier: MIT
 *
 * Orders many items by numbers, in a few passes over keys: for the lists that are put in order
 * again and again, where comparing items two by two is what costs.
 *
 *     weft_order_reserve(&order, n);
 *     for (size_t i = 0; i < n; i++)
 *         order.items[i] = (struct weft_order_item){ at_ns(i), (uint32_t)i };
 *     weft_order_sort(&order, n);            // items of one key stay as they were
 *     ... order.items[k].place ...           // the k-th
 *
 * To order by several numbers, the last of them first: set the keys again, and sort again.
 */
#ifndef WEFT_BASE_ORDER_H
#define WEFT_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_order_item {
    uint64_t key;
    uint32_t place;
};

/* Zeroed: empty. */
struct weft_order {
    struct weft_order_item *items;
    size_t cap;
};

/* Room for n items, of which nothing is known. False without memory. */
bool weft_order_reserve(struct weft_order *order, size_t n);
void weft_order_fini(struct weft_order *order);

/* By key, ascending; stable. O(n) for each 11 bits in which keys differ. */
void weft_order_sort(struct weft_order *order, size_t n);

/* Puts an array of n elements into the order of the items' places. False without memory. */
bool weft_order_apply(const struct weft_order *order, size_t n, void *elements,
                      size_t element_bytes);

#endif
