/* SPDX-License-Identifier: MIT
 *
 * Tapes: what mining learns of the calls of a partition, by row, two bytes each, so that what comes
 * later need not mine again, nor decode to see durations.
 *
 *     row              0    1    2      3    4
 *     shape            7    7    none   12   7       numbers of the worker that mined
 *     duration_ns     120  131   88    long  119
 *     long_ns         70120                          one for each "long", in order of rows
 */
#ifndef WEFT_ANALYSIS_SHAPE_TAPE_H
#define WEFT_ANALYSIS_SHAPE_TAPE_H

#include "base/error.h"
#include "store/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_shape_tape {
    uint64_t first_row; /* of the thread; that of the first block put on it */
    uint64_t n_rows, cap_rows;
    uint16_t *shape;       /* or WEFT_TAPE_NONE; NULL: there is no tape */
    uint16_t *duration_ns; /* or WEFT_TAPE_LONG, of every row; NULL: not kept */
    uint64_t *long_ns;
    size_t n_long, cap_long;
};

enum {
    WEFT_TAPE_NONE = UINT16_MAX,
    WEFT_TAPE_LONG = UINT16_MAX,
    WEFT_TAPE_MAX_SHAPES = UINT16_MAX, /* a tape of a worker that knows more is of no use */
    WEFT_TAPE_ROW_BYTES = 2,           /* of shapes alone */
    WEFT_TAPE_FULL_ROW_BYTES = 6,      /* with durations, at most */
};

/* Room for `cap_rows` rows. False without memory. */
WEFT_CHECKED bool weft_shape_tape_init(struct weft_shape_tape *tape, uint64_t cap_rows,
                                       bool has_durations);
void weft_shape_tape_fini(struct weft_shape_tape *tape);

/* Forgets the durations. */
void weft_shape_tape_drop_durations(struct weft_shape_tape *tape);

/* Appends the rows of a block, the first or that after the last one, with their durations and no
 * shapes. Where a quarter of the calls are long, the durations are forgotten: they would not be
 * small. WEFT_E_NOMEM, WEFT_E_MALFORMED if there are more rows than was said. */
WEFT_CHECKED enum weft_code weft_shape_tape_block(struct weft_shape_tape *tape,
                                                  const struct weft_calls *calls,
                                                  struct weft_err *err);

#endif
