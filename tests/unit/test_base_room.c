/* SPDX-License-Identifier: MIT
 *
 * Arrays beyond the limit on memory: they lie in a file, hold what arrays in memory hold, and so do
 * maps, tables of strings, arenas and orders that grow beyond it.
 */
#include "base/arena.h"
#include "base/map.h"
#include "base/order.h"
#include "base/room.h"
#include "base/str.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

enum { LIMIT = 32 << 20, COUNT = 6000000, FEW = 1000000 };

static void test_vector(bool is_limited)
{
    struct {
        uint64_t *items;
        size_t n, cap;
    } vec = { 0 };
    bool is_good = true;
    for (uint64_t i = 0; i < COUNT && is_good; i++) {
        uint64_t *item = WEFT_ROOM_PUSH(&vec);
        is_good = item && *item == 0;
        if (is_good)
            *item = i * i;
    }
    tap_ok(is_good, "a vector of %d items", COUNT);
    tap_ok(weft_room_is_mapped(vec.items) == is_limited, "it lies where it should");
    for (uint64_t i = 0; i < vec.n && is_good; i++)
        is_good = vec.items[i] == i * i;
    tap_ok(is_good && vec.n == COUNT, "and holds what was put there");
    uint64_t *smaller = weft_room_resize(vec.items, 8 * sizeof *smaller);
    tap_ok(smaller && smaller[7] == 49 && !weft_room_is_mapped(smaller), "it may be made smaller");
    weft_room_free(smaller);
}

static void test_array(bool is_limited)
{
    uint64_t *array = weft_room_new(COUNT, sizeof *array), *tiny = weft_room_new(0, 8), sum = 0;
    for (size_t i = 0; array && i < COUNT; i++)
        sum |= array[i];
    tap_ok(array && tiny && sum == 0, "a new array is zeroed");
    tap_ok(weft_room_is_mapped(array) == is_limited && !weft_room_is_mapped(tiny), "large, small");
    tap_ok(((uintptr_t)array & 15) == 0 && ((uintptr_t)tiny & 15) == 0, "aligned");
    tap_ok(!weft_room_new(SIZE_MAX / 4, 8) && !weft_room_new(SIZE_MAX, 1), "overflow is refused");
    weft_room_free(array);
    weft_room_free(tiny);
    weft_room_free(NULL);
}

struct pair {
    uint32_t key, place;
};

static int by_key(const void *a_void, const void *b_void)
{
    const struct pair *a = a_void;
    const struct pair *b = b_void;
    return (a->key > b->key) - (a->key < b->key);
}

/* Equals stay in order, of few and of many. */
static void test_sort(void)
{
    static const size_t counts[] = { 0, 1, 2, 17, 500, 513, 20000, FEW };
    uint64_t state = 11;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct pair *pairs = weft_room_new(counts[k], sizeof *pairs);
        size_t n_wrong = 0;
        for (uint32_t i = 0; pairs && i < counts[k]; i++)
            pairs[i] = (struct pair){ (uint32_t)(tap_random(&state) % 64), i };
        if (pairs)
            weft_room_sort(pairs, counts[k], sizeof *pairs, by_key);
        for (size_t i = 1; pairs && i < counts[k]; i++)
            n_wrong += pairs[i - 1].key > pairs[i].key ||
                       (pairs[i - 1].key == pairs[i].key && pairs[i - 1].place > pairs[i].place);
        tap_ok(pairs && n_wrong == 0, "%zu sorted: %zu out of order", counts[k], n_wrong);
        weft_room_free(pairs);
    }
}

static void test_containers(void)
{
    struct weft_map *map = weft_map_new();
    struct weft_strtab *table = weft_strtab_new();
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_order order = { 0 };
    uint64_t *values = weft_room_new(COUNT / 2, sizeof *values), state = 7;
    bool is_good = map && table && arena && values;
    for (uint64_t i = 0; i < FEW && is_good; i++) {
        char text[24];
        uint32_t id;
        const int n = snprintf(text, sizeof text, "name %" PRIu64, i);
        uint64_t *object = weft_arena_alloc(arena, 8, sizeof *object);
        is_good =
            weft_map_add(map, i * 977, NULL) == i && object && object[7] == 0 &&
            weft_strtab_intern(table, (struct weft_str){ text, (size_t)n }, &id, NULL) == WEFT_OK &&
            id == i;
    }
    tap_ok(is_good, "a map, a table of strings and an arena grow beyond the limit");
    for (uint32_t i = 0; i < FEW && is_good; i++)
        is_good = weft_map_find(map, i * UINT64_C(977)) == i;
    tap_ok(is_good, "the map holds what was put there");
    is_good = is_good && weft_order_reserve(&order, COUNT / 2);
    for (uint32_t i = 0; i < COUNT / 2 && is_good; i++) {
        values[i] = tap_random(&state) >> 20;
        order.items[i] = (struct weft_order_item){ values[i], i };
    }
    if (is_good)
        weft_order_sort(&order, COUNT / 2);
    is_good = is_good && weft_order_apply(&order, COUNT / 2, values, sizeof *values);
    for (size_t i = 1; i < COUNT / 2 && is_good; i++)
        is_good = values[i - 1] <= values[i];
    tap_ok(is_good, "so does an order");
    weft_order_fini(&order);
    weft_room_free(values);
    weft_map_free(map);
    weft_strtab_free(table);
    weft_arena_free(arena);
}

int main(void)
{
    const struct rlimit limit = { LIMIT, LIMIT };
    test_vector(false);
    test_array(false);
    test_sort();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tap_ok(setrlimit(RLIMIT_DATA, &limit) == 0, "32 MiB of data");
    test_vector(true);
    test_array(true);
    test_sort();
    test_containers();
#else
    (void)limit;
    test_containers();
#endif
    return tap_done();
}
