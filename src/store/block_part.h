/* SPDX-License-Identifier: MIT
 *
 * Some of the calls of a block, without decoding all of them.
 *
 * A block is a stream of entries and exits whose times are differences (block.h). Opening a part
 * decompresses the columns, walks over the depths, and keeps for every 64 rows and every 64 exits
 * the time until there: the sum of bytes, eight at a time. From there any rows can be decoded by
 * themselves; calls that are open around them are found by looking at depths alone. It costs about
 * a third of weft_store_load for a few rows of a block.
 */
#ifndef WEFT_STORE_BLOCK_PART_H
#define WEFT_STORE_BLOCK_PART_H

#include "store/reader.h"

/* One block; reused from block to block. */
struct weft_block_part;

/* NULL without memory. */
struct weft_block_part *weft_block_part_new(void);
void weft_block_part_free(struct weft_block_part *part);

/* Opens a block. What weft_store_load checks is checked, but for the longest call and the greatest
 * depth that the index tells. Thread-safe for different parts. Fails as a load, and leaves the part
 * closed then. */
WEFT_CHECKED enum weft_code weft_block_part_open(struct weft_store *store, uint32_t thread_id,
                                                 uint64_t block, struct weft_block_part *part,
                                                 struct weft_err *err);

size_t weft_block_part_n_rows(const struct weft_block_part *part);

/* First row that begins at or after `time_ns`; the number of rows if there is none. O(log rows). */
size_t weft_block_part_find(const struct weft_block_part *part, uint64_t time_ns);

/* Rows first ... end - 1 as if they were a block: calls->open are the calls that are open when row
 * first - 1 has been entered (those of the block's begin if first is 0), with their exact ends.
 * There are no flags and no arguments. Valid until the next call with the same part. Fails as a
 * load. O(rows asked for), and a fast search for the calls around them. */
WEFT_CHECKED enum weft_code weft_block_part_rows(struct weft_block_part *part, size_t first,
                                                 size_t end, struct weft_calls *calls,
                                                 struct weft_err *err);

#endif
