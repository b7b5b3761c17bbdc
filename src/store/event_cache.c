/* SPDX-License-Identifier: MIT
 *
 * A hash table with chained buckets and a list in order of use; chunks are counted by their users
 * and freed by the last one. The size limit is that of the keeper that allows most; without a
 * keeper nothing stays. The lock is static, as a chunk may outlive its store.
 */
#include "store/event_cache.h"

#include "base/vec.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* A buffer may be freed after its store was closed: the lock belongs to neither. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void chunk_free(struct event_chunk *chunk)
{
    if (!chunk)
        return;
    free(chunk->raw);
    free(chunk->events);
    free(chunk->strings);
    WEFT_VEC_FINI(&chunk->runs);
    free(chunk);
}

static struct event_chunk **place_of(struct event_cache *cache, uint64_t off)
{
    return &cache->places[(off * UINT64_C(0x9e3779b97f4a7c15) >> 32) % WEFT_EVENT_PLACES];
}

/* Out of the order of use. */
static void unlink_use(struct event_cache *cache, struct event_chunk *chunk)
{
    *(chunk->newer ? &chunk->newer->older : &cache->newest) = chunk->older;
    *(chunk->older ? &chunk->older->newer : &cache->oldest) = chunk->newer;
    chunk->newer = chunk->older = NULL;
}

static void use(struct event_cache *cache, struct event_chunk *chunk)
{
    chunk->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = chunk;
    cache->newest = chunk;
}

/* It is its users' from now on; without any its arrays may serve another chunk. */
static void forget(struct event_cache *cache, struct event_chunk *chunk)
{
    struct event_chunk **at = place_of(cache, chunk->off);
    while (*at != chunk)
        at = &(*at)->next;
    *at = chunk->next;
    unlink_use(cache, chunk);
    cache->n_bytes -= chunk->n_bytes;
    chunk->is_kept = false;
    if (chunk->n_users)
        return;
    chunk_free(cache->spare);
    cache->spare = chunk;
}

void weft_event_cache_begin(struct event_cache *cache, uint64_t most_bytes)
{
    (void)pthread_mutex_lock(&lock);
    cache->n_keepers++;
    if (cache->most_bytes < most_bytes)
        cache->most_bytes = most_bytes;
    (void)pthread_mutex_unlock(&lock);
}

static void forget_all(struct event_cache *cache)
{
    cache->n_keepers = 0;
    cache->most_bytes = 0;
    while (cache->oldest)
        forget(cache, cache->oldest);
    chunk_free(cache->spare);
    cache->spare = NULL;
}

void weft_event_cache_end(struct event_cache *cache)
{
    (void)pthread_mutex_lock(&lock);
    assert(cache->n_keepers > 0);
    if (--cache->n_keepers == 0)
        forget_all(cache);
    (void)pthread_mutex_unlock(&lock);
}

void weft_event_cache_fini(struct event_cache *cache)
{
    (void)pthread_mutex_lock(&lock);
    forget_all(cache);
    (void)pthread_mutex_unlock(&lock);
}

static struct event_chunk *find(struct event_cache *cache, uint64_t off, uint64_t checksum)
{
    struct event_chunk *chunk = *place_of(cache, off);
    while (chunk && (chunk->off != off || chunk->checksum != checksum))
        chunk = chunk->next;
    return chunk;
}

struct event_chunk *weft_event_cache_find(struct event_cache *cache, uint64_t off,
                                          uint64_t checksum)
{
    (void)pthread_mutex_lock(&lock);
    struct event_chunk *chunk = find(cache, off, checksum);
    if (chunk) {
        unlink_use(cache, chunk);
        use(cache, chunk);
        chunk->n_users++;
    }
    (void)pthread_mutex_unlock(&lock);
    return chunk;
}

static void drop(struct event_chunk *chunk)
{
    if (chunk && --chunk->n_users == 0 && !chunk->is_kept)
        chunk_free(chunk);
}

struct event_chunk *weft_event_cache_room(struct event_cache *cache, struct event_chunk *mine)
{
    (void)pthread_mutex_lock(&lock);
    struct event_chunk *room = mine;
    if (!mine || mine->is_kept || mine->n_users > 1) {
        drop(mine);
        room = cache->spare;
        cache->spare = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
    if (!room)
        room = calloc(1, sizeof *room);
    if (room) {
        room->n_users = 1;
        room->store = NULL;
    }
    return room;
}

void weft_event_cache_keep(struct event_cache *cache, struct event_chunk *chunk)
{
    const uint64_t n_bytes =
        sizeof *chunk + chunk->cap_raw + chunk->cap_events * sizeof *chunk->events +
        chunk->cap_strings * sizeof *chunk->strings + chunk->runs.cap * sizeof *chunk->runs.items;
    (void)pthread_mutex_lock(&lock);
    if (n_bytes <= cache->most_bytes && !find(cache, chunk->off, chunk->checksum)) {
        struct event_chunk **place = place_of(cache, chunk->off);
        chunk->n_bytes = n_bytes;
        chunk->next = *place;
        *place = chunk;
        chunk->is_kept = true;
        cache->n_bytes += n_bytes;
        use(cache, chunk);
    }
    while (cache->n_bytes > cache->most_bytes)
        forget(cache, cache->oldest);
    (void)pthread_mutex_unlock(&lock);
}

void weft_event_chunk_drop(struct event_chunk *chunk)
{
    (void)pthread_mutex_lock(&lock);
    drop(chunk);
    (void)pthread_mutex_unlock(&lock);
}
