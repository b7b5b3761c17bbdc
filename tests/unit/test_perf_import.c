/* SPDX-License-Identifier: MIT
 *
 * perf.data and trace.dat: what becomes of records, in files, pipes and sections of either byte
 * order, packed or not; the same scene in all of them; damage.
 */
#include "checking_sink.h"
#include "ingest/perf/perf.h"
#include "ingest/perf/spaces.h"
#include "ingest/tracecmd/tracecmd.h"
#include "kernel_scene.h"
#include "recording_sink.h"

/* Bits are flipped most in a plain file: the same records are behind what packs them. */
enum { SEEDS = 100, FLIPS = 2000, PACKED_FLIPS = 500, CUTS = 500, KERNEL_TESTS_LEAST = 16 };

static enum weft_code import(const struct kb *file, struct weft_sink *sink, struct weft_err *err)
{
    const struct weft_mapped mapped = { .bytes = file->out.bytes, .n_bytes = file->out.n_bytes };
    static unsigned n_imports; /* the order is kept, and not, in turn */
    const struct weft_perf_opts opts = { .most_kept = n_imports++ % 2,
                                         .most_unpacked_bytes = 1 << 20 };
    const struct weft_tracecmd_opts trace_opts = { .most_unpacked_bytes = 1 << 20 };
    return weft_tracecmd_sniff(mapped.bytes, mapped.n_bytes)
               ? weft_tracecmd_import(&mapped, &trace_opts, sink, NULL, err)
               : weft_perf_import(&mapped, &opts, sink, NULL, err);
}

/* All that the sink was told; the caller frees. `file` is freed. */
static char *told(struct kb *file, const char *name)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    const enum weft_code code = import(file, &rec.sink, &err);
    if (code != WEFT_OK || rec.n_order_errors)
        tap_ok(false, "%s: %s (%u)", name, err.text, (unsigned)rec.n_order_errors);
    char *text = rec_whole(&rec);
    rec_fini(&rec);
    kb_fini(file);
    return text;
}

/* ---- perf.data --------------------------------------------------------------------------------
 */

#define PERF_THREADS                                                                               \
    "clock 1000000000 zero 5000 monotonic 5000\n"                                                  \
    "thread 0 tid 10 pid 10 name main\n"                                                           \
    "thread 1 tid 11 pid 10 name worker\n"                                                         \
    "thread 2 tid 0 pid 0 name swapper\n"

static const char perf_want[] = PERF_THREADS
    "note lost_records 7 (perf read them too late)\n"
    "-- 0\n"
    "sample b+0x1800;b+0x1005 [clock] 1000 in user @0 \n"
    "waking  [] 1 @100 \n"
    "I test:odd 0 cpu 0 @150 "
    "\"7b226e223a2d332c226d6163223a5b312c322c332c342c352c3235355d2c2274657874223a2268692c5c22795c22"
    "222c2270616972223a5b372c343239343936373239355d2c2272657374223a2268692c5c22795c22227d\"\n"
    "syscall_enter #39 [] 33 'A' @180 \n"
    "switch @200 cpu 0 next 2 state 1\n"
    "end @200\n"
    "-- 1\n"
    "exit  [] 0 @500 \n"
    "end @500\n"
    "-- 2\n"
    "irq_enter softirq [] 9 @300 \n"
    "switch @400 cpu 0 next 1 state 0\n"
    "end @400\n";

static void put_lost(struct kb *records, uint64_t n_lost)
{
    const size_t at = pb_begin(records, 2, 0);
    kb_int(records, 1, 8);
    kb_int(records, n_lost, 8);
    pb_trailer(records, at, 10, 10, 5350, 0);
}

/* Names and mappings from before, then events of one processor. */
static struct kb plain_records(bool is_big)
{
    static const uint64_t chain[] = { (uint64_t)-512, 0x401005, 0x401800 };
    struct kb records = { .is_big = is_big };
    struct kb raw = { .is_big = is_big };
    pb_comm(&records, 10, 10, "main", 0);
    pb_comm(&records, 10, 99, "never seen", 0);
    pb_task(&records, 7, 10, 11, 10, 0);
    pb_mmap(&records, 10, 0x401000, 0x1000, "/a/b", 0);
    pb_mmap(&records, 10, 0x403000, 0x1000, "/a/c", 0);
    pb_clock(&records, 10, 10, 5000, 0, chain, 3);
    kb_waking(&raw, 10, 11, "worker", 1);
    pb_tracepoint(&records, 10, 10, 5100, 0, &raw);
    kb_odd(&raw, 10, -3, "hi,\"y\"");
    pb_tracepoint(&records, 10, 10, 5150, 0, &raw);
    kb_syscall(&raw, 10, 39);
    pb_tracepoint(&records, 10, 10, 5180, 0, &raw);
    kb_switch(&raw, 10, "main", 1, 0, "swapper");
    pb_tracepoint(&records, 10, 10, 5200, 0, &raw);
    kb_softirq(&raw, 0, 9);
    pb_tracepoint(&records, 0, 0, 5300, 0, &raw);
    put_lost(&records, 7);
    kb_switch(&raw, 0, "swapper", 0, 11, "worker");
    pb_tracepoint(&records, 0, 0, 5400, 0, &raw);
    kb_exit(&raw, 11, "worker");
    pb_tracepoint(&records, 10, 11, 5500, 0, &raw);
    kb_fini(&raw);
    return records;
}

static void expect_plain(struct kb *file, const char *begin, const char *name)
{
    char *got = told(file, name);
    const char *rest = strchr(got, '\n');
    tap_ok(strncmp(got, begin, strlen(begin)) == 0, "%s: begins with \"%s\"", name, begin);
    tap_eq_str(rest ? rest + 1 : "", perf_want, "%s", name);
    free(got);
}

static void test_perf(void)
{
    for (unsigned is_big = 0; is_big < 2; is_big++) {
        const char *order = is_big ? "big-endian" : "little-endian";
        char name[64];
        struct kb records = plain_records(is_big);
        struct kb packed = pb_pack(&records, 100);
        struct kb files[] = { pb_file(&records), pb_pipe(&records), pb_file(&packed),
                              pb_pipe(&packed) };
        static const char *const names[] = { "a file", "a pipe", "a packed file", "a packed pipe" };
        for (size_t k = 0; k < 4; k++) {
            (void)snprintf(name, sizeof name, "%s, %s", names[k], order);
            expect_plain(&files[k],
                         k % 2 ? "begin perf.data: 8 events, from a pipe\n"
                               : "begin perf.data: 8 events\n",
                         name);
        }
        kb_fini(&records);
        kb_fini(&packed);
    }
}

/* Without tracepoints of forks and exits, records tell of them. */
static void test_perf_records(void)
{
    struct kb records = { 0 };
    struct kb raw = { 0 };
    kb_softirq(&raw, 10, 1);
    pb_tracepoint(&records, 10, 10, 5000, 1, &raw);
    pb_comm(&records, 10, 10, "renamed", 5100);
    const size_t at = pb_begin(&records, 5, 0); /* throttled */
    kb_int(&records, 5200, 8);
    kb_int(&records, 1, 8);
    kb_int(&records, 1, 8);
    pb_trailer(&records, at, 10, 10, 5200, 1);
    pb_end(&records, pb_begin(&records, 40, 0)); /* not known */
    struct kb file = pb_file(&records);
    char *got = told(&file, "records");
    tap_ok(strstr(got, "thread 0 tid 10 pid 10 name renamed\n") != NULL, "a later name counts");
    tap_ok(strstr(got, "note unknown_record 1\n") != NULL, "an unknown record is noted");
    tap_ok(strstr(got, "note lost_records 1 (times that the kernel throttled") != NULL,
           "throttling is noted");
    free(got);
    kb_fini(&records);
    kb_fini(&raw);
}

/* A file that is cut off within its formats: its tracepoints are kept, and are not lost. */
static void test_perf_cut(void)
{
    struct kb records = { 0 };
    struct kb raw = { 0 };
    kb_softirq(&raw, 10, 1);
    pb_tracepoint(&records, 10, 10, 5000, 1, &raw);
    pb_tracepoint(&records, 10, 10, 5100, 1, &raw);
    struct kb file = pb_file(&records);
    file.out.n_bytes = 104 + PB_ATTRS * (8 + 144) + records.out.n_bytes + 3 * 16;
    char *got = told(&file, "cut");
    tap_ok(strstr(got, "note formless 2 (") != NULL && !strstr(got, "note unknown_record"),
           "tracepoints without their format are kept");
    tap_ok(strstr(got, "note truncated ") != NULL, "and the end is missing");
    const char *first = strstr(got, "I ");
    tap_ok(first && strstr(first + 1, "\nI "), "each is an instant");
    free(got);
    kb_fini(&records);
    kb_fini(&raw);
}

/* Frame pointers that lead out of what is mapped: what they find from there on is left out, but
 * not the instruction itself, and nothing of a process of which no mapping is known. */
static void test_perf_chains(void)
{
    static const uint64_t chain[] = { (uint64_t)-512, 0x401005, 0x7000, 0x401800 },
                          jumped[] = { (uint64_t)-512, 0x7000, 0x401005 },
                          within[] = { (uint64_t)-128, 0xffff0000, (uint64_t)-512, 0x401005, 0 };
    struct kb records = { 0 };
    pb_mmap(&records, 10, 0x401000, 0x1000, "/a/b", 0);
    pb_clock(&records, 10, 10, 5000, 0, chain, 4);
    pb_clock(&records, 10, 10, 5100, 0, jumped, 3);
    pb_clock(&records, 10, 10, 5200, 0, within, 5);
    pb_clock(&records, 10, 10, 5300, 0, chain, 4);
    pb_clock(&records, 77, 77, 5400, 0, chain, 4);
    struct kb file = pb_file(&records);
    char *got = told(&file, "chains");
    tap_ok(strstr(got, "sample b+0x1005 [clock] 1000 in user @0 ") != NULL, "nothing behind it");
    tap_ok(strstr(got, "sample b+0x1005;0x7000 [clock] 1000 in user @100 ") != NULL,
           "the instruction");
    tap_ok(strstr(got, "sample b+0x1005;[kernel]+0xffff0000 [clock] 1000 in user @200 ") != NULL,
           "what the kernel does is not of the chain");
    tap_ok(strstr(got, "sample 0x401800;0x7000;0x401005 [clock] 1000 in user @400 ") != NULL,
           "nothing is mapped");
    tap_ok(strstr(got, "note not_kept 3 (stacks of users whose frame pointers lead out") != NULL,
           "each sample is counted");
    free(got);
    kb_fini(&records);
}

/* ---- trace.dat --------------------------------------------------------------------------------
 */

static const char trace_want[] =
    "clock 1000000000 zero 5000 monotonic 5000 realtime 1005000\n"
    "thread 0 tid 10 pid 0 name saved\n"
    "thread 1 tid 11 pid 0 name worker\n"
    "-- 0\n"
    "waking  [] 1 @0 \n"
    "I ftrace:print 0 cpu 0 @134217728 \"7b226970223a342c22627566223a22686579227d\"\n"
    "irq_enter softirq [] 3 @8589934593 \n"
    "end @8589934593\n"
    "-- 1\n"
    "exit  [] 0 @7 \n"
    "end @7\n";

static void put_print(struct kb *raw, uint32_t tid, const char *text)
{
    kb_int(raw, 5, 2);
    kb_int(raw, 0, 2);
    kb_int(raw, tid, 4);
    kb_int(raw, 4, 8);
    kb_text(raw, text);
}

static struct tb plain_pages(bool is_big)
{
    struct tb tb = { .is_big = is_big, .n_cpus = 2 };
    struct kb raw = { .is_big = is_big };
    kb_waking(&raw, 10, 11, "worker", 1);
    tb_event(&tb, 0, 5000, &raw);
    put_print(&raw, 10, "hey");
    tb_event(&tb, 0, 5000 + (1 << 27), &raw);
    kb_softirq(&raw, 10, 3);
    tb_event(&tb, 0, 5001 + (UINT64_C(1) << 33), &raw);
    kb_exit(&raw, 11, "worker");
    tb_event(&tb, 1, 5007, &raw);
    kb_fini(&raw);
    return tb;
}

static void test_trace(void)
{
    static const char *const packings[] = { NULL, "none", "zstd", "zlib" };
    for (unsigned k = 0; k < 8; k++) {
        const char *packing = packings[k / 2];
        struct tb tb = plain_pages(k % 2);
        struct kb file = packing ? tb_sections(&tb, packing) : tb_file(&tb);
        char *got = told(&file, "trace.dat");
        const char *rest = strchr(got, '\n');
        tap_ok(strncmp(got,
                       packing ? "begin trace.dat: version 7, 2 CPUs, clock mono, Linux test"
                               : "begin trace.dat: version 6, 2 CPUs, clock mono, Linux test",
                       57) == 0,
               "trace.dat of version %u", packing ? 7 : 6);
        tap_eq_str(rest ? rest + 1 : "", trace_want, "%s-endian, packed: %s",
                   k % 2 ? "big" : "little", packing ? packing : "version 6");
        free(got);
        tb_fini(&tb);
    }
}

/* Bits of a page's size say that events were lost before it. */
static void test_trace_lost(void)
{
    struct tb tb = plain_pages(false);
    tb_close_page(&tb, 1);
    const size_t n_used = tb.cpus[1].out.bytes[8];
    kb_set(&tb.cpus[1], 8, n_used | TB_MISSED | UINT64_C(1) << 31, 8);
    kb_set(&tb.cpus[1], 16 + n_used, 42, 8);
    struct kb file = tb_file(&tb);
    char *got = told(&file, "lost");
    tap_ok(strstr(got, "note lost_records 42 (CPU 1)\n") != NULL, "lost events are counted");
    free(got);
    kb_set(&tb.cpus[1], 8, n_used | UINT64_C(1) << 31, 8);
    file = tb_file(&tb);
    got = told(&file, "lost");
    tap_ok(strstr(got, "note lost_records 1 (CPU 1: times") != NULL, "or that there are any");
    free(got);
    kb_set(&tb.cpus[1], 8, 1000, 8);
    file = tb_file(&tb);
    got = told(&file, "damaged");
    tap_ok(strstr(got, "note bad_record 256 at ") != NULL, "a damaged page is noted");
    tap_ok(strstr(got, "irq_enter softirq [] 3") != NULL, "the others are read");
    free(got);
    tb_fini(&tb);
}

/* ---- the same scene ---------------------------------------------------------------------------
 */

/* What follows the announcements. */
static const char *behind_threads(const char *text)
{
    const char *found = strstr(text, "-- 0\n");
    return found ? found : "";
}

static void expect_same(struct kb *file, const char *want, uint64_t seed, const char *name,
                        unsigned *n_wrong)
{
    char *got = told(file, name);
    if (strcmp(behind_threads(got), behind_threads(want)) != 0 && (*n_wrong)++ == 0)
        tap_eq_str(behind_threads(got), behind_threads(want), "%s, seed %llu", name,
                   (unsigned long long)seed);
    free(got);
}

/* Which system call 98 is on a machine. */
static const struct {
    const char *name, *call;
} machines[] = { { NULL, "#98" },
                 { "x86_64", "getrusage" },
                 { "i686", "profil" },
                 { "aarch64", "futex" },
                 { "vax", "#98" } };

enum { N_MACHINES = sizeof machines / sizeof *machines };

static void test_machines(void)
{
    for (size_t k = 0; k < N_MACHINES; k++) {
        struct kb raw = { 0 }, records = { 0 };
        struct tb tb = { .n_cpus = 1 };
        char want[64];
        kb_machine = machines[k].name;
        kb_syscall(&raw, 10, 98);
        pb_tracepoint(&records, 10, 10, 5000, 0, &raw);
        kb_syscall(&raw, 10, 98);
        tb_event(&tb, 0, 5000, &raw);
        struct kb files[] = { pb_file(&records), pb_pipe(&records), tb_file(&tb),
                              tb_sections(&tb, "none") };
        (void)snprintf(want, sizeof want, "syscall_enter %s [] 33 'A'", machines[k].call);
        for (size_t i = 0; i < 4; i++) {
            char *got = told(&files[i], "a machine");
            tap_ok(strstr(got, want) != NULL, "%s, file %zu: 98 is %s",
                   kb_machine ? kb_machine : "no machine", i, machines[k].call);
            free(got);
        }
        kb_fini(&raw);
        kb_fini(&records);
        tb_fini(&tb);
    }
    kb_machine = NULL;
}

static void test_scenes(void)
{
    static struct scene scene;
    const uint64_t first = tap_seed(1);
    unsigned n_wrong = 0;
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        kb_machine = machines[seed % N_MACHINES].name;
        scene_make(seed, &scene);
        struct kb sorted = scene_records(&scene, false, 0);
        struct kb plain = pb_file(&sorted);
        char *want = told(&plain, "in order");
        struct kb rounds = scene_records(&scene, seed % 2, 1 + seed % 50);
        struct kb packed = pb_pack(&rounds, 64 + seed % 300);
        struct tb tb = scene_pages(&scene, seed % 2);
        struct kb files[] = { pb_pipe(&sorted), pb_file(&rounds), pb_pipe(&packed), tb_file(&tb),
                              tb_sections(&tb, seed % 3 ? "zstd" : "none") };
        static const char *const names[] = { "a pipe", "rounds", "packed", "trace.dat 6",
                                             "trace.dat 7" };
        for (size_t k = 0; k < 5; k++)
            expect_same(&files[k], want, seed, names[k], &n_wrong);
        free(want);
        kb_fini(&sorted);
        kb_fini(&rounds);
        kb_fini(&packed);
        tb_fini(&tb);
    }
    kb_machine = NULL;
    tap_eq_u64(n_wrong, 0, "a scene is the same in every form");
}

/* ---- address spaces ----------------------------------------------------------------------------
 */

/* Mappings over each other, against one cell an address. */
static void test_spaces(void)
{
    enum { ADDRESSES = 64, NOTHING = 255 };
    unsigned n_wrong = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct perf_spaces spaces;
        uint8_t path_at[ADDRESSES];
        uint64_t off_at[ADDRESSES];
        uint64_t state = seed;
        memset(path_at, NOTHING, sizeof path_at);
        tap_random(&state);
        if (!perf_spaces_init(&spaces))
            abort();
        for (uint32_t path = 0; path < 20; path++) {
            const uint64_t begin = tap_random(&state) % ADDRESSES;
            const uint64_t end = begin + tap_random(&state) % (ADDRESSES + 1 - begin);
            const struct perf_mapping mapping = { begin, end, 1000 * path, path };
            n_wrong += !perf_space_add(&spaces, 7, &mapping);
            for (uint64_t at = begin; at < end; at++) {
                path_at[at] = (uint8_t)path;
                off_at[at] = 1000 * path + at - begin;
            }
        }
        n_wrong += !perf_space_copy(&spaces, 7, 8);
        const struct perf_space *space = perf_space_of(&spaces, 8);
        for (uint64_t at = 0; at < ADDRESSES; at++) {
            const struct perf_mapping *found = perf_space_find(space, at);
            n_wrong += (found != NULL) != (path_at[at] != NOTHING);
            n_wrong +=
                found && path_at[at] != NOTHING &&
                (found->path != path_at[at] || at - found->begin + found->file_off != off_at[at]);
        }
        perf_spaces_fini(&spaces);
    }
    tap_eq_u64(n_wrong, 0, "2,000 address spaces are like plain ones");
}

/* ---- damage -----------------------------------------------------------------------------------
 */

/* True if the importer keeps the rules, and fails only with a reason. */
static bool survives(const struct kb *file)
{
    static struct check_sink *sink; /* one for all: it is large */
    struct weft_err err = { 0 };
    if (!sink)
        sink = check_sink_new();
    check_sink_reset(sink);
    const enum weft_code code = import(file, &sink->sink, &err);
    if (code == WEFT_OK)
        check_complete(sink);
    return code == WEFT_OK || (err.text[0] != '\0' && code != WEFT_E_NOMEM);
}

static void test_damage(struct kb *file, unsigned n_rounds, const char *name)
{
    const size_t n_bytes = file->out.n_bytes;
    unsigned n_wrong = 0;
    uint64_t state = tap_seed(7);
    for (size_t n = KERNEL_TESTS_LEAST; n < n_bytes; n += 1 + n_bytes / CUTS) {
        struct kb cut = { .is_big = file->is_big };
        kb_bytes(&cut, file->out.bytes, n);
        n_wrong += !survives(&cut);
        kb_fini(&cut);
    }
    tap_eq_u64(n_wrong, 0, "%s: cut anywhere", name);
    for (unsigned k = 0; k < n_rounds; k++) {
        uint64_t flips[3];
        const unsigned n_flips = 1 + (unsigned)(tap_random(&state) % 3);
        for (unsigned i = 0; i < n_flips; i++) {
            flips[i] = tap_random(&state) % ((n_bytes - KERNEL_TESTS_LEAST) * 8);
            file->out.bytes[KERNEL_TESTS_LEAST + flips[i] / 8] ^= (uint8_t)(1 << flips[i] % 8);
        }
        n_wrong += !survives(file);
        for (unsigned i = 0; i < n_flips; i++)
            file->out.bytes[KERNEL_TESTS_LEAST + flips[i] / 8] ^= (uint8_t)(1 << flips[i] % 8);
    }
    tap_eq_u64(n_wrong, 0, "%s: bits flipped", name);
    kb_fini(file);
}

static void test_all_damage(void)
{
    struct kb records = plain_records(false);
    struct kb packed = pb_pack(&records, 100);
    struct tb tb = plain_pages(false);
    struct kb files[] = { pb_file(&records), pb_pipe(&records), pb_file(&packed), tb_file(&tb),
                          tb_sections(&tb, "zstd") };
    static const char *const names[] = { "a file", "a pipe", "a packed file", "trace.dat 6",
                                         "trace.dat 7" };
    for (size_t k = 0; k < 5; k++)
        test_damage(&files[k], k == 2 || k == 4 ? PACKED_FLIPS : FLIPS, names[k]);
    kb_fini(&records);
    kb_fini(&packed);
    tb_fini(&tb);
}

static void expect_error(struct kb *file, enum weft_code want, const char *words, const char *name)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    const enum weft_code code = import(file, &rec.sink, &err);
    tap_eq_u64((uint64_t)code, (uint64_t)want, "%s: code", name);
    tap_ok(strstr(err.text, words) != NULL, "%s: \"%s\" says \"%s\"", name, err.text, words);
    rec_fini(&rec);
    kb_fini(file);
}

static void test_errors(void)
{
    struct kb records = plain_records(false);
    struct tb tb = plain_pages(false);
    struct kb file = pb_file(&records);
    file.out.n_bytes = 50;
    expect_error(&file, WEFT_E_MALFORMED, "expected a header of 104 bytes", "a short header");
    file = pb_file(&records);
    kb_set(&file, 24, 1 << 30, 8);
    expect_error(&file, WEFT_E_MALFORMED, "expected attributes of events within", "attributes");
    file = pb_file(&records);
    kb_set(&file, 32, 0, 8);
    expect_error(&file, WEFT_E_MALFORMED, "expected attributes of events, found none", "no events");
    file = tb_file(&tb);
    file.out.bytes[10] = '9';
    expect_error(&file, WEFT_E_UNSUPPORTED, "version 6 or 7, found version 9", "a newer version");
    file = tb_file(&tb);
    file.out.n_bytes = 3000;
    expect_error(&file, WEFT_E_TRUNCATED, "found the end", "formats that end early");
    kb_fini(&records);
    tb_fini(&tb);
}

/* ---- the corpus of the fuzz targets -----------------------------------------------------------
 */

static void write_file(const char *folder, const char *name, struct kb *file)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(file->out.bytes, 1, file->out.n_bytes, out) != file->out.n_bytes)
        abort();
    (void)fclose(out);
    kb_fini(file);
}

/* Writes what the tests build: test_perf_import PERF_FOLDER TRACE_FOLDER. */
static int write_corpus(const char *perf_folder, const char *trace_folder)
{
    for (unsigned is_big = 0; is_big < 2; is_big++) {
        const char *order = is_big ? "_be" : "_le";
        struct kb records = plain_records(is_big);
        struct kb packed = pb_pack(&records, 100);
        struct tb tb = plain_pages(is_big);
        struct kb files[] = { pb_file(&records),        pb_pipe(&records),
                              pb_file(&packed),         tb_file(&tb),
                              tb_sections(&tb, "none"), tb_sections(&tb, "zstd"),
                              tb_sections(&tb, "zlib") };
        static const char *const names[] = { "file",      "pipe", "packed", "version_6",
                                             "version_7", "zstd", "zlib" };
        for (size_t k = 0; k < 7; k++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s%s", names[k], order);
            write_file(k < 3 ? perf_folder : trace_folder, name, &files[k]);
        }
        kb_fini(&records);
        kb_fini(&packed);
        tb_fini(&tb);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return write_corpus(argv[1], argv[2]);
    test_perf();
    test_perf_records();
    test_perf_cut();
    test_perf_chains();
    test_trace();
    test_trace_lost();
    test_machines();
    test_scenes();
    test_spaces();
    test_errors();
    test_all_damage();
    return tap_done();
}
