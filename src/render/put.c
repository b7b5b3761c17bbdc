/* SPDX-License-Identifier: MIT
 *
 * Decimal digits two at a time from a table, in groups of eight whose divisions are independent.
 * The exports use this in place of printf.
 */
#include "render/put.h"

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

static size_t count_digits(uint64_t value)
{
    /* Digits of 2^bits - 1, and the power of ten at which one more is needed. */
    static const uint64_t powers[] = {
        0,
        10,
        100,
        1000,
        10000,
        100000,
        1000000,
        10000000,
        100000000,
        1000000000,
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    unsigned n_bits = 64 - (unsigned)__builtin_clzll(value | 1);
    size_t n_digits = n_bits * 1233 >> 12; /* bits * log10(2): one too few, or right */
    return n_digits + (value >= powers[n_digits]);
}

static void put_pair(char *to, uint32_t value)
{
    memcpy(to, pairs + (size_t)value * 2, 2);
}

/* Eight digits, leading zeros and all: divisions that do not wait for one another. */
static void put_eight(char *to, uint32_t value)
{
    uint32_t high = value / 10000, low = value % 10000;
    put_pair(to, high / 100);
    put_pair(to + 2, high % 100);
    put_pair(to + 4, low / 100);
    put_pair(to + 6, low % 100);
}

/* Writes the digits so that they end at `end`. */
static void put_back(char *end, uint64_t wide)
{
    for (; wide >= 100000000; wide /= 100000000)
        put_eight(end -= 8, (uint32_t)(wide % 100000000));
    uint32_t value = (uint32_t)wide;
    while (value >= 100) {
        put_pair(end -= 2, value % 100);
        value /= 100;
    }
    if (value >= 10)
        put_pair(end - 2, value);
    else
        end[-1] = (char)('0' + value);
}

char *weft_put_u64(char *to, uint64_t value)
{
    char *end = to + count_digits(value);
    put_back(end, value);
    return end;
}

char *weft_put_us(char *to, uint64_t value_ns)
{
    uint32_t rest = (uint32_t)(value_ns % 1000);
    to = weft_put_u64(to, value_ns / 1000);
    *to++ = '.';
    *to++ = (char)('0' + rest / 100);
    put_pair(to, rest % 100);
    return to + 2;
}
