/* SPDX-License-Identifier: MIT
 *
 * A block: up to 65,536 calls of one thread, as the stream of its entries and exits.
 *
 *     head  numbers, column table, ended frames, frames left open      (varints, uncompressed)
 *     columns  dictionary | code | pops | gap | gap ext | tail | tail ext | flags | args | contexts
 *
 * A row is an entry: "pops exits, then function f enters, gap ns after the event before"; the exits
 * take their times from the tail column in time order. So an end needs no duration: it is where the
 * stack says. Frames entered in earlier blocks that end here stand in the head too, with those left
 * open, so that the heads alone contain every call that crosses a border.
 */
#ifndef WEFT_STORE_BLOCK_H
#define WEFT_STORE_BLOCK_H

#include "base/cursor.h"
#include "base/error.h"
#include "store/bytes.h"
#include "store/column.h"
#include "store/format.h"

struct weft_block_column_entry {
    uint8_t codec;
    uint32_t raw_bytes;
    uint32_t stored_bytes;
};

/* The numbers of a block. Levels are depths relative to where the thread began, so cut frames lie
 * at negative levels: level = n_carried - n_cut_before at the first row. */
struct weft_block_head {
    uint64_t block; /* number in the thread */
    uint64_t first_row;
    uint64_t first_event_ns;
    uint64_t first_ns;        /* start of the first row; without rows the first event */
    uint64_t last_ns;         /* latest event */
    uint64_t longest_call_ns; /* of calls that begin and end in the block */
    uint64_t longest_gap_ns;  /* weft_block_info */
    uint32_t thread_id;
    uint32_t n_rows;
    uint32_t n_exits;
    uint32_t n_carried;    /* calls open at the start that were entered in earlier blocks */
    uint32_t n_cut_before; /* cut frames that ended in earlier blocks */
    int32_t max_level;
    uint32_t n_functions; /* in the dictionary */
    uint32_t n_ended;     /* carried and cut frames that end here */
    uint32_t n_left;      /* calls entered here and open at the end */
    struct weft_block_column_entry columns[WEFT_BLOCK_COLUMNS];
};

/* A frame of an earlier block, or a cut one, that ends in this block; in order of time. */
struct weft_block_ended {
    uint64_t end_ns;
    uint32_t flags;
    uint32_t cut_key; /* function, if it is a cut frame: those after the first n_carried */
};

/* A call entered in this block and open at its end; outermost first. */
struct weft_block_left {
    uint64_t start_ns;
    uint32_t row; /* in the block */
    uint32_t function_key;
};

/* Reads the numbers and leaves `content` at the ended frames. Every number is checked against the
 * format's limits and those that stand before it; nothing is allocated. */
WEFT_CHECKED enum weft_code weft_block_head_parse(struct weft_cursor *content,
                                                  struct weft_block_head *head,
                                                  struct weft_err *err);

/* Next ended frame (of head->n_ended) or frame left open (of n_left, after those); `previous` is
 * the one before or zeroed. Faults show in the cursor. */
struct weft_block_ended weft_block_ended_parse(struct weft_cursor *content,
                                               const struct weft_block_head *head, uint32_t index,
                                               const struct weft_block_ended *previous);
struct weft_block_left weft_block_left_parse(struct weft_cursor *content,
                                             const struct weft_block_head *head, uint32_t index,
                                             const struct weft_block_left *previous);

/* What a builder has collected of one block (builder.h). */
struct weft_block_rows {
    uint16_t *function; /* per row: index in `keys` */
    uint8_t *pops;      /* per row */
    uint8_t *gap;       /* per row */
    uint8_t *flags;     /* per row; only written when has_flags */
    uint8_t *tail;      /* per exit */
    uint32_t *keys;     /* function keys by first use */
    size_t cap_rows, cap_exits, cap_keys;
    struct weft_bytes pops_ext, gap_ext, tail_ext, args;
    struct weft_bytes ended; /* encoded */
    struct weft_bytes left;
    struct weft_bytes contexts; /* encoded (contexts.h) */
    bool has_flags;
};

struct weft_lod_walk;

/* Room for what encoding needs besides; one a worker. */
struct weft_block_encoder {
    struct weft_column_encoder *columns;
    struct weft_bytes raw;                     /* a column before compression */
    struct weft_bytes packed;                  /* all columns */
    struct weft_bytes payload;                 /* head and columns */
    struct weft_bytes chunk;                   /* free for the caller: the result */
    uint16_t rank[WEFT_FORMAT_MAX_BLOCK_ROWS]; /* by first use: place in the sorted dictionary */
    struct weft_lod_walk *lod;                 /* lod_build.h */
};

struct weft_block_encoder *weft_block_encoder_new(void);
void weft_block_encoder_free(struct weft_block_encoder *encoder);

/* Encodes a block and appends its CALL chunk to `out`. head->columns is filled in here;
 * `head_bytes` gets the length of the head at the start of the payload. Sorts rows->keys.
 * WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_block_encode(struct weft_block_encoder *encoder,
                                              struct weft_block_head *head,
                                              struct weft_block_rows *rows, struct weft_bytes *out,
                                              size_t *head_bytes, struct weft_err *err);

#endif
