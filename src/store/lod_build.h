/* SPDX-License-Identifier: MIT
 *
 * Makes levels of detail (lod.h) while blocks are written. Two halves: what a worker needs for one
 * block, filled by the walk over its rows (weft_lod_enter, weft_lod_exit) and finished when its
 * dictionary is sorted; and what a thread keeps from block to block, its groups of blocks.
 */
#ifndef WEFT_STORE_LOD_BUILD_H
#define WEFT_STORE_LOD_BUILD_H

#include "store/block.h"
#include "store/lod.h"

/* Calls longer than 1/32 of their cell stand alone, at most 32 and at least the 12 longest; of
 * larger units, those longer than a quarter, at most 64 and at least 16. */
enum { WEFT_LOD_CELL_RATIO = 32 };

/* The short calls of one function at one depth of a unit. */
struct weft_lod_pair {
    uint64_t count, covered_ns, longest_ns;
    uint64_t first_ns, last_ns; /* where they lie */
    uint32_t function;
    int32_t level;
};

/* Zeroed: empty. Pairs by (level, function). */
struct weft_lod_table {
    struct {
        struct weft_lod_pair *items;
        size_t n, cap;
    } pairs;
    uint32_t *slots; /* index in pairs + 1, or 0 */
    size_t n_slots;  /* a power of two */
};

/* A unit that grows. */
struct weft_lod_growing {
    struct weft_lod_table table;
    struct {
        struct weft_lod_call *items;
        size_t n, cap;
    } calls;
    uint64_t *durations; /* for finding the longest */
    size_t cap_durations;
    uint64_t start_ns;
    uint64_t block_bytes; /* groups of blocks: of the blocks in it */
    uint32_t n_members;
    bool is_broken; /* too many calls, or a member is not known */
};

/* ---- one block ------------------------------------------------------------------------------- */

struct weft_lod_frame {
    uint64_t start_ns;
    uint32_t row;      /* WEFT_LOD_CARRIED: entered in an earlier block */
    uint32_t function; /* index in the dictionary by first use */
};
#define WEFT_LOD_CARRIED UINT32_MAX

/* A call that began in an earlier block and ended in this one. */
struct weft_lod_ended {
    uint32_t index; /* in the calls carried */
    int32_t level;
    uint64_t end_ns;
};

/* A cell while rows are walked. */
struct weft_lod_walked {
    uint64_t start_ns;
    size_t first_pair;
    uint32_t first_row;
};

struct weft_lod_walk {
    struct {
        struct weft_lod_frame *items; /* calls open, outermost first */
        size_t n, cap;
    } frames;
    struct weft_lod_table hot; /* of the cell in work */
    struct {
        struct weft_lod_pair *items; /* of the cells before */
        size_t n, cap;
    } pairs;
    struct {
        struct weft_lod_walked *items;
        size_t n, cap;
    } cells;
    struct {
        struct weft_lod_call *items; /* calls that may be long, or that end in a later cell */
        size_t n, cap;
    } candidates;
    uint32_t *candidate_of; /* by row: index + 1, or 0 */
    size_t cap_rows;
    struct {
        struct weft_lod_ended *items;
        size_t n, cap;
    } ended;
    uint64_t now_ns, cell_start_ns;
    uint32_t n_rows;              /* so far */
    uint32_t cell_row, cell_end;  /* of the cell in work: first, and the one that is of the next */
    uint32_t cell_rows, cut_rows; /* of a cell at most; and at least, if a silence ends it */
    int32_t n_cut;                /* cut frames ended so far: level = depth - n_cut */
    bool has_failed;
    struct weft_lod_growing cell, group, block; /* finishing */
    struct weft_lod_units units[2];             /* cells, groups of cells */
    struct weft_lod_units whole;                /* the block, and groups of blocks */
    struct weft_bytes streams[WEFT_LOD_STREAMS];
    struct weft_bytes payload;
};

void weft_lod_walk_fini(struct weft_lod_walk *walk);

/* Before the rows of a block: `n_open` calls are open. False without memory. */
bool weft_lod_walk_start(struct weft_lod_walk *walk, const struct weft_block_head *head,
                         size_t n_open, uint32_t cell_rows);

/* Use the two below. */
void weft_lod_cell_next(struct weft_lod_walk *walk);
void weft_lod_candidate(struct weft_lod_walk *walk, const struct weft_lod_frame *frame,
                        int32_t level);
struct weft_lod_pair *weft_lod_pair_slow(struct weft_lod_table *table, int32_t level,
                                         uint32_t function);

/* The pair, made if it is new; NULL without memory. */
static inline struct weft_lod_pair *weft_lod_pair(struct weft_lod_table *table, int32_t level,
                                                  uint32_t function)
{
    const size_t at =
        (function * UINT32_C(31) + (uint32_t)level * UINT32_C(7)) & (table->n_slots - 1);
    const uint32_t slot = table->n_slots ? table->slots[at] : 0;
    struct weft_lod_pair *pair = slot ? &table->pairs.items[slot - 1] : NULL;
    return pair && pair->function == function && pair->level == level
               ? pair
               : weft_lod_pair_slow(table, level, function);
}

/* Nothing happened for so long: does the cell end here? If it has been shorter than that, what
 * lies in it would look thinly spread. */
static inline void weft_lod_silence(struct weft_lod_walk *walk, uint64_t silence_ns)
{
    if (__builtin_expect(silence_ns > walk->now_ns - walk->cell_start_ns, 0) &&
        walk->n_rows >= walk->cell_row + walk->cut_rows)
        walk->cell_end = walk->n_rows;
}

/* A row of the block: a call of `function` begins `gap_ns` after the event before; `depth` calls
 * are open. */
static inline void weft_lod_enter(struct weft_lod_walk *walk, size_t depth, uint64_t gap_ns,
                                  uint32_t function)
{
    weft_lod_silence(walk, gap_ns);
    walk->now_ns += gap_ns;
    if (__builtin_expect(walk->n_rows >= walk->cell_end, 0))
        weft_lod_cell_next(walk);
    walk->frames.items[depth] = (struct weft_lod_frame){ walk->now_ns, walk->n_rows++, function };
}

/* The innermost call ends; `depth` are left. */
static inline void weft_lod_exit(struct weft_lod_walk *walk, size_t depth, uint64_t tail_ns)
{
    weft_lod_silence(walk, tail_ns);
    const uint64_t now_ns = walk->now_ns += tail_ns;
    const struct weft_lod_frame *frame = &walk->frames.items[depth];
    const uint64_t duration_ns = now_ns - frame->start_ns;
    const int32_t level = (int32_t)depth - walk->n_cut;
    if (__builtin_expect(frame->row < walk->cell_row || frame->row == WEFT_LOD_CARRIED ||
                             duration_ns > (now_ns - walk->cell_start_ns) / WEFT_LOD_CELL_RATIO,
                         0)) {
        weft_lod_candidate(walk, frame, level);
        return;
    }
    struct weft_lod_pair *pair = weft_lod_pair(&walk->hot, level, frame->function);
    if (__builtin_expect(!pair, 0)) {
        walk->has_failed = true;
        return;
    }
    if (pair->count++ == 0)
        pair->first_ns = frame->start_ns;
    pair->covered_ns += duration_ns;
    pair->longest_ns = duration_ns > pair->longest_ns ? duration_ns : pair->longest_ns;
    pair->last_ns = now_ns;
}

/* ---- one thread ------------------------------------------------------------------------------ */

enum { WEFT_LOD_LEVELS = 12 };

struct weft_lod_thread {
    struct {
        struct weft_lod_carried {
            uint64_t start_ns, block;
            uint32_t key;
        } * items; /* calls open at the end of the block before, outermost first */
        size_t n, cap;
    } carried;
    struct weft_lod_growing groups[WEFT_LOD_LEVELS];
    struct weft_bytes entries; /* finished blocks and groups, in the order of being finished */
};

void weft_lod_thread_start(struct weft_lod_thread *thread);
void weft_lod_thread_fini(struct weft_lod_thread *thread);

/* After the walk, before the dictionary is sorted: takes note of the calls that ended, and of those
 * open now. False without memory. */
bool weft_lod_thread_walked(struct weft_lod_thread *thread, struct weft_lod_walk *walk,
                            const struct weft_block_head *head, const uint32_t *keys,
                            size_t n_open);

/* With the sorted dictionary `keys` and the rank in it of each index by first use: makes the units
 * of the block and appends their chunk to `chunk`, which holds the block's, unless they are more
 * than they are worth; adds the block to its groups. False without memory. */
bool weft_lod_block_finish(struct weft_lod_thread *thread, struct weft_lod_walk *walk,
                           const struct weft_block_head *head, const uint16_t *rank,
                           const uint32_t *keys, struct weft_column_encoder *columns,
                           struct weft_bytes *chunk);

/* The most bytes that the units of a block (level 0: the record of the block and of a group) may
 * have. */
static inline uint64_t weft_lod_limit(uint64_t block_bytes, unsigned level)
{
    return block_bytes >> (5 + level);
}

#endif
