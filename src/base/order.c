/* SPDX-License-Identifier: MIT
 *
 * Radix sort from the least significant digit, stable, over the bits in which the keys differ: 8 or
 * 11 bits a pass, insertion sort for up to 32 items, and no pass at all if the items are in order.
 * The upper half of the items' array is the sort's second buffer. O(passes * n).
 */
#include "base/order.h"

#include "base/room.h"

enum { FEW = 32, LEAST_BITS = 8, MOST_BITS = 11, MANY = 4096 };

bool weft_order_reserve(struct weft_order *order, size_t n)
{
    /* As much again is room to sort in. */
    return n <= UINT32_MAX &&
           weft_room_reserve(&order->items, &order->cap, 2 * n, sizeof *order->items);
}

void weft_order_fini(struct weft_order *order)
{
    weft_room_free(order->items);
    *order = (struct weft_order){ 0 };
}

static void sort_few(struct weft_order_item *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct weft_order_item item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* The bits in which keys differ; 0 if they are in order. */
static uint64_t differing(const struct weft_order_item *items, size_t n)
{
    uint64_t bits = 0;
    bool is_ordered = true;
    for (size_t i = 1; i < n; i++) {
        bits |= items[i].key ^ items[0].key;
        is_ordered &= items[i - 1].key <= items[i].key;
    }
    return is_ordered ? 0 : bits;
}

/* By `n_bits` bits of the key from `shift` on. */
static void pass(const struct weft_order_item *from, struct weft_order_item *to, size_t n,
                 unsigned shift, unsigned n_bits)
{
    uint32_t starts[1 << MOST_BITS] = { 0 };
    const uint64_t mask = (UINT64_C(1) << n_bits) - 1;
    uint32_t start = 0;
    for (size_t i = 0; i < n; i++)
        starts[from[i].key >> shift & mask]++;
    for (size_t digit = 0; digit <= mask; digit++) {
        const uint32_t count = starts[digit];
        starts[digit] = start;
        start += count;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[from[i].key >> shift & mask]++] = from[i];
}

void weft_order_sort(struct weft_order *order, size_t n)
{
    if (n <= FEW) {
        sort_few(order->items, n);
        return;
    }
    struct weft_order_item *from = order->items, *to = order->items + n;
    const unsigned n_bits = n < MANY ? LEAST_BITS : MOST_BITS;
    for (uint64_t left = differing(from, n); left;) {
        const unsigned shift = (unsigned)__builtin_ctzll(left);
        pass(from, to, n, shift, n_bits);
        struct weft_order_item *sorted = to;
        to = from;
        from = sorted;
        left = shift + n_bits < 64 ? left >> (shift + n_bits) << (shift + n_bits) : 0;
    }
    if (from != order->items)
        memcpy(order->items, from, n * sizeof *from);
}

bool weft_order_apply(const struct weft_order *order, size_t n, void *elements,
                      size_t element_bytes)
{
    unsigned char *copy = n ? weft_room_new(n, element_bytes) : NULL;
    if (!copy)
        return n == 0;
    memcpy(copy, elements, n * element_bytes);
    for (size_t i = 0; i < n; i++)
        memcpy((unsigned char *)elements + i * element_bytes,
               copy + order->items[i].place * element_bytes, element_bytes);
    weft_room_free(copy);
    return true;
}
