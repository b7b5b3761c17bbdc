/* SPDX-License-Identifier: MIT
 *
 * What a reader of levels of detail keeps from query to query: a few blocks, opened, and the cells
 * of many. Least recently used ones go first.
 */
#ifndef WEFT_MODEL_CALLS_LOD_CACHE_H
#define WEFT_MODEL_CALLS_LOD_CACHE_H

#include "model/calls/parts.h"
#include "store/block_part.h"
#include "store/lod.h"
#include "store/reader.h"

/* The calls of a cell or of a part of a block, as weft_calls has them. */
struct weft_lod_rows {
    const uint64_t *start_ns, *end_ns;
    const uint32_t *function_id, *depth;
    uint32_t n;
};

struct weft_lod_cell_rows {
    struct weft_lod_rows rows;
    uint64_t *room; /* that they stand in; NULL: not asked for */
};

/* Cells of a block. */
struct weft_lod_details {
    struct weft_lod_cell_rows *rows; /* by cell; or NULL */
    struct weft_lod_units units[2];  /* weft_store_details */
    bool is_known;
    uint32_t thread_id;
    uint64_t block;
    size_t n_bytes;
    struct weft_lod_details *next_in_slot;  /* hash table */
    struct weft_lod_details *newer, *older; /* by use */
};

struct weft_lod_cache {
    struct weft_store *store;
    struct weft_block_buf *buf; /* for reading cells */
    struct weft_parts opened;
    struct weft_lod_details **slots;
    struct weft_lod_details *newest, *oldest;
    size_t n_bytes;
};

/* False without memory. */
bool weft_lod_cache_init(struct weft_lod_cache *cache, struct weft_store *store);
void weft_lod_cache_fini(struct weft_lod_cache *cache);

/* Its cells; valid until the next call. */
WEFT_CHECKED enum weft_code weft_lod_cache_details(struct weft_lod_cache *cache, uint32_t thread_id,
                                                   uint64_t block,
                                                   struct weft_lod_details **details,
                                                   struct weft_err *err);

/* The calls of cell `index` of those cells, which begins with row `first` of the block; valid as
 * long as they. *is_loaded: the block had to be decoded. */
WEFT_CHECKED enum weft_code weft_lod_cache_cell(struct weft_lod_cache *cache,
                                                struct weft_lod_details *details, size_t index,
                                                uint64_t first, const struct weft_lod_rows **rows,
                                                bool *is_loaded, struct weft_err *err);

#endif
