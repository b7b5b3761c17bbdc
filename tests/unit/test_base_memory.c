/* SPDX-License-Identifier: MIT
 *
 * Arena, vector, string table and hash map: against plain arrays, and with every allocation failing
 * in turn (the linker wraps malloc, calloc and realloc).
 */
#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "failing_alloc.h"
#include "tap.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

static void test_arena(void)
{
    struct weft_arena *arena = weft_arena_new(0);
    uint64_t state = tap_seed(21);
    unsigned n_wrong = 0;
    struct object {
        uint8_t *bytes;
        size_t n_bytes;
    } objects[2000];
    for (int k = 0; k < 2000; k++) {
        size_t n_bytes = tap_random(&state) % (k % 100 == 0 ? 100000 : 200);
        uint8_t *bytes = weft_arena_alloc(arena, n_bytes, 1);
        n_wrong += !bytes || (uintptr_t)bytes % 16 != 0;
        for (size_t i = 0; i < n_bytes; i++)
            n_wrong += bytes[i] != 0;
        memset(bytes, k & 0xff, n_bytes);
        objects[k] = (struct object){ bytes, n_bytes };
    }
    for (int k = 0; k < 2000; k++)
        for (size_t i = 0; i < objects[k].n_bytes; i++)
            n_wrong += objects[k].bytes[i] != (k & 0xff);
    tap_eq_u64(n_wrong, 0, "objects are aligned, zeroed and do not overlap");
    tap_ok(!weft_arena_alloc(arena, SIZE_MAX / 2, 4), "a product that overflows is refused");
    tap_ok(!weft_arena_alloc(arena, SIZE_MAX - 4, 1), "a size that overflows is refused");
    weft_arena_reset(arena);
    uint8_t *again = weft_arena_alloc(arena, 100, 1);
    tap_ok(again && again[0] == 0 && again[99] == 0, "memory is zeroed again after a reset");
    weft_arena_free(arena);
    struct weft_arena *small = weft_arena_new(10000);
    size_t n_objects = 0;
    while (n_objects < 100 && weft_arena_alloc(small, 1000, 1))
        n_objects++;
    tap_ok(n_objects > 0 && n_objects < 10 && weft_arena_bytes(small) <= 10000, "a limit holds");
    weft_arena_free(small);
    weft_arena_free(NULL);
}

/* Under AddressSanitizer the byte behind an object traps, also where the next object is close. */
static void test_arena_gaps(void)
{
#ifdef HAS_ASAN
    struct weft_arena *arena = weft_arena_new(0);
    unsigned n_open = 0;
    for (size_t n_bytes = 0; n_bytes < 70; n_bytes++) {
        uint8_t *object = weft_arena_alloc(arena, n_bytes, 1);
        weft_arena_alloc(arena, 1, 1);
        n_open += !__asan_address_is_poisoned(object + n_bytes);
        n_open += n_bytes > 0 && __asan_address_is_poisoned(object + n_bytes - 1);
    }
    tap_eq_u64(n_open, 0, "the byte behind every object traps, the last one of it does not");
    uint8_t *stale = weft_arena_alloc(arena, 8, 1);
    weft_arena_reset(arena);
    tap_ok(__asan_address_is_poisoned(stale), "a forgotten object traps");
    weft_arena_free(arena);
#else
    tap_skip("gaps between objects trap under AddressSanitizer only");
#endif
}

static void test_map(void)
{
    enum { N_KEYS = 20000, KEY_RANGE = 5000 };
    static uint64_t keys[N_KEYS];
    struct weft_map *map = weft_map_new();
    uint64_t state = tap_seed(22);
    size_t n_known = 0;
    unsigned n_wrong = 0;
    for (int round = 0; round < N_KEYS; round++) {
        uint64_t key = tap_random(&state) % KEY_RANGE << (tap_random(&state) % 2 * 40);
        size_t want = 0;
        while (want < n_known && keys[want] != key)
            want++;
        uint32_t found = weft_map_find(map, key);
        n_wrong += want < n_known ? found != want : found != WEFT_MAP_NONE;
        bool is_new;
        n_wrong += weft_map_add(map, key, &is_new) != want || is_new != (want == n_known);
        if (want == n_known)
            keys[n_known++] = key;
    }
    for (size_t id = 0; id < n_known; id++)
        n_wrong += weft_map_key(map, (uint32_t)id) != keys[id];
    tap_eq_u64(n_wrong, 0, "a map equals a list that is searched");
    tap_eq_u64(weft_map_count(map), n_known, "and counts its keys");
    weft_map_reset(map);
    tap_ok(weft_map_count(map) == 0 && weft_map_find(map, keys[0]) == WEFT_MAP_NONE, "reset");
    weft_map_free(map);
}

static void test_strings(void)
{
    struct weft_strtab *table = weft_strtab_new();
    unsigned n_wrong = 0;
    char text[32];
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < 3000; k++) {
            uint32_t id = 0;
            int n_bytes = snprintf(text, sizeof text, "f%d", k);
            struct weft_str name = { text, (size_t)n_bytes };
            n_wrong += weft_strtab_intern(table, name, &id, NULL) != WEFT_OK;
            n_wrong += id != (uint32_t)k;
        }
    n_wrong += !weft_str_equal(weft_strtab_get(table, 2999), WEFT_STR("f2999"));
    uint32_t id_nul, id_empty;
    n_wrong += weft_strtab_intern(table, WEFT_STR("a\0b"), &id_nul, NULL) != WEFT_OK;
    n_wrong += weft_strtab_intern(table, (struct weft_str){ 0 }, &id_empty, NULL) != WEFT_OK;
    tap_eq_u64(n_wrong, 0, "equal strings get one id, in order of appearance");
    tap_ok(weft_strtab_get(table, id_nul).n_bytes == 3 && weft_strtab_count(table) == 3002,
           "bytes of zero and the empty string are strings");
    weft_strtab_free(table);
    tap_ok(weft_str_compare(WEFT_STR("ab"), WEFT_STR("b")) < 0 &&
               weft_str_compare(WEFT_STR("ab"), WEFT_STR("a")) > 0 &&
               weft_str_compare(WEFT_STR("\xff"), WEFT_STR("a")) > 0 &&
               weft_str_compare(WEFT_STR(""), WEFT_STR("")) == 0,
           "order is bytewise, shorter first");
}

/* Fills one of each; true if all of it worked. Must not leak or crash when it did not. */
static bool use_everything(void)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_map *map = weft_map_new();
    struct weft_strtab *table = weft_strtab_new();
    struct {
        uint64_t *items;
        size_t n, cap;
    } vec = { 0 };
    bool is_ok = arena && map && table;
    for (uint32_t k = 0; is_ok && k < 300; k++) {
        uint64_t *item = WEFT_VEC_PUSH(&vec);
        uint32_t id;
        struct weft_str name = { (const char *)&k, sizeof k };
        is_ok = item && weft_arena_alloc(arena, 100, 1) &&
                weft_map_add(map, k * 77, NULL) != WEFT_MAP_NONE &&
                weft_strtab_intern(table, name, &id, NULL) == WEFT_OK;
    }
    WEFT_VEC_FINI(&vec);
    weft_strtab_free(table);
    weft_map_free(map);
    weft_arena_free(arena);
    return is_ok;
}

static void test_allocation_failures(void)
{
    int n_failures = 0;
    for (int nth = 0; nth < 10000; nth++) {
        n_until_failure = nth;
        bool is_ok = use_everything();
        bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        if (is_ok && !has_failed)
            break;
        n_failures += !is_ok;
    }
    tap_ok(n_failures > 20, "each of %d failing allocations is survived", n_failures);
}

static void test_vector(void)
{
    struct {
        uint32_t *items;
        size_t n, cap;
    } vec = { 0 };
    for (uint32_t k = 0; k < 1000; k++)
        *WEFT_VEC_PUSH(&vec) = k;
    bool is_same = true;
    for (uint32_t k = 0; k < 1000; k++)
        is_same = is_same && vec.items[k] == k;
    tap_ok(is_same, "items keep their values while the vector grows");
    tap_ok(!weft_vec_reserve(&vec.items, &vec.cap, SIZE_MAX / 2, 4), "an overflow is refused");
    WEFT_VEC_FINI(&vec);
}

int main(void)
{
    test_arena();
    test_arena_gaps();
    test_map();
    test_strings();
    test_vector();
    test_allocation_failures();
    return tap_done();
}
