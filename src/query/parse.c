/* SPDX-License-Identifier: MIT
 *
 * Decimal numbers are read as mantissa and decimals in 64 bits and scaled in 128, so that no
 * rounding of floating-point enters a time. Units are tables.
 */
#include "query/parse.h"

#include "base/u128.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* A decimal number as written: mantissa / 10^n_decimals, and where it ends. */
struct decimal {
    uint64_t mantissa;
    unsigned n_decimals;
    const char *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits with at most one point; false without a digit or when 64 bits do not hold it. */
static bool read_decimal(const char *text, struct decimal *out)
{
    bool has_point = false;
    size_t n_digits = 0;
    *out = (struct decimal){ .end = text };
    for (;; out->end++) {
        if (*out->end == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (!is_digit(*out->end))
            return n_digits > 0;
        uint64_t digit = (uint64_t)(*out->end - '0');
        if (__builtin_mul_overflow(out->mantissa, UINT64_C(10), &out->mantissa) ||
            __builtin_add_overflow(out->mantissa, digit, &out->mantissa))
            return false;
        out->n_decimals += has_point;
        n_digits++;
    }
}

/* mantissa / 10^n_decimals * unit, rounded to nearest; false when 64 bits do not hold it. */
static bool scale_decimal(const struct decimal *number, uint64_t unit, uint64_t *out)
{
    weft_u128 value = (weft_u128)number->mantissa * unit;
    weft_u128 divisor = 1;
    for (unsigned i = 0; i < number->n_decimals; i++)
        divisor *= 10;
    value = (value + divisor / 2) / divisor;
    *out = (uint64_t)value;
    return value <= UINT64_MAX;
}

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit *find_unit(const struct unit *units, size_t n_units, const char *name)
{
    for (size_t i = 0; i < n_units; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

static const struct unit time_units[] = {
    { "ns", 1 },
    { "us", 1000 },
    { "\xc2\xb5s", 1000 },
    { "\xce\xbcs", 1000 },
    { "ms", 1000000 },
    { "s", 1000000000 },
    { "min", UINT64_C(60000000000) },
    { "h", UINT64_C(3600000000000) },
};

static const struct unit byte_units[] = {
    { "", 1 },
    { "k", 1 << 10 },
    { "K", 1 << 10 },
    { "KiB", 1 << 10 },
    { "M", 1 << 20 },
    { "MiB", 1 << 20 },
    { "G", 1 << 30 },
    { "GiB", 1 << 30 },
    { "T", UINT64_C(1) << 40 },
    { "TiB", UINT64_C(1) << 40 },
    { "B", 1 },
    { "kB", 1000 },
    { "MB", 1000000 },
    { "GB", 1000000000 },
};

/* A number followed by a unit of the list. */
static bool read_quantity(const char *text, const struct unit *units, size_t n_units, uint64_t *out)
{
    struct decimal number;
    if (!read_decimal(text, &number))
        return false;
    const struct unit *unit = find_unit(units, n_units, number.end);
    return unit && scale_decimal(&number, unit->factor, out);
}

enum weft_code weft_parse_duration(const char *text, uint64_t *out_ns, struct weft_err *err)
{
    *out_ns = 0;
    if (strcmp(text, "0") == 0)
        return WEFT_OK;
    if (read_quantity(text, time_units, sizeof time_units / sizeof *time_units, out_ns))
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected a duration such as 100ns, 3us, 20ms or 1.5s, found '%.60s'", text);
}

enum weft_code weft_parse_time_point(const char *text, struct weft_time_point *out,
                                     struct weft_err *err)
{
    *out = (struct weft_time_point){ 0 };
    if (text[0] != '@')
        return weft_parse_duration(text, &out->at_ns, err);
    out->is_absolute = true;
    return weft_parse_count(text + 1, 0, UINT64_MAX, &out->at_ns, err);
}

enum weft_code weft_parse_bytes(const char *text, uint64_t *out_bytes, struct weft_err *err)
{
    *out_bytes = 0;
    if (read_quantity(text, byte_units, sizeof byte_units / sizeof *byte_units, out_bytes))
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected a size such as 512M, 2G or 1000000, found '%.60s'", text);
}

/* "13%" or "0.13" within 0..1. */
static bool read_fraction(const char *text, double *out)
{
    struct decimal number;
    if (!read_decimal(text, &number))
        return false;
    bool is_percent = strcmp(number.end, "%") == 0;
    if (!is_percent && *number.end != '\0')
        return false;
    double divisor = is_percent ? 100 : 1;
    for (unsigned i = 0; i < number.n_decimals; i++)
        divisor *= 10;
    *out = (double)number.mantissa / divisor;
    return *out <= 1;
}

enum weft_code weft_parse_fraction(const char *text, double *out, struct weft_err *err)
{
    *out = 0;
    if (read_fraction(text, out))
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected a share from 0 to 1, such as 1%% or 0.01, found '%.60s'", text);
}

enum weft_code weft_parse_threshold(const char *text, struct weft_threshold *out,
                                    struct weft_err *err)
{
    *out = (struct weft_threshold){ 0 };
    if (read_fraction(text, &out->fraction))
        return WEFT_OK;
    out->fraction = 0;
    if (weft_parse_duration(text, &out->absolute_ns, NULL) == WEFT_OK && out->absolute_ns > 0)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected a share of the thread's time such as 1%%, or a duration such as "
                     "5ms, found '%.60s'",
                     text);
}

/* Twice a number that is a multiple of a half. */
static bool read_halves(const char *text, uint64_t *out)
{
    struct decimal number;
    if (!read_decimal(text, &number) || *number.end != '\0')
        return false;
    for (; number.n_decimals > 1 && number.mantissa % 10 == 0; number.n_decimals--)
        number.mantissa /= 10;
    if (number.n_decimals > 1 || (number.n_decimals == 1 && number.mantissa % 5 != 0))
        return false;
    if (number.n_decimals == 1)
        *out = number.mantissa / 5;
    return number.n_decimals == 1 || !__builtin_mul_overflow(number.mantissa, UINT64_C(2), out);
}

enum weft_code weft_parse_halves(const char *text, uint32_t max_halves, uint32_t *out,
                                 struct weft_err *err)
{
    uint64_t halves = 0;
    *out = 0;
    if (read_halves(text, &halves) && halves <= max_halves) {
        *out = (uint32_t)halves;
        return WEFT_OK;
    }
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected a distance from 0 to %" PRIu32
                     " in steps of 0.5, such as 1.5, found '%.60s'",
                     max_halves / 2, text);
}

enum weft_code weft_parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *out,
                                struct weft_err *err)
{
    struct decimal number;
    *out = 0;
    bool is_integer =
        read_decimal(text, &number) && *number.end == '\0' && strchr(text, '.') == NULL;
    if (is_integer && number.mantissa >= min && number.mantissa <= max) {
        *out = number.mantissa;
        return WEFT_OK;
    }
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected a whole number from %" PRIu64 " to %" PRIu64 ", found '%.60s'", min,
                     max, text);
}
