/* SPDX-License-Identifier: MIT
 *
 * Stacks that perf copied, walked: this program takes its own registers and stack, and knows by
 * whom it was called. What was inlined in it, beside addr2line.
 */
#include "ingest/perf/perf.h"
#include "kernel_builder.h"
#include "recording_sink.h"
#include "symbols/elf_file.h"
#include "symbols/symbols.h"
#include "tap.h"

#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

enum { STACK_BYTES = 4096, REGISTERS = 24, LOOKED_UP = 300 };

/* What a sample of this program would hold. */
static struct {
    uint64_t registers[REGISTERS]; /* as perf numbers them */
    uint8_t stack[STACK_BYTES];
} taken;

static const struct {
    int of_context, of_perf;
} registers[] = { { REG_RAX, 0 },  { REG_RBX, 1 },  { REG_RCX, 2 },  { REG_RDX, 3 },
                  { REG_RSI, 4 },  { REG_RDI, 5 },  { REG_RBP, 6 },  { REG_RSP, 7 },
                  { REG_RIP, 8 },  { REG_R8, 16 },  { REG_R9, 17 },  { REG_R10, 18 },
                  { REG_R11, 19 }, { REG_R12, 20 }, { REG_R13, 21 }, { REG_R14, 22 },
                  { REG_R15, 23 } };

/* The stack has what is no object. */
__attribute__((noinline, no_sanitize("address", "undefined"))) static void
take_stack(const ucontext_t *context)
{
    const uint8_t *stack = (const uint8_t *)context->uc_mcontext.gregs[REG_RSP];
    for (size_t k = 0; k < sizeof registers / sizeof *registers; k++)
        taken.registers[registers[k].of_perf] =
            (uint64_t)context->uc_mcontext.gregs[registers[k].of_context];
    for (size_t k = 0; k < STACK_BYTES; k++)
        taken.stack[k] = ((const volatile uint8_t *)stack)[k];
}

__attribute__((noinline)) static int level_three(int x)
{
    ucontext_t context;
    (void)getcontext(&context);
    take_stack(&context);
    return x + 1;
}

__attribute__((always_inline)) static inline int within(int x)
{
    return level_three(x * 3) + 1;
}

__attribute__((always_inline)) static inline int around(int x)
{
    return within(x + 5) * 7;
}

__attribute__((noinline)) static int level_two(int x)
{
    return around(x) + 1;
}

__attribute__((noinline)) static int level_one(int x)
{
    return level_two(x) * 2;
}

static volatile int sink;

/* ---- a file ---------------------------------------------------------------------------------- */

enum { TYPE = 1 | 2 | 4 | 1 << 5 | 1 << 12 | 1 << 13 };

static void put_attr(struct kb *kb)
{
    const size_t at = pb_begin(kb, 64, 0);
    pb_attr(kb, 1, 0, TYPE);
    kb_set(kb, at + 8 + 80, 0xff01ff, 8);
    kb_int(kb, 1, 8);
    pb_end(kb, at);
}

static void put_trailer(struct kb *kb, size_t at)
{
    kb_align(kb, 8);
    kb_int(kb, 10, 4);
    kb_int(kb, 10, 4);
    kb_int(kb, 1000, 8);
    pb_end(kb, at);
}

/* In the place of device and inode. */
static void put_build_id(struct kb *kb, const char *path)
{
    struct weft_elf_file file;
    const size_t begin = kb->out.n_bytes;
    if (weft_elf_file_open(path, &file)) {
        const struct weft_str id = weft_elf_file_build_id(&file);
        kb_int(kb, id.n_bytes, 4);
        kb_bytes(kb, id.bytes, id.n_bytes);
        weft_elf_file_close(&file);
    }
    while (kb->out.n_bytes < begin + 24)
        kb_int(kb, 0, 1);
}

/* What is mapped here, as perf tells it. False: it is no part of a program. */
static bool put_mapping(struct kb *kb, const char *line, bool has_build_id)
{
    unsigned long long begin, end, off;
    char rights[8], path[512] = "";
    if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %511s", &begin, &end, rights, &off, path) < 4 ||
        rights[2] != 'x' || !*path)
        return false;
    const size_t at = pb_begin(kb, 10, has_build_id ? 2 | 1 << 14 : 2);
    kb_int(kb, 10, 4);
    kb_int(kb, 10, 4);
    kb_int(kb, begin, 8);
    kb_int(kb, end - begin, 8);
    kb_int(kb, off, 8);
    put_build_id(kb, has_build_id ? path : "");
    kb_int(kb, 0, 8);
    kb_text(kb, path);
    put_trailer(kb, at);
    return true;
}

static void put_sample(struct kb *kb, uint64_t n_stack, uint64_t abi)
{
    static const uint64_t chain[] = { (uint64_t)-128, UINT64_C(0xffffffff81000130) };
    const size_t at = pb_begin(kb, 9, 1);
    kb_int(kb, taken.registers[8], 8);
    kb_int(kb, 10, 4);
    kb_int(kb, 10, 4);
    kb_int(kb, 2000, 8);
    kb_int(kb, 2, 8);
    kb_int(kb, chain[0], 8);
    kb_int(kb, chain[1], 8);
    kb_int(kb, abi, 8);
    for (unsigned k = 0; abi && k < REGISTERS; k++)
        if (0xff01ff >> k & 1)
            kb_int(kb, taken.registers[k], 8);
    kb_int(kb, STACK_BYTES, 8);
    kb_bytes(kb, taken.stack, STACK_BYTES);
    kb_int(kb, n_stack, 8);
    pb_end(kb, at);
}

/* What is told of mappings. */
enum maps { NO_MAPS, MAPS, MAPS_WITH_BUILD_IDS };

/* A pipe with one sample of this program. */
static struct kb make_file(enum maps told_maps, uint64_t n_stack, uint64_t abi)
{
    struct kb kb = { 0 };
    char line[1024];
    kb_int(&kb, UINT64_C(0x32454c4946524550), 8);
    kb_int(&kb, 16, 8);
    put_attr(&kb);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (told_maps && maps && fgets(line, sizeof line, maps))
        (void)put_mapping(&kb, line, told_maps == MAPS_WITH_BUILD_IDS);
    if (maps)
        (void)fclose(maps);
    put_sample(&kb, n_stack, abi);
    return kb;
}

/* All that the sink was told; the caller frees, `file` is freed. */
static char *told(struct kb *file, const char *place)
{
    const struct weft_mapped mapped = { .bytes = file->out.bytes, .n_bytes = file->out.n_bytes };
    const struct weft_perf_opts opts = { .reads_programs = true, .program_dir = place };
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    if (weft_perf_import(&mapped, &opts, &rec.sink, NULL, &err) != WEFT_OK)
        tap_ok(false, "%s", err.text);
    char *text = rec_whole(&rec);
    rec_fini(&rec);
    kb_fini(file);
    return text;
}

static void expect(struct kb file, const char *place, const char *words, const char *note,
                   const char *name)
{
    char *got = told(&file, place);
    tap_ok(strstr(got, words) != NULL, "%s: \"%s\" in \"%.2000s\"", name, words,
           strstr(got, "-- 0") ? strstr(got, "-- 0") : got);
    tap_ok(note ? strstr(got, note) != NULL : strstr(got, "stacks of users") == NULL,
           "%s: note \"%s\"", name, note ? note : "none");
    free(got);
}

static void test_walk(void)
{
    const char whole[] = ";level_one;level_two;around (inlined);within (inlined);level_three;"
                         "[kernel]+0xffffffff81000130 ";
    expect(make_file(MAPS, STACK_BYTES, 2), "/", whole, NULL, "a walk to the end");
    expect(make_file(MAPS, STACK_BYTES, 2), "/", ";main;", NULL, "main is on the way");
    expect(make_file(MAPS, STACK_BYTES, 2), NULL, "test_perf_stacks+0x",
           "note not_kept 1 (stacks of users that end early, the first in ",
           "a program that nobody vouches for");
    expect(make_file(MAPS_WITH_BUILD_IDS, STACK_BYTES, 2), NULL, whole, NULL,
           "build ids vouch for programs");
    expect(make_file(NO_MAPS, STACK_BYTES, 2), "/", "sample 0x",
           "the first in a place: which is no file)", "no mappings");
    expect(make_file(MAPS, 16, 2), "/", "level_three;[kernel]+0xffffffff81000130 ",
           "note not_kept 1 (user stacks truncated: longer than their copies", "a short copy");
    expect(make_file(MAPS, 0, 2), "/", "sample [kernel]+0xffffffff81000130 ", NULL, "no copy");
    expect(make_file(MAPS, STACK_BYTES, 0), "/", "sample [kernel]+0xffffffff81000130 ", NULL,
           "a thread of the kernel");
    expect(make_file(MAPS, STACK_BYTES, 1), "/", "sample [kernel]+0xffffffff81000130 ", NULL,
           "registers of 32 bits");
}

/* Whatever the stack holds, the walk ends. */
static void test_damage(void)
{
    uint64_t state = tap_seed(5);
    unsigned n_wrong = 0;
    const struct kb whole = make_file(MAPS, STACK_BYTES, 2);
    for (unsigned round = 0; round < 30; round++) {
        struct kb file = { 0 };
        kb_bytes(&file, whole.out.bytes, whole.out.n_bytes);
        for (unsigned k = 0; k < 200; k++)
            file.out.bytes[whole.out.n_bytes - 1 - tap_random(&state) % (STACK_BYTES + 150)] =
                (uint8_t)tap_random(&state);
        char *got = told(&file, "/");
        n_wrong += strstr(got, "begin perf.data") == NULL;
        free(got);
    }
    struct kb kept = whole;
    kb_fini(&kept);
    tap_eq_u64(n_wrong, 0, "stacks and registers of any content");
}

/* ---- inlined functions, and the kernel's library --------------------------------------------- */

extern const char __executable_start[];

/* What addr2line says but for the outermost function, outermost first; false: it says nothing. */
static bool ask_addr2line(const char *self, uint64_t address, char *text, size_t n_text)
{
    char command[1024], lines[64][256];
    size_t n_lines = 0;
    (void)snprintf(command, sizeof command, "addr2line -i -f -e '%s' 0x%llx 2>/dev/null", self,
                   (unsigned long long)address);
    FILE *pipe = popen(command, "r");
    while (pipe && n_lines < 64 && fgets(lines[n_lines], sizeof lines[0], pipe)) {
        lines[n_lines][strcspn(lines[n_lines], "\n")] = '\0';
        n_lines++;
    }
    if (!pipe || pclose(pipe) != 0 || n_lines < 2)
        return false;
    *text = '\0';
    for (size_t k = n_lines / 2 - 1; k-- > 0;)
        (void)snprintf(text + strlen(text), n_text - strlen(text), "%s|", lines[2 * k]);
    return true;
}

static void test_inlined(const char *self)
{
    struct weft_symbols *symbols = weft_symbols_new(self);
    uint32_t module;
    unsigned n_asked = 0, n_wrong = 0, n_inlined = 0;
    const bool is_read =
        weft_symbols_module(symbols, weft_str_of(self), WEFT_STR(""), &module, NULL) == WEFT_OK;
    tap_ok(is_read, "the program is read");
    const uint64_t begin = (uint64_t)&level_two - (uint64_t)__executable_start;
    for (uint64_t address = begin; address < begin + LOOKED_UP; address += 5) {
        const char *names[64];
        char want[4096], got[4096] = "";
        const size_t n_names = weft_symbols_inlined(symbols, module, address, names, 64);
        for (size_t k = 0; k < n_names; k++)
            (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s|", names[k]);
        if (!ask_addr2line(self, address, want, sizeof want))
            continue;
        n_asked++;
        n_inlined += n_names > 0;
        if (strcmp(got, want) != 0 && n_wrong++ == 0)
            tap_eq_str(got, want, "at 0x%llx", (unsigned long long)address);
    }
    tap_ok(n_wrong == 0 && (n_asked == 0 || n_inlined > 0),
           "addr2line says the same of %u addresses, %u of them inlined", n_asked, n_inlined);
    weft_symbols_free(symbols);
}

/* The build id of the library is in its notes; another one is of another kernel. */
static void test_vdso(void)
{
    struct weft_symbols *symbols = weft_symbols_new(NULL);
    uint32_t module = 0;
    tap_ok(weft_symbols_module(symbols, WEFT_STR("[vdso]"), WEFT_STR("another"), &module, NULL) ==
                   WEFT_OK &&
               weft_symbols_state(symbols, module) != WEFT_SYMBOLS_READ &&
               weft_symbols_file(symbols, module) == NULL,
           "the kernel's library of another kernel is not believed");
    weft_symbols_free(symbols);
}

int main(void)
{
    char self[512];
    const ssize_t n_self = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n_self <= 0)
        abort();
    self[n_self] = '\0';
    sink = level_one(sink); /* what is not known is not cloned for */
    test_walk();
    test_damage();
    test_inlined(self);
    test_vdso();
    return tap_done();
}

#else

int main(void)
{
    tap_ok(true, "stacks are walked on x86-64 only");
    return tap_done();
}

#endif
