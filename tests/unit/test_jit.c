/* SPDX-License-Identifier: MIT
 *
 * Names of functions that runtimes compile: what they write and how it reads, lines of perf maps,
 * records of jitdumps, and frames of a recording that holds both.
 */
#include "ingest/recording/recording.h"
#include "jit_builder.h"
#include "recording_builder.h"
#include "recording_sink.h"
#include "symbols/jitdump.h"
#include "symbols/perf_map.h"
#include "tap.h"

/* ---- names ----------------------------------------------------------------------------------- */

static void test_names(void)
{
    static const struct {
        const char *text, *name;
        bool is_system;
    } rows[] = {
        { "JS:*handle /srv/app.js:6:16", "handle [app.js:6]", false },
        { "JS:~handle /srv/app.js:6:16", "handle [app.js:6]", false },
        { "JS:^handle /srv/app.js:6:16", "handle [app.js:6]", false },
        { "LazyCompile:*foo /path/app.js:12:3", "foo [app.js:12]", false },
        { "Function:~foo file.js:1:2", "foo [file.js:1]", false },
        { "LazyCompile:~foo file.js:7", "foo [file.js:7]", false },
        { "InterpretedFunction:foo /a b/c d.js:1:2", "foo [c d.js:1]", false },
        { "JS:*get size /srv/lib/index.js:3:9", "get size [lib/index.js:3]", false },
        { "JS:* /srv/app.js:1:1", "anonymous [app.js:1]", false },
        { "JS:~ /srv/app.js:1:1", "anonymous [app.js:1]", false },
        { "Script:~ /srv/app.js:1:1", "script [app.js:1]", false },
        { "JS:~run file:///srv/m/x.mjs:4:17", "run [x.mjs:4]", false },
        { "JS:*emit node:events:465:44", "emit [node:events:465]", true },
        { "JS:~Module._load node:internal/modules/cjs/loader:937:24",
          "Module._load [node:internal/modules/cjs/loader:937]", true },
        { "JS:*foo", "foo", false },
        { "Builtin:ArrayMap", "Builtin:ArrayMap", true },
        { "BytecodeHandler:Add.Wide", "BytecodeHandler:Add.Wide", true },
        { "RegExp:(a|b)+ c", "RegExp:(a|b)+ c", false },
        { "Lcom/foo/Bar;::baz", "com.foo.Bar.baz", false },
        { "Lcom/foo/Bar;.baz(I)V", "com.foo.Bar.baz", false },
        { "Ljava/lang/String;::hashCode", "java.lang.String.hashCode", true },
        { "long Busy.crunch(int)", "Busy.crunch", false },
        { "java.lang.Object java.util.HashMap.get(java.lang.Object)", "java.util.HashMap.get",
          true },
        { "void com.foo.Bar$Inner.lambda$run$0(long)", "com.foo.Bar$Inner.lambda$run$0", false },
        { "Interpreter", "Interpreter", true },
        { "StubRoutines (1)", "StubRoutines (1)", true },
        { "I2C/C2I adapters", "I2C/C2I adapters", true },
        { "ic_miss_stub", "ic_miss_stub", true },
        { "instance void [app] Server.Handler::Run(string)[Tier0]", "Server.Handler::Run(string)",
          false },
        { "int32 [System.Private.CoreLib] System.String::get_Length()[PreJIT]",
          "System.String::get_Length()", true },
        { "py::handle:/srv/app.py", "handle [app.py]", false },
        { "py::Queue.get:/usr/lib/python3.12/queue.py", "Queue.get [queue.py]", true },
        { "py::<module>:/srv/pkg/__init__.py", "<module> [pkg/__init__.py]", false },
        { "TRACE_3::busy.lua:12", "TRACE_3::busy.lua:12", false },
        { "$lists:map/2", "$lists:map/2", false },
        { "  spaced \t", "spaced", false },
        { "std::vector<int>::f(int)", "std::vector<int>::f(int)", false },
        { "a\tb\x01\x7f", "a?b??", false },
        { "", "", false },
        { ":", ":", false },
        { "JS:", "anonymous", false },
        { "L;", "L;", false },
        { "py::", "", false },
    };
    struct weft_jit_name name;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        weft_jit_name(weft_str_of(rows[k].text), WEFT_STR(""), 0, &name);
        tap_ok(weft_str_equal((struct weft_str){ name.bytes, name.n_bytes },
                              weft_str_of(rows[k].name)) &&
                   name.is_system == rows[k].is_system,
               "'%s' is '%.*s'", rows[k].text, (int)name.n_bytes, name.bytes);
    }
    weft_jit_name(WEFT_STR("busy"), WEFT_STR("/srv/lib/index.rb"), 12, &name);
    tap_ok(weft_str_equal((struct weft_str){ name.bytes, name.n_bytes },
                          WEFT_STR("busy [lib/index.rb:12]")),
           "a place from debugging information");
    char *long_text = malloc(1 << 16);
    memset(long_text, 'x', 1 << 16);
    weft_jit_name((struct weft_str){ long_text, 1 << 16 }, WEFT_STR(""), 0, &name);
    tap_eq_u64(name.n_bytes, WEFT_JIT_NAME_BYTES, "a long name is cut");
    free(long_text);
}

/* ---- lines and records ----------------------------------------------------------------------- */

struct world {
    struct weft_jit_table table;
    struct weft_jit_names names;
};

static void world_init(struct world *world)
{
    *world = (struct world){ 0 };
    world->names = (struct weft_jit_names){ .table = &world->table, .texts = weft_strtab_new() };
}

static void world_fini(struct world *world)
{
    weft_jit_table_fini(&world->table);
    weft_strtab_free(world->names.texts);
}

static bool is_at(const struct world *world, uint64_t address, uint64_t ns, const char *name)
{
    const uint32_t found = weft_jit_find(&world->table, address, weft_jit_era(&world->table, ns));
    const struct weft_str text =
        found == WEFT_JIT_NONE ? WEFT_STR("")
                               : weft_strtab_get(world->names.texts, found & ~WEFT_JIT_SYSTEM);
    const bool is_same = weft_str_equal(text, weft_str_of(name));
    if (!is_same)
        tap_note("at 0x%" PRIx64 ", %" PRIu64 " ns: '%.*s', not '%s'", address, ns,
                 (int)text.n_bytes, text.bytes, name);
    return is_same;
}

static void test_map(void)
{
    struct world world;
    world_init(&world);
    tap_ok(weft_perf_map_read(&world.names, WEFT_STR("1000 100 outer\n"
                                                     "0x00001040 0x10 within a name\r\n"
                                                     "2000 20 JS:*f /a.js:1:2\n"
                                                     "2010 20 g\n"
                                                     "3000 0 empty\n"
                                                     "\n")),
           "lines are read");
    tap_eq_u64(world.names.n_bad, 0, "all of them");
    tap_ok(weft_perf_map_read(&world.names,
                              WEFT_STR("# comment\n10 20\nffffffffffffffff 2 over\n"
                                       "11112222333344445 1 long\n4000 zz name\n4000 10 last")),
           "others are passed over");
    tap_eq_u64(world.names.n_bad, 5, "and counted");
    tap_ok(weft_jit_seal(&world.table), "sealed");
    tap_ok(is_at(&world, 0xfff, 0, "") && is_at(&world, 0x1000, 0, "outer") &&
               is_at(&world, 0x103f, 9, "outer") && is_at(&world, 0x1040, 9, "within a name") &&
               is_at(&world, 0x1050, 9, "outer") && is_at(&world, 0x10ff, 9, "outer") &&
               is_at(&world, 0x1100, 9, ""),
           "a later function replaces a part of an earlier one");
    tap_ok(is_at(&world, 0x200f, 0, "f [a.js:1]") && is_at(&world, 0x2010, 0, "g") &&
               is_at(&world, 0x202f, 0, "g") && is_at(&world, 0x3000, 0, "") &&
               is_at(&world, 0x4000, 0, "last"),
           "and its end");
    world_fini(&world);
}

static void fill(struct jb *jb, bool is_ticks)
{
    jb_head(jb, is_ticks);
    jb_load(jb, 100, 0x1000, 0x100, 1, "first", 0x100);
    jb_debug(jb, 190, 0x1000, 12, "/srv/app.rb");
    jb_load(jb, 200, 0x1000, 0x80, 2, "second", 0x80);
    jb_record(jb, 4, 200, 24); /* for unwinding */
    jb_put(jb, NULL, 24);
    jb_move(jb, 300, 0x1000, 0x5000, 0x80, 2);
    jb_load(jb, 250, 0x6000, 0x10, 3, "late", 0);
    jb_move(jb, 400, 0x6000, 0x7000, 0x10, 99);
    jb_record(jb, 3, 500, 0);
    jb_load(jb, 600, 0x8000, 0x10, 4, "behind the end", 0);
}

static uint64_t half(void *context, uint64_t ticks)
{
    (void)context;
    return ticks / 2;
}

static void expect_dump(const struct world *world, uint64_t unit, const char *what)
{
    tap_ok(is_at(world, 0x1000, 99 * unit / 2, "") &&
               is_at(world, 0x1000, 100 * unit / 2, "first") &&
               is_at(world, 0x10ff, 250 * unit / 2, "first") &&
               is_at(world, 0x1000, 200 * unit / 2, "second [app.rb:12]") &&
               is_at(world, 0x5000, 299 * unit / 2, "") &&
               is_at(world, 0x5000, 300 * unit / 2, "second [app.rb:12]") &&
               is_at(world, 0x1000, 300 * unit / 2, "") &&
               is_at(world, 0x10ff, 300 * unit / 2, "first") &&
               is_at(world, 0x600f, 260 * unit / 2, "late") &&
               is_at(world, 0x8000, 900 * unit / 2, ""),
           "%s: names are those of the time", what);
}

/* As the recorder does: record by record, without the code. */
static void shorten(const struct jb *jb, struct jb *out)
{
    uint8_t bytes[WEFT_JITDUMP_MOST_BYTES];
    jb_put(out, jb->bytes, WEFT_JITDUMP_HEAD_BYTES);
    for (size_t at = WEFT_JITDUMP_HEAD_BYTES; at < jb->n_bytes;) {
        struct weft_jitdump_record record;
        if (!weft_jitdump_look(jb->bytes + at, &record))
            break;
        memcpy(bytes, jb->bytes + at, record.n_wanted);
        if (record.n_wanted)
            jb_put(out, bytes, weft_jitdump_shorten(bytes, record.n_wanted));
        at += record.n_bytes;
    }
}

static void read_dump(const struct jb *jb, bool is_ticks, uint64_t n_bad, const char *what)
{
    struct world world;
    struct weft_jitdump dump;
    world_init(&world);
    tap_ok(weft_jitdump_init(&dump, &world.names), "%s", what);
    dump.ns_of_ticks = half;
    tap_ok(weft_jitdump_read(&dump, (struct weft_str){ (const char *)jb->bytes, jb->n_bytes }),
           "%s: is read", what);
    tap_eq_u64(world.names.n_bad, n_bad, "%s: a move of what is not known is counted", what);
    tap_ok(weft_jit_seal(&world.table), "%s: sealed", what);
    expect_dump(&world, is_ticks ? 1 : 2, what);
    weft_jitdump_fini(&dump);
    world_fini(&world);
}

static void test_dump(void)
{
    for (int is_ticks = 0; is_ticks < 2; is_ticks++) {
        struct jb jb = { 0 }, less = { 0 };
        fill(&jb, is_ticks);
        shorten(&jb, &less);
        read_dump(&jb, is_ticks, 1, is_ticks ? "a dump in ticks" : "a dump in ns");
        read_dump(&less, is_ticks, 1, is_ticks ? "the same without code" : "likewise in ns");
        tap_ok(less.n_bytes + 0x180 <= jb.n_bytes, "which is shorter: %zu bytes of %zu",
               less.n_bytes, jb.n_bytes);
        jb_fini(&jb);
        jb_fini(&less);
    }
}

/* Every front of it, and every byte changed. */
static void test_damage(void)
{
    struct jb jb = { 0 };
    uint64_t n_wrong = 0;
    fill(&jb, false);
    for (size_t k = 0; k < 2 * jb.n_bytes; k++) {
        struct world world;
        struct weft_jitdump dump;
        const size_t n_bytes = k < jb.n_bytes ? k : jb.n_bytes;
        uint8_t *bytes = malloc(n_bytes + 1);
        memcpy(bytes, jb.bytes, n_bytes);
        if (k >= jb.n_bytes)
            bytes[k - jb.n_bytes] ^= 0xff;
        world_init(&world);
        const bool is_good =
            weft_jitdump_init(&dump, &world.names) &&
            weft_jitdump_read(&dump, (struct weft_str){ (const char *)bytes, n_bytes }) &&
            weft_jit_seal(&world.table);
        n_wrong += !is_good || (k < WEFT_JITDUMP_HEAD_BYTES && world.names.n_bad == 0);
        weft_jitdump_fini(&dump);
        world_fini(&world);
        free(bytes);
    }
    tap_eq_u64(n_wrong, 0, "damage is counted");
    jb_fini(&jb);
}

/* ---- a recording ----------------------------------------------------------------------------- */

enum { PID = 4711, CHILD = 4712 };

static void put_stack(struct rb *records, uint64_t ns, uint32_t pid, uint64_t inner, uint64_t outer)
{
    struct weft_kernel_record record = { .time_ns = ns,
                                         .tid = pid,
                                         .type = WEFT_KERNEL_STACK,
                                         .payload_bytes = 24,
                                         .a = WEFT_STACK_SAMPLE | UINT64_C(1000) << 32,
                                         .b = pid };
    const uint64_t frames[] = { inner, outer + 1, 0x7f0000001001 };
    rb_put(records, &record, sizeof record);
    rb_put(records, frames, sizeof frames);
}

static void put_jit(struct rb *file, uint32_t pid, enum weft_jit_kind kind, const void *bytes,
                    size_t n_bytes, uint64_t n_dropped)
{
    const struct weft_jit_piece piece = { .n_dropped_bytes = n_dropped };
    struct rb payload = { 0 };
    rb_put(&payload, &piece, sizeof piece);
    rb_put(&payload, bytes, n_bytes);
    rb_piece(file, WEFT_PIECE_JIT, kind, pid, 9000, payload.bytes, payload.n_bytes);
    rb_fini(&payload);
}

static char *made(bool has_names, bool is_packed)
{
    static const char map[] = "10000 100 JS:*handle /srv/app.js:6:16\nnone\n"
                              "20000 100 JS:*emit node:events:1:2\n";
    const uint64_t regions[] = { 0x10000, 0x90000 };
    struct rb file = { 0 }, records = { 0 };
    struct jb dump = { 0 };
    struct rec_sink rec;
    struct weft_err err = { 0 };
    jb_head(&dump, false);
    jb_load(&dump, 1000, 0x30000, 0x100, 1, "first", 0);
    const size_t n_half = dump.n_bytes;
    jb_load(&dump, 5000, 0x30000, 0x100, 2, "second", 0);
    rb_head(&file);
    file.is_packed = is_packed;
    rb_clock(&file, 0, 0, 0);
    rb_clock(&file, 20000, 20000, 20000);
    rb_text(&file, WEFT_PIECE_META, 0, 0, 0, "levels=kernel\ntarget=4711\n");
    rb_text(&file, WEFT_PIECE_PROCESS, 0, PID, 0, "exe=/usr/bin/node\ncomm=node\nstart_ns=10\n");
    rb_text(&file, WEFT_PIECE_MAPS, 0, PID, 0,
            "7f0000000000-7f0000002000 r-xp 00000000 fe:00 1 [vdso]\n"
            "10000-90000 rwxp 00000000 00:00 0 \n");
    rb_text(&file, WEFT_PIECE_PROCESS, 0, CHILD, 0, "parent=4711\nstart_ns=3000\n");
    if (has_names)
        put_jit(&file, PID, WEFT_JIT_MAP, map, sizeof map - 1, 5);
    if (has_names) { /* a recorder that met the program twice has begun again */
        put_jit(&file, PID, WEFT_JIT_DUMP, dump.bytes, n_half, 0);
        put_jit(&file, PID, WEFT_JIT_DUMP, dump.bytes, dump.n_bytes, 0);
    }
    put_jit(&file, PID, WEFT_JIT_REGIONS, regions, sizeof regions, 0);
    put_stack(&records, 2000, PID, 0x30010, 0x10010);
    put_stack(&records, 6000, PID, 0x30010, 0x10010);
    put_stack(&records, 6500, CHILD, 0x30010, 0x10010);
    put_stack(&records, 7000, PID, 0x40010, 0x50010);
    put_stack(&records, 7500, PID, 0x99999, 0x20010);
    for (int k = 0; k < 10; k++)
        put_stack(&records, 8000, PID, 0x30010, 0x20010);
    rb_piece(&file, WEFT_PIECE_KERNEL, 0, 0, 9000, records.bytes, records.n_bytes);
    rb_text(&file, WEFT_PIECE_END, 0, 0, 9000, "ended");
    const struct weft_mapped mapped = { .bytes = file.bytes, .n_bytes = file.n_bytes };
    rec_init(&rec);
    if (weft_recording_import(&mapped, NULL, &rec.sink, NULL, &err) != WEFT_OK)
        tap_ok(false, "%s", err.text);
    char *text = rec_whole(&rec);
    rec_fini(&rec);
    rb_fini(&file);
    rb_fini(&records);
    jb_fini(&dump);
    return text;
}

static void expect(const char *text, const char *words, const char *what)
{
    if (!tap_ok(strstr(text, words) != NULL, "%s", what))
        tap_note("'%s' is not in:\n%.1900s", words, text);
}

static void test_recording(void)
{
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        char *text = made(true, is_packed);
        expect(text, "[vdso];handle [app.js:6];first", "frames of a map and of a dump have names");
        expect(text, "[vdso];handle [app.js:6];second", "of the time of the sample");
        expect(text, "[vdso];[jit]", "frames without a name are one");
        expect(text, "[vdso];emit [node:events:1];0x99999", "what is no code keeps its address");
        expect(text, "lines of perf maps", "lines that are none are noted");
        expect(text, "bytes of perf maps and jitdumps beyond 64 MiB", "and what was not taken");
        tap_ok(!strstr(text, "JIT-compiled"), "no advice, as there are names");
        const char *first = strstr(text, "[app.js:6];first");
        tap_ok(first && strstr(first + 1, "[app.js:6];first") && !strstr(text, "[jit];[jit]"),
               "a child of fork has the code that its parent had then");
        free(text);
    }
    char *text = made(false, false);
    expect(text, "node: JIT-compiled functions have no names: start it with --perf-basic-prof",
           "without a map there is advice");
    free(text);
}

int main(void)
{
    test_names();
    test_map();
    test_dump();
    test_damage();
    test_recording();
    return tap_done();
}
