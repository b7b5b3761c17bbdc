/* SPDX-License-Identifier: MIT
 *
 * Names of addresses: which files are believed, where they are looked for, and what is said when
 * there are none.
 */
#include "elf_builder.h"
#include "import/naming.h"
#include "recording_sink.h"
#include "symbols/symbols.h"
#include "tap.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[2048]; /* a folder of this test's own */

static const struct eb_function functions[] = { { 0x1000, "first" },
                                                { 0x1010, "_ZN3kvs3putEi" },
                                                { 0x1020, NULL } };
static const struct eb_function others[] = { { 0x1000, "wrong" } };

static const char *path_of(const char *name)
{
    static char paths[8][4096];
    static unsigned n_used;
    char *path = paths[n_used++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void make_folders(const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s", path_of(name));
    for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
}

static void write_elf(const char *name, struct eb_opts opts)
{
    static struct eb_out out;
    make_folders(name);
    if (!opts.functions) {
        opts.functions = functions;
        opts.n_functions = 3;
    }
    eb_build(&out, &opts);
    FILE *file = fopen(path_of(name), "wb");
    if (!file || fwrite(out.bytes, 1, out.n_bytes, file) != out.n_bytes || fclose(file) != 0)
        abort();
}

/* The program in `n_parts` parts, each with a page for variables. */
static void write_parts(const char *name, uint16_t n_parts)
{
    static struct eb_out out;
    const struct eb_opts opts = { .functions = functions,
                                  .n_functions = 3,
                                  .build_id = "12345678" };
    make_folders(name);
    eb_build(&out, &opts);
    Elf64_Ehdr header;
    memcpy(&header, out.bytes, sizeof header);
    header.e_phoff = out.n_bytes;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = n_parts;
    memcpy(out.bytes, &header, sizeof header);
    FILE *file = fopen(path_of(name), "wb");
    bool is_ok = file && fwrite(out.bytes, 1, out.n_bytes, file) == out.n_bytes;
    for (uint64_t k = 0; is_ok && k < n_parts; k++) {
        const Elf64_Phdr part = { .p_type = PT_LOAD,
                                  .p_flags = PF_R | PF_W,
                                  .p_vaddr = 0x1000 * k,
                                  .p_memsz = 0x1000,
                                  .p_align = 0x1000 };
        is_ok = fwrite(&part, sizeof part, 1, file) == 1;
    }
    if (!is_ok || fclose(file) != 0)
        abort();
}

/* "READ first|kvs::put(int)|": the state and the names of 0x1004, 0x1010, 0x1020. */
static void expect(const char *place, const char *path, const char *build_id,
                   enum weft_symbols_state state, const char *want, const char *what)
{
    struct weft_symbols *symbols = weft_symbols_new(place);
    struct weft_err err = { 0 };
    uint32_t module = 99, again = 98;
    char got[256] = "";
    tap_eq_u64((uint64_t)weft_symbols_module(symbols, weft_str_of(path), weft_str_of(build_id),
                                             &module, &err),
               WEFT_OK, "%s: answers", what);
    tap_ok(weft_symbols_module(symbols, weft_str_of(path), weft_str_of(build_id), &again, &err) ==
                   WEFT_OK &&
               again == module,
           "%s: a module is met once", what);
    tap_eq_u64((uint64_t)weft_symbols_state(symbols, module), (uint64_t)state, "%s: state", what);
    for (uint64_t address = 0x1004; address <= 0x1024; address += 0x10) {
        const struct weft_str name = weft_symbols_name(symbols, module, address);
        (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s|", (int)name.n_bytes,
                       name.bytes);
    }
    tap_eq_str(got, want, "%s: names", what);
    weft_symbols_free(symbols);
}

static const char all[] = "first|kvs::put(int)||", none[] = "|||";

static void test_builds(void)
{
    write_elf("bin/prog", (struct eb_opts){ .build_id = "12345678" });
    write_elf("bin/unknown", (struct eb_opts){ 0 });
    const char *prog = path_of("bin/prog"), *unknown = path_of("bin/unknown");
    expect(NULL, prog, "12345678", WEFT_SYMBOLS_READ, all, "the build of the trace");
    expect(NULL, prog, "12345679", WEFT_SYMBOLS_OTHER_BUILD, none, "another build");
    expect(NULL, prog, "", WEFT_SYMBOLS_UNPROVEN, none, "a trace without build ids");
    expect(NULL, unknown, "12345678", WEFT_SYMBOLS_OTHER_BUILD, none, "a file without build id");
    expect(NULL, path_of("bin/none"), "12345678", WEFT_SYMBOLS_NO_FILE, none, "no file");
    expect(NULL, "prog", "12345678", WEFT_SYMBOLS_NO_FILE, none, "no path");
    expect(NULL, "", "12345678", WEFT_SYMBOLS_NO_FILE, none, "nothing");
    expect(NULL, root, "12345678", WEFT_SYMBOLS_NO_FILE, none, "a folder");
    expect(NULL, "/dev/zero", "12345678", WEFT_SYMBOLS_NO_FILE, none, "a device");
}

static void test_places(void)
{
    char one[4096];
    write_elf("place/opt/demo/tool", (struct eb_opts){ .build_id = "aaaabbbb" });
    write_elf("place/tool", (struct eb_opts){ .functions = others, .n_functions = 1 });
    write_elf("place/flat", (struct eb_opts){ 0 });
    write_elf("place/.build-id/7a/7a7a7a79797979", (struct eb_opts){ .build_id = "zzzzyyyy" });
    (void)snprintf(one, sizeof one, "%s", path_of("place/flat"));
    const char *place = path_of("place");
    expect(place, "/opt/demo/tool", "", WEFT_SYMBOLS_READ, all, "the longest path below a place");
    expect(place, "/usr/opt/demo/tool", "", WEFT_SYMBOLS_READ, all, "a path with another front");
    expect(place, "/bin/tool", "", WEFT_SYMBOLS_READ, "wrong|||", "a name only");
    expect(place, "/bin/tool", "aaaabbbb", WEFT_SYMBOLS_OTHER_BUILD, none,
           "a name of another build");
    expect(place, "/gone/x", "zzzzyyyy", WEFT_SYMBOLS_READ, all, "by build id");
    expect(place, "/../place/flat", "", WEFT_SYMBOLS_NO_FILE, none, "a path that climbs");
    expect(one, "/any/flat", "", WEFT_SYMBOLS_READ, all, "one file as the place");
    expect(one, "/any/other", "", WEFT_SYMBOLS_NO_FILE, none, "one file of another name");
}

static void test_debug_files(void)
{
    const struct eb_opts bare = { .functions = functions + 2,
                                  .n_functions = 1,
                                  .is_stripped = true,
                                  .build_id = "ssssssss",
                                  .debug_link = "bare.debug" };
    write_elf("lib/bare", bare);
    expect(NULL, path_of("lib/bare"), "ssssssss", WEFT_SYMBOLS_NO_NAMES, none, "stripped");
    write_elf("lib/.debug/bare.debug", (struct eb_opts){ .build_id = "tttttttt" });
    expect(NULL, path_of("lib/bare"), "ssssssss", WEFT_SYMBOLS_NO_NAMES, none,
           "debugging information of another build");
    write_elf("lib/.debug/bare.debug", (struct eb_opts){ .build_id = "ssssssss" });
    expect(NULL, path_of("lib/bare"), "ssssssss", WEFT_SYMBOLS_READ, all,
           "debugging information beside it");
    write_elf("place/.build-id/73/73737373737373.debug",
              (struct eb_opts){ .build_id = "ssssssss" });
    write_elf("lib/bare", (struct eb_opts){ .functions = functions + 2,
                                            .n_functions = 1,
                                            .is_stripped = true,
                                            .build_id = "ssssssss" });
    expect(path_of("place"), path_of("lib/bare"), "ssssssss", WEFT_SYMBOLS_READ, all,
           "debugging information by build id");
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Parts with variables that an address would be sought in. */
static void expect_parts(const char *name, size_t want, const char *what)
{
    struct weft_symbols *symbols = weft_symbols_new(NULL);
    uint32_t module;
    uint64_t begin, end;
    size_t n_parts = 0;
    if (weft_symbols_module(symbols, weft_str_of(path_of(name)), WEFT_STR("12345678"), &module,
                            NULL) == WEFT_OK)
        for (size_t at = 0; weft_symbols_data_part(symbols, module, &at, &begin, &end);)
            n_parts++;
    tap_eq_u64(n_parts, want, "%s: parts", what);
    weft_symbols_free(symbols);
}

/* Whatever a file says, an address is sought in as many parts as a program can have. */
static void test_parts(void)
{
    static const struct {
        uint16_t n_parts;
        enum weft_symbols_state state;
        const char *names, *what;
    } cases[] = { { 2, WEFT_SYMBOLS_READ, all, "few parts" },
                  { 1170, WEFT_SYMBOLS_READ, all, "as many parts as Linux loads" },
                  { 1171, WEFT_SYMBOLS_SCATTERED, none, "one part more than Linux loads" },
                  { 65000, WEFT_SYMBOLS_SCATTERED, none, "as many parts as a file can have" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        write_parts("bin/parts", cases[k].n_parts);
        expect(NULL, path_of("bin/parts"), "12345678", cases[k].state, cases[k].names,
               cases[k].what);
        expect_parts("bin/parts", cases[k].state == WEFT_SYMBOLS_READ ? cases[k].n_parts : 0,
                     cases[k].what);
    }
    expect(NULL, path_of("bin/parts"), "12345679", WEFT_SYMBOLS_SCATTERED, none,
           "many parts of any build");
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void test_damage(void)
{
    static struct eb_out out;
    const struct eb_opts opts = {
        .functions = functions, .n_functions = 3, .build_id = "12345678", .debug_link = "x"
    };
    uint64_t state = tap_seed(7);
    eb_build(&out, &opts);
    size_t n_read = 0;
    char place[64], path[64];
    const int fd = memfd_create("broken", 0); /* on a disk this takes long */
    (void)snprintf(place, sizeof place, "/proc/self/fd/%d", fd);
    (void)snprintf(path, sizeof path, "/%d", fd);
    for (unsigned round = 0; round < 2000; round++) {
        static uint8_t bytes[sizeof out.bytes];
        size_t n_bytes = out.n_bytes;
        memcpy(bytes, out.bytes, n_bytes);
        for (unsigned k = 0; k < 1 + round % 4; k++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            bytes[(state >> 33) % n_bytes] = (uint8_t)(state >> 25);
        }
        if (round % 5 == 0)
            n_bytes = (state >> 40) % n_bytes;
        if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, n_bytes, 0) != (ssize_t)n_bytes)
            abort();
        struct weft_symbols *symbols = weft_symbols_new(place);
        uint32_t module;
        if (weft_symbols_module(symbols, weft_str_of(path), WEFT_STR(""), &module, NULL) == WEFT_OK)
            for (uint64_t address = 0xff0; address < 0x1040; address += 4)
                (void)weft_symbols_name(symbols, module, address);
        n_read += weft_symbols_state(symbols, module) == WEFT_SYMBOLS_READ;
        weft_symbols_free(symbols);
    }
    (void)close(fd);
    tap_ok(n_read > 100, "damaged programs do no harm; %zu of 2000 still have names", n_read);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static void test_naming(void)
{
    struct rec_sink below;
    rec_init(&below);
    struct weft_naming *naming = weft_naming_new(&below.sink, NULL);
    struct weft_sink *sink = weft_naming_sink(naming);
    write_elf("bin/prog", (struct eb_opts){ .build_id = "12345678" });
    write_parts("bin/parts", 2000);
    const struct weft_str path = weft_str_of(path_of("bin/prog"));
    const struct weft_str parts = weft_str_of(path_of("bin/parts"));
    const struct weft_function_info infos[] = {
        { .key = 0, .module = path, .address = 0x1000, .build_id = WEFT_STR("12345678") },
        { .key = 1, .module = path, .address = 0x5000, .build_id = WEFT_STR("12345678") },
        { .key = 2, .module = WEFT_STR("/gone/lib.so"), .address = 0x10 },
        { .key = 3, .name = WEFT_STR("known"), .module = path, .address = 0x1010 },
        { .key = 4,
          .name = WEFT_STR("lib.so+0x20"),
          .module = WEFT_STR("/gone/lib.so"),
          .address = 0x20 },
        { .key = 5, .address = 0x77 },
        { .key = 6 },
        { .key = 7, .module = parts, .address = 0x1000, .build_id = WEFT_STR("12345678") },
    };
    const struct weft_note old = { .kind = WEFT_NOTE_UNNAMED_FUNCTION,
                                   .count = 9,
                                   .thread_id = WEFT_ID_NONE,
                                   .at_off = WEFT_NO_OFFSET,
                                   .detail = WEFT_STR("of an earlier import") };
    bool is_ok = sink->ops->note(sink, &old, NULL) == WEFT_OK;
    for (size_t k = 0; k < sizeof infos / sizeof *infos; k++)
        is_ok &= sink->ops->function(sink, &infos[k], NULL) == WEFT_OK;
    is_ok &= weft_naming_note(naming, NULL) == WEFT_OK;
    tap_ok(is_ok, "functions go on");
    char want[8192];
    (void)snprintf(want, sizeof want,
                   "function 0 first [%s] 0x1000\n"
                   "function 1 prog+0x5000 [%s] 0x5000\n"
                   "function 2 lib.so+0x10 [/gone/lib.so] 0x10\n"
                   "function 3 known [%s] 0x1010\n"
                   "function 4 lib.so+0x20 [/gone/lib.so] 0x20\n"
                   "function 5 0x77 [] 0x77\n"
                   "function 6  [] 0x0\n"
                   "function 7 parts+0x1000 [%s] 0x1000\n"
                   "note unnamed_function 1 (%s: not among its symbols)\n"
                   "note unnamed_function 2 (/gone/lib.so: not found; give its folder with --"
                   "symbols)\n"
                   "note unnamed_function 1 (%s: it is to be loaded in more parts than a program "
                   "can have: it was not read)\n",
                   path.bytes, path.bytes, path.bytes, parts.bytes, path.bytes, parts.bytes);
    tap_eq_str(rec_str(&below.trace), want,
               "names, or places as names; what has none is noted with its reason");
    weft_naming_free(naming);
    rec_fini(&below);
}

int main(void)
{
    const char *build = getenv("WEFT_BUILD_ROOT");
    char made[2048];
    (void)snprintf(made, sizeof made, "%s/test_symbols.XXXXXX", build ? build : ".");
    char *whole = mkdtemp(made) ? realpath(made, NULL) : NULL;
    if (!whole || strlen(whole) >= sizeof root)
        abort();
    memcpy(root, whole, strlen(whole) + 1);
    free(whole);
    test_builds();
    test_places();
    test_debug_files();
    test_parts();
    test_damage();
    test_naming();
    return tap_done();
}
