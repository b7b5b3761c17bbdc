/* SPDX-License-Identifier: MIT
 *
 * Parts of Shapes' mining that only mining sees: joining what workers and partitions found, and
 * putting it in canonical order.
 */
#ifndef WEFT_ANALYSIS_SHAPE_PARTS_H
#define WEFT_ANALYSIS_SHAPE_PARTS_H

#include "analysis/shape_mine.h"

/* What was found in one partition, in the numbers of its worker. */
struct weft_part_found {
    struct weft_shape_row *rows;
    size_t n_rows;
    struct weft_shape_borders borders;
    struct weft_shape_tally tally;
    unsigned worker;
};

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

/* Adds a set with counts of one call, sorted; WEFT_SHAPE_NONE without memory. */
uint32_t weft_merge_call(struct weft_merged *merged, uint32_t function_id, const uint32_t *children,
                         const uint64_t *counts, size_t n_children);

/* Counts one call, or adds another row, to a row. */
void weft_shape_row_count(struct weft_shape_row *row, uint64_t start_ns, uint64_t end_ns);
void weft_shape_row_add(struct weft_shape_row *row, const struct weft_shape_row *from);

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
