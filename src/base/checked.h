/* SPDX-License-Identifier: MIT
 *
 * Checked and saturating arithmetic on sizes, counts and times that come from input.
 */
#ifndef WEFT_BASE_CHECKED_H
#define WEFT_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if a * b fits in size_t; the product is then in *out. */
static inline bool weft_mul_fits(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool weft_add_fits(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline uint64_t weft_add_sat_u64(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t weft_sub_sat_u64(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t weft_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t weft_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
