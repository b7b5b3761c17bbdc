/* SPDX-License-Identifier: MIT
 *
 * Damaged logs: cut at every byte, and with random bits flipped. Nothing crashes, what can be read
 * is read, and what is lost is told.
 */
#include "ingest/xray/xray.h"
#include "recording_sink.h"
#include "tap.h"
#include "xray_builder.h"

#define GHZ UINT64_C(1000000000)

enum { BUFFER_BYTES = 256, BUFFERS = 4, FLIPS = 10000 };

/* Buffers of two threads, with every kind of record; `ends` gets the end of each buffer. */
static void build(struct xb *log, unsigned version, size_t *ends)
{
    xb_header(log, version, 1, GHZ, BUFFER_BYTES);
    for (uint32_t k = 0; k < BUFFERS; k++) {
        uint64_t tsc = 1000 + k * 100;
        size_t at = xb_begin_buffer(log);
        xb_head(log, 10 + k % 2, 5, k, tsc);
        xb_function(log, XB_ENTER, 1, 0);
        xb_function(log, XB_ENTER_ARG, 2, 1);
        xb_argument(log, k);
        xb_custom(log, version >= 5 ? 1 : tsc + 2, 0, "odd", 3);
        xb_function(log, XB_EXIT, 2, 3);
        xb_typed(log, version >= 5 ? 1 : tsc + 5, 7, "size!", 5);
        xb_wrap(log, tsc + 20);
        xb_function(log, XB_TAIL, 1, 0);
        xb_end_buffer(log, at, BUFFER_BYTES);
        ends[k] = log->n_bytes;
    }
}

static void build_basic(struct xb *log)
{
    xb_header(log, 3, 0, GHZ, 0);
    for (uint32_t k = 0; k < 6; k++) {
        xb_basic(log, 0, XB_ENTER_ARG, k, 1000 + k, 10 + k % 2, 5);
        xb_basic_argument(log, k, k, 10 + k % 2, 5);
        xb_basic(log, 1, XB_EXIT, k, 1001 + k, 10 + k % 2, 5);
    }
}

static enum weft_code import_bytes(const uint8_t *bytes, size_t n_bytes, struct rec_sink *rec,
                                   struct weft_err *err)
{
    uint8_t *copy = malloc(n_bytes ? n_bytes : 1);
    memcpy(copy, bytes, n_bytes);
    const struct weft_mapped file = { .bytes = n_bytes ? copy : NULL, .n_bytes = n_bytes };
    rec_init(rec);
    enum weft_code code = weft_xray_import(&file, NULL, &rec->sink, NULL, err);
    free(copy);
    return code;
}

/* True if all that `part` tells of each thread is the beginning of what `whole` tells. */
static bool is_prefix(const struct rec_sink *part, const struct rec_sink *whole)
{
    for (uint32_t k = 0; k < part->n_threads; k++) {
        const char *end = strstr(rec_str(&part->threads[k]), "end @");
        size_t n_bytes = end ? (size_t)(end - part->threads[k].bytes) : 0;
        if (k >= whole->n_threads || n_bytes > whole->threads[k].n_bytes ||
            memcmp(part->threads[k].bytes, whole->threads[k].bytes, n_bytes) != 0)
            return false;
    }
    return true;
}

static void test_cut(const struct xb *log, size_t n_bytes, bool is_boundary,
                     const struct rec_sink *whole)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    enum weft_code code = import_bytes(log->bytes, n_bytes, &rec, &err);
    if (n_bytes < 32) {
        tap_ok(code == WEFT_E_TRUNCATED && err.text[0], "cut at %zu: an error", n_bytes);
    } else {
        bool is_told = strstr(rec_str(&rec.trace), "note truncated") != NULL;
        tap_ok(code == WEFT_OK && is_prefix(&rec, whole) && is_told == !is_boundary &&
                   !strstr(rec_str(&rec.trace), "note bad_record"),
               "version %u cut at %zu: the beginning is read, the loss is told", log->version,
               n_bytes);
    }
    rec_fini(&rec);
}

static void test_cuts(unsigned version)
{
    struct xb log = { 0 };
    size_t ends[BUFFERS];
    build(&log, version, ends);
    struct rec_sink whole;
    tap_ok(import_bytes(log.bytes, log.n_bytes, &whole, NULL) == WEFT_OK, "version %u", version);
    for (size_t n = 0; n <= log.n_bytes; n++) {
        bool is_boundary = n == 32;
        for (size_t k = 0; k < BUFFERS; k++)
            is_boundary |= n == ends[k];
        test_cut(&log, n, is_boundary, &whole);
    }
    rec_fini(&whole);
    xb_fini(&log);
}

/* Version 1: what is cut off the padding is told too, since nobody can know that it is padding;
 * the records before are all there. */
static void test_cuts_padded(void)
{
    struct xb log = { 0 };
    size_t ends[BUFFERS];
    build(&log, 1, ends);
    struct rec_sink whole;
    tap_ok(import_bytes(log.bytes, log.n_bytes, &whole, NULL) == WEFT_OK, "version 1");
    for (size_t n = 32; n <= log.n_bytes; n++)
        test_cut(&log, n, (n - 32) % BUFFER_BYTES == 0, &whole);
    rec_fini(&whole);
    xb_fini(&log);
}

static void test_cuts_basic(void)
{
    struct xb log = { 0 };
    build_basic(&log);
    struct rec_sink whole;
    tap_ok(import_bytes(log.bytes, log.n_bytes, &whole, NULL) == WEFT_OK, "basic");
    for (size_t n = 0; n <= log.n_bytes; n++)
        test_cut(&log, n, n % 32 == 0, &whole);
    rec_fini(&whole);
    xb_fini(&log);
}

/* Flips 1 to 8 bits; either a clear error, or a log that keeps the sink's rules. */
static void test_flips(uint64_t seed)
{
    uint64_t state = seed;
    unsigned n_refused = 0;
    unsigned n_bad = 0;
    for (unsigned round = 0; round < FLIPS; round++) {
        struct xb log = { 0 };
        size_t ends[BUFFERS];
        unsigned version = (unsigned)(tap_random(&state) % 6);
        if (version)
            build(&log, version, ends);
        else
            build_basic(&log);
        for (uint64_t n = tap_random(&state) % 8 + 1; n; n--)
            log.bytes[tap_random(&state) % log.n_bytes] ^= (uint8_t)(1u << tap_random(&state) % 8);
        struct rec_sink rec;
        struct weft_err err = { 0 };
        enum weft_code code = import_bytes(log.bytes, log.n_bytes, &rec, &err);
        n_refused += code != WEFT_OK;
        bool is_good = code == WEFT_OK || (err.text[0] && err.at_off < 32);
        for (uint32_t k = 0; code == WEFT_OK && k < rec.n_threads; k++)
            is_good &= rec.is_ended[k];
        if (!is_good || rec.n_order_errors) {
            n_bad++;
            tap_note("round %u: code %d, %s", round, (int)code, err.text);
        }
        rec_fini(&rec);
        xb_fini(&log);
    }
    tap_eq_u64(n_bad, 0, "%d logs with flipped bits", FLIPS);
    tap_ok(n_refused > 0 && n_refused < FLIPS / 2, "%u of them were refused", n_refused);
}

int main(void)
{
    test_cuts_padded();
    for (unsigned version = 2; version <= 5; version++)
        test_cuts(version);
    test_cuts_basic();
    test_flips(tap_seed(1));
    return tap_done();
}
