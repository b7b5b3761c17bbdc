/* SPDX-License-Identifier: MIT
 *
 * Cursor, tick scale and errors: what hostile bytes and odd clocks may not break.
 */
#include "base/checked.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/error.h"
#include "tap.h"

static size_t put_varint(uint8_t *out, uint64_t value)
{
    size_t n_bytes = 0;
    for (; value >= 0x80; value >>= 7)
        out[n_bytes++] = (uint8_t)(value | 0x80);
    out[n_bytes++] = (uint8_t)value;
    return n_bytes;
}

/* Reads one record of each kind; the sum of what was read. */
static uint64_t read_record(struct weft_cursor *cur)
{
    uint64_t sum = weft_cur_u8(cur);
    sum += weft_cur_u16(cur);
    sum += weft_cur_u32(cur);
    sum += weft_cur_u64(cur);
    sum += weft_cur_varint(cur);
    struct weft_cursor sub = weft_cur_sub(cur, 2);
    return sum + weft_cur_u16(&sub);
}

static void test_truncation(void)
{
    static const uint8_t record[] = { 1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0x85, 1, 6, 0 };
    for (size_t n_bytes = 0; n_bytes <= sizeof record; n_bytes++) {
        struct weft_cursor cur = weft_cur_init(record, n_bytes, 100);
        uint64_t sum = read_record(&cur);
        bool is_whole = n_bytes == sizeof record;
        tap_ok(cur.fault == !is_whole, "a record of %zu bytes: fault or not", n_bytes);
        tap_ok(weft_cur_offset(&cur) <= 100 + n_bytes, "cut at %zu: the cursor stays inside",
               n_bytes);
        if (is_whole)
            tap_eq_u64(sum, 1 + 2 + 3 + 4 + 133 + 6, "the values of a whole record");
        tap_eq_u64(cur.fault ? weft_cur_u64(&cur) : 0, 0, "cut at %zu: zero after a fault",
                   n_bytes);
    }
}

static void test_sub_cursor(void)
{
    static const uint8_t bytes[] = { 1, 2, 3, 4 };
    struct weft_cursor cur = weft_cur_init(bytes, sizeof bytes, 0x1000);
    weft_cur_u8(&cur);
    struct weft_cursor sub = weft_cur_sub(&cur, 2);
    tap_eq_u64(weft_cur_offset(&sub), 0x1001, "a sub-cursor names offsets of the file");
    tap_eq_u64(weft_cur_u32(&sub), 0, "a sub-cursor cannot read behind its end");
    tap_ok(sub.fault && !cur.fault, "its fault is its own");
    tap_eq_u64(weft_cur_u8(&cur), 4, "its parent goes on behind it");
}

/* Any bytes, of which many are varints of some length: the two ways to read them agree. */
static void test_varints_any(void)
{
    uint64_t state = tap_seed(17);
    unsigned n_wrong = 0;
    for (unsigned i = 0; i < 200000; i++) {
        uint8_t bytes[16];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(tap_random(&state) % 4 ? tap_random(&state) | 0x80
                                                        : tap_random(&state) % 3);
        const size_t n_bytes = tap_random(&state) % (sizeof bytes + 1);
        struct weft_cursor one = weft_cur_init(bytes, n_bytes, 0), any = one;
        for (int k = 0; k < 3; k++)
            n_wrong += weft_cur_varint(&one) != weft_cur_varint_any(&any) || one.at != any.at ||
                       one.fault != any.fault;
    }
    tap_eq_u64(n_wrong, 0, "200,000 strings of varints, read either way");
}

static void test_varints(void)
{
    uint64_t state = tap_seed(11);
    unsigned n_wrong = 0;
    for (int round = 0; round < 200000; round++) {
        uint64_t value = tap_random(&state) >> (tap_random(&state) & 63);
        uint8_t bytes[10];
        size_t n_bytes = put_varint(bytes, value);
        struct weft_cursor cur = weft_cur_init(bytes, n_bytes, 0);
        n_wrong += weft_cur_varint(&cur) != value || cur.fault || weft_cur_left(&cur) != 0;
        cur = weft_cur_init(bytes, n_bytes - 1, 0);
        n_wrong += weft_cur_varint(&cur) != 0 || !cur.fault;
    }
    tap_eq_u64(n_wrong, 0, "200,000 varints: round trip, and a fault when cut");
    static const struct {
        const char *name;
        uint8_t bytes[11];
        size_t n_bytes;
    } bad[] = {
        { "over-long zero", { 0x80, 0 }, 2 },
        { "over-long one", { 0x81, 0x80, 0 }, 3 },
        { "2^64", { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2 }, 10 },
        { "eleven bytes", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 }, 11 },
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct weft_cursor cur = weft_cur_init(bad[k].bytes, bad[k].n_bytes, 0);
        tap_ok(weft_cur_varint(&cur) == 0 && cur.fault && weft_cur_offset(&cur) == 0,
               "%s is a fault at its first byte", bad[k].name);
    }
    static const uint8_t greatest[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 };
    struct weft_cursor most = weft_cur_init(greatest, sizeof greatest, 0);
    tap_eq_u64(weft_cur_varint(&most), UINT64_MAX, "ten bytes hold 2^64 - 1");
    static const uint8_t minus_two[] = { 3 };
    struct weft_cursor cur = weft_cur_init(minus_two, 1, 0);
    tap_eq_i64(weft_cur_svarint(&cur), -2, "zigzag 3 is -2");
}

/* The definition, in 128 bits. */
static uint64_t floor_ns(uint64_t ticks, uint64_t frequency_hz)
{
    return (uint64_t)((weft_u128)ticks * 1000000000u / frequency_hz);
}

static void test_ticks(void)
{
    static const uint64_t frequencies[] = {
        1,
        3,
        999,
        1000000,
        19200000,
        999999999,
        1000000000,
        1000000001,
        2699999000,
        2700000000,
        3579545000,
        999999999999,
        UINT64_C(1) << 62,
        UINT64_C(1) << 63,
    };
    uint64_t state = tap_seed(12);
    for (size_t k = 0; k < sizeof frequencies / sizeof *frequencies; k++) {
        struct weft_tick_scale scale = weft_tick_scale_init(frequencies[k]);
        unsigned n_wrong = 0;
        uint64_t most =
            frequencies[k] > 1000000000 ? UINT64_MAX : UINT64_MAX / 1000000000 * frequencies[k];
        for (unsigned round = 0; round < 100000; round++) {
            uint64_t ticks = (tap_random(&state) >> (tap_random(&state) & 63)) % most;
            n_wrong += weft_ticks_to_ns(&scale, ticks) != floor_ns(ticks, frequencies[k]);
            ticks = most - round;
            n_wrong += weft_ticks_to_ns(&scale, ticks) != floor_ns(ticks, frequencies[k]);
        }
        tap_eq_u64(n_wrong, 0, "ticks at %" PRIu64 " Hz are exact", frequencies[k]);
    }
}

/* Any frequency, any ticks: the definition, as far as its result fits. */
static void test_any_ticks(void)
{
    uint64_t state = tap_seed(13);
    unsigned n_wrong = 0, n_tried = 0;
    while (n_tried < 2000000) {
        uint64_t frequency_hz = (tap_random(&state) >> (tap_random(&state) & 63) >> 1) + 1;
        uint64_t ticks = tap_random(&state) >> (tap_random(&state) & 63);
        if ((weft_u128)ticks * 1000000000u / frequency_hz >> 64)
            continue;
        struct weft_tick_scale scale = weft_tick_scale_init(frequency_hz);
        n_wrong += weft_ticks_to_ns(&scale, ticks) != floor_ns(ticks, frequency_hz);
        n_tried++;
    }
    tap_eq_u64(n_wrong, 0, "%u pairs of ticks and frequency are exact", n_tried);
}

static void test_checked(void)
{
    size_t out;
    tap_ok(!weft_mul_fits(SIZE_MAX, 2, &out) && weft_mul_fits(SIZE_MAX, 1, &out) &&
               out == SIZE_MAX && !weft_add_fits(SIZE_MAX, 1, &out) &&
               weft_add_fits(SIZE_MAX, 0, &out),
           "products and sums fit or do not");
    tap_ok(weft_add_sat_u64(UINT64_MAX, 1) == UINT64_MAX && weft_sub_sat_u64(1, 2) == 0 &&
               weft_sub_sat_u64(5, 2) == 3,
           "saturating sums and differences");
}

static void test_errors(void)
{
    struct weft_err err = { 0 };
    char text[600];
    enum weft_code code = weft_fail(&err, WEFT_E_MALFORMED, 0x1f40, "expected %d, found %d", 8, 3);
    weft_fail(&err, WEFT_E_IO, 1, "a later cause");
    weft_within(&err, "sample record %d", 4211);
    weft_within(&err, "event section");
    weft_in_file(&err, "run.data");
    weft_in_file(&err, "other.data");
    weft_err_print(&err, text, sizeof text);
    tap_eq_u64(code, WEFT_E_MALFORMED, "the code comes back");
    tap_eq_str(text,
               "run.data: byte 0x1f40: expected 8, found 3 (in sample record 4211, event section)",
               "file, byte, cause and places");
    weft_err_print(&err, text, 10);
    tap_eq_str(text, "run.data:", "a short buffer is terminated");
    tap_eq_u64(weft_fail(NULL, WEFT_E_LIMIT, 0, "x"), WEFT_E_LIMIT, "no record, still a code");
    struct weft_err line_err = { 0 };
    weft_fail_line(&line_err, WEFT_E_MALFORMED, 12, 3, "expected 0 or 1, found \"2\"");
    weft_err_print(&line_err, text, sizeof text);
    tap_eq_str(text, "line 3: expected 0 or 1, found \"2\"", "lines of text inputs");
    struct weft_err errno_err = { 0 };
    code = weft_fail_errno(&errno_err, 2, "cannot open %s", "it");
    weft_err_print(&errno_err, text, sizeof text);
    tap_ok(code == WEFT_E_IO && strcmp(text, "cannot open it: No such file or directory") == 0,
           "the system's reason: %s", text);
    tap_ok(weft_in_file(NULL, "x") != WEFT_OK && weft_within(NULL, "x") != WEFT_OK,
           "without a record a failure stays one");
    tap_eq_str(weft_code_name(WEFT_E_TRUNCATED), "truncated", "codes have names");
    tap_eq_str(weft_code_name((enum weft_code)99), "unknown", "other numbers have none");
    struct weft_err long_err = { 0 };
    for (int k = 0; k < 100; k++)
        weft_fail(&long_err, WEFT_E_ARG, WEFT_NO_OFFSET, "%0500d", k),
            weft_within(&long_err, "far");
    weft_err_print(&long_err, text, sizeof text);
    tap_ok(strlen(text) < sizeof text, "long texts and places are cut");
}

int main(void)
{
    test_truncation();
    test_sub_cursor();
    test_varints();
    test_varints_any();
    test_ticks();
    test_any_ticks();
    test_checked();
    test_errors();
    return tap_done();
}
