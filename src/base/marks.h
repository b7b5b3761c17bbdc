/* SPDX-License-Identifier: MIT
 *
 * A set of small numbers that are marked in any order and taken in ascending order: each in a few
 * ns, whatever their number. For sets that are filled and emptied again and again.
 */
#ifndef WEFT_BASE_MARKS_H
#define WEFT_BASE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: an empty set without room. */
struct weft_marks {
    uint64_t *bits;  /* a bit for each number */
    uint64_t *words; /* a bit for each of bits that is not 0 */
    size_t n_words;  /* room in words */
    size_t first;    /* no word before this one has a bit */
};

/* Room for numbers below n; false without memory. What is marked stays. */
bool weft_marks_reserve(struct weft_marks *marks, size_t n);
void weft_marks_fini(struct weft_marks *marks);

/* There is room for it. */
static inline void weft_marks_add(struct weft_marks *marks, uint32_t number)
{
    const size_t word = number >> 12;
    marks->bits[number >> 6] |= UINT64_C(1) << (number & 63);
    marks->words[word] |= UINT64_C(1) << (number >> 6 & 63);
    if (word < marks->first)
        marks->first = word;
}

/* Takes the least one out; false: there is none. */
static inline bool weft_marks_take(struct weft_marks *marks, uint32_t *number)
{
    while (marks->first < marks->n_words && marks->words[marks->first] == 0)
        marks->first++;
    if (marks->first >= marks->n_words)
        return false;
    uint64_t *word = &marks->words[marks->first];
    const size_t place = marks->first << 6 | (size_t)__builtin_ctzll(*word);
    uint64_t *bits = &marks->bits[place];
    *number = (uint32_t)(place << 6) | (uint32_t)__builtin_ctzll(*bits);
    *bits &= *bits - 1;
    if (*bits == 0)
        *word &= *word - 1;
    return true;
}

#endif
