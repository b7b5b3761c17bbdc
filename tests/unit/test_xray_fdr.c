/* SPDX-License-Identifier: MIT
 *
 * FDR logs: every record kind in every version, and every known trap of real logs.
 */
#include "ingest/xray/xray.h"
#include "recording_sink.h"
#include "tap.h"
#include "xray_builder.h"

#define GHZ UINT64_C(1000000000)

enum { BUFFER_BYTES = 512 };

static enum weft_code run_import(const struct xb *log, struct rec_sink *rec, struct weft_err *err)
{
    /* An exact-size copy, so that the sanitizer sees a read of one byte too many. */
    uint8_t *bytes = malloc(log->n_bytes ? log->n_bytes : 1);
    memcpy(bytes, log->bytes, log->n_bytes);
    const struct weft_mapped file = { .bytes = bytes, .n_bytes = log->n_bytes };
    rec_init(rec);
    enum weft_code code = weft_xray_import(&file, NULL, &rec->sink, NULL, err);
    free(bytes);
    return code;
}

static void expect(const struct xb *log, const char *name, const char *want)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    enum weft_code code = run_import(log, &rec, &err);
    char *got = rec_whole(&rec);
    tap_eq_u64((uint64_t)code, WEFT_OK, "%s: imported%s%s", name, code ? ": " : "", err.text);
    tap_eq_str(got, want, "%s, version %u", name, log->version);
    tap_eq_u64(rec.n_order_errors, 0, "%s: the sink's order is kept", name);
    free(got);
    rec_fini(&rec);
}

/* Every kind of record, with the version's own form of events. */
static void test_records(unsigned version)
{
    struct xb log = { 0 };
    xb_header(&log, version, 1, GHZ, BUFFER_BYTES);
    size_t buffer = xb_begin_buffer(&log);
    xb_new_buffer(&log, 77);
    xb_wall(&log, 12, 345678);
    xb_pid(&log, 70);
    xb_cpu(&log, 3, 5000);
    xb_function(&log, XB_ENTER, 7, 0);
    xb_function(&log, XB_ENTER_ARG, 8, 10);
    xb_argument(&log, 0xffffffffffffffff);
    xb_custom(&log, version >= 5 ? 5 : 5015, 9, "abc", 3);
    xb_typed(&log, version >= 5 ? 5 : 5020, 513, "z", 1);
    xb_function(&log, XB_EXIT, 8, 10); /* unaligned from here on */
    xb_wrap(&log, 5000 + 4 * GHZ);
    xb_function(&log, XB_TAIL, 7, 0);
    xb_cpu(&log, 4, 5001 + 4 * GHZ);
    xb_function(&log, XB_ENTER, 0x0fffffff, 0);
    xb_function(&log, XB_EXIT, 0x0fffffff, 0xffffffff);
    xb_end_buffer(&log, buffer, BUFFER_BYTES);
    char want[1024];
    (void)snprintf(want, sizeof want,
                   "begin xray-fdr: version %u, 1 buffers, 1.000 GHz\n"
                   "clock 1000000000 zero 5000 monotonic 12345678000\n"
                   "thread 0 tid 77 pid %u\n"
                   "-- 0\n"
                   "C cpu 3 cpu 3 @0\n"
                   "E 7 @0\n"
                   "E 8 @10\n"
                   "A 18446744073709551615\n"
                   "I custom event 0 cpu %d @15 \"616263\"\n"
                   "I typed event 513 cpu 3 @20 \"7a\"\n"
                   "X 8 @%u\n"
                   "T 7 @4000000000\n"
                   "C cpu 4 cpu 4 @4000000001\n"
                   "E 268435455 @4000000001\n"
                   "X 268435455 @8294967296\n"
                   "end @8294967296\n",
                   version, version >= 3 ? 70 : 0, version == 4 ? 9 : 3, version >= 5 ? 30 : 20);
    expect(&log, "all record kinds", want);
    xb_fini(&log);
}

static size_t small_buffer(struct xb *log, uint32_t tid, uint64_t tsc, uint32_t id)
{
    size_t at = xb_begin_buffer(log);
    xb_head(log, tid, 1, 0, tsc);
    xb_function(log, XB_ENTER, id, 0);
    xb_function(log, XB_EXIT, id, 5);
    xb_end_buffer(log, at, BUFFER_BYTES);
    return at;
}

/* Buffers of threads interleave; a thread's buffers are put in order of time, threads in order of
 * their first time stamp, ties by tid. */
static void test_order(unsigned version)
{
    struct xb log = { 0 };
    xb_header(&log, version, 1, GHZ, BUFFER_BYTES);
    small_buffer(&log, 9, 3000, 1);
    small_buffer(&log, 5, 2000, 2);
    small_buffer(&log, 9, 1000, 3);
    small_buffer(&log, 4, 1000, 4);
    char want[1024];
    unsigned pid = version >= 3;
    (void)snprintf(want, sizeof want,
                   "begin xray-fdr: version %u, 4 buffers, 1.000 GHz\n"
                   "clock 1000000000 zero 1000 monotonic 1000\n"
                   "thread 0 tid 4 pid %u\nthread 1 tid 9 pid %u\nthread 2 tid 5 pid %u\n"
                   "-- 0\nC cpu 0 cpu 0 @0\nE 4 @0\nX 4 @5\nend @5\n"
                   "-- 1\nC cpu 0 cpu 0 @0\nE 3 @0\nX 3 @5\nE 1 @2000\nX 1 @2005\nend @2005\n"
                   "-- 2\nC cpu 0 cpu 0 @1000\nE 2 @1000\nX 2 @1005\nend @1005\n",
                   version, pid, pid, pid);
    expect(&log, "order of threads and buffers", want);
    xb_fini(&log);
}

/* A byte-identical copy is dropped and counted; a buffer that only looks like one is not. */
static void test_duplicates(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    size_t first = small_buffer(&log, 1, 1000, 1);
    size_t n_buffer = log.n_bytes - first;
    small_buffer(&log, 1, 2000, 2);
    size_t copy = log.n_bytes;
    for (int k = 0; k < 2; k++) {
        uint8_t bytes[256];
        memcpy(bytes, log.bytes + first, n_buffer);
        xb_bytes(&log, bytes, n_buffer);
    }
    char want[512];
    (void)snprintf(want, sizeof want,
                   "begin xray-fdr: version 5, 4 buffers, 1.000 GHz\n"
                   "clock 1000000000 zero 1000 monotonic 1000\n"
                   "thread 0 tid 1 pid 1\n"
                   "note duplicate_buffer 4 thread 0 at 0x%zx\n"
                   "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nX 1 @5\nE 2 @1000\nX 2 @1005\nend @1005\n",
                   copy + 16);
    expect(&log, "duplicate buffers", want);
    log.bytes[log.n_bytes - 1] ^= 1; /* another time of the last exit: no copy any more */
    (void)snprintf(want, sizeof want,
                   "begin xray-fdr: version 5, 4 buffers, 1.000 GHz\n"
                   "clock 1000000000 zero 1000 monotonic 1000\n"
                   "thread 0 tid 1 pid 1\n"
                   "note duplicate_buffer 2 thread 0 at 0x%zx\n"
                   "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nX 1 @5\nE 1 @0\nX 1 @16777221\nE 2 @1000\n"
                   "X 2 @1005\nend @16777221\n",
                   copy + 16);
    expect(&log, "a buffer that differs in one byte is kept", want);
    xb_fini(&log);
}

/* Time stamps of 2^60 and more must not go through floating point. */
static void test_emulated_clock(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    small_buffer(&log, 1, UINT64_C(1795244655646448133), 1);
    small_buffer(&log, 2, UINT64_C(1795244655646448132), 1);
    expect(&log, "emulated time stamps",
           "begin xray-fdr: version 5, 2 buffers, 1.000 GHz\n"
           "clock 1000000000 zero 1795244655646448132 monotonic 1795244655646448000\n"
           "thread 0 tid 2 pid 1\nthread 1 tid 1 pid 1\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nX 1 @5\nend @5\n"
           "-- 1\nC cpu 0 cpu 0 @1\nE 1 @1\nX 1 @6\nend @6\n");
    xb_fini(&log);
}

static void test_frequency(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, UINT64_C(2700000000), BUFFER_BYTES);
    size_t at = xb_begin_buffer(&log);
    xb_head(&log, 1, 1, 0, 100);
    xb_function(&log, XB_ENTER, 1, 1);   /* 0.37 ns */
    xb_function(&log, XB_ENTER, 2, 2);   /* 1.11 ns */
    xb_function(&log, XB_EXIT, 2, 2696); /* 999.63 ns */
    xb_function(&log, XB_EXIT, 1, 1);    /* 1000 ns exactly */
    xb_end_buffer(&log, at, BUFFER_BYTES);
    expect(&log, "ticks are rounded down, exactly",
           "begin xray-fdr: version 5, 1 buffers, 2.700 GHz\n"
           "clock 2700000000 zero 100 monotonic 0\nthread 0 tid 1 pid 1\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nE 2 @1\nX 2 @999\nX 1 @1000\nend @1000\n");
    memset(log.bytes + 8, 0, 8); /* the runtime could not find the frequency */
    expect(&log, "no frequency, one marker: ticks are taken for ns",
           "begin xray-fdr: version 5, 1 buffers, 1.000 GHz (not in the log; ticks taken for "
           "nanoseconds)\n"
           "clock 1000000000 zero 100 monotonic 0\nthread 0 tid 1 pid 1\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @1\nE 2 @3\nX 2 @2699\nX 1 @2700\nend @2700\n");
    at = xb_begin_buffer(&log);
    xb_new_buffer(&log, 1);
    xb_wall(&log, 1, 0);
    xb_pid(&log, 1);
    xb_cpu(&log, 0, 100 + 2 * GHZ);
    xb_function(&log, XB_ENTER, 3, 0);
    xb_end_buffer(&log, at, BUFFER_BYTES);
    expect(&log, "no frequency, two markers: measured",
           "begin xray-fdr: version 5, 2 buffers, 2.000 GHz (not in the log; measured from its "
           "wall-time markers)\n"
           "clock 2000000000 zero 100 monotonic 0\nthread 0 tid 1 pid 1\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nE 2 @1\nX 2 @1349\nX 1 @1350\nE 3 @1000000000\n"
           "end @1000000000\n");
    xb_fini(&log);
}

/* A time stamp before zero (a TSC that stepped back) is zero; the sink mends the order. */
static void test_clock_steps_back(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    size_t at = xb_begin_buffer(&log);
    xb_head(&log, 1, 1, 0, 1000);
    xb_function(&log, XB_ENTER, 1, 50);
    xb_cpu(&log, 1, 990);
    xb_function(&log, XB_EXIT, 1, 0);
    xb_wrap(&log, 1020);
    xb_function(&log, XB_ENTER, 2, 0);
    xb_end_buffer(&log, at, BUFFER_BYTES);
    expect(&log, "a clock that steps back",
           "begin xray-fdr: version 5, 1 buffers, 1.000 GHz\n"
           "clock 1000000000 zero 1000 monotonic 1000\nthread 0 tid 1 pid 1\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @50\nC cpu 1 cpu 1 @0\nX 1 @0\nE 2 @20\nend @50\n");
    xb_fini(&log);
}

/* Something bad inside a buffer, put behind one good call and before another. */
struct bad_row {
    const char *name;
    void (*put)(struct xb *log);
    uint32_t n_bad;  /* bytes tallied, from `bad_at` on */
    uint32_t bad_at; /* in the buffer's records, relative to the bad record */
    const char *after;
};

static void put_extents(struct xb *log)
{
    xb_metadata(log, 7, 16, 8, 0, 0, 0, 0);
}
static void put_unknown_metadata(struct xb *log)
{
    xb_metadata(log, 10, 0, 0, 0, 0, 0, 0);
}
static void put_second_new_buffer(struct xb *log)
{
    xb_new_buffer(log, 1);
}
static void put_unknown_function(struct xb *log)
{
    xb_function(log, 4, 1, 0);
}
static void put_huge_event(struct xb *log)
{
    xb_metadata(log, 5, 0x7fffffff, 4, 0, 4, 0, 0);
}
static void put_negative_event(struct xb *log)
{
    xb_metadata(log, 8, 0xffffffff, 4, 0, 4, 0, 0);
}
static void put_far_time(struct xb *log)
{
    xb_wrap(log, UINT64_C(0xf000000000000000));
}
static void put_stray_argument(struct xb *log)
{
    xb_argument(log, 5);
}
static void put_empty_event(struct xb *log)
{
    xb_custom(log, 0, 0, "", 0);
}
static void put_back_event(struct xb *log)
{
    xb_custom(log, 0xffffffff, 0, "b", 1); /* delta -1 */
}

static const struct bad_row bad_rows[] = {
    { "extents inside a buffer", put_extents, 24, 0, "end @5\n" },
    { "unknown metadata", put_unknown_metadata, 24, 0, "end @5\n" },
    { "a second NewBuffer", put_second_new_buffer, 24, 0, "end @5\n" },
    { "unknown kind of function record", put_unknown_function, 16, 0, "end @5\n" },
    { "an event longer than its buffer", put_huge_event, 24, 0, "end @5\n" },
    { "an event of negative size", put_negative_event, 24, 0, "end @5\n" },
    { "a time stamp that cannot be", put_far_time, 24, 0, "end @5\n" },
    { "an argument without entry", put_stray_argument, 16, 0, "E 2 @6\nend @6\n" },
    { "an empty event", put_empty_event, 0, 0, "I custom event 0 cpu 0 @5 \"\"\nE 2 @6\nend @6\n" },
    { "an event with a negative delta", put_back_event, 0, 0,
      "I custom event 0 cpu 0 @4 \"62\"\nE 2 @5\nend @5\n" },
};

static void test_bad_record(const struct bad_row *row)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    size_t at = xb_begin_buffer(&log);
    xb_head(&log, 1, 1, 0, 1000);
    xb_function(&log, XB_ENTER, 1, 0);
    xb_function(&log, XB_EXIT, 1, 5);
    size_t bad_off = log.n_bytes;
    row->put(&log);
    xb_function(&log, XB_ENTER, 2, 1);
    xb_end_buffer(&log, at, BUFFER_BYTES);
    small_buffer(&log, 2, 1000, 3);
    char note[80] = "";
    if (row->n_bad)
        (void)snprintf(note, sizeof note, "note bad_record %u thread 0 at 0x%zx\n", row->n_bad,
                       bad_off + row->bad_at);
    char want[512];
    (void)snprintf(want, sizeof want,
                   "begin xray-fdr: version 5, 2 buffers, 1.000 GHz\n"
                   "clock 1000000000 zero 1000 monotonic 1000\n"
                   "thread 0 tid 1 pid 1\nthread 1 tid 2 pid 1\n%s"
                   "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nX 1 @5\n%s"
                   "-- 1\nC cpu 0 cpu 0 @0\nE 3 @0\nX 3 @5\nend @5\n",
                   note, row->after);
    expect(&log, row->name, want);
    xb_fini(&log);
}

/* A buffer that does not begin with NewBuffer belongs to nobody: it alone is lost. */
static void test_headless_buffer(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    size_t at = small_buffer(&log, 1, 1000, 1);
    log.bytes[at + 16] = 0x13; /* Pid */
    small_buffer(&log, 2, 2000, 2);
    expect(&log, "a buffer without NewBuffer",
           "begin xray-fdr: version 5, 1 buffers, 1.000 GHz\n"
           "clock 1000000000 zero 2000 monotonic 2000\n"
           "thread 0 tid 2 pid 1\n"
           "note bad_record 96 at 0x20\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 2 @0\nX 2 @5\nend @5\n");
    xb_fini(&log);
}

/* Wrong extents lose what cannot be attributed, and the next buffer is found again. */
static void test_wrong_extents(void)
{
    static const uint8_t extents[] = { 0, 40, 79, 81, 96, 255 };
    for (size_t k = 0; k < sizeof extents; k++) {
        struct xb log = { 0 };
        xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
        size_t at = small_buffer(&log, 1, 1000, 1);
        small_buffer(&log, 2, 2000, 2);
        log.bytes[at + 1] = extents[k];
        struct rec_sink rec;
        struct weft_err err = { 0 };
        enum weft_code code = run_import(&log, &rec, &err);
        char *got = rec_whole(&rec);
        tap_ok(code == WEFT_OK && strstr(got, "E 2 @") && strstr(got, "X 2 @"),
               "extents %u: the second buffer is read", extents[k]);
        tap_ok(strstr(got, "note bad_record") != NULL, "extents %u: damage is told", extents[k]);
        free(got);
        rec_fini(&rec);
        xb_fini(&log);
    }
}

/* Calls before any time stamp cannot be placed: they alone are lost. */
static void test_calls_before_time(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    size_t at = xb_begin_buffer(&log);
    xb_new_buffer(&log, 1);
    xb_function(&log, XB_ENTER, 1, 0);
    xb_function(&log, XB_EXIT, 1, 5);
    xb_cpu(&log, 0, 1000);
    xb_function(&log, XB_ENTER, 2, 0);
    xb_end_buffer(&log, at, BUFFER_BYTES);
    expect(&log, "calls before any time stamp",
           "begin xray-fdr: version 5, 1 buffers, 1.000 GHz\n"
           "clock 1000000000 zero 1000\nthread 0 tid 1 pid 0\n"
           "note bad_record 16 thread 0 at 0x40\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 2 @0\nend @0\n");
    xb_fini(&log);
}

/* More calls than one batch holds, with events between them. */
static void test_batches(void)
{
    struct xb log = { 0 };
    enum { CALLS = 10000, EVERY = 1000 };
    xb_header(&log, 5, 1, GHZ, 1 << 20);
    struct rec_text want = { 0 };
    rec_add(&want, "begin xray-fdr: version 5, 1 buffers, 1.000 GHz\n"
                   "clock 1000000000 zero 1000 monotonic 1000\nthread 0 tid 1 pid 1\n-- 0\n"
                   "C cpu 0 cpu 0 @0\n");
    size_t at = xb_begin_buffer(&log);
    xb_head(&log, 1, 1, 0, 1000);
    for (unsigned k = 1; k <= CALLS; k++) {
        xb_function(&log, k % 2 ? XB_ENTER_ARG : XB_EXIT, 5, 1);
        rec_add(&want, "%c 5 @%u\n", k % 2 ? 'E' : 'X', k);
        if (k % 2 && k % 3 == 0) {
            xb_argument(&log, k);
            rec_add(&want, "A %u\n", k);
        }
        for (unsigned e = 0; k % EVERY == 0 && e < 100; e++) {
            xb_custom(&log, 0, 0, "e", 1);
            rec_add(&want, "I custom event 0 cpu 0 @%u \"65\"\n", k);
        }
    }
    rec_add(&want, "end @%u\n", CALLS);
    xb_end_buffer(&log, at, 0);
    expect(&log, "many batches", want.bytes);
    free(want.bytes);
    xb_fini(&log);
}

static void test_padding_and_empty(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    expect(&log, "a header alone",
           "begin xray-fdr: version 5, 0 buffers, 1.000 GHz\nclock 1000000000 zero 0\n");
    size_t at = xb_begin_buffer(&log);
    xb_end_buffer(&log, at, BUFFER_BYTES); /* extents 0 */
    small_buffer(&log, 1, 1000, 1);
    expect(&log, "an empty buffer is no loss",
           "begin xray-fdr: version 5, 1 buffers, 1.000 GHz\n"
           "clock 1000000000 zero 1000 monotonic 1000\nthread 0 tid 1 pid 1\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nX 1 @5\nend @5\n");
    xb_fini(&log);
    xb_header(&log, 2, 1, GHZ, BUFFER_BYTES);
    at = xb_begin_buffer(&log);
    xb_head(&log, 1, 1, 0, 1000);
    xb_function(&log, XB_ENTER, 1, 0);
    xb_metadata(&log, 1, 0, 0, 0, 0, 0, 0); /* EndOfBuffer, which version 2 does without */
    xb_junk_to(&log, log.n_bytes + 10);
    xb_end_buffer(&log, at, BUFFER_BYTES);
    expect(&log, "bytes behind EndOfBuffer are told from version 2 on",
           "begin xray-fdr: version 2, 1 buffers, 1.000 GHz\n"
           "clock 1000000000 zero 1000 monotonic 1000\nthread 0 tid 1 pid 0\n"
           "note bad_record 10 thread 0 at 0x78\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nend @0\n");
    xb_fini(&log);
}

static const struct header_row {
    const char *name;
    size_t at, n_bytes;
    uint64_t value;
    enum weft_code code;
    uint64_t at_off;
} header_rows[] = {
    { "version 0", 0, 2, 0, WEFT_E_MALFORMED, 0 },
    { "version 6", 0, 2, 6, WEFT_E_UNSUPPORTED, 0 },
    { "type 2", 2, 2, 2, WEFT_E_UNSUPPORTED, 2 },
    { "basic version 4", 0, 4, 4, WEFT_E_UNSUPPORTED, 0 },
    { "a frequency of 7 Hz", 8, 8, 7, WEFT_E_MALFORMED, 8 },
    { "a frequency of 2^60 Hz", 8, 8, UINT64_C(1) << 60, WEFT_E_MALFORMED, 8 },
};

static void test_headers(void)
{
    for (size_t k = 0; k < sizeof header_rows / sizeof *header_rows; k++) {
        const struct header_row *row = &header_rows[k];
        struct xb log = { 0 };
        xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
        for (size_t at = 0; at < row->n_bytes; at++)
            log.bytes[row->at + at] = (uint8_t)(row->value >> 8 * at);
        struct rec_sink rec;
        struct weft_err err = { 0 };
        tap_eq_u64((uint64_t)run_import(&log, &rec, &err), (uint64_t)row->code, "%s", row->name);
        tap_eq_u64(err.at_off, row->at_off, "%s: offset", row->name);
        rec_fini(&rec);
        xb_fini(&log);
    }
    struct xb log = { 0 };
    xb_header(&log, 1, 1, GHZ, 10);
    struct rec_sink rec;
    struct weft_err err = { 0 };
    tap_eq_u64((uint64_t)run_import(&log, &rec, &err), WEFT_E_MALFORMED,
               "version 1 with a buffer size of 10");
    tap_eq_u64(err.at_off, 16, "version 1 with a buffer size of 10: offset");
    rec_fini(&rec);
    xb_fini(&log);
}

static void test_sniff(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    for (size_t n = 0; n <= log.n_bytes; n++)
        tap_ok(weft_xray_sniff(log.bytes, n) == (n >= 4), "%zu bytes of a header", n);
    tap_ok(!weft_xray_sniff((const uint8_t *)"0 a 1\n1 a 5\n", 12), "text is no XRay log");
    tap_ok(!weft_xray_sniff((const uint8_t *)"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16),
           "zeros are no XRay log");
    xb_fini(&log);
}

static enum weft_code run_with_map(const struct xb *log, const char *map_text, struct rec_sink *rec,
                                   struct weft_err *err)
{
    char path[4096];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/test_xray_fdr.tsv", root ? root : ".");
    FILE *file = fopen(path, "wb");
    if (!file || fputs(map_text, file) < 0 || fclose(file) != 0)
        abort();
    const struct weft_mapped input = { .bytes = log->bytes, .n_bytes = log->n_bytes };
    const struct weft_xray_opts opts = { .map_path = path };
    rec_init(rec);
    enum weft_code code = weft_xray_import(&input, &opts, &rec->sink, NULL, err);
    (void)remove(path);
    return code;
}

/* Only functions that occur are announced; numbers beyond the map are told. */
static void test_names(void)
{
    static const struct {
        const char *name, *map, *want;
    } rows[] = {
        { "all named", "1\t0x10\ta\n2\t0x20\tb\n268435455\t0x40\tz\n3\t0x30\tc\n",
          "function 1 a [] 0x10\nfunction 2 b [] 0x20\nfunction 268435455 z [] 0x40\n" },
        { "a name missing", "1\t0x10\t\n268435455\t0x40\tz\n",
          "function 1  [] 0x10\nfunction 268435455 z [] 0x40\n" },
        { "a map of another program", "1\t0x10\ta\n",
          "function 1 a [] 0x10\nnote foreign_map 2 (the map ends at #1)\n" },
    };
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    small_buffer(&log, 1, 1000, 268435455);
    small_buffer(&log, 1, 2000, 2);
    small_buffer(&log, 2, 2000, 1);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        tap_ok(run_with_map(&log, rows[k].map, &rec, &err) == WEFT_OK, "%s: %s", rows[k].name,
               err.text);
        const char *at = strstr(rec_str(&rec.trace), "function ");
        tap_eq_str(at, rows[k].want, "%s", rows[k].name);
        rec_fini(&rec);
    }
    struct rec_sink rec;
    struct weft_err err = { 0 };
    tap_ok(run_with_map(&log, "x\ty\tz\n", &rec, &err) == WEFT_E_MALFORMED && err.line == 1 &&
               strstr(err.file, "test_xray_fdr.tsv"),
           "a bad map is an error of the map's file: %s", err.text);
    tap_eq_str(rec_str(&rec.trace), "", "and nothing is told before");
    rec_fini(&rec);
    xb_fini(&log);
}

/* Whatever the sink refuses ends the import with its error. */
static void test_sink_failures(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    small_buffer(&log, 1, 1000, 1);
    small_buffer(&log, 2, 1000, 1);
    const struct weft_mapped file = { .bytes = log.bytes, .n_bytes = log.n_bytes };
    bool is_done = false;
    for (uint64_t n = 1; !is_done; n++) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        rec_init(&rec);
        rec.fail_after = n;
        enum weft_code code = weft_xray_import(&file, NULL, &rec.sink, NULL, &err);
        is_done = code == WEFT_OK;
        tap_ok(is_done ? n > 8 : code == WEFT_E_IO, "the sink fails at step %" PRIu64, n);
        rec_fini(&rec);
    }
    xb_fini(&log);
}

/* The same with one worker and with several. */
static void test_workers(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, GHZ, BUFFER_BYTES);
    for (uint32_t k = 0; k < 200; k++)
        small_buffer(&log, k % 17, 1000 + k * 10, k % 5);
    const struct weft_mapped file = { .bytes = log.bytes, .n_bytes = log.n_bytes };
    char *texts[3];
    for (unsigned n_workers = 0; n_workers < 3; n_workers++) {
        struct rec_sink rec;
        rec_init(&rec);
        const struct weft_run run = { .pool = n_workers ? weft_pool_new(n_workers * 2) : NULL };
        tap_ok(weft_xray_import(&file, NULL, &rec.sink, &run, NULL) == WEFT_OK, "%u workers",
               n_workers * 2);
        texts[n_workers] = rec_whole(&rec);
        weft_pool_free(run.pool);
        rec_fini(&rec);
    }
    tap_eq_str(texts[1], texts[0], "two workers tell the same as none");
    tap_eq_str(texts[2], texts[0], "four workers tell the same as none");
    for (size_t k = 0; k < 3; k++)
        free(texts[k]);
    xb_fini(&log);
}

int main(void)
{
    for (unsigned version = 1; version <= 5; version++) {
        test_records(version);
        test_order(version);
    }
    test_duplicates();
    test_emulated_clock();
    test_frequency();
    test_clock_steps_back();
    for (size_t k = 0; k < sizeof bad_rows / sizeof *bad_rows; k++)
        test_bad_record(&bad_rows[k]);
    test_headless_buffer();
    test_wrong_extents();
    test_calls_before_time();
    test_batches();
    test_padding_and_empty();
    test_headers();
    test_sniff();
    test_names();
    test_sink_failures();
    test_workers();
    return tap_done();
}
