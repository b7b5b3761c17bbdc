/* SPDX-License-Identifier: MIT
 *
 * An arena: many allocations, one lifetime. Under AddressSanitizer a poisoned gap follows every
 * object, so that an overrun inside the arena still traps. Not thread-safe: one arena a worker.
 */
#ifndef WEFT_BASE_ARENA_H
#define WEFT_BASE_ARENA_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_arena;

/* Returns NULL without memory. `limit_bytes` bounds the sum of all chunks (0: no bound). */
struct weft_arena *weft_arena_new(size_t limit_bytes);
void weft_arena_free(struct weft_arena *arena);

/* `owned` is freed with the arena, by `free_owned`; one thing an arena. */
void weft_arena_own(struct weft_arena *arena, void (*free_owned)(void *owned), void *owned);

/* Forgets all objects and keeps one chunk for reuse. */
void weft_arena_reset(struct weft_arena *arena);

/* `count` objects of `object_bytes` each, zeroed, aligned to 16; NULL on overflow, limit or lack of
 * memory. Zero objects give a valid pointer that must not be read. */
void *weft_arena_alloc(struct weft_arena *arena, size_t count, size_t object_bytes);

/* A copy of `text` followed by a NUL, or {NULL, 0} without memory. */
struct weft_str weft_arena_copy(struct weft_arena *arena, struct weft_str text);

/* Formatted text followed by a NUL, or {NULL, 0} without memory. */
struct weft_str weft_arena_printf(struct weft_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A copy of `count` objects: *to, a pointer to such objects, is set to it. False
 * without memory. */
bool weft_arena_copy_items(struct weft_arena *arena, void *to, const void *items, size_t count,
                           size_t object_bytes);

/* Was an allocation ever refused? Of one that makes texts, for which "" stands where there was no
 * memory, this says whether what was made of them is right. */
bool weft_arena_has_failed(const struct weft_arena *arena);

/* Bytes obtained from the system by this arena. */
size_t weft_arena_bytes(const struct weft_arena *arena);

#define WEFT_ARENA_NEW(arena, count, type)                                                         \
    ((type *)weft_arena_alloc((arena), (count), sizeof(type)))

#endif
