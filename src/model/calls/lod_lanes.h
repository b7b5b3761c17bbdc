/* SPDX-License-Identifier: MIT
 *
 * Parts to items: one lane a depth, with the cluster that grows in it. Parts come in order of the
 * starts of their units.
 */
#ifndef WEFT_MODEL_CALLS_LOD_LANES_H
#define WEFT_MODEL_CALLS_LOD_LANES_H

#include "model/calls/lod.h"

/* Calls no longer than a pixel that stand together. */
struct weft_lod_part {
    uint64_t start_ns, end_ns, count, covered_ns, longest_ns;
    uint32_t depth, function_id, longest_function_id;
};

struct weft_lod_vote {
    uint64_t covered_ns;
    uint32_t function_id;
};

struct weft_lod_lane {
    struct weft_lod_item item; /* count 0: none */
    struct {
        struct weft_lod_vote *items;
        size_t n, cap;
    } votes;
};

struct weft_lod_lanes {
    struct {
        struct weft_lod_lane *items;
        size_t n, cap;
    } lanes; /* by depth */
    struct {
        struct weft_lod_item *items;
        size_t n, cap;
    } found, sorted;
    struct {
        size_t *items;
        size_t n, cap;
    } first; /* by depth: place of its first item in `sorted` */
    uint64_t from_ns, span_ns;
    uint64_t step_ns, rest; /* of a column: span / width, and what is left */
    uint64_t width;
    uint64_t column, next_ns, next_rest; /* column reached, where the next begins */
};

void weft_lod_lanes_fini(struct weft_lod_lanes *lanes);

/* Before a query; `n_depths` lanes. False without memory, as all below. */
bool weft_lod_lanes_start(struct weft_lod_lanes *lanes, uint64_t from_ns, uint64_t to_ns,
                          uint32_t width, size_t n_depths);

/* A call longer than a pixel. */
bool weft_lod_lanes_call(struct weft_lod_lanes *lanes, uint64_t start_ns, uint64_t end_ns,
                         uint32_t depth, uint32_t function_id);

/* Adds a part to the cluster of the column in which `unit_ns` lies. */
bool weft_lod_lanes_add(struct weft_lod_lanes *lanes, uint64_t unit_ns,
                        const struct weft_lod_part *part);

/* All items by depth and start; valid until the next start. */
bool weft_lod_lanes_end(struct weft_lod_lanes *lanes, const struct weft_lod_item **items,
                        size_t *n_items);

#endif
