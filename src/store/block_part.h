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

#include "store/format.h"
#include "store/reader.h"

/* One block; reused from block to block. */
struct weft_block_part;

/* NULL without memory. */
struct weft_block_part *weft_block_part_new(void);
/* NULL is allowed. */
void weft_block_part_free(struct weft_block_part *part);

/* Opens a block. What weft_store_load checks is checked, but for the longest call and the greatest
 * depth that the index states. Thread-safe for different parts. Fails as a load, and leaves the
 * part closed then. */
WEFT_CHECKED enum weft_code weft_block_part_open(struct weft_store *store, uint32_t thread_id,
                                                 uint64_t block, struct weft_block_part *part,
                                                 struct weft_err *err);

/* Whether the times of all rows are kept: then a few rows cost nothing to look at. */
bool weft_block_part_is_whole(const struct weft_block_part *part);

size_t weft_block_part_n_rows(const struct weft_block_part *part);

/* When a row begins. */
uint64_t weft_block_part_start_ns(const struct weft_block_part *part, size_t row);

/* First row that begins at or after `time_ns`; the number of rows if there is none. O(log rows),
 * each with a look at 64 times; once it was asked often, the times of all rows are kept. */
size_t weft_block_part_find(struct weft_block_part *part, uint64_t time_ns);

/* Rows first ... end - 1 as if they were a block: calls->open are the calls that are open when row
 * first - 1 has been entered (those of the block's begin if first is 0), with their exact ends.
 * There are no flags and no arguments. Valid until the next call with the same part. Fails as a
 * load. O(rows asked for), and a fast search for the calls around them. */
WEFT_CHECKED enum weft_code weft_block_part_rows(struct weft_block_part *part, size_t first,
                                                 size_t end, struct weft_calls *calls,
                                                 struct weft_err *err);

/* Rows as the stream that they are stored as, for callers that need neither starts nor ends one by
 * one: exits before the first row, its entry, exits, the next entry ... and the exits behind the
 * last. Each has the time since the event before. */
struct weft_block_steps {
    const uint32_t *depth;           /* by row: calls open when it is entered */
    const uint8_t *code;             /* of the first row; weft_block_steps_function */
    const uint32_t *ids;             /* functions by what the codes say */
    const uint8_t *gaps, *gap_ext;   /* times of entries, those that are escapes */
    const uint8_t *tails, *tail_ext; /* times of exits */
    const uint32_t *open;            /* functions of the calls that are open before, by depth */
    size_t n_open;
    size_t n_rows;
    size_t n_behind;   /* exits after the last row and before the next, or the block's end */
    uint64_t first_ns; /* of the event before the first of these; of that, if it is the block's */
    uint64_t last_ns;  /* start of the last row */
    bool is_wide;      /* codes have three bytes, not two */
};

/* Rows first ... end - 1, at least one, as steps, valid until the next call with the same part.
 * Fails as weft_block_part_rows. */
WEFT_CHECKED enum weft_code weft_block_part_steps(struct weft_block_part *part, size_t first,
                                                  size_t end, struct weft_block_steps *steps,
                                                  struct weft_err *err);

/* The function of the row at `code`, which moves on. */
static inline uint32_t weft_block_steps_function(const struct weft_block_steps *steps,
                                                 const uint8_t **code, bool is_wide)
{
    const uint8_t *at = *code;
    *code += is_wide ? 3 : 2;
    return steps->ids[is_wide ? at[0] | (uint32_t)at[1] << 8 : at[0]];
}

/* The next time of a column and of its escapes, which are known to be there; both move on. */
static inline uint64_t weft_block_steps_time(const uint8_t **plane, const uint8_t **ext)
{
    const uint8_t value = *(*plane)++;
    if (__builtin_expect(value < WEFT_TIME_ESCAPE_2, 1))
        return value;
    const uint8_t *bytes = *ext;
    *ext += weft_time_escape_bytes(value);
    return weft_time_escape(value, bytes);
}

#endif
