/* SPDX-License-Identifier: MIT
 *
 * Times written as decimal numbers ("2019305789.2778" microseconds), exactly: no floating-point
 * number is involved.
 */
#ifndef WEFT_BASE_DECIMAL_H
#define WEFT_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ns + fraction * 1e-9 ns, 0 <= fraction < 1e9. What is smaller is cut off, towards zero. */
struct weft_decimal_ns {
    int64_t ns;
    uint32_t fraction;
};

/* What one unit of the number is: 10^value ns. */
enum weft_decimal_unit {
    WEFT_DECIMAL_NS = 0,
    WEFT_DECIMAL_US = 3,
    WEFT_DECIMAL_MS = 6,
    WEFT_DECIMAL_S = 9,
};

/* Times whose magnitude is greater are refused (73 years). */
#define WEFT_DECIMAL_MOST_NS (INT64_C(1) << 61)

/* All of `text`: an optional sign, digits with an optional point among or around them, an optional
 * exponent. False if it is no such number, or out of range. */
bool weft_decimal_parse(const char *text, size_t n_bytes, enum weft_decimal_unit unit,
                        struct weft_decimal_ns *time);

/* The sum; both within WEFT_DECIMAL_MOST_NS. */
static inline struct weft_decimal_ns weft_decimal_add(struct weft_decimal_ns a,
                                                      struct weft_decimal_ns b)
{
    struct weft_decimal_ns sum = { .ns = a.ns + b.ns, .fraction = a.fraction + b.fraction };
    if (sum.fraction >= 1000000000) {
        sum.fraction -= 1000000000;
        sum.ns++;
    }
    return sum;
}

#endif
