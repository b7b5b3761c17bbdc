/* SPDX-License-Identifier: MIT
 *
 * Two paths to the same result: numbers of at most 18 digits and a point, which nearly all are, in
 * one pass over the text; all others (exponents, signs, any length) digit by digit. Integers only;
 * what does not fit into int64 nanoseconds is refused. The text importers (chrome, csv, ftrace)
 * call it for each time.
 */
#include "base/decimal.h"

/* Digits below the ns that are kept, and digits of a whole number that surely fit. */
enum { FRACTION_DIGITS = 9, SAFE_DIGITS = 18, MOST_EXPONENT = 400 };

static const uint64_t powers_of_ten[SAFE_DIGITS + 1] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
};

/* The number as digits without a point, and where the point stands among them. */
struct digits {
    const char *whole, *decimals;
    size_t n_whole, n_decimals;
    int exponent;
    bool is_negative;
};

static size_t count_digits(const char *at, const char *end)
{
    const char *begin = at;
    while (at < end && (unsigned)(*at - '0') <= 9)
        at++;
    return (size_t)(at - begin);
}

/* "e+12" at the end of a number. */
static bool split_exponent(const char *at, const char *end, int *exponent)
{
    if (at == end)
        return true;
    if (*at != 'e' && *at != 'E')
        return false;
    at++;
    bool is_negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    size_t n_digits = count_digits(at, end);
    if (n_digits == 0 || at + n_digits != end)
        return false;
    int sum = 0;
    for (; at < end; at++)
        sum = sum < MOST_EXPONENT ? sum * 10 + (*at - '0') : sum;
    *exponent = is_negative ? -sum : sum;
    return true;
}

static bool split(const char *text, size_t n_bytes, struct digits *parts)
{
    const char *at = text;
    const char *end = text + n_bytes;
    *parts = (struct digits){ 0 };
    parts->is_negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    parts->whole = at;
    parts->n_whole = count_digits(at, end);
    at += parts->n_whole;
    parts->decimals = at;
    if (at < end && *at == '.') {
        parts->decimals = ++at;
        parts->n_decimals = count_digits(at, end);
        at += parts->n_decimals;
    }
    return parts->n_whole + parts->n_decimals > 0 && split_exponent(at, end, &parts->exponent);
}

static unsigned digit_at(const struct digits *parts, size_t place)
{
    if (place < parts->n_whole)
        return (unsigned)(parts->whole[place] - '0');
    place -= parts->n_whole;
    return place < parts->n_decimals ? (unsigned)(parts->decimals[place] - '0') : 0;
}

static bool finish(bool is_negative, uint64_t ns, uint64_t fraction, struct weft_decimal_ns *time)
{
    if (ns > (uint64_t)WEFT_DECIMAL_MOST_NS)
        return false;
    time->ns = (int64_t)ns;
    time->fraction = (uint32_t)fraction;
    if (is_negative) {
        time->ns = -time->ns - (fraction != 0);
        time->fraction = fraction ? (uint32_t)(1000000000 - fraction) : 0;
    }
    return true;
}

/* Digit by digit: any length, any exponent. */
static bool parse_slowly(const struct digits *parts, int shift, struct weft_decimal_ns *time)
{
    int64_t n_whole = (int64_t)parts->n_whole + parts->exponent + shift; /* digits of whole ns */
    uint64_t ns = 0;
    uint64_t fraction = 0;
    int64_t n_all = (int64_t)(parts->n_whole + parts->n_decimals);
    for (int64_t place = 0; place < n_whole; place++) {
        if (place >= n_all && ns == 0)
            break;
        if (__builtin_mul_overflow(ns, 10, &ns) ||
            __builtin_add_overflow(ns, digit_at(parts, (size_t)place), &ns))
            return false;
    }
    for (int64_t place = n_whole; place < n_whole + FRACTION_DIGITS; place++)
        fraction = fraction * 10 + (place >= 0 ? digit_at(parts, (size_t)place) : 0);
    return finish(parts->is_negative, ns, fraction, time);
}

static uint64_t parse_digits(const char *at, size_t n_digits)
{
    uint64_t sum = 0;
    for (const char *end = at + n_digits; at < end; at++)
        sum = sum * 10 + (uint64_t)(*at - '0');
    return sum;
}

/* Digits, a point, digits, as nearly all times are: the number without the point is below 10^18. */
static bool parse_plainly(const char *text, size_t n_bytes, size_t n_shift,
                          struct weft_decimal_ns *time)
{
    uint64_t sum = 0;
    unsigned digit;
    if (n_bytes > SAFE_DIGITS)
        return false;
    size_t k = 0;
    for (; k < n_bytes && (digit = (unsigned)(text[k] - '0')) <= 9; k++)
        sum = sum * 10 + digit;
    size_t point = k;
    if (k < n_bytes && text[k] == '.')
        for (k++; k < n_bytes && (digit = (unsigned)(text[k] - '0')) <= 9; k++)
            sum = sum * 10 + digit;
    if (k < n_bytes)
        return false;
    size_t n_decimals = point < n_bytes ? n_bytes - point - 1 : 0;
    if (n_decimals <= n_shift) {
        uint64_t scale = powers_of_ten[n_shift - n_decimals];
        return n_bytes > 1 - (point == n_bytes) && n_bytes + n_shift <= SAFE_DIGITS &&
               finish(false, sum * scale, 0, time);
    }
    size_t n_below = n_decimals - n_shift;
    if (n_below > FRACTION_DIGITS)
        return false;
    uint64_t below = powers_of_ten[n_below];
    return finish(false, sum / below, sum % below * powers_of_ten[FRACTION_DIGITS - n_below], time);
}

bool weft_decimal_parse(const char *text, size_t n_bytes, enum weft_decimal_unit unit,
                        struct weft_decimal_ns *time)
{
    struct digits parts;
    size_t n_shift = (size_t)unit;
    if (n_bytes == 0)
        return false;
    if (parse_plainly(text, n_bytes, n_shift, time))
        return true;
    if (!split(text, n_bytes, &parts))
        return false;
    size_t n_kept = n_shift + FRACTION_DIGITS;
    if (parts.exponent || parts.n_whole + n_shift > SAFE_DIGITS || parts.n_decimals > n_kept ||
        parts.n_decimals > SAFE_DIGITS)
        return parse_slowly(&parts, (int)unit, time);
    uint64_t ns = parse_digits(parts.whole, parts.n_whole) * powers_of_ten[n_shift];
    uint64_t decimals = parse_digits(parts.decimals, parts.n_decimals);
    if (parts.n_decimals <= n_shift)
        return finish(parts.is_negative, ns + decimals * powers_of_ten[n_shift - parts.n_decimals],
                      0, time);
    uint64_t below = powers_of_ten[parts.n_decimals - n_shift];
    uint64_t scale = powers_of_ten[FRACTION_DIGITS + n_shift - parts.n_decimals];
    return finish(parts.is_negative, ns + decimals / below, decimals % below * scale, time);
}
