/* SPDX-License-Identifier: MIT
 *
 * The part of a thread that lies in a window, as a scan hands it out (model/calls/scan.h).
 */
#ifndef WEFT_MODEL_CALLS_SCAN_WINDOW_H
#define WEFT_MODEL_CALLS_SCAN_WINDOW_H

#include "model/trace.h"
#include "model/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One worker's; its memory is reused from thread to thread. */
struct weft_scan_part {
    struct weft_window window;
    struct weft_model_thread thread; /* with the numbers of the part */
    uint64_t first_block;            /* of the thread, that is block 0 of the part */
    uint64_t base_row;               /* row of the thread that is the part's first */
    struct {
        struct weft_open_call *items; /* calls open at the window's begin, clipped, by depth */
        size_t n, cap;
    } cut;
    struct {
        struct weft_open_call *items; /* of the block handed out */
        size_t n, cap;
    } open;
    uint64_t *end_ns; /* the block's, clipped */
    uint8_t *flags;
    uint32_t *chain;
    size_t cap_end, cap_flags, cap_chain;
};

void weft_scan_part_fini(struct weft_scan_part *part);

/* Which blocks may hold calls of the window. part->thread.n_blocks is 0 if there are none. */
void weft_scan_part_begin(struct weft_scan_part *part, const struct weft_trace *trace,
                          uint32_t thread_id, const struct weft_window *window);

/* Finds the calls that are open at the window's begin, given the first block. False without
 * memory. */
bool weft_scan_part_open(struct weft_scan_part *part, const struct weft_calls *calls);

/* Leaves out calls of no time inside one that ends as the window begins. Given the first block, and
 * then the next while it returns false: such calls may fill blocks. */
bool weft_scan_part_skip(struct weft_scan_part *part, const struct weft_calls *calls);

/* Clips block `block` of the part, given as stored. False without memory. */
bool weft_scan_part_clip(struct weft_scan_part *part, uint64_t block, struct weft_calls *calls);

#endif
