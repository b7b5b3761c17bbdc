/* SPDX-License-Identifier: MIT
 *
 * Small traces of CTF, made here: what becomes of events of a kernel and of user space, what is
 * noted of damage, and how metadata are refused.
 */
#include "ctf_trace.h"
#include "ingest/ctf/ctf.h"
#include "recording_sink.h"
#include "tap.h"

/* ---- reading -------------------------------------------------------------------------------- */

/* All that the sink was told, or the error; the caller frees. */
static char *import_text(const char *text, const struct ct_stream *streams, size_t n_streams)
{
    static const char *const names[] = { "cpu0", "cpu1" };
    struct ctf_stream_input inputs[2];
    struct rec_sink rec;
    struct weft_err err = { 0 };
    for (size_t k = 0; k < n_streams; k++)
        inputs[k] = (struct ctf_stream_input){
            .name = names[k], .file = { .bytes = streams[k].bytes, .n_bytes = streams[k].n }
        };
    const struct ctf_input input = { .path = "t",
                                     .metadata = { .bytes = (const uint8_t *)text,
                                                   .n_bytes = strlen(text) },
                                     .streams = inputs,
                                     .n_streams = n_streams };
    rec_init(&rec);
    char *whole;
    if (weft_ctf_import_inputs(&input, 1, &rec.sink, NULL, &err) == WEFT_OK) {
        tap_eq_u64(rec.n_order_errors, 0, "the rules of the sink are kept");
        whole = rec_whole(&rec);
    } else {
        char message[1024];
        weft_err_print(&err, message, sizeof message);
        whole = strdup(message);
    }
    rec_fini(&rec);
    return whole;
}

static char *import(const char *metadata, const struct ct_stream *streams, size_t n_streams)
{
    char text[8192];
    (void)snprintf(text, sizeof text, "%s%s", ct_common, metadata);
    return import_text(text, streams, n_streams);
}

static void expect(char *got, const char *want, const char *name)
{
    tap_eq_str(got, want, "%s", name);
    free(got);
}

/* Has the text this line? */
static void expect_line(const char *got, const char *line, const char *name)
{
    if (!tap_ok(strstr(got, line) != NULL, "%s", name))
        tap_note("%s", got);
}

/* ---- kernel --------------------------------------------------------------------------------- */

static void test_kernel(void)
{
    static struct ct_stream streams[2];
    struct ct_stream *first = &streams[0];
    struct ct_stream *second = &streams[1];
    ct_begin(first, 0, 0, 0);
    ct_put_switch(first, 1000, 0, 10, 0, "worker");
    ct_put_numbers(first, 2, 1100, 7, 0);
    ct_put_text(first, "disk");
    ct_put_numbers(first, 1, 1110, 20, 1);
    ct_put_numbers(first, 3, 1120, 7, 0);
    ct_put_numbers(first, 6, 1200, 5, 0);
    ct_put_text(first, "/etc/x");
    ct_event(first, 7, 1300);
    ct_put(first, UINT64_MAX - 1, 8);
    ct_put_switch(first, 1400, 10, 0, 1, "swapper/0");
    ct_end(first);
    ct_begin(second, 1, 0, 0);
    ct_event(second, 8, 1050);
    ct_put(second, 2, 1);
    ct_put(second, 0x0908, 2);
    ct_put_switch(second, 1500, 20, 21, 0x100, "other");
    ct_put_switch(second, 1600, 22, 20, 0, "known");
    ct_end(second);
    expect(import(ct_kernel, streams, 2),
           "begin ctf: CTF 1.8, 1 traces, 2 files\n"
           "clock 1000000000 zero 1000 monotonic 1000 realtime 100000001000\n"
           "thread 0 tid 0 pid 0 name swapper/0\n"
           "thread 1 tid 10 pid 0 name worker\n"
           "thread 2 tid 0 pid 0 generation 1\n"
           "thread 3 tid 20 pid 0 name known\n"
           "thread 4 tid 21 pid 0 name other\n"
           "thread 5 tid 22 pid 0\n"
           "note lost_switches 1\n"
           "-- 0\n"
           "switch @0 cpu 0 next 1 state 0\n"
           "end @0\n"
           "-- 1\n"
           "irq_enter irq [disk] 7 @100 \n"
           "waking  [] 1 @110 \n"
           "irq_exit irq [] 7 @120 \n"
           "syscall_enter openat [/etc/x] 5 @200 \n"
           "syscall_exit openat [] 18446744073709551614 @300 \n"
           "switch @400 cpu 0 next 0 state 1\n"
           "end @400\n"
           "-- 2\n"
           "end @0\n"
           "-- 3\n"
           "I tick 0 cpu 1 @50 \"7b226e223a322c226c697374223a5b382c395d7d\"\n"
           "switch @500 cpu 1 next 4 state 256\n"
           "end @500\n"
           "-- 4\n"
           "end @0\n"
           "-- 5\n"
           "switch @600 cpu 1 next 3 state 0\n"
           "end @600\n",
           "switches, interrupts and calls belong to the thread on their processor");
}

static void test_reuse(void)
{
    static struct ct_stream stream;
    ct_begin(&stream, 0, 0, 0);
    ct_put_switch(&stream, 10, 0, 1, 0, "parent");
    ct_put_fork(&stream, 20, 30, "one");
    ct_put_switch(&stream, 30, 1, 30, 0, "one");
    ct_put_numbers(&stream, 5, 40, 30, 0);
    ct_put_switch(&stream, 50, 30, 1, 0x10, "parent");
    ct_put_fork(&stream, 60, 30, "two");
    ct_put_switch(&stream, 70, 1, 30, 0, "two");
    ct_end(&stream);
    char *got = import(ct_kernel, &stream, 1);
    expect_line(got, "thread 2 tid 30 pid 30 name one\n", "a forked thread has name and process");
    expect_line(got, "thread 3 tid 30 pid 30 generation 1 name two\n",
                "a tid that is used again is another thread");
    expect_line(got, "fork  [] 0 @10 \n", "a fork points from the parent");
    expect_line(got, "-- 2\nexit  [] 0 @30 \nswitch @40 cpu 0 next 1 state 16\n",
                "a thread leaves its processor after its exit");
    expect_line(got, "switch @60 cpu 0 next 3 state 0\n", "the new thread is meant");
    free(got);
}

/* ---- user space ----------------------------------------------------------------------------- */

static void context(struct ct_stream *stream, unsigned id, uint64_t time_ns, unsigned tid)
{
    ct_event(stream, id, time_ns);
    ct_put(stream, tid, 4);
    ct_put(stream, 99, 4);
    ct_put_text(stream, "prog");
}

static void test_user(void)
{
    static struct ct_stream stream;
    ct_begin(&stream, 3, 0, 0);
    context(&stream, 0, 100, 99);
    ct_put(&stream, 0x400000, 8);
    ct_put(&stream, 0x1000, 8);
    ct_put_text(&stream, "/bin/prog");
    ct_put(&stream, 1, 1);
    context(&stream, 1, 110, 100);
    ct_put(&stream, 0x400010, 8);
    context(&stream, 3, 120, 100);
    ct_put(&stream, 0x7000, 8);
    context(&stream, 4, 130, 100);
    ct_put(&stream, 0x7000, 8);
    ct_put(&stream, 0, 4);
    context(&stream, 6, 135, 100);
    ct_put_text(&stream, "say \"hi\"");
    context(&stream, 5, 140, 100);
    ct_put(&stream, 0x7000, 8);
    ct_put(&stream, 0, 4);
    context(&stream, 2, 150, 100);
    ct_end(&stream);
    expect(
        import(ct_user, &stream, 1),
        "begin ctf: CTF 1.8, 1 traces, 1 files\n"
        "clock 1000000000 zero 100 monotonic 100 realtime 100000000100\n"
        "thread 0 tid 99 pid 99 name prog\n"
        "thread 1 tid 100 pid 99 name prog\n"
        "function 0  [/bin/prog] 0x10\n"
        "-- 0\n"
        "I lttng_ust_statedump:bin_info 0 cpu 3 @0 "
        "\"7b226261646472223a343139343330342c226d656d737a223a343039362c2270617468223a222f62696e2f"
        "70726f67222c2269735f706963223a317d\"\n"
        "end @0\n"
        "-- 1\n"
        "E 0 @10\n"
        "lock_request mutex_lock [] 28672 @20 \n"
        "lock_acquired mutex_lock [] 28672 @30 \n"
        "I app:note 0 cpu 3 @35 \"7b2274657874223a22736179205c2268695c22227d\"\n"
        "lock_released mutex_unlock [] 28672 @40 \n"
        "X 0 @50\n"
        "end @50\n",
        "calls, locks and notes of a process");
}

/* ---- damage --------------------------------------------------------------------------------- */

static void ticks(struct ct_stream *stream, unsigned discarded, unsigned sequence, uint64_t time_ns)
{
    ct_begin(stream, 0, discarded, sequence);
    ct_put_switch(stream, time_ns, 0, 1, 0, "x");
    ct_put_switch(stream, time_ns + 1, 1, 0, 0, "y");
    ct_end(stream);
}

static void test_damage(void)
{
    static struct ct_stream stream;
    ticks(&stream, 2, 0, 10);
    const size_t second_off = stream.n;
    ticks(&stream, 2, 1, 20);
    const size_t third_off = stream.n;
    ticks(&stream, 5, 4, 30);
    char *got = import(ct_kernel, &stream, 1);
    expect_line(got, "note lost_records 5 at 0x0 (cpu0: events discarded by the tracer)",
                "discarded events are counted");
    expect_line(got, "(cpu0: packets missing)", "so are packets");
    free(got);

    struct ct_stream bad = stream;
    bad.bytes[second_off] ^= 1;
    got = import(ct_kernel, &bad, 1);
    expect_line(got, "expected the magic number of a packet", "a damaged packet is noted");
    expect_line(got, "switch @0 cpu", "the packet before it is read");
    expect_line(got, "switch @20 cpu", "the packet behind it is read");
    tap_ok(strstr(got, "switch @10 cpu") == NULL, "but not the packet itself");
    free(got);

    bad = stream;
    bad.bytes[second_off + CT_HEAD_BYTES] = 77;
    got = import(ct_kernel, &bad, 1);
    expect_line(got, "expected the number of a declared event", "an unknown event is noted");
    expect_line(got, "switch @21 cpu", "and the next packet is read");
    free(got);

    bad = stream;
    bad.n = third_off + CT_HEAD_BYTES + 30;
    got = import(ct_kernel, &bad, 1);
    expect_line(got, "note truncated", "a file that ends early is noted");
    expect_line(got, "switch @20 cpu", "its last whole event is read");
    free(got);
}

/* ---- versions ------------------------------------------------------------------------------- */

/* The same trace with other numbers of its version. */
static char *import_version(const char *numbers)
{
    static struct ct_stream stream;
    static const char known[] = "major = 1; minor = 8;";
    char text[8192];
    const char *at = strstr(ct_common, known);
    stream.n = 0;
    ticks(&stream, 2, 0, 10);
    (void)snprintf(text, sizeof text, "%.*s%s%s%s", (int)(at - ct_common), ct_common, numbers,
                   at + strlen(known), ct_kernel);
    return import_text(text, &stream, 1);
}

/* Drafts of the format have the syntax of 1.8. */
static void test_versions(void)
{
    static const char *const drafts[] = { "major = 0; minor = 1;", "major = 0; minor = 8;" };
    char *known = import_version("major = 1; minor = 8;");
    for (size_t k = 0; k < sizeof drafts / sizeof *drafts; k++) {
        char *got = import_version(drafts[k]);
        expect_line(got, "metadata of a version before 1.8, read as 1.8", "a draft is noted");
        expect_line(got, "switch @0 cpu", "and read");
        tap_ok(strstr(known, "metadata of a version before 1.8, read as 1.8") == NULL,
               "which 1.8 is not");
        free(got);
    }
    free(known);
    char *got = import_version("major = 3; minor = 0;");
    expect_line(got, "expected version 1.8 of a trace, found 3.0", "a later version is refused");
    free(got);
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void test_metadata(void)
{
    static const struct {
        const char *metadata, *expected;
    } rows[] = {
        { "event { id = 0; id = x; };", "t/metadata: line 8: expected a number, found \";\"" },
        { "struct { u9 x; };", "expected a type, found \"u9\", which is not declared" },
        { "event { fields := struct { u8 a[b]; }; };",
          "expected an integer before \"a\" as its length, found no field \"b\"" },
        { "event { fields := struct { integer { size = 8; signed = true; } n; u8 a[n]; }; };",
          "expected an unsigned length of \"a\", found a signed integer" },
        { "event { fields := struct { u8 t; variant <t> { u8 a; } v; }; };",
          "expected an enumeration as tag of \"v\", found an integer" },
        { "event { fields := struct { integer { size = 65; } n; }; };",
          "expected a size of 1 to 64 bits" },
        { "event { id = 99999999999999999999; };", "expected an integer of 64 bits" },
        { "event { name = \"x", "line 8: expected the end of a string" },
        { "/* never", "expected the end of a comment, found the end of the metadata" },
        { "event { id = 0; }; event { id = 0; };",
          "expected an event with a number of its own in its stream" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        static const struct ct_stream nothing;
        char *got = import(rows[k].metadata, &nothing, 1);
        expect_line(got, rows[k].expected, rows[k].metadata);
        free(got);
    }
}

int main(void)
{
    test_kernel();
    test_reuse();
    test_user();
    test_damage();
    test_versions();
    test_metadata();
    return tap_done();
}
