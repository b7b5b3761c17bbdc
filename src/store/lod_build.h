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

/* Zeroed: empty. Pairs by (level, function); the first is unused. */
struct weft_lod_table {
    struct {
        struct weft_lod_pair *items;
        size_t n, cap;
    } pairs;
    uint32_t *slots; /* index in pairs; 0: free */
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

/* What the loop over rows keeps in registers; the pointers are those of the walk's arrays. */
struct weft_lod_hot {
    uint64_t now_ns, cell_start_ns;
    uint64_t slow_ns;    /* a cell that has lasted longer ends at the next of its checks */
    uint64_t silence_ns; /* a longer one ends it at once */
    struct weft_lod_frame *frames;
    struct weft_lod_pair *pairs;
    uint32_t *slots;
    uint32_t mask;               /* slots - 1 */
    uint32_t n_rows;             /* so far */
    uint32_t cell_row, cell_end; /* of the cell in work: first, and the one at which it ends or is
                                    looked at; 0: it ends at the next row */
    uint32_t cut_rows;           /* of a cell at least, if a silence ends it or it is slow */
    int32_t n_cut;               /* cut frames ended so far: level = depth - n_cut */
};

struct weft_lod_walk {
    struct {
        struct weft_lod_frame *items; /* calls open, outermost first */
        size_t n, cap;
    } frames;
    struct weft_lod_table table; /* of the cell in work */
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
    struct weft_lod_hot hot;
    uint32_t cell_rows; /* of a cell at most */
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

/* Use the two below: these work on walk->hot. */
void weft_lod_cell_check(struct weft_lod_walk *walk);
void weft_lod_candidate(struct weft_lod_walk *walk, uint32_t depth);
void weft_lod_pair_add(struct weft_lod_walk *walk, uint32_t depth);

static inline uint32_t weft_lod_hash(int32_t level, uint32_t function)
{
    return (function * UINT32_C(0x9e3779b1) + (uint32_t)level * UINT32_C(0x85ebca6b)) >> 12;
}

/* Nothing happened for so long: does the cell end here? If it has been shorter than that, what
 * lies in it would look thinly spread. */
static inline void weft_lod_silence(struct weft_lod_hot *hot, uint64_t silence_ns)
{
    const uint64_t lasted_ns = hot->now_ns - hot->cell_start_ns;
    const uint64_t limit_ns = lasted_ns < hot->silence_ns ? lasted_ns : hot->silence_ns;
    if (__builtin_expect(silence_ns > limit_ns, 0) &&
        (silence_ns > hot->silence_ns || hot->n_rows >= hot->cell_row + hot->cut_rows))
        hot->cell_end = 0;
}

/* A row of the block: a call of `function` begins `gap_ns` after the event before; `depth` calls
 * are open. */
static inline void weft_lod_enter(struct weft_lod_walk *walk, struct weft_lod_hot *hot,
                                  size_t depth, uint64_t gap_ns, uint32_t function)
{
    weft_lod_silence(hot, gap_ns);
    hot->now_ns += gap_ns;
    if (__builtin_expect(hot->n_rows >= hot->cell_end, 0)) {
        walk->hot = *hot;
        weft_lod_cell_check(walk);
        *hot = walk->hot;
    }
    hot->frames[depth] = (struct weft_lod_frame){ hot->now_ns, hot->n_rows++, function };
}

/* The innermost call ends; `depth` are left. */
static inline void weft_lod_exit(struct weft_lod_walk *walk, struct weft_lod_hot *hot, size_t depth,
                                 uint64_t tail_ns)
{
    weft_lod_silence(hot, tail_ns);
    hot->now_ns += tail_ns;
    const struct weft_lod_frame *frame = &hot->frames[depth];
    const uint64_t duration_ns = hot->now_ns - frame->start_ns;
    const int32_t level = (int32_t)depth - hot->n_cut;
    /* Entered in this cell, not in one before nor in another block. */
    const bool is_here = frame->row - hot->cell_row <= WEFT_FORMAT_MAX_BLOCK_ROWS;
    if (__builtin_expect(!is_here ||
                             duration_ns > (hot->now_ns - hot->cell_start_ns) / WEFT_LOD_CELL_RATIO,
                         0)) {
        walk->hot = *hot;
        weft_lod_candidate(walk, (uint32_t)depth);
        return;
    }
    const uint32_t slot = hot->slots[weft_lod_hash(level, frame->function) & hot->mask];
    struct weft_lod_pair *pair = &hot->pairs[slot]; /* the first one is unused */
    if (__builtin_expect(pair->function != frame->function || pair->level != level, 0)) {
        walk->hot = *hot;
        weft_lod_pair_add(walk, (uint32_t)depth);
        *hot = walk->hot;
        return;
    }
    pair->count++;
    pair->covered_ns += duration_ns;
    pair->longest_ns = duration_ns > pair->longest_ns ? duration_ns : pair->longest_ns;
    pair->last_ns = hot->now_ns;
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
