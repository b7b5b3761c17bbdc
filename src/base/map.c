/* SPDX-License-Identifier: MIT
 *
 * Linear probing over 32-bit slots that point into an array of keys; growing rebuilds the slots
 * only, so an id never changes. The arrays are those of room.h and may lie in files. There is no
 * removal, and no lock: callers that share a map hold their own.
 */
#include "base/map.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

/* slots[hash & mask] holds id + 1, 0 = empty; keys by id. */
struct weft_map {
    uint32_t *slots;
    size_t mask;
    uint64_t *items; /* keys, by id */
    size_t n, cap;
};

enum { FIRST_SLOTS = 16 };

/* Finaliser of MurmurHash3: every input bit moves every output bit. */
static size_t hash_key(uint64_t key)
{
    key ^= key >> 33;
    key *= UINT64_C(0xff51afd7ed558ccd);
    key ^= key >> 33;
    key *= UINT64_C(0xc4ceb9fe1a85ec53);
    key ^= key >> 33;
    return (size_t)key;
}

struct weft_map *weft_map_new(void)
{
    struct weft_map *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    map->slots = weft_room_new(FIRST_SLOTS, sizeof *map->slots);
    if (!map->slots) {
        free(map);
        return NULL;
    }
    map->mask = FIRST_SLOTS - 1;
    return map;
}

void weft_map_free(struct weft_map *map)
{
    if (!map)
        return;
    weft_room_free(map->slots);
    weft_room_free(map->items);
    free(map);
}

void weft_map_reset(struct weft_map *map)
{
    memset(map->slots, 0, (map->mask + 1) * sizeof *map->slots);
    map->n = 0;
}

uint32_t weft_map_count(const struct weft_map *map)
{
    return (uint32_t)map->n;
}

uint64_t weft_map_key(const struct weft_map *map, uint32_t id)
{
    return map->items[id];
}

/* The slot that holds `key`, or the empty one where it belongs. */
static size_t probe(const struct weft_map *map, uint64_t key)
{
    size_t slot = hash_key(key) & map->mask;
    while (map->slots[slot] != 0 && map->items[map->slots[slot] - 1] != key)
        slot = (slot + 1) & map->mask;
    return slot;
}

uint32_t weft_map_find(const struct weft_map *map, uint64_t key)
{
    uint32_t entry = map->slots[probe(map, key)];
    return entry ? entry - 1 : WEFT_MAP_NONE;
}

static bool grow(struct weft_map *map)
{
    size_t n_slots = (map->mask + 1) * 2;
    uint32_t *slots = weft_room_new(n_slots, sizeof *slots);
    if (!slots)
        return false;
    weft_room_free(map->slots);
    map->slots = slots;
    map->mask = n_slots - 1;
    for (size_t id = 0; id < map->n; id++)
        map->slots[probe(map, map->items[id])] = (uint32_t)id + 1;
    return true;
}

uint32_t weft_map_add(struct weft_map *map, uint64_t key, bool *is_new)
{
    size_t slot = probe(map, key);
    uint32_t entry = map->slots[slot];
    if (is_new)
        *is_new = entry == 0;
    if (entry != 0)
        return entry - 1;
    if (map->n >= WEFT_MAP_NONE - 1)
        return WEFT_MAP_NONE;
    if ((map->n + 1) * 2 > map->mask + 1) {
        if (!grow(map))
            return WEFT_MAP_NONE;
        slot = probe(map, key);
    }
    if (!weft_room_reserve(&map->items, &map->cap, map->n + 1, sizeof *map->items))
        return WEFT_MAP_NONE;
    map->items[map->n++] = key;
    map->slots[slot] = (uint32_t)map->n;
    return (uint32_t)map->n - 1;
}
