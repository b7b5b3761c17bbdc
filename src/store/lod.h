/* SPDX-License-Identifier: MIT
 *
 * Levels of detail: what a thread's calls look like from afar (docs/format.md, "Levels of detail").
 *
 *     calls    | a aaa  b a | aa  bbbb | ...      a cell: consecutive calls of a block
 *     cells    |     8 cells are a group of cells, a block's groups are the block
 *     blocks   |     16 blocks are a group, 16 groups a group of the next level
 *
 * A cell ends after 1,024 calls, or earlier with a long silence. A unit (cell, group of cells,
 * block, group of blocks) keeps, of the calls that begin and end in it, the longest one by one, and
 * of the others sums for each depth, with the longest of them: drawn on pixels as long as that or
 * longer, no call that is longer than a pixel is missed.
 */
#ifndef WEFT_STORE_LOD_H
#define WEFT_STORE_LOD_H

#include "base/cursor.h"
#include "base/error.h"
#include "store/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_LOD_CELL_ROWS = 1024, /* the writer's default: rows of a cell at most */
    WEFT_LOD_GROUP_CELLS = 8,  /* cells of a group */
    WEFT_LOD_SIXTEENTHS = 16,  /* where calls of a depth lie is known to a sixteenth of the unit */
};

struct weft_lod_call {
    uint64_t start_ns, end_ns;
    uint32_t function; /* writing: index in the dictionary, or key; reading: id */
    int32_t depth;     /* writing and in the file: level (block.h); reading: depth */
};

/* The calls of one depth that do not stand alone. */
struct weft_lod_sum {
    uint64_t count;
    uint64_t covered_ns; /* their durations together */
    uint64_t longest_ns;
    uint32_t function; /* the one with most of covered_ns; of equal ones that of the lower key */
    uint32_t longest_function;
    int32_t depth;
    uint8_t first,
        end; /* sixteenths of the unit in which they lie: from `first` on, before `end` */
};

struct weft_lod_unit {
    uint64_t start_ns;   /* of its first call */
    uint64_t end_ns;     /* of the part of it in which the short calls lie */
    uint64_t longest_ns; /* of the short calls */
    uint32_t n_rows;     /* cells; else 0 */
    uint32_t first_call, n_calls;
    uint32_t first_sum, n_sums;
};

/* Units with their calls, in order of start, and their sums, in order of depth. */
struct weft_lod_units {
    struct {
        struct weft_lod_unit *items;
        size_t n, cap;
    } units;
    struct {
        struct weft_lod_call *items;
        size_t n, cap;
    } calls;
    struct {
        struct weft_lod_sum *items;
        size_t n, cap;
    } sums;
};

/* Length of a sixteenth of a unit. */
static inline uint64_t weft_lod_step_ns(uint64_t start_ns, uint64_t end_ns)
{
    return (end_ns - start_ns) / WEFT_LOD_SIXTEENTHS + 1;
}

void weft_lod_units_reset(struct weft_lod_units *units);
void weft_lod_units_fini(struct weft_lod_units *units);

/* What a unit is made of in a file, in this order. Units of a block have a column for each; those
 * of blocks and groups of blocks have all of them in one string of bytes. */
enum weft_lod_stream {
    WEFT_LOD_COUNTS, /* calls, sums, length */
    WEFT_LOD_CALLS,  /* per call: ends before it, depth, function */
    WEFT_LOD_TIMES,  /* of entries and exits */
    WEFT_LOD_SUMS,   /* per sum: depth, functions */
    WEFT_LOD_NUMBERS,
    WEFT_LOD_COVERED,
    WEFT_LOD_LONGEST,
    WEFT_LOD_PLACES,
    WEFT_LOD_STREAMS,
};

/* Appends unit `index` to the streams, which may be one and the same. Failures are sticky there. */
void weft_lod_put(const struct weft_lod_units *units, size_t index,
                  struct weft_bytes *const streams[WEFT_LOD_STREAMS]);

/* What numbers in a file are checked against and translated by. */
struct weft_lod_names {
    uint32_t (*function_of)(const void *context, uint64_t number); /* WEFT_ID_NONE: there is none */
    const void *context;
    uint64_t last_ns;   /* no call ends later */
    uint32_t cut_calls; /* level 0 has this depth */
    uint32_t max_depth;
};

/* Reads a unit that starts at start_ns and adds it to `units`. WEFT_E_MALFORMED, WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_lod_take(struct weft_cursor *const streams[WEFT_LOD_STREAMS],
                                          const struct weft_lod_names *names, uint64_t start_ns,
                                          struct weft_lod_units *units, struct weft_err *err);

#endif
