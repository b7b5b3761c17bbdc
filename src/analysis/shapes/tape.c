/* SPDX-License-Identifier: MIT
 *
 * Keeps shapes and durations by row.
 */
#include "analysis/shapes/tape.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool weft_shape_tape_init(struct weft_shape_tape *tape, uint64_t cap_rows, bool has_durations)
{
    *tape = (struct weft_shape_tape){ .cap_rows = cap_rows };
    if (cap_rows >= SIZE_MAX / sizeof *tape->shape)
        return false;
    tape->shape = malloc(((size_t)cap_rows + 1) * sizeof *tape->shape);
    if (has_durations)
        tape->duration_ns = malloc(((size_t)cap_rows + 1) * sizeof *tape->duration_ns);
    return tape->shape && (tape->duration_ns || !has_durations);
}

bool weft_shape_tape_widen(struct weft_shape_tape *tape)
{
    if (!tape->shape || tape->shape_high)
        return true;
    uint8_t *high = malloc((size_t)tape->cap_rows + 1);
    if (!high)
        return false;
    for (uint64_t i = 0; i < tape->n_rows; i++)
        high[i] = tape->shape[i] == UINT16_MAX ? UINT8_MAX : 0;
    tape->shape_high = high;
    return true;
}

void weft_shape_tape_drop_durations(struct weft_shape_tape *tape)
{
    free(tape->duration_ns);
    free(tape->long_ns);
    tape->duration_ns = NULL;
    tape->long_ns = NULL;
    tape->n_long = tape->cap_long = 0;
}

void weft_shape_tape_fini(struct weft_shape_tape *tape)
{
    weft_shape_tape_drop_durations(tape);
    free(tape->shape);
    free(tape->shape_high);
    *tape = (struct weft_shape_tape){ 0 };
}

/* False without memory. */
static bool put_durations(struct weft_shape_tape *tape, const struct weft_calls *calls)
{
    uint16_t *at = tape->duration_ns + tape->n_rows;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint64_t duration_ns = calls->end_ns[i] - calls->start_ns[i];
        at[i] = (uint16_t)duration_ns;
        if (__builtin_expect(duration_ns < WEFT_TAPE_LONG, 1))
            continue;
        at[i] = WEFT_TAPE_LONG;
        if (!weft_vec_reserve(&tape->long_ns, &tape->cap_long, tape->n_long + 1,
                              sizeof *tape->long_ns))
            return false;
        tape->long_ns[tape->n_long++] = duration_ns;
    }
    return true;
}

enum weft_code weft_shape_tape_block(struct weft_shape_tape *tape, const struct weft_calls *calls,
                                     struct weft_err *err)
{
    enum { FEW_LONG = 4096 };
    if (calls->n_rows == 0)
        return WEFT_OK;
    if (tape->n_rows == 0)
        tape->first_row = calls->first_row;
    if (calls->first_row != tape->first_row + tape->n_rows ||
        calls->n_rows > tape->cap_rows - tape->n_rows)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected at most %" PRIu64 " rows, found more", tape->cap_rows);
    memset(tape->shape + tape->n_rows, 0xff, calls->n_rows * sizeof *tape->shape);
    if (tape->shape_high)
        memset(tape->shape_high + tape->n_rows, 0xff, calls->n_rows);
    if (tape->duration_ns && !put_durations(tape, calls))
        return weft_no_memory(err, "durations");
    tape->n_rows += calls->n_rows;
    if (tape->n_long > FEW_LONG && tape->n_long > tape->n_rows / 8)
        weft_shape_tape_drop_durations(tape);
    return WEFT_OK;
}
