/* SPDX-License-Identifier: MIT
 *
 * A bitmap with a summary of one bit for each 64-bit word; marking and taking are inline in the
 * header. This file grows and frees it; new words are zeroed, so that growing keeps the set.
 */
#include "base/marks.h"

#include <stdlib.h>
#include <string.h>

bool weft_marks_reserve(struct weft_marks *marks, size_t n)
{
    const size_t n_least = (n + 4095) >> 12, n_old = marks->n_words;
    if (n_least <= n_old)
        return true;
    const size_t n_words = n_least < 2 * n_old ? 2 * n_old : n_least;
    uint64_t *bits = realloc(marks->bits, (n_words << 6) * sizeof *bits);
    if (bits)
        marks->bits = bits;
    uint64_t *words = bits ? realloc(marks->words, n_words * sizeof *words) : NULL;
    if (!words)
        return false;
    marks->words = words;
    memset(marks->bits + (n_old << 6), 0, ((n_words - n_old) << 6) * sizeof *bits);
    memset(marks->words + n_old, 0, (n_words - n_old) * sizeof *words);
    marks->n_words = n_words;
    return true;
}

void weft_marks_fini(struct weft_marks *marks)
{
    free(marks->bits);
    free(marks->words);
    *marks = (struct weft_marks){ 0 };
}
