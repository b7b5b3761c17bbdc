/* SPDX-License-Identifier: MIT
 *
 * Hash map from a 64-bit key to a dense id (0, 1, 2 ... by first insertion): values then live in
 * plain arrays indexed by the id. Open addressing, load at most 1/2, iteration order = insertion.
 */
#ifndef WEFT_BASE_MAP_H
#define WEFT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_map;

#define WEFT_MAP_NONE UINT32_MAX

/* Returns NULL without memory. */
struct weft_map *weft_map_new(void);
void weft_map_free(struct weft_map *map);
void weft_map_reset(struct weft_map *map);

uint32_t weft_map_count(const struct weft_map *map);

/* The id of `key`, or WEFT_MAP_NONE. Expected O(1). */
uint32_t weft_map_find(const struct weft_map *map, uint64_t key);

/* The id of `key`, adding it if new (`*is_new` may be NULL); WEFT_MAP_NONE without memory. */
uint32_t weft_map_add(struct weft_map *map, uint64_t key, bool *is_new);

/* The key of `id` < count. */
uint64_t weft_map_key(const struct weft_map *map, uint32_t id);

#endif
