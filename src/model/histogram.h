/* SPDX-License-Identifier: MIT
 *
 * A log-linear histogram of u64: 128 slots for every power of two, so that a slot is at most
 * 1/128 of its values wide, and values below 256 have slots of their own. The 128 slots of one
 * power are a page.
 *
 *     page 0: 0..127, width 1    page p >= 1: 2^(p+6) .. 2^(p+7) - 1, width 2^(p-1)
 */
#ifndef WEFT_MODEL_HISTOGRAM_H
#define WEFT_MODEL_HISTOGRAM_H

#include <stdint.h>

enum { WEFT_HIST_SLOTS = 128, WEFT_HIST_PAGES = 58 };

static inline uint32_t weft_hist_page(uint64_t value)
{
    return value < WEFT_HIST_SLOTS ? 0 : 57U - (uint32_t)__builtin_clzll(value);
}

static inline uint32_t weft_hist_slot(uint64_t value, uint32_t page)
{
    return (uint32_t)(value >> (page ? page - 1 : 0)) & (WEFT_HIST_SLOTS - 1);
}

/* Least value of a slot, and how many values it stands for. */
static inline uint64_t weft_hist_floor(uint32_t page, uint32_t slot)
{
    return page ? (uint64_t)(WEFT_HIST_SLOTS + slot) << (page - 1) : slot;
}

static inline uint64_t weft_hist_width(uint32_t page)
{
    return UINT64_C(1) << (page ? page - 1 : 0);
}

/* Coarser, for drawing: 8 bins for every power of two, so that a bin is at most 1/8 of its values
 * wide; values below 16 have bins of their own. */
enum { WEFT_BINS = 16 + 60 * 8 };

static inline uint32_t weft_bin_of(uint64_t value)
{
    if (value < 16)
        return (uint32_t)value;
    const uint32_t power = 63U - (uint32_t)__builtin_clzll(value);
    return 16 + (power - 4) * 8 + (uint32_t)(value >> (power - 3) & 7);
}

/* Least value of a bin; the bin ends where the next begins. */
static inline uint64_t weft_bin_floor(uint32_t bin)
{
    if (bin < 16)
        return bin;
    const uint32_t power = (bin - 16) / 8 + 4;
    return (uint64_t)(8 + (bin - 16) % 8) << (power - 3);
}

/* Nearest rank, from 1, of the quantile `per_mille` among n > 0 values: ceil(n * per_mille / 1000).
 */
static inline uint64_t weft_nearest_rank(uint64_t n, uint32_t per_mille)
{
    return n / 1000 * per_mille + (n % 1000 * per_mille + 999) / 1000;
}

#endif
