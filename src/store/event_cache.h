/* SPDX-License-Identifier: MIT
 *
 * Decoded chunks of events, which all readers of a store share: reading another part of the same
 * chunk, or the same part for another purpose, finds it decoded. A chunk that is shared is never
 * changed. One lock guards all of it, which is held for some ten instructions a block.
 */
#ifndef WEFT_STORE_EVENT_CACHE_H
#define WEFT_STORE_EVENT_CACHE_H

#include "schema/event.h"
#include "store/event_block.h"

/* A block within a chunk. */
struct event_run {
    struct weft_event_head head;
    uint64_t head_checksum;
    uint32_t first;   /* of its events */
    bool is_in_order; /* they are in order of time, and take none */
};

/* Arrays that grow to the largest chunk that was decoded here. */
struct event_chunk {
    uint8_t *raw; /* decompressed columns */
    struct weft_event *events;
    struct weft_str *strings; /* the first is empty */
    struct {
        struct event_run *items;
        size_t n, cap;
    } runs;
    size_t cap_raw, cap_events, cap_strings;

    const struct weft_store *store; /* what is decoded; NULL: nothing is */
    uint64_t off, checksum;

    uint32_t n_users;                         /* buffers that hold it */
    bool is_kept;                             /* by the cache */
    uint64_t n_bytes;                         /* while it is kept */
    struct event_chunk *next, *newer, *older; /* of one place of the table; by use */
};

enum { WEFT_EVENT_PLACES = 256 };

/* All zero: keeps nothing. */
struct event_cache {
    struct event_chunk *places[WEFT_EVENT_PLACES]; /* by offset */
    struct event_chunk *newest, *oldest;
    struct event_chunk *spare; /* whose arrays serve the next one; or NULL */
    uint64_t n_bytes, most_bytes;
    unsigned n_keepers;
};

/* So many bytes of chunks stay while no user holds them, or as many as another keeper wants, until
 * the last of them has ended. */
void weft_event_cache_begin(struct event_cache *cache, uint64_t most_bytes);
void weft_event_cache_end(struct event_cache *cache);

/* Forgets all, for all keepers. */
void weft_event_cache_fini(struct event_cache *cache);

/* The chunk if it is kept, with one more user; or NULL. */
struct event_chunk *weft_event_cache_find(struct event_cache *cache, uint64_t off,
                                          uint64_t checksum);

/* Room to decode in, with one user: `mine`, whose user gives it back, if it has no other user. NULL
 * without memory: then mine is given back, too. */
struct event_chunk *weft_event_cache_room(struct event_cache *cache, struct event_chunk *mine);

/* Keeps what was decoded, and forgets what was not used for longest. */
void weft_event_cache_keep(struct event_cache *cache, struct event_chunk *chunk);

/* A user gives it back; NULL is allowed. */
void weft_event_chunk_drop(struct event_chunk *chunk);

#endif
