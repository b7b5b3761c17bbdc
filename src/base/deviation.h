/* SPDX-License-Identifier: MIT
 *
 * The standard deviation from sums that can be added in any order: integers, in 128 bits.
 */
#ifndef WEFT_BASE_DEVIATION_H
#define WEFT_BASE_DEVIATION_H

#include "base/u128.h"

#include <math.h>
#include <stdint.h>

/* Of all `count` values (not of a sample): sqrt(sum of (value - mean)^2 / count). With m = sum div
 * count and r = sum mod count, the sum of (value - m)^2 is sum_squares - m (sum + r), a whole
 * number that nothing is lost of; the mean is r / count farther. 0 for less than two values. Sums
 * that have wrapped give some number that is not negative. */
static inline double weft_deviation(uint64_t count, uint64_t sum, weft_u128 sum_squares)
{
    if (count < 2)
        return 0;
    const uint64_t m = sum / count, r = sum % count;
    const weft_u128 squares = sum_squares - (weft_u128)m * ((weft_u128)sum + r);
    const double variance =
        ((double)squares - (double)r * ((double)r / (double)count)) / (double)count;
    return variance > 0 ? sqrt(variance) : 0;
}

#endif
