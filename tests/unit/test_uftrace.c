/* SPDX-License-Identifier: MIT
 *
 * uftrace directories: headers, sessions and symbols, calls and their values, events, scheduling,
 * what was lost, damage.
 */
#include "ingest/uftrace/argspec.h"
#include "ingest/uftrace/uftrace.h"
#include "recording_sink.h"
#include "tap.h"
#include "uftrace_builder.h"

#include <sys/stat.h>
#include <unistd.h>

#define BASE UINT64_C(1000000000)

static enum weft_code import(const struct ub *dir, unsigned n_workers, struct rec_sink *rec,
                             struct weft_err *err)
{
    struct weft_folder folder = ub_folder(dir);
    const struct weft_run run = { .pool = n_workers ? weft_pool_new(n_workers) : NULL };
    rec_init(rec);
    enum weft_code code = weft_uftrace_import_folder(&folder, &rec->sink, &run, err);
    weft_pool_free(run.pool);
    ub_folder_fini(&folder);
    return code;
}

/* Compares with the whole text, or with a part of it that ends it. */
static void expect(struct ub *dir, const char *want, const char *name)
{
    for (unsigned n_workers = 0; n_workers < 3; n_workers += 2) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        enum weft_code code = import(dir, n_workers, &rec, &err);
        char *got = rec_whole(&rec);
        size_t n_got = strlen(got);
        size_t n_want = strlen(want);
        tap_eq_u64((uint64_t)code, WEFT_OK, "%s: code, %s", name, err.text);
        tap_eq_str(n_got > n_want ? got + n_got - n_want : got, want, "%s, %u workers", name,
                   n_workers);
        tap_eq_u64(rec.n_order_errors, 0, "%s: order", name);
        free(got);
        rec_fini(&rec);
    }
    ub_fini(dir);
}

static void expect_error(struct ub *dir, enum weft_code want, uint64_t at_off, const char *words,
                         const char *name)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    enum weft_code code = import(dir, 0, &rec, &err);
    tap_eq_u64((uint64_t)code, (uint64_t)want, "%s: code", name);
    tap_eq_u64(err.at_off, at_off, "%s: offset", name);
    tap_ok(strstr(err.text, words) != NULL, "%s: \"%s\" says \"%s\"", name, err.text, words);
    rec_fini(&rec);
    ub_fini(dir);
}

static void add_program(struct ub *dir, const char *info_lines)
{
    ub_info(dir, info_lines);
    ub_text(dir, "task.txt",
            "SESS timestamp=0.900000000 pid=10 sid=ab exename=\"/usr/bin/my prog\"\n"
            "TASK timestamp=0.900000001 tid=10 pid=10\n");
    ub_text(dir, "sid-ab.map", "400000-402000 r-xp 00000000 00:00 0 /usr/bin/prog\n");
    ub_text(dir, "prog.sym",
            "# symbols: 5\n# path name: /usr/bin/prog\n"
            "0000000000001000 P free\n0000000000001100 T main\n"
            "0000000000001200 T _ZN2ns3addEii\n0000000000001300 T name\n"
            "0000000000001400 ? __func_end\n");
}

static void test_calls(void)
{
    struct ub dir = { 0 };
    add_program(&dir, "uftrace_version:v0.13 ( x86_64 )\n");
    struct xb *file = ub_file(&dir, "10.dat");
    ub_record(file, BASE + 5, UB_ENTRY, 0, 0x401104);
    ub_record(file, BASE + 7, UB_ENTRY, 1, 0x401203);
    ub_record(file, BASE + 9, UB_EXIT, 1, 0x401203);
    ub_record(file, BASE + 11, UB_ENTRY, 1, 0x401010);
    ub_record(file, BASE + 12, UB_EXIT, 1, 0x401010);
    ub_record(file, BASE + 13, UB_ENTRY, 1, 0x999999);
    (void)ub_file(&dir, "11.dat"); /* a task that did nothing */
    expect(&dir,
           "begin uftrace: version 4, written by v0.13, 2 tasks\n"
           "clock 1000000000 zero 1000000005 monotonic 1000000005\n"
           "thread 0 tid 10 pid 10 name my prog\nthread 1 tid 11 pid 0 name my prog\n"
           "function 0 main [prog] 0x1100\nfunction 1 ns::add(int, int) [prog] 0x1200\n"
           "function 2 free [prog] 0x1000\nfunction 3  [] 0x999999\n"
           "-- 0\nE 0 @0\nE 1 @2\nX 1 @4\nE 2 @6\nX 2 @7\nE 3 @8\nend @8\n"
           "-- 1\nend @0\n",
           "calls, their names, an empty task");
}

/* What an exec, a fork and a dlopen() do to addresses. */
static void test_spaces(void)
{
    struct ub dir = { 0 };
    add_program(&dir, "cmdline:uftrace record --clock boot prog\n");
    ub_text(&dir, "task.txt",
            "FORK timestamp=1.000000002 pid=12 ppid=10\n"
            "DLOP timestamp=1.000000010 tid=10 sid=ab base=900000 libname=\"./q lib.so\"\n"
            "SESS timestamp=1.000000020 pid=10 sid=cd exename=\"/bin/other\"\n"
            "TASK timestamp=1.000000021 tid=10 pid=10\n"
            "what is this?\n");
    ub_text(&dir, "sid-cd.map", "400000-402000 r-xp 00000000 00:00 0 /bin/other\n");
    ub_text(&dir, "other.sym",
            "# path name: /bin/other\n0000000000001100 00000010 T start\n"
            "0000000000001200 00000010 T far\n");
    ub_text(&dir, "q lib.so.sym", "# path name: ./q lib.so\n0000000000000500 T qfun\n");
    struct xb *file = ub_file(&dir, "10.dat");
    ub_record(file, BASE + 5, UB_ENTRY, 0, 0x900504);
    ub_record(file, BASE + 6, UB_EXIT, 0, 0x900504);
    ub_record(file, BASE + 15, UB_ENTRY, 0, 0x900504);
    ub_record(file, BASE + 16, UB_EXIT, 0, 0x900504);
    ub_record(file, BASE + 17, UB_ENTRY, 0, 0x401104);
    ub_record(file, BASE + 30, UB_ENTRY, 1, 0x401104);
    ub_record(file, BASE + 31, UB_ENTRY, 2, 0x401120);
    file = ub_file(&dir, "12.dat");
    ub_record(file, BASE + 40, UB_EXIT, 1, 0x401104);
    expect(&dir,
           "begin uftrace: version 4, 2 tasks, not CLOCK_MONOTONIC\n"
           "clock 1000000000 zero 1000000005\n"
           "thread 0 tid 10 pid 10 name other\nthread 1 tid 12 pid 12 name my prog\n"
           "function 0  [] 0x900504\nfunction 1 qfun [q lib.so] 0x500\n"
           "function 2 main [prog] 0x1100\nfunction 3 start [other] 0x1100\n"
           "function 4  [] 0x401120\n"
           "note bad_record 13 at 0x148 (task.txt)\n"
           "-- 0\nE 0 @0\nX 0 @1\nE 1 @10\nX 1 @11\nE 2 @12\nE 3 @25\nE 4 @26\nend @26\n"
           "-- 1\nX 2 @35\nend @35\n",
           "exec, fork, a library opened later, symbols with sizes");
}

static void test_values(void)
{
    struct ub dir = { 0 };
    add_program(&dir, "argspec:lines=3\n"
                      "argspec:ns::add@arg1/i32,arg2;name@arg1/s,arg2/c,fparg1/32,arg3/t6:pt\n"
                      "retspec:^na@retval/x16\npattern_type:regex\n"
                      "retauto:main@retval/s\nargauto:free@arg1/p\n");
    struct xb *file = ub_file(&dir, "10.dat");
    ub_record(file, BASE + 1, UB_ENTRY | UB_MORE, 0, 0x401203);
    xb_int(file, UINT32_MAX - 4, 4);
    xb_int(file, 77, 8);
    ub_align(file, 8);
    ub_record(file, BASE + 2, UB_ENTRY | UB_MORE, 1, 0x401303);
    ub_string(file, "say \"hi\"\n");
    xb_int(file, 'c', 4);
    xb_int(file, 0x3fc00000, 4);
    xb_bytes(file, "\1\2\3\4\5\6", 6);
    ub_align(file, 8);
    ub_record(file, BASE + 3, UB_EXIT | UB_MORE, 1, 0x401303);
    xb_int(file, 0xaaaabeef, 8);
    ub_record(file, BASE + 4, UB_ENTRY | UB_MORE, 1, 0x401004);
    xb_int(file, 0x7ffe, 8);
    ub_record(file, BASE + 5, UB_EXIT | UB_MORE, 1, 0x401004); /* nothing says what follows */
    xb_int(file, 0x0102, 8);
    ub_record(file, BASE + 6, UB_ENTRY | UB_MORE, 1, 0x999999); /* nor here; and it is empty */
    ub_record(file, BASE + 7, UB_EXIT | UB_MORE, 1, 0x999999);
    xb_int(file, 3, 4); /* cut */
    expect(&dir,
           "-- 0\nE 0 @0\ncall_args  [uftrace] 0 @0 -5, 77\n"
           "E 1 @1\ncall_args  [uftrace] 0 @1 \"say \\\"hi\\\"\\x0a\", 'c', 1.5, {010203040506}\n"
           "X 1 @2\nI return value 48879 cpu -1 @2 \"307862656566\"\n"
           "E 2 @3\ncall_args  [uftrace] 0 @3 0x7ffe\n"
           "X 2 @4\nI return value 0 cpu -1 @4 \"7b303230313030303030303030303030307d\"\n"
           "E 3 @5\nX 3 @6\nI return value 0 cpu -1 @6 \"7b30333030303030307d\"\nend @6\n",
           "arguments and return values");
}

static void test_specifications(void)
{
    static const struct {
        const char *list;
        bool rets;
        int n; /* -1: not understood */
        const char *want;
    } rows[] = {
        { "arg1,arg2/i32,fparg1/64,retval/s", false, 3, "d8 i4 f8" },
        { "arg1,arg2/i32,fparg1/64,retval/s", true, 1, "s0" },
        { "@arg7%stack+1,arg1/e:my_enum,arg2/t24:pt%rdi+rsi", false, 3, "d8 e8 t24" },
        { "kernel,arg1/c,arg2/p,fparg1/80,fparg2", false, 4, "c1 p8 f10 f8" },
        { "filter,depth=3", false, 0, "" },
        { "arg1/t0:empty,arg2/u8", false, 1, "u1" },
        { "arg1/q", false, -1, "" },
        { "arg1/i12", false, -1, "" },
        { "arg1/t99999", false, -1, "" },
        { "arg1/q,retval/i32", true, 1, "i4" },
        { "", false, 0, "" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct weft_uft_args args;
        struct rec_text text = { 0 };
        bool is_good = weft_uft_args_parse(weft_str_of(rows[k].list), rows[k].rets, &args);
        tap_ok(is_good == (rows[k].n >= 0), "\"%s\" is %sunderstood", rows[k].list,
               rows[k].n < 0 ? "not " : "");
        for (size_t arg = 0; is_good && arg < args.n; arg++)
            rec_add(&text, "%s%c%u", arg ? " " : "", args.items[arg].format,
                    args.items[arg].n_bytes);
        if (is_good)
            tap_eq_str(rec_str(&text), rows[k].want, "\"%s\": values", rows[k].list);
        free(text.bytes);
    }
}

static void test_events(void)
{
    struct ub dir = { 0 };
    add_program(&dir, "");
    ub_text(&dir, "events.txt", "EVENT: 1000000 prog:tick\n");
    struct xb *file = ub_file(&dir, "10.dat");
    ub_record(file, BASE + 1, UB_ENTRY, 0, 0x401104);
    ub_record(file, BASE + 2, UB_EVENT | UB_MORE, 0, 100002);
    xb_int(file, 16, 2);
    xb_int(file, 3, 8);
    xb_int(file, 4, 8);
    ub_align(file, 8);
    ub_record(file, BASE + 3, UB_EVENT, 0, 1000000);
    ub_record(file, BASE + 4, UB_EXIT, 0, 0x401104);
    file = ub_file(&dir, "perf-cpu1.dat");
    ub_comm(file, 10, BASE, "named");
    ub_switch(file, UB_OUT, 10, BASE + 5);
    ub_switch(file, UB_PREEMPTED, 99, BASE + 5); /* of no task */
    file = ub_file(&dir, "perf-cpu0.dat");
    ub_switch(file, UB_IN, 10, BASE + 6);
    ub_switch(file, UB_PREEMPTED, 10, BASE + 7);
    xb_int(file, 14, 4); /* cut */
    xb_bytes(ub_file(&dir, "kernel-cpu0.dat"), "x", 1);
    expect(&dir,
           "thread 0 tid 10 pid 10 name named\nfunction 0 main [prog] 0x1100\n"
           "note bad_record 4 (scheduling)\n"
           "note unknown_record 1 (files of kernel functions, not read)\n"
           "-- 0\nE 0 @0\n"
           "I read:page-fault 100002 cpu -1 @1 \"6d616a6f723d33206d696e6f723d34\"\n"
           "I prog:tick 1000000 cpu -1 @2 \"\"\nX 0 @3\n"
           "switch @4 cpu 1 next -1 state 1\nswitch @5 cpu 0 next 0 state 0\n"
           "switch @6 cpu 0 next -1 state 0\nend @6\n",
           "events of the program and of the kernel");
}

/* Depths tell which frames are gone. */
static void test_frames(void)
{
    struct ub dir = { 0 };
    add_program(&dir, "");
    struct xb *file = ub_file(&dir, "10.dat");
    ub_record(file, BASE + 1, UB_ENTRY, 0, 0x401104);
    ub_record(file, BASE + 2, UB_ENTRY, 1, 0x401203);
    ub_record(file, BASE + 3, UB_ENTRY, 2, 0x401303);
    ub_record(file, BASE + 4, UB_ENTRY, 1, 0x401004); /* longjmp() left add and name */
    ub_record(file, 0, UB_LOST, 0, 7);
    ub_record(file, BASE + 9, UB_EXIT, 3, 0x401203); /* its entry was lost */
    ub_record(file, BASE + 10, UB_EXIT, 0, 0x401104);
    ub_record(file, 0, UB_LOST, 0, 2);
    expect(&dir,
           "note lost_records 9 thread 0 at 0x40\nnote missing_exit 1 thread 0\n"
           "note exit_ignored 1 thread 0\n"
           "-- 0\nE 0 @0\nE 1 @1\nE 2 @2\nX 1 @3\nE 3 @3\nX 0 @9\nend @9\n",
           "frames that were left, records that were lost");
    add_program(&dir, "");
    file = ub_file(&dir, "10.dat");
    ub_record(file, BASE + 1, UB_EXIT, 2, 0x401203);
    ub_record(file, BASE + 2, UB_ENTRY, 2, 0x401303);
    ub_record(file, BASE + 3, UB_EXIT, 1, 0x401104); /* closes name, which has no exit */
    expect(&dir,
           "note missing_exit 1 thread 0\n"
           "-- 0\nX 0 @0\nE 1 @1\nX 1 @2\nX 2 @2\nend @2\n",
           "a trace that begins inside calls");
}

static void test_headers(void)
{
    static const struct {
        const char *name;
        unsigned version, endian, elf_class;
        uint64_t at_off;
        const char *words;
    } rows[] = {
        { "big endian", 4, 2, 2, 14, "big-endian" },
        { "32 bits", 4, 1, 1, 15, "32-bit" },
        { "an old version", 2, 1, 2, 8, "found 2" },
        { "a newer version", 5, 1, 2, 8, "found 5" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct ub dir = { 0 };
        ub_header(ub_file(&dir, "info"), rows[k].version, rows[k].endian, rows[k].elf_class,
                  UB_FEATURES, 1024);
        expect_error(&dir, WEFT_E_UNSUPPORTED, rows[k].at_off, rows[k].words, rows[k].name);
    }
    struct ub dir = { 0 };
    ub_text(&dir, "info", "Ftrace?! and more");
    expect_error(&dir, WEFT_E_MALFORMED, 0, "magic", "another magic");
    expect_error(&dir, WEFT_E_TRUNCATED, WEFT_NO_OFFSET, "\"info\"", "no info");
    add_program(&dir, "");
    expect_error(&dir, WEFT_E_TRUNCATED, WEFT_NO_OFFSET, "TID.dat", "no records");
    ub_header(ub_file(&dir, "info"), 3, 1, 2, UB_FEATURES, 1024);
    dir.files[0].bytes[12] = 200; /* a header longer than the file */
    expect_error(&dir, WEFT_E_MALFORMED, 12, "found 200", "a long header");
}

/* ---- damage -----------------------------------------------------------------------------------
 */

static void build_all(struct ub *dir)
{
    add_program(dir, "argspec:ns::add@arg1/i32;name@arg1/s\nretspec:name@retval/x\n");
    ub_text(dir, "prog.dbg", "F: 1100 main\nA: @arg1,arg2/p\n");
    ub_text(dir, "task.txt",
            "DLOP timestamp=1.000000010 tid=10 sid=ab base=900000 libname=\"q\"\n");
    struct xb *file = ub_file(dir, "10.dat");
    ub_record(file, BASE + 1, UB_ENTRY | UB_MORE, 0, 0x401104);
    xb_int(file, 5, 8);
    xb_int(file, 6, 8);
    ub_record(file, BASE + 2, UB_ENTRY | UB_MORE, 1, 0x401303);
    ub_string(file, "text");
    ub_align(file, 8);
    ub_record(file, BASE + 3, UB_EXIT | UB_MORE, 1, 0x401303);
    xb_int(file, 6, 8);
    ub_record(file, BASE + 4, UB_EVENT | UB_MORE, 0, 77);
    xb_int(file, 3, 8);
    ub_record(file, BASE + 5, UB_EXIT, 0, 0x401104);
    ub_switch(ub_file(dir, "perf-cpu0.dat"), UB_OUT, 10, BASE + 5);
}

static bool is_kept(const struct ub *dir)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    enum weft_code code = import(dir, 0, &rec, &err);
    bool is_good = rec.n_order_errors == 0 && (code == WEFT_OK || err.text[0]);
    for (uint32_t k = 0; code == WEFT_OK && k < rec.n_threads; k++)
        is_good &= rec.is_ended[k];
    rec_fini(&rec);
    return is_good;
}

/* Every file cut at each byte, and each of its bits flipped. */
static void test_damage(void)
{
    struct ub dir = { 0 };
    build_all(&dir);
    for (size_t k = 0; k < dir.n; k++) {
        struct xb *file = &dir.files[k];
        size_t n_whole = file->n_bytes;
        unsigned n_wrong = 0;
        for (file->n_bytes = 0; file->n_bytes < n_whole; file->n_bytes++)
            n_wrong += !is_kept(&dir);
        file->n_bytes = n_whole;
        for (size_t bit = 0; bit < n_whole * 8; bit++) {
            file->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            n_wrong += !is_kept(&dir);
            file->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        tap_eq_u64(n_wrong, 0, "%s: cut at %zu bytes, %zu bits flipped", dir.names[k], n_whole,
                   n_whole * 8);
    }
    ub_fini(&dir);
    add_program(&dir, "");
    struct xb *file = ub_file(&dir, "10.dat");
    ub_record(file, BASE + 1, UB_ENTRY, 0, 0x401104);
    xb_int(file, UINT64_MAX, 8);
    xb_int(file, 0, 8);
    xb_int(file, UINT64_MAX, 8);
    ub_record(file, BASE + 9, UB_EXIT, 0, 0x401104);
    xb_int(file, 0, 5);
    expect(&dir,
           "note truncated 11 thread 0 at 0x38\nnote bad_record 24 thread 0 at 0x10\n"
           "-- 0\nE 0 @0\nX 0 @8\nend @8\n",
           "junk between records, and a cut one");
}

/* A sink that fails ends the import with its reason, at whatever it is told. */
static void test_failing_sink(void)
{
    struct ub dir = { 0 };
    build_all(&dir);
    struct weft_folder folder = ub_folder(&dir);
    unsigned n_wrong = 0;
    uint64_t fail_after = 1;
    for (enum weft_code code = WEFT_E_IO; code != WEFT_OK && fail_after < 100; fail_after++) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        rec_init(&rec);
        rec.fail_after = fail_after;
        code = weft_uftrace_import_folder(&folder, &rec.sink, NULL, &err);
        n_wrong += code != WEFT_OK && (code != WEFT_E_IO || !strstr(err.text, "full"));
        rec_fini(&rec);
    }
    tap_ok(n_wrong == 0 && fail_after > 10, "each of %d failures of the sink is passed on",
           (int)fail_after - 2);
    ub_folder_fini(&folder);
    ub_fini(&dir);
}

/* ---- on disk ----------------------------------------------------------------------------------
 */

static void test_directory(void)
{
    char path[4096];
    char name[4200];
    struct ub dir = { 0 };
    const char *root = getenv("WEFT_BUILD_ROOT");
    build_all(&dir);
    (void)snprintf(path, sizeof path, "%s/test_uftrace.data", root ? root : ".");
    (void)mkdir(path, 0700);
    tap_ok(!weft_uftrace_sniff_dir(path), "an empty directory");
    for (size_t k = 0; k < dir.n; k++) {
        (void)snprintf(name, sizeof name, "%s/%s", path, dir.names[k]);
        FILE *file = fopen(name, "wb");
        if (!file || fwrite(dir.files[k].bytes, 1, dir.files[k].n_bytes, file) == 0 ||
            fclose(file) != 0)
            abort();
    }
    tap_ok(weft_uftrace_sniff_dir(path), "a directory of uftrace");
    tap_ok(!weft_uftrace_sniff_dir(name), "a file of it");
    struct rec_sink disk;
    struct rec_sink memory;
    struct weft_err err = { 0 };
    rec_init(&disk);
    enum weft_code code = weft_uftrace_import(path, &disk.sink, NULL, &err);
    tap_eq_u64((uint64_t)code, WEFT_OK, "it is read: %s", err.text);
    (void)import(&dir, 0, &memory, &err);
    char *got = rec_whole(&disk);
    char *want = rec_whole(&memory);
    tap_eq_str(got, want, "from disk as from memory");
    free(got);
    free(want);
    rec_fini(&disk);
    rec_fini(&memory);
    for (size_t k = 0; k < dir.n; k++) {
        (void)snprintf(name, sizeof name, "%s/%s", path, dir.names[k]);
        (void)unlink(name);
    }
    (void)rmdir(path);
    rec_init(&disk);
    code = weft_uftrace_import(path, &disk.sink, NULL, &err);
    tap_eq_u64((uint64_t)code, WEFT_E_IO, "a missing directory");
    rec_fini(&disk);
    ub_fini(&dir);
}

int main(void)
{
    test_calls();
    test_spaces();
    test_values();
    test_specifications();
    test_events();
    test_frames();
    test_headers();
    test_damage();
    test_failing_sink();
    test_directory();
    return tap_done();
}
