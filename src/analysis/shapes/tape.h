/* SPDX-License-Identifier: MIT
 *
 * Tapes: what mining learns of the calls of a partition, by row, two bytes each (three for shapes
 * where there are more than 65,535), so that what comes later need not mine again, nor decode to
 * see durations.
 *
 *     row              0    1    2      3    4
 *     shape            7    7    none   12   7       numbers of the worker that mined
 *     duration_ns     120  131   88    long  119
 *     long_ns         70120                          one for each "long", in order of rows
 */
#ifndef WEFT_ANALYSIS_SHAPES_TAPE_H
#define WEFT_ANALYSIS_SHAPES_TAPE_H

#include "base/error.h"
#include "store/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_shape_tape {
    uint64_t first_row; /* of the thread; that of the first block put on it */
    uint64_t n_rows, cap_rows;
    uint16_t *shape;       /* its lower bits, all set for none; NULL: there is no tape */
    uint8_t *shape_high;   /* the others, all set for none; NULL: those of all are 0 */
    uint16_t *duration_ns; /* or WEFT_TAPE_LONG, of every row; NULL: not kept */
    uint64_t *long_ns;
    size_t n_long, cap_long;
};

#define WEFT_TAPE_NONE UINT32_MAX
enum {
    WEFT_TAPE_LONG = UINT16_MAX,
    WEFT_TAPE_NARROW_SHAPES = UINT16_MAX, /* as many need no higher bits */
    WEFT_TAPE_MAX_SHAPES = 0xffffff,      /* a tape of a worker that has more is of no use */
    WEFT_TAPE_ROW_BYTES = 3,              /* of shapes alone, at most */
    WEFT_TAPE_FULL_ROW_BYTES = 6,         /* with durations, at most */
};

/* The shape of the tape's row `i`, or WEFT_TAPE_NONE. */
static inline uint32_t weft_shape_tape_get(const struct weft_shape_tape *tape, uint64_t i)
{
    const uint32_t low = tape->shape[i];
    if (__builtin_expect(!tape->shape_high, 1))
        return low == UINT16_MAX ? WEFT_TAPE_NONE : low;
    const uint32_t shape = low | (uint32_t)tape->shape_high[i] << 16;
    return shape == WEFT_TAPE_MAX_SHAPES ? WEFT_TAPE_NONE : shape;
}

/* Shapes beyond WEFT_TAPE_NARROW_SHAPES need weft_shape_tape_widen before. */
static inline void weft_shape_tape_put(struct weft_shape_tape *tape, uint64_t i, uint32_t shape)
{
    tape->shape[i] = (uint16_t)shape;
    if (__builtin_expect(tape->shape_high != NULL, 0))
        tape->shape_high[i] = (uint8_t)(shape >> 16);
}

/* Room for `cap_rows` rows. False without memory. */
WEFT_CHECKED bool weft_shape_tape_init(struct weft_shape_tape *tape, uint64_t cap_rows,
                                       bool has_durations);
void weft_shape_tape_fini(struct weft_shape_tape *tape);

/* Makes room for the higher bits of shapes; again: does nothing. False without memory. */
WEFT_CHECKED bool weft_shape_tape_widen(struct weft_shape_tape *tape);

/* Forgets the durations. */
void weft_shape_tape_drop_durations(struct weft_shape_tape *tape);

/* Appends the rows of a block, the first or that after the last one, with their durations and no
 * shapes. Where an eighth of the calls are long, the durations are forgotten: they would not be
 * small. WEFT_E_NOMEM, WEFT_E_MALFORMED if there are more rows than was said. */
WEFT_CHECKED enum weft_code weft_shape_tape_block(struct weft_shape_tape *tape,
                                                  const struct weft_calls *calls,
                                                  struct weft_err *err);

#endif
