/* SPDX-License-Identifier: MIT
 *
 * Basic mode logs: record kinds, threads that take turns, arguments, damage.
 */
#include "ingest/xray/xray.h"
#include "recording_sink.h"
#include "tap.h"
#include "xray_builder.h"

#define GHZ UINT64_C(1000000000)

static void expect(const struct xb *log, const char *name, const char *want)
{
    uint8_t *bytes = malloc(log->n_bytes);
    memcpy(bytes, log->bytes, log->n_bytes);
    const struct weft_mapped file = { .bytes = bytes, .n_bytes = log->n_bytes };
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    enum weft_code code = weft_xray_import(&file, NULL, &rec.sink, NULL, &err);
    char *got = rec_whole(&rec);
    tap_eq_u64((uint64_t)code, WEFT_OK, "%s: imported %s", name, err.text);
    tap_eq_str(got, want, "%s, version %u", name, log->version);
    free(got);
    free(bytes);
    rec_fini(&rec);
}

static void test_records(unsigned version)
{
    struct xb log = { 0 };
    xb_header(&log, version, 0, GHZ, 0);
    xb_basic(&log, 3, XB_ENTER_ARG, 7, 5000, 20, 10);
    xb_basic_argument(&log, 7, 99, 20, 10);
    xb_basic(&log, 3, XB_ENTER, 8, 5010, 20, 10);
    xb_basic(&log, 0, XB_ENTER, 9, 4000, 21, 10); /* the other thread began earlier */
    xb_basic(&log, 4, XB_TAIL, 8, 5020, 20, 10);
    xb_basic(&log, 4, XB_EXIT, 7, 5030, 20, 10);
    unsigned pid = version >= 3 ? 10 : 0;
    char want[512];
    (void)snprintf(want, sizeof want,
                   "begin xray-basic: version %u, 1.000 GHz\nclock 1000000000 zero 4000\n"
                   "thread 0 tid 21 pid %u\nthread 1 tid 20 pid %u\n"
                   "-- 0\nC cpu 0 cpu 0 @0\nE 9 @0\nend @0\n"
                   "-- 1\nC cpu 3 cpu 3 @1000\nE 7 @1000\nA 99\nE 8 @1010\n"
                   "C cpu 4 cpu 4 @1020\nT 8 @1020\nX 7 @1030\nend @1030\n",
                   version, pid, pid);
    expect(&log, "all record kinds", want);
    xb_fini(&log);
}

/* A thread's batch may end between an entry and its argument. */
static void test_split_argument(void)
{
    struct xb log = { 0 };
    xb_header(&log, 3, 0, GHZ, 0);
    xb_basic(&log, 0, XB_ENTER_ARG, 1, 100, 20, 1);
    xb_basic(&log, 0, XB_ENTER_ARG, 2, 100, 21, 1);
    xb_basic_argument(&log, 1, 11, 20, 1);
    xb_basic_argument(&log, 2, 22, 21, 1);
    expect(&log, "arguments in a later run",
           "begin xray-basic: version 3, 1.000 GHz\nclock 1000000000 zero 100\n"
           "thread 0 tid 20 pid 1\nthread 1 tid 21 pid 1\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nA 11\nend @0\n"
           "-- 1\nC cpu 0 cpu 0 @0\nE 2 @0\nA 22\nend @0\n");
    xb_fini(&log);
}

static void test_damage(void)
{
    struct xb log = { 0 };
    xb_header(&log, 3, 0, GHZ, 0);
    xb_basic(&log, 0, XB_ENTER, 1, 100, 20, 1);
    size_t bad = log.n_bytes;
    xb_basic(&log, 0, 4, 1, 100, 20, 1); /* no such kind */
    xb_basic(&log, 0, XB_ENTER, 0x80000000, 100, 20, 1);
    size_t stray = log.n_bytes;
    xb_basic(&log, 0, XB_EXIT, 1, 110, 20, 1);
    xb_basic_argument(&log, 1, 11, 20, 1); /* not behind an entry */
    size_t cut = log.n_bytes;
    xb_int(&log, 0, 31);
    (void)stray;
    char want[512];
    (void)snprintf(want, sizeof want,
                   "begin xray-basic: version 3, 1.000 GHz\nclock 1000000000 zero 100\n"
                   "thread 0 tid 20 pid 1\n"
                   "note truncated 31 at 0x%zx\nnote bad_record 64 at 0x%zx\n"
                   "note bad_record 32 thread 0 at 0x%zx\n"
                   "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nX 1 @10\nend @10\n",
                   cut, bad, stray + 32);
    expect(&log, "damage", want);
    xb_fini(&log);
}

static void test_far_time(void)
{
    struct xb log = { 0 };
    xb_header(&log, 3, 0, GHZ, 0);
    xb_basic(&log, 0, XB_ENTER, 1, 100, 20, 1);
    xb_basic(&log, 0, XB_EXIT, 1, UINT64_C(1) << 63, 20, 1);
    xb_basic(&log, 0, XB_EXIT, 1, 200, 20, 1);
    expect(&log, "a time stamp that cannot be",
           "begin xray-basic: version 3, 1.000 GHz\nclock 1000000000 zero 100\n"
           "thread 0 tid 20 pid 1\nnote bad_record 32 thread 0 at 0x40\n"
           "-- 0\nC cpu 0 cpu 0 @0\nE 1 @0\nX 1 @100\nend @100\n");
    xb_fini(&log);
}

int main(void)
{
    for (unsigned version = 1; version <= 3; version++)
        test_records(version);
    test_split_argument();
    test_damage();
    test_far_time();
    return tap_done();
}
