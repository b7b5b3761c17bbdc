/* SPDX-License-Identifier: MIT
 *
 * Chooses the shortest of four forms for a column by computing each length (Exp-Golomb codes of the
 * best k), then writes or reads it bit by bit. Reading checks every length against the bytes left;
 * both use the caller's scratch.
 */
#include "query/database/column.h"

#include "base/vec.h"

enum { WORD_BITS = 64 };

/* How values follow from the base, in the low bits of the first byte; k is above. */
enum form {
    ALL_EQUAL, /* to the base */
    ABOVE,     /* the base and a number */
    AROUND,    /* the base and a signed number, zigzag */
    MOST_EQUAL /* to the base; two columns of the others follow: places, numbers to add */
};
enum { FORM_BITS = 2 };

/* ---- bytes ----------------------------------------------------------------------------------- */

bool weft_blob_put(struct weft_blob_bytes *bytes, uint8_t byte)
{
    if (bytes->n == bytes->cap &&
        !weft_vec_reserve(&bytes->items, &bytes->cap, bytes->n + 1, sizeof *bytes->items))
        return false;
    bytes->items[bytes->n++] = byte;
    return true;
}

bool weft_blob_put_varint(struct weft_blob_bytes *bytes, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        if (!weft_blob_put(bytes, (uint8_t)(value | 0x80)))
            return false;
    return weft_blob_put(bytes, (uint8_t)value);
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> (WORD_BITS - 1));
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ -(value & 1));
}

static bool put_svarint(struct weft_blob_bytes *bytes, int64_t value)
{
    return weft_blob_put_varint(bytes, zigzag(value));
}

static unsigned length_of(uint64_t value)
{
    return value ? WORD_BITS - (unsigned)__builtin_clzll(value) : 0;
}

static size_t varint_bits(uint64_t value)
{
    const unsigned length = length_of(value | 1);
    return (size_t)(length + 6) / 7 * 8;
}

/* Differences wrap around: any two numbers have one. */
static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* ---- which form is shortest ------------------------------------------------------------------ */

/* How a column is written, and how many bits it takes. */
struct plan {
    enum form form;
    unsigned k;
    int64_t base;
    size_t n_bits;
};

static uint64_t coded(int64_t value, enum form form, int64_t base)
{
    const int64_t difference = minus(value, base);
    return form == AROUND ? zigzag(difference) : (uint64_t)difference;
}

/* The best k of a form. A number of `length` bits is of class 0 below 2^k, in 1 + k bits; else of
 * the class by which it is longer, in 2 (length - k) + k. */
static struct plan plan_form(const int64_t *values, size_t n, enum form form, int64_t base)
{
    size_t n_of_length[WORD_BITS + 1] = { 0 };
    size_t n_short = 0, n_longer_bits = 0; /* up to k bits; twice the lengths of the others */
    struct plan best = { .form = form, .base = base, .n_bits = SIZE_MAX };
    unsigned most = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned length = length_of(coded(values[i], form, base));
        n_of_length[length]++;
        most = length > most ? length : most;
    }
    for (unsigned length = 1; length <= most; length++)
        n_longer_bits += 2 * length * n_of_length[length];
    for (unsigned k = 0; k < WORD_BITS && k <= most; k++) {
        n_short += n_of_length[k];
        n_longer_bits -= 2 * k * n_of_length[k];
        const size_t n_bits = 8 + varint_bits(zigzag(base)) + (1 + (size_t)k) * n_short +
                              n_longer_bits - k * (n - n_short);
        if (n_bits < best.n_bits) {
            best.n_bits = n_bits;
            best.k = k;
        }
    }
    return best;
}

/* The number that is most of them, if any is: by pairs of different ones that cancel out. */
static int64_t majority(const int64_t *values, size_t n)
{
    int64_t kept = values[0];
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (n_kept == 0)
            kept = values[i];
        n_kept = values[i] == kept ? n_kept + 1 : n_kept - 1;
    }
    return kept;
}

/* `common` is what most of them are, if any is. */
static struct plan plan_dense(const int64_t *values, size_t n, int64_t common)
{
    int64_t least = values[0], most = values[0];
    for (size_t i = 1; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    if (least == most)
        return (struct plan){ .form = ALL_EQUAL,
                              .base = least,
                              .n_bits = 8 + varint_bits(zigzag(least)) };
    const struct plan above = plan_form(values, n, ABOVE, least);
    const struct plan around = plan_form(values, n, AROUND, common);
    return above.n_bits <= around.n_bits ? above : around;
}

/* Splits a column in places and numbers of those that differ from the base: scratch[0 .. c), [n ..
 * n
 * + c). */
static size_t split(const int64_t *values, size_t n, int64_t base, int64_t *scratch)
{
    size_t n_others = 0, next = 0;
    for (size_t i = 0; i < n; i++) {
        if (values[i] == base)
            continue;
        scratch[n_others] = (int64_t)(i - next);
        scratch[n + n_others++] = minus(values[i], base);
        next = i + 1;
    }
    return n_others;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Has room for all bits. */
struct bit_writer {
    uint8_t *at;
    uint64_t word; /* bits that no byte has yet, from the lowest */
    unsigned n_bits;
};

/* At most 32 bits: fewer than 32 wait for more. */
static inline void put_bits(struct bit_writer *to, uint64_t bits, unsigned n_bits)
{
    to->word |= bits << to->n_bits;
    to->n_bits += n_bits;
    if (to->n_bits < 32)
        return;
    for (unsigned i = 0; i < 4; i++)
        to->at[i] = (uint8_t)(to->word >> 8 * i);
    to->at += 4;
    to->n_bits -= 32;
    to->word >>= 32;
}

/* The bits that wait, the last byte filled up with zeros. */
static void put_rest(struct bit_writer *to)
{
    for (unsigned n = 0; n < to->n_bits; n += 8, to->word >>= 8)
        *to->at++ = (uint8_t)to->word;
}

static void put_number(struct bit_writer *to, uint64_t value, unsigned k)
{
    const unsigned class = length_of(value >> k), n_low = class ? class - 1 + k : k;
    if (class + n_low < 32) { /* all at once */
        const uint64_t low = value & ((UINT64_C(1) << n_low) - 1);
        put_bits(to, (low << 1 | 1) << class, class + 1 + n_low);
        return;
    }
    for (unsigned left = class; left > 0;) {
        const unsigned n = left < 32 ? left : 32;
        put_bits(to, 0, n);
        left -= n;
    }
    put_bits(to, 1, 1);
    if (n_low > 32)
        put_bits(to, value & UINT32_MAX, 32);
    const uint64_t rest = n_low > 32 ? value >> 32 : value;
    const unsigned n_rest = n_low > 32 ? n_low - 32 : n_low;
    put_bits(to, rest & ((UINT64_C(1) << n_rest) - 1), n_rest);
}

static bool write_plan(struct weft_blob_bytes *bytes, const struct plan *plan,
                       const int64_t *values, size_t n)
{
    if (!weft_blob_put(bytes, (uint8_t)((unsigned)plan->form | plan->k << FORM_BITS)) ||
        !put_svarint(bytes, plan->base) ||
        !weft_vec_reserve(&bytes->items, &bytes->cap, bytes->n + plan->n_bits / 8 + 1,
                          sizeof *bytes->items))
        return false;
    struct bit_writer to = { .at = bytes->items + bytes->n };
    for (size_t i = 0; plan->form != ALL_EQUAL && i < n; i++)
        put_number(&to, coded(values[i], plan->form, plan->base), plan->k);
    put_rest(&to);
    bytes->n = (size_t)(to.at - bytes->items);
    return true;
}

static bool write_dense(struct weft_blob_bytes *bytes, const int64_t *values, size_t n,
                        int64_t common)
{
    const struct plan dense = plan_dense(values, n, common);
    return write_plan(bytes, &dense, values, n);
}

bool weft_column_write(struct weft_blob_bytes *bytes, const int64_t *values, size_t n,
                       int64_t *scratch)
{
    if (n == 0)
        return true;
    const int64_t base = majority(values, n);
    const size_t n_others = split(values, n, base, scratch);
    if (n_others == 0 || n_others > n / 2)
        return write_dense(bytes, values, n, base);
    const struct plan places = plan_dense(scratch, n_others, majority(scratch, n_others)),
                      others = plan_dense(scratch + n, n_others, majority(scratch + n, n_others));
    const size_t n_bits =
        8 + varint_bits(zigzag(base)) + varint_bits(n_others) + places.n_bits + others.n_bits;
    if (n_bits >= 2 * 8 + n) { /* each number takes a bit at least, form and base a byte each */
        const struct plan dense = plan_dense(values, n, base);
        if (dense.n_bits <= n_bits)
            return write_plan(bytes, &dense, values, n);
    }
    return weft_blob_put(bytes, MOST_EQUAL) && put_svarint(bytes, base) &&
           weft_blob_put_varint(bytes, n_others) && write_plan(bytes, &places, scratch, n_others) &&
           write_plan(bytes, &others, scratch + n, n_others);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct bit_reader {
    struct weft_cursor *cur;
    uint64_t word; /* bits that were taken from it, from the lowest */
    unsigned n_bits;
};

/* Has 32 bits at least, unless the bytes end. */
static void fill(struct bit_reader *from)
{
    for (; from->n_bits <= 32 && weft_cur_left(from->cur); from->n_bits += 8)
        from->word |= (uint64_t)*from->cur->at++ << from->n_bits;
}

/* At most 32 bits; a fault if they are not there. */
static uint64_t get_bits(struct bit_reader *from, unsigned n_bits)
{
    fill(from);
    if (n_bits > from->n_bits) {
        from->cur->fault = true;
        return 0;
    }
    const uint64_t bits = from->word & ((UINT64_C(1) << n_bits) - 1);
    from->word >>= n_bits;
    from->n_bits -= n_bits;
    return bits;
}

/* Zeros up to a one, and the one; a fault if they are more than `most`. */
static unsigned get_class(struct bit_reader *from, unsigned most)
{
    for (unsigned class = 0;; class += from->n_bits, from->n_bits = 0) {
        fill(from);
        if (from->word) {
            const unsigned n_zeros = (unsigned)__builtin_ctzll(from->word);
            from->word >>= n_zeros;
            from->word >>= 1; /* not at once: 64 of them would be none */
            from->n_bits -= n_zeros + 1;
            class += n_zeros;
            from->cur->fault |= class > most;
            return class > most ? 0 : class;
        }
        if (from->n_bits == 0 || class > most) {
            from->cur->fault = true;
            return 0;
        }
    }
}

static uint64_t get_number(struct bit_reader *from, unsigned k)
{
    const unsigned class = get_class(from, WORD_BITS - k), n_low = class ? class - 1 + k : k;
    uint64_t low = get_bits(from, n_low < 32 ? n_low : 32);
    if (n_low > 32)
        low |= get_bits(from, n_low - 32) << 32;
    return class ? UINT64_C(1) << n_low | low : low;
}

static bool read_dense(struct weft_cursor *cur, int64_t *values, size_t n)
{
    struct bit_reader from = { .cur = cur };
    const uint8_t head = weft_cur_u8(cur);
    const enum form form = head & ((1 << FORM_BITS) - 1);
    const unsigned k = head >> FORM_BITS;
    const int64_t base = weft_cur_svarint(cur);
    if (form == MOST_EQUAL || (form == ALL_EQUAL && k))
        return false;
    for (size_t i = 0; i < n && !cur->fault; i++) {
        const uint64_t number = form == ALL_EQUAL ? 0 : get_number(&from, k);
        values[i] = plus(base, form == AROUND ? unzigzag(number) : (int64_t)number);
    }
    cur->at -= from.n_bits / 8; /* whole bytes that are not of this column */
    return !cur->fault && (from.word & ((UINT64_C(1) << from.n_bits % 8) - 1)) == 0;
}

/* The others of a column that is mostly of one number. */
static bool read_others(struct weft_cursor *cur, int64_t *values, size_t n, int64_t *scratch)
{
    const int64_t base = weft_cur_svarint(cur);
    const size_t n_others = (size_t)weft_cur_varint_max(cur, n);
    if (cur->fault || n_others == 0 || !read_dense(cur, scratch, n_others) ||
        !read_dense(cur, scratch + n, n_others))
        return false;
    for (size_t i = 0; i < n; i++)
        values[i] = base;
    for (size_t i = 0, next = 0; i < n_others; i++) {
        const uint64_t gap = (uint64_t)scratch[i];
        if (gap >= n - next) /* next <= n */
            return false;
        next += gap;
        values[next++] = plus(base, scratch[n + i]);
    }
    return true;
}

bool weft_column_read(struct weft_cursor *cur, int64_t *values, size_t n, int64_t *scratch)
{
    if (n == 0)
        return true;
    if (weft_cur_left(cur) == 0)
        return false;
    if (*cur->at != MOST_EQUAL)
        return read_dense(cur, values, n);
    cur->at++;
    return read_others(cur, values, n, scratch);
}
