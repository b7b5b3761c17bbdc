/* SPDX-License-Identifier: MIT
 *
 * What would make the next recording better, as notes of the trace say: one line for each.
 */
#include "cli/closing.h"

void weft_closing_advice(const struct weft_note_sums *sums)
{
    for (size_t k = 0; k < sums->n_rows; k++) {
        const struct weft_note_sum *row = &sums->rows[k];
        if (row->kind == WEFT_NOTE_JIT_UNNAMED)
            weft_say("weft: %.*s\n", (int)row->detail.n_bytes, row->detail.bytes);
    }
}
