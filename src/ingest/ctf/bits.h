/* SPDX-License-Identifier: MIT
 *
 * Integers of any size at any bit. Bits are numbered from the start of the packet:
 *
 *     little   bit b lies in byte b / 8 at weight 1 << b % 8; the first bit is the lowest
 *     big      bit b lies in byte b / 8 at weight 128 >> b % 8; the first bit is the highest
 *
 * (CTF 1.8.3, 4.1.5.) The caller has checked that bits [at, at + n_bits) are there.
 */
#ifndef WEFT_INGEST_CTF_BITS_H
#define WEFT_INGEST_CTF_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t ctf_mask(unsigned n_bits)
{
    return n_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << n_bits) - 1;
}

static inline uint64_t ctf_sign_extend(uint64_t value, unsigned n_bits)
{
    const uint64_t sign = UINT64_C(1) << (n_bits - 1);
    return (value ^ sign) - sign;
}

/* 1 to 64 bits of `bytes`, of which at least the touched ones may be read. */
static inline uint64_t ctf_bits_read(const uint8_t *bytes, uint64_t at, unsigned n_bits,
                                     bool is_big)
{
    const uint8_t *first = bytes + at / 8;
    const unsigned shift = (unsigned)(at % 8);
    const unsigned n_bytes = (shift + n_bits + 7) / 8; /* 1 to 9 */
    const unsigned n_low = n_bytes < 8 ? n_bytes : 8;
    uint64_t value = 0;
    if (is_big) {
        for (unsigned k = 0; k < n_low; k++)
            value = value << 8 | first[k];
        const unsigned n_behind = n_low * 8 - shift - (n_bytes == 9 ? 64 - shift : n_bits);
        if (n_bytes < 9)
            return value >> n_behind & ctf_mask(n_bits);
        const unsigned n_more = shift + n_bits - 64;
        return (value << n_more | first[8] >> (8 - n_more)) & ctf_mask(n_bits);
    }
    for (unsigned k = 0; k < n_low; k++)
        value |= (uint64_t)first[k] << 8 * k;
    value >>= shift;
    if (n_bytes == 9)
        value |= (uint64_t)first[8] << (64 - shift);
    return value & ctf_mask(n_bits);
}

/* The same of at most 57 bits, where 64 bits from `at` on may be read. */
static inline uint64_t ctf_bits_read_fast(const uint8_t *bytes, uint64_t at, unsigned n_bits,
                                          bool is_big)
{
    const unsigned shift = (unsigned)(at % 8);
    uint64_t word;
    memcpy(&word, bytes + at / 8, sizeof word);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        word = __builtin_bswap64(word);
    if (is_big)
        return __builtin_bswap64(word) << shift >> (64 - n_bits);
    return word >> shift & ctf_mask(n_bits);
}

/* 8, 16, 32 or 64 bits that begin with a byte. */
static inline uint64_t ctf_bytes_read(const uint8_t *bytes, unsigned n_bits, bool is_big)
{
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    const bool is_foreign = is_big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    switch (n_bits) {
    case 8:
        return bytes[0];
    case 16:
        memcpy(&u16, bytes, sizeof u16);
        return is_foreign ? __builtin_bswap16(u16) : u16;
    case 32:
        memcpy(&u32, bytes, sizeof u32);
        return is_foreign ? __builtin_bswap32(u32) : u32;
    default:
        memcpy(&u64, bytes, sizeof u64);
        return is_foreign ? __builtin_bswap64(u64) : u64;
    }
}

#endif
