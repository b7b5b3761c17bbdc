/* SPDX-License-Identifier: MIT
 *
 * The reader's inside: what weft_store_open builds. Memory: about 130 bytes a block, 44 a call that
 * crosses a border, and 56 a block of events, whose descriptions take at least 50, 3 and 12 bytes
 * in the file.
 */
#ifndef WEFT_STORE_STORE_H
#define WEFT_STORE_STORE_H

#include "base/file.h"
#include "store/block.h"
#include "store/chunk.h"
#include "store/event_cache.h"
#include "store/reader.h"

#include <stdatomic.h>

struct store_block {
    struct weft_block_info info;
    uint64_t off, chunk_bytes;
    uint32_t n_exits;
    uint32_t n_carried, n_cut_before;
    uint32_t n_ended, n_left;
    uint32_t top;        /* innermost call open at the start, index in crossing; or WEFT_ID_NONE */
    uint32_t first_left; /* first of n_left calls in crossing */
    int32_t max_level;
    _Atomic bool is_intact;     /* the checksum was compared */
    _Atomic bool is_valid;      /* the summary was checked */
    _Atomic bool is_lod_intact; /* the checksum of its levels of detail was compared */
};

/* Where the contexts of a group of blocks stand, or the level of detail of a block or group; 0
 * bytes: nowhere. */
struct store_group {
    uint64_t off;
    uint32_t n_bytes;
};

struct store_groups {
    struct store_group *items; /* as they were finished */
    size_t n, cap;
};

struct store_event_block {
    struct weft_event_block_info info;
    uint64_t off;
    uint64_t head_checksum; /* of the summary in the index: the block must have the same */
    _Atomic uint32_t run;   /* where it was found in its chunk */
    _Atomic bool is_valid;  /* the checksum was compared */
};

/* Blocks of events of a thread, or of arrivals of a row. */
struct store_event_blocks {
    struct store_event_block *items;
    size_t n, cap;
    uint64_t next; /* number of the one after the last */
};

struct store_processor {
    uint32_t host_id;
    int32_t cpu;
};

struct store_object {
    struct weft_object_info info;
    size_t place; /* in the file */
};

/* While blocks are added, crossing holds function keys for ids, levels for depths (as two's
 * complement), and no cut frames; thread_finish makes it what readers see: cut frames by depth,
 * then the calls that cross a border in order of entry. */
struct store_thread {
    struct weft_store_thread info;
    struct {
        struct store_block *items;
        size_t n, cap;
    } blocks;
    struct {
        struct weft_open_call *items;
        size_t n, cap;
    } crossing;
    struct {
        uint32_t *items; /* the call below on the stack, index in crossing */
        size_t n, cap;
    } below;
    struct {
        struct weft_open_call *items; /* in order of their ends: deepest first */
        size_t n, cap;
    } cut;
    struct store_groups groups; /* contexts */
    struct store_groups levels; /* levels of detail */
    uint32_t top;               /* innermost call that is open after the last block */
    uint32_t n_carried;         /* how many are */
    struct store_event_blocks event_blocks;
    uint64_t last_args_row; /* latest call whose arguments are there */
};

struct weft_store {
    struct weft_mapped file;
    struct weft_store_meta meta;
    struct weft_column_decoder *decoder; /* for opening only */
    struct {
        struct store_thread *items;
        size_t n, cap;
    } threads;
    struct {
        struct store_event_blocks *items;
        size_t n, cap;
    } arrivals; /* by row: threads, then CPUs; rows at the end that have none are omitted */
    struct {
        struct store_processor *items;
        size_t n, cap;
    } processors;
    struct {
        struct weft_store_function *items;
        size_t n, cap;
    } functions; /* sorted by key */
    struct {
        uint32_t *items;
        size_t n, cap;
    } id_of_key; /* if keys are small numbers; else empty */
    struct {
        struct weft_note *items;
        size_t n, cap;
    } notes;
    struct {
        struct store_object *items; /* by host, process and address, then as they came */
        size_t n, cap;
    } objects;
    struct {
        struct weft_library_function *items;
        size_t n, cap;
    } libraries;
    struct {
        struct weft_ledger_process *items;
        size_t n, cap;
    } processes;
    struct {
        uint8_t **items; /* decompressed chunks: names point into them */
        size_t n, cap;
    } rooms;
    struct event_cache event_cache;
    char *path;
    bool has_index; /* the last events of threads are known, not guessed from their blocks */
};

/* store_metadata.c: the content of one chunk each. */
WEFT_CHECKED enum weft_code weft_store_parse_chunk(struct weft_store *store,
                                                   const struct weft_chunk *chunk,
                                                   struct weft_err *err);

/* Puts the names of objects in order, once all are read. */
void weft_store_sort_objects(struct weft_store *store);

/* True for chunks that weft_store_parse_chunk reads. */
bool weft_store_knows_chunk(uint32_t id);

/* store_blocks.c: adds a block whose head is at `head`. Changes nothing when it fails. */
WEFT_CHECKED enum weft_code weft_store_add_block(struct weft_store *store,
                                                 const struct weft_chunk *chunk,
                                                 struct weft_cursor head, struct weft_err *err);
/* Reads the place of a block and the copy of its head out of an index; the chunk gets its place and
 * length only. `*previous_off` is the place of the block before. */
WEFT_CHECKED enum weft_code weft_store_parse_place(const struct weft_store *store,
                                                   struct weft_cursor *in, uint64_t *previous_off,
                                                   struct weft_chunk *chunk,
                                                   struct weft_cursor *head, struct weft_err *err);
/* The index of blocks. */
WEFT_CHECKED enum weft_code weft_store_parse_blocks(struct weft_store *store,
                                                    const struct weft_chunk *chunk,
                                                    struct weft_err *err);
/* After all chunks: sorts functions, resolves calls that cross borders, sums up. */
WEFT_CHECKED enum weft_code weft_store_finish(struct weft_store *store, struct weft_err *err);

/* reader_contexts.c: where contexts of groups of blocks stand, or levels of detail, by the chunk's
 * id. What does not fit the blocks is omitted: they only save time. */
WEFT_CHECKED enum weft_code weft_store_parse_groups(struct weft_store *store,
                                                    const struct weft_chunk *chunk,
                                                    struct weft_err *err);

/* What a chunk of events holds. */
enum store_stream { STORE_EVENTS, STORE_ARRIVALS };

/* store_events.c: adds the blocks of a chunk that is not in an index; those that do not fit are
 * omitted, and `*n_lost` counts them. WEFT_E_NOMEM; WEFT_E_MALFORMED if none can be found. */
WEFT_CHECKED enum weft_code weft_store_add_event_chunk(struct weft_store *store,
                                                       const struct weft_chunk *chunk,
                                                       uint64_t *n_lost, struct weft_err *err);
/* The index of blocks of events, or of arrivals, by the chunk's id. */
WEFT_CHECKED enum weft_code weft_store_parse_event_index(struct weft_store *store,
                                                         const struct weft_chunk *chunk,
                                                         struct weft_err *err);
/* Sums up the events of one thread. */
WEFT_CHECKED enum weft_code weft_store_finish_events(struct weft_store *store,
                                                     struct store_thread *thread,
                                                     struct weft_err *err);

/* The id of a function key, or WEFT_ID_NONE. */
uint32_t weft_store_function_of_key(const struct weft_store *store, uint32_t key);

/* reader_load.c: the contexts of one block, decompressed into `buf`; empty if it has none. */
WEFT_CHECKED enum weft_code weft_store_block_contexts(struct weft_store *store, uint32_t thread_id,
                                                      uint64_t block, struct weft_block_buf *buf,
                                                      struct weft_cursor *contexts,
                                                      struct weft_err *err);

/* A block with its columns decompressed, which live in the buffer it was read with, and what the
 * index says of the calls across its borders. */
struct weft_block_unpacked {
    struct weft_block_head head;
    const uint8_t *columns[WEFT_BLOCK_COLUMNS]; /* up to WEFT_COLUMN_TAIL_EXT */
    const uint32_t *ids;                        /* weft_block_decode.function_ids */
    const struct weft_open_call *open;          /* at the start, by depth */
    const struct weft_open_call *left;          /* entered here and open at the end; or NULL */
    uint32_t n_open;
    uint64_t off; /* of its chunk, for messages */
};

/* reader_load.c: decompresses the columns of which calls are made. Fails as a load. */
WEFT_CHECKED enum weft_code weft_store_block_unpack(struct weft_store *store, uint32_t thread_id,
                                                    uint64_t block, struct weft_block_buf *buf,
                                                    struct weft_block_unpacked *unpacked,
                                                    struct weft_err *err);

/* reader_lod.c: how many levels of detail a thread has that were written. */
uint64_t weft_store_n_levels(uint64_t n_blocks);

/* reader_load.c: the buffer's room for decompressed bytes, at least `n_bytes`, or NULL without
 * memory; and its decoder. */
uint8_t *weft_block_buf_raw(struct weft_block_buf *buf, size_t n_bytes);
struct weft_column_decoder *weft_block_buf_decoder(struct weft_block_buf *buf);

/* store_recover.c: reads a file whose directory is missing or damaged. */
WEFT_CHECKED enum weft_code weft_store_recover(struct weft_store *store, struct weft_err *err);

/* Forgets what was parsed so far, but for the mapped file. */
void weft_store_reset(struct weft_store *store);

/* Next function key of a dictionary; `index` counts from 0, `previous` is the key before. */
static inline uint32_t weft_store_next_key(struct weft_cursor *dict, uint32_t index,
                                           uint32_t previous)
{
    const uint64_t delta = weft_cur_varint(dict);
    const uint64_t key = index ? (uint64_t)previous + 1 + delta : delta;
    if (delta > UINT32_MAX || key > UINT32_MAX)
        dict->fault = true;
    return (uint32_t)key;
}

#endif
