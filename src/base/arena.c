/* SPDX-License-Identifier: MIT
 *
 *     chunk: [ header | object | gap | object | gap | ...  free ]
 *
 * Gaps exist under AddressSanitizer only, where they and the free part are poisoned.
 */
#include "base/arena.h"

#include "base/checked.h"
#include "base/room.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_HAS_ASAN 1
#endif
#endif

#ifdef WEFT_HAS_ASAN
#include <sanitizer/asan_interface.h>
enum { GAP_BYTES = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, n_bytes) ((void)(at), (void)(n_bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, n_bytes) ((void)(at), (void)(n_bytes))
enum { GAP_BYTES = 0 };
#endif

enum { ALIGN_BYTES = 16, FIRST_CHUNK_BYTES = 4096, MAX_CHUNK_BYTES = 1 << 20 };

struct chunk {
    struct chunk *next;
    size_t n_bytes; /* of data */
    _Alignas(ALIGN_BYTES) uint8_t data[];
};

struct weft_arena {
    struct chunk *chunks; /* the newest first: the one that is filled */
    size_t used_bytes;    /* of the newest chunk */
    size_t total_bytes;
    size_t limit_bytes;
    bool has_failed;
    void (*free_owned)(void *owned); /* NULL: it owns nothing else */
    void *owned;
};

struct weft_arena *weft_arena_new(size_t limit_bytes)
{
    struct weft_arena *arena = calloc(1, sizeof *arena);
    if (arena)
        arena->limit_bytes = limit_bytes;
    return arena;
}

static void free_chunks(struct chunk *chunk)
{
    while (chunk) {
        struct chunk *next = chunk->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk->data, chunk->n_bytes);
        weft_room_free(chunk);
        chunk = next;
    }
}

void weft_arena_free(struct weft_arena *arena)
{
    if (!arena)
        return;
    if (arena->free_owned)
        arena->free_owned(arena->owned);
    free_chunks(arena->chunks);
    free(arena);
}

void weft_arena_own(struct weft_arena *arena, void (*free_owned)(void *owned), void *owned)
{
    arena->free_owned = free_owned;
    arena->owned = owned;
}

void weft_arena_reset(struct weft_arena *arena)
{
    struct chunk *kept = arena->chunks;
    arena->used_bytes = 0;
    arena->total_bytes = 0;
    if (!kept)
        return;
    free_chunks(kept->next);
    kept->next = NULL;
    arena->total_bytes = sizeof *kept + kept->n_bytes;
    ASAN_POISON_MEMORY_REGION(kept->data, kept->n_bytes);
}

/* A chunk that holds at least `want` bytes; sizes double up to a bound. */
static bool add_chunk(struct weft_arena *arena, size_t want)
{
    size_t usual = arena->chunks ? arena->chunks->n_bytes * 2 : FIRST_CHUNK_BYTES;
    usual = usual > MAX_CHUNK_BYTES ? MAX_CHUNK_BYTES : usual;
    size_t n_bytes = want > usual ? want : usual;
    size_t all_bytes;
    if (!weft_add_fits(n_bytes, sizeof(struct chunk), &all_bytes))
        return false;
    bool is_over =
        all_bytes > arena->limit_bytes || arena->total_bytes > arena->limit_bytes - all_bytes;
    if (arena->limit_bytes != 0 && is_over)
        return false;
    struct chunk *chunk = weft_room_resize(NULL, all_bytes);
    if (!chunk)
        return false;
    chunk->next = arena->chunks;
    chunk->n_bytes = n_bytes;
    ASAN_POISON_MEMORY_REGION(chunk->data, n_bytes);
    arena->chunks = chunk;
    arena->used_bytes = 0;
    arena->total_bytes += all_bytes;
    return true;
}

void *weft_arena_alloc(struct weft_arena *arena, size_t count, size_t object_bytes)
{
    size_t n_bytes, padded;
    if (!weft_mul_fits(count, object_bytes, &n_bytes) ||
        !weft_add_fits(n_bytes, ALIGN_BYTES - 1 + GAP_BYTES, &padded)) {
        arena->has_failed = true;
        return NULL;
    }
    padded &= ~(size_t)(ALIGN_BYTES - 1);
    if (!arena->chunks || padded > arena->chunks->n_bytes - arena->used_bytes)
        if (!add_chunk(arena, padded)) {
            arena->has_failed = true;
            return NULL;
        }
    uint8_t *object = arena->chunks->data + arena->used_bytes;
    arena->used_bytes += padded;
    ASAN_UNPOISON_MEMORY_REGION(object, n_bytes);
    memset(object, 0, n_bytes);
    return object;
}

struct weft_str weft_arena_copy(struct weft_arena *arena, struct weft_str text)
{
    char *bytes = text.n_bytes < SIZE_MAX ? weft_arena_alloc(arena, text.n_bytes + 1, 1) : NULL;
    if (!bytes)
        return (struct weft_str){ 0 };
    if (text.n_bytes)
        memcpy(bytes, text.bytes, text.n_bytes);
    return (struct weft_str){ .bytes = bytes, .n_bytes = text.n_bytes };
}

struct weft_str weft_arena_printf(struct weft_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n_bytes = vsnprintf(NULL, 0, format, args);
    char *bytes = n_bytes >= 0 ? weft_arena_alloc(arena, (size_t)n_bytes + 1, 1) : NULL;
    if (bytes)
        (void)vsnprintf(bytes, (size_t)n_bytes + 1, format, again);
    va_end(again);
    va_end(args);
    return (struct weft_str){ .bytes = bytes, .n_bytes = bytes ? (size_t)n_bytes : 0 };
}

bool weft_arena_copy_items(struct weft_arena *arena, void *to, const void *items, size_t count,
                           size_t object_bytes)
{
    void *copy = weft_arena_alloc(arena, count, object_bytes);
    if (copy && count)
        memcpy(copy, items, count * object_bytes);
    memcpy(to, &copy, sizeof copy);
    return copy != NULL;
}

bool weft_arena_has_failed(const struct weft_arena *arena)
{
    return arena->has_failed;
}

size_t weft_arena_bytes(const struct weft_arena *arena)
{
    return arena->total_bytes;
}
