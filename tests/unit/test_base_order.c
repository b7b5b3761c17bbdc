/* SPDX-License-Identifier: MIT
 *
 * Orders of keys against a plain stable sort; searches that begin anywhere against ones from the
 * ends.
 */
#include "base/marks.h"
#include "base/order.h"
#include "base/search.h"
#include "tap.h"

#include <stdlib.h>

enum { ROUNDS = 300, MOST = 6000, MOST_MARKS = 20000 };

static int by_key(const void *a, const void *b)
{
    const struct weft_order_item *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Of few or many bits, anywhere in the key. */
static uint64_t draw_key(uint64_t *state, unsigned n_bits, unsigned shift)
{
    return n_bits < 64 ? (tap_random(state) & ((UINT64_C(1) << n_bits) - 1)) << shift
                       : tap_random(state);
}

static bool is_same(const struct weft_order_item *a, const struct weft_order_item *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].key != b[i].key || a[i].place != b[i].place)
            return false;
    return true;
}

static void test_order(uint64_t state)
{
    struct weft_order order = { 0 };
    struct weft_order_item *plain = calloc(MOST, sizeof *plain);
    uint32_t *elements = calloc(MOST, sizeof *elements);
    unsigned n_bad = 0, n_misplaced = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t n = tap_random(&state) % (round % 3 ? MOST : 40);
        const unsigned n_bits = 1 + (unsigned)(tap_random(&state) % 64);
        const unsigned shift = n_bits < 64 ? (unsigned)(tap_random(&state) % (64 - n_bits)) : 0;
        if (!weft_order_reserve(&order, n))
            break;
        for (size_t i = 0; i < n; i++) {
            const uint64_t key = draw_key(&state, n_bits, shift);
            order.items[i] = plain[i] = (struct weft_order_item){ key, (uint32_t)i };
            elements[i] = (uint32_t)i;
        }
        weft_order_sort(&order, n);
        qsort(plain, n, sizeof *plain, by_key);
        n_bad += !is_same(order.items, plain, n);
        n_misplaced += !weft_order_apply(&order, n, elements, sizeof *elements);
        for (size_t i = 0; i < n; i++)
            n_misplaced += elements[i] != plain[i].place;
    }
    tap_eq_u64(n_bad, 0, "%d orders are those of a stable sort", ROUNDS);
    tap_eq_u64(n_misplaced, 0, "elements are put into them");
    weft_order_fini(&order);
    free(plain);
    free(elements);
}

static void test_search(uint64_t state)
{
    unsigned n_bad = 0;
    for (size_t n = 0; n < 40; n++) {
        uint64_t items[40] = { 0 };
        for (size_t i = 0; i < n; i++)
            items[i] = (i ? items[i - 1] : 0) + tap_random(&state) % 3;
        for (uint64_t wanted = 0; wanted < 45; wanted++)
            for (size_t near = 0; near < 44; near++) {
                size_t from_ends, from_near;
                WEFT_SEARCH(from_ends, n, items[from_ends] < wanted);
                WEFT_SEARCH_NEAR(from_near, n, near, items[from_near] < wanted);
                n_bad += from_ends != from_near;
            }
    }
    tap_eq_u64(n_bad, 0, "a search finds the same, wherever it begins");
}

/* Sets of numbers, filled and emptied again and again. */
static void test_marks(uint64_t state)
{
    struct weft_marks marks = { 0 };
    uint8_t *is_in = calloc(MOST_MARKS, 1);
    unsigned n_bad = 0;
    for (unsigned round = 0; round < ROUNDS && is_in; round++) {
        const size_t below = 1 + tap_random(&state) % (round % 3 ? 300 : MOST_MARKS);
        uint32_t got = 0;
        n_bad += !weft_marks_reserve(&marks, below);
        for (size_t i = tap_random(&state) % 500; i > 0; i--) {
            const uint32_t number = (uint32_t)(tap_random(&state) % below);
            weft_marks_add(&marks, number);
            is_in[number] = 1;
        }
        for (uint32_t want = 0; want < below; want++) {
            if (!is_in[want])
                continue;
            n_bad += !weft_marks_take(&marks, &got) || got != want;
            is_in[want] = 0;
        }
        n_bad += weft_marks_take(&marks, &got);
    }
    tap_eq_u64(n_bad, 0, "%d sets are taken in order", ROUNDS);
    weft_marks_fini(&marks);
    free(is_in);
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    test_order(seed);
    test_search(seed);
    test_marks(seed);
    return tap_done();
}
