/* SPDX-License-Identifier: MIT
 *
 * A thread's calls in an interval as so many pixels can show them (docs/analyses/lod.md).
 *
 * The interval [from_ns, to_ns) has `width` columns; column c begins at
 * from_ns + floor(c * (to_ns - from_ns) / width). A pixel is floor((to_ns - from_ns) / width) ns
 * long. Every call that is longer than a pixel and has a part in the interval is an item of its
 * own. Shorter ones are merged: an item of several calls (a cluster) holds calls of one depth whose
 * parts begin in the same column. A part is a call, where calls are decoded, or a unit of the
 * file's levels of detail (store/lod.h), which is at most WEFT_LOD_MAX_PIXELS pixels long. So no
 * depth has more than 2 * width + 2 items.
 */
#ifndef WEFT_MODEL_CALLS_LOD_H
#define WEFT_MODEL_CALLS_LOD_H

#include "model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_LOD_MAX_PIXELS = 32, WEFT_LOD_MAX_WIDTH = 1 << 16 };

struct weft_lod_item {
    uint64_t start_ns, end_ns; /* a call: its own; a cluster: its calls begin from start_ns on, not
                                  after end_ns, and no other short call of the depth begins between
                                  them. Either may reach beyond the interval */
    uint64_t count;
    uint64_t covered_ns; /* durations together */
    uint64_t longest_ns; /* of one call */
    uint32_t depth;
    uint32_t function_id; /* of the call; of a cluster: the one with most of covered_ns, each part
                             counting for the function with most of it; of equal ones the lowest */
    uint32_t longest_function_id;
    uint32_t column; /* in which the item begins; 0 if it does before */
    bool is_cluster; /* its calls are no longer than a pixel */
};

/* How an answer was found. */
struct weft_lod_parts {
    uint64_t calls, cells, cell_groups, blocks, block_groups;
    uint64_t loaded; /* times that the calls of a block were needed, and not in the reader's memory
                        by cell: the one number that depends on the queries before */
};

/* Valid until the next query of the same reader. */
struct weft_lod {
    const struct weft_lod_item *items; /* by depth, then in order of start */
    size_t n_items;
    uint64_t pixel_ns;
    uint64_t n_unknown; /* blocks that had to be decoded because the file lacks their levels of
                           detail: it is of an older version, or was recovered */
    struct weft_lod_parts parts;
};

/* Memory of one worker: the answer, a few decoded blocks, and cells of many, up to 64 MiB. What is
 * in it makes answers faster, never different. */
struct weft_lod_reader;

struct weft_lod_reader *weft_lod_reader_new(const struct weft_trace *trace);
void weft_lod_reader_free(struct weft_lod_reader *reader);

/* The calls of `thread_id` in [from_ns, to_ns) on `width` columns, 1 to WEFT_LOD_MAX_WIDTH
 * (WEFT_E_ARG). O(log n + items) for a thread of n calls whose levels of detail are known. Fails as
 * loading a block does. */
WEFT_CHECKED enum weft_code weft_lod(struct weft_lod_reader *reader, uint32_t thread_id,
                                     uint64_t from_ns, uint64_t to_ns, uint32_t width,
                                     struct weft_lod *lod, struct weft_err *err);

/* A thread's items within those of several threads. */
struct weft_lod_span {
    uint32_t thread_id;
    uint64_t first_item, n_items;
};

#endif
