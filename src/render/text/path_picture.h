/* SPDX-License-Identifier: MIT
 *
 * A critical path as a picture of characters: threads below each other, time to the right, arrows
 * from thread to thread.
 */
#ifndef WEFT_RENDER_TEXT_PATH_PICTURE_H
#define WEFT_RENDER_TEXT_PATH_PICTURE_H

#include "model/trace.h"
#include "render/output.h"
#include "schema/path.h"

#define WEFT_PATH_LEGEND                                                                           \
    "= runs, # in the kernel, ! interrupted, - preempted, . blocked (t timer, n network, d "       \
    "device, "                                                                                     \
    "l lock), ? unknown\n"

/* Prints it, `width` columns wide without the threads' names; threads beyond the first 16 are
 * counted below. False without memory. */
bool weft_path_picture(const struct weft_path_table *table, const struct weft_trace *trace,
                       uint32_t width, struct weft_output *out);

#endif
