/* SPDX-License-Identifier: MIT
 *
 * Parts of Shapes' mining that only mining sees: joining what workers and partitions found, and
 * putting it in canonical order.
 */
#ifndef WEFT_ANALYSIS_SHAPES_PARTS_H
#define WEFT_ANALYSIS_SHAPES_PARTS_H

#include "analysis/shapes/mine.h"
#include "model/calls/scan.h"

/* What was found in one partition, in the numbers of its worker. */
struct weft_part_found {
    struct weft_shape_row *rows;
    size_t n_rows;
    struct weft_shape_borders borders;
    struct weft_shape_tally tally;
};

/* How a partition is walked. */
struct weft_part_walk {
    const struct weft_mine_part *part;
    struct weft_shape_borders *borders; /* zeroed, to be filled; NULL: the part's given shapes */
    size_t n_open_end;                  /* calls open at its end, without borders */
    enum weft_code (*take)(void *context, struct weft_err *err); /* after each block; or NULL */
    void *context;
};

/* Shows the calls of a partition that is not empty to the miner; what has ended is shown to `take`
 * after each block and at the end. */
WEFT_CHECKED enum weft_code weft_part_walk(struct weft_scan *scan, struct weft_miner *miner,
                                           const struct weft_part_walk *walk, struct weft_err *err);

/* Partitions without a block are none; but a thread has at least one. */
bool weft_part_is_empty(const struct weft_scan *scan, const struct weft_mine_part *part);

/* Whether no partition after `part` of the thread has blocks. */
bool weft_part_is_last(const struct weft_scan *scan, const struct weft_mine_part *part);

/* The partition as a piece of work for scans. */
struct weft_scan_piece weft_part_piece(const struct weft_trace *trace,
                                       const struct weft_mined *mined, size_t part);

/* A call that got its shape when partitions were joined. */
struct weft_joined_call {
    uint64_t row; /* of its thread */
    uint32_t shape;
    size_t item;
};

struct weft_joined_calls {
    struct weft_joined_call *items;
    size_t n, cap;
};

void weft_part_found_fini(struct weft_part_found *found);

/* Shapes of all workers together; children have lower numbers. */
struct weft_merged {
    struct weft_shape_table table;
    struct weft_shape_repeat *repeats; /* of table.child */
    size_t cap_repeats;
};

void weft_merged_fini(struct weft_merged *merged);

/* Adds a worker's shapes: map[shape of the worker] is its number here; the caller frees it. */
WEFT_CHECKED enum weft_code weft_merge_miner(struct weft_merged *merged,
                                             const struct weft_miner *miner, uint32_t **map,
                                             struct weft_err *err);

/* Joins the partitions of the mined thread in the numbers of `merged`: fills its rows and tally,
 * and `given` of its parts; appends to `joined`. `maps` are by worker, `found` by part. */
WEFT_CHECKED enum weft_code weft_join_parts(struct weft_mined *mined,
                                            struct weft_mined_thread *thread,
                                            const struct weft_part_found *found,
                                            uint32_t *const *maps, struct weft_merged *merged,
                                            struct weft_joined_calls *joined, struct weft_err *err);

/* Moves `merged` to `mined`, renumbered: depth, function name, function id, children. *id_of, in
 * mined->arena, gives the new number of an old one. */
WEFT_CHECKED enum weft_code weft_order_shapes(const struct weft_trace *trace,
                                              const struct weft_merged *merged,
                                              struct weft_mined *mined, const uint32_t **id_of,
                                              struct weft_err *err);

#endif
