/* SPDX-License-Identifier: MIT
 *
 * Function maps: programs with every form of sleds, YAML, TSV, and what is wrong with each.
 */
#include "elf_builder.h"
#include "ingest/xray/function_map.h"
#include "tap.h"

#include <inttypes.h>

static enum weft_code read_bytes(const void *bytes, size_t n_bytes, struct weft_xray_map **map,
                                 struct weft_err *err)
{
    uint8_t *copy = malloc(n_bytes ? n_bytes : 1);
    memcpy(copy, bytes, n_bytes);
    enum weft_code code = weft_xray_map_read(copy, n_bytes, map, err);
    free(copy);
    return code;
}

/* "1 0x1000 main; 2 0x1010 f" */
static void list(struct weft_xray_map *map, char *out, size_t n_bytes)
{
    size_t n_used = 0;
    *out = 0;
    for (uint32_t key = 0; key <= weft_xray_map_last_key(map) && key < 100; key++) {
        struct weft_function_info info;
        if (!weft_xray_map_find(map, key, &info))
            continue;
        int n_new = snprintf(out + n_used, n_bytes - n_used, "%s%" PRIu32 " 0x%" PRIx64 " %.*s",
                             n_used ? "; " : "", key, info.address, (int)info.name.n_bytes,
                             info.name.bytes);
        n_used += (size_t)n_new;
    }
}

static void expect(const void *bytes, size_t n_bytes, const char *name, const char *want)
{
    struct weft_xray_map *map;
    struct weft_err err = { 0 };
    char got[1024] = "";
    if (tap_ok(read_bytes(bytes, n_bytes, &map, &err) == WEFT_OK, "%s: read %s", name, err.text))
        list(map, got, sizeof got);
    tap_eq_str(got, want, "%s", name);
    weft_xray_map_free(map);
}

static void expect_failure(const void *bytes, size_t n_bytes, const char *name, enum weft_code code,
                           uint64_t line, const char *words)
{
    struct weft_xray_map *map;
    struct weft_err err = { 0 };
    tap_eq_u64((uint64_t)read_bytes(bytes, n_bytes, &map, &err), (uint64_t)code, "%s: code", name);
    tap_ok(map == NULL, "%s: no map", name);
    tap_eq_u64(err.line, line, "%s: line", name);
    tap_ok(strstr(err.text, words) != NULL, "%s: \"%s\" says \"%s\"", name, err.text, words);
}

/* ---- programs ---------------------------------------------------------------------------------
 */

/* The third function has two symbols, the fourth none; a run of sleds may come again. */
static const struct eb_function functions[] = {
    { 0x2000, "main" }, { 0x1000, "_ZN2ns1XIiE1fEic" }, { 0x1800, "plain_c" }, { 0x3000, NULL },
    { 0x2000, "main" },
};

static const char wanted[] =
    "1 0x2000 main; 2 0x1000 ns::X<int>::f(int, char); 3 0x1800 plain_c; 4 0x3000 ; 5 0x2000 main";

static const struct {
    const char *name;
    struct eb_opts opts;
} programs[] = {
    { "sleds of version 2", { .sled_version = 2 } },
    { "sleds of version 1", { .sled_version = 1, .elf_type = ET_EXEC } },
    { "sleds of version 0, relocated", { .is_relocated = true } },
    { "dynamic symbols only", { .sled_version = 2, .is_stripped = true } },
};

static void test_programs(void)
{
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
        struct eb_opts opts = programs[k].opts;
        opts.functions = functions;
        opts.n_functions = sizeof functions / sizeof *functions;
        struct eb_out out;
        eb_build(&out, &opts);
        expect(out.bytes, out.n_bytes, programs[k].name, wanted);
    }
}

static const struct {
    const char *name;
    struct eb_opts opts;
    enum weft_code code;
    const char *words;
} bad_programs[] = {
    { "no sleds", { .has_no_sleds = true }, WEFT_E_MALFORMED, "xray_instr_map" },
    { "half a sled", { .n_extra_bytes = 16 }, WEFT_E_MALFORMED, "multiple of 32" },
    { "a big-endian program", { .elf_data = ELFDATA2MSB }, WEFT_E_UNSUPPORTED, "little-endian" },
    { "an object file", { .elf_type = ET_REL }, WEFT_E_MALFORMED, "linked program" },
};

static void test_bad_programs(void)
{
    for (size_t k = 0; k < sizeof bad_programs / sizeof *bad_programs; k++) {
        struct eb_opts opts = bad_programs[k].opts;
        opts.functions = functions;
        opts.n_functions = 2;
        struct eb_out out;
        eb_build(&out, &opts);
        expect_failure(out.bytes, out.n_bytes, bad_programs[k].name, bad_programs[k].code, 0,
                       bad_programs[k].words);
    }
    struct eb_out out;
    eb_build(&out, &(struct eb_opts){ .sled_version = 2 });
    expect_failure(out.bytes, out.n_bytes, "an empty section", WEFT_E_MALFORMED, 0, "empty");
}

/* Cut at every byte and with every byte changed: an error or a map, never a crash. */
static void test_damaged_programs(void)
{
    struct eb_out out;
    eb_build(&out, &(struct eb_opts){ .functions = functions, .n_functions = 4 });
    unsigned n_errors = 0;
    for (size_t n = 0; n < out.n_bytes; n++) {
        struct weft_xray_map *map;
        struct weft_err err = { 0 };
        enum weft_code code = read_bytes(out.bytes, n, &map, &err);
        n_errors += code == WEFT_OK ? map == NULL : map != NULL || !err.text[0];
        weft_xray_map_free(map);
        out.bytes[n] ^= 0x55;
        err = (struct weft_err){ 0 };
        code = read_bytes(out.bytes, out.n_bytes, &map, &err);
        n_errors += code == WEFT_OK ? map == NULL : map != NULL || !err.text[0];
        weft_xray_map_free(map);
        out.bytes[n] ^= 0x55;
    }
    tap_eq_u64(n_errors, 0, "a program cut or changed at each of %zu bytes", out.n_bytes);
}

/* ---- texts ------------------------------------------------------------------------------------
 */

static const struct {
    const char *name, *text, *want;
} texts[] = {
    { "TSV with heading", "id\taddress\tname\n1\t0x10\tmain\n2\t0x20\tf(int, char)\n",
      "1 0x10 main; 2 0x20 f(int, char)" },
    { "TSV without heading, last line open", "7\t16\tmain\n3\t0x20\tf", "3 0x20 f; 7 0x10 main" },
    { "TSV with comment, empty lines, CRLF", "# made by hand\r\n\r\n1\t0x10\ta\r\n\r\n",
      "1 0x10 a" },
    { "TSV with a TAB in a name and an empty name", "1\t0x10\ta\tb\n2\t0x20\t\n",
      "1 0x10 a\tb; 2 0x20 " },
    { "TSV with a line twice", "1\t0x10\ta\n1\t0x10\ta\n", "1 0x10 a" },
    { "YAML",
      "---\n"
      "- { id: 1, address: 0x11, function: 0x10, kind: function-enter, always-instrument: true, "
      "function-name: main, version: 2 }\n"
      "- { id: 1, address: 0x1E, function: 0x10, kind: function-exit, always-instrument: true, "
      "function-name: main, version: 2 }\n"
      "- { id: 2, address: 0x20, function: 0x20, kind: function-enter, always-instrument: true, "
      "function-name: 'f(int, char) ''q''', version: 2 }\n"
      "...\n",
      "1 0x10 main; 2 0x20 f(int, char) 'q'" },
    { "YAML without names, in block style",
      "- id: 4\n  function: 0x40\n- id: 5\n  function: 80\n  function-name: ''\n",
      "4 0x40 ; 5 0x50 " },
};

static const struct {
    const char *name, *text;
    enum weft_code code;
    uint64_t line;
    const char *words;
} bad_texts[] = {
    { "an empty file", "", WEFT_E_TRUNCATED, 0, "empty" },
    { "some text", "hello\n", WEFT_E_UNSUPPORTED, 1, "function map" },
    { "a heading alone", "id\taddress\tname\n", WEFT_E_MALFORMED, 0, "found none" },
    { "TSV with one field", "1\t0x10\ta\nmain\n", WEFT_E_MALFORMED, 2, "found \"main\"" },
    { "TSV with two fields", "1\t0x10\ta\n2\tmain\n", WEFT_E_MALFORMED, 2, "only one TAB" },
    { "TSV with a wrong id", "1\t0x10\ta\nx2\t0x10\ta\n", WEFT_E_MALFORMED, 2, "found \"x2\"" },
    { "TSV with id 0", "0\t0x10\ta\n", WEFT_E_MALFORMED, 1, "number from 1" },
    { "TSV with an id beyond 28 bits", "268435456\t0x10\ta\n", WEFT_E_MALFORMED, 1, "268435455" },
    { "TSV with a wrong address", "1\t0xg\ta\n", WEFT_E_MALFORMED, 1, "found \"0xg\"" },
    { "TSV with an address beyond 64 bits", "1\t0x10000000000000000\ta\n", WEFT_E_MALFORMED, 1,
      "an address" },
    { "two addresses of one id", "1\t0x10\ta\n1\t0x20\ta\n", WEFT_E_MALFORMED, 0, "0x10 and 0x20" },
    { "an empty list", "--- []\n", WEFT_E_MALFORMED, 0, "found none" },
    { "YAML without function", "- { id: 1 }\n", WEFT_E_MALFORMED, 1, "no function" },
    { "YAML without id", "- { id: 1, function: 1 }\n- { function: 1 }\n", WEFT_E_MALFORMED, 2,
      "no id" },
    { "YAML with a wrong number", "- { id: one, function: 1 }\n", WEFT_E_MALFORMED, 1, "\"one\"" },
    { "YAML with a nested list", "- [ [ 1 ] ]\n", WEFT_E_MALFORMED, 1, "list" },
    { "YAML with a nested mapping", "- { id: { a: 1 }, function: 1 }\n", WEFT_E_MALFORMED, 1,
      "mapping" },
    { "YAML with an alias", "- &a { id: 1, function: 1 }\n- *a\n", WEFT_E_MALFORMED, 2, "alias" },
    { "YAML that ends early", "- { id: 1, function: 1\n", WEFT_E_MALFORMED, 2, "YAML" },
    { "YAML with a scalar", "- 1\n", WEFT_E_MALFORMED, 1, "a scalar" },
    { "YAML that is a mapping", "---\nid: 1\n", WEFT_E_MALFORMED, 2, "a mapping" },
    { "YAML with bytes that are no text", "- \xff\xff\n", WEFT_E_MALFORMED, 0, "no text" },
};

static void test_texts(void)
{
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        expect(texts[k].text, strlen(texts[k].text), texts[k].name, texts[k].want);
    for (size_t k = 0; k < sizeof bad_texts / sizeof *bad_texts; k++)
        expect_failure(bad_texts[k].text, strlen(bad_texts[k].text), bad_texts[k].name,
                       bad_texts[k].code, bad_texts[k].line, bad_texts[k].words);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static const char *write_file(const char *name, const void *bytes, size_t n_bytes)
{
    static char path[4096];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, n_bytes, file) != n_bytes || fclose(file) != 0)
        abort();
    return path;
}

static void test_files(void)
{
    struct eb_out out;
    eb_build(&out,
             &(struct eb_opts){ .functions = functions, .n_functions = 1, .sled_version = 2 });
    const char *path = write_file("test_xray_map.program", out.bytes, out.n_bytes);
    struct weft_xray_map *map;
    struct weft_err err = { 0 };
    struct weft_function_info info;
    tap_ok(weft_xray_map_open_elf(path, &map, &err) == WEFT_OK, "open a program %s", err.text);
    tap_ok(map && weft_xray_map_find(map, 1, &info) &&
               weft_str_equal(info.module, WEFT_STR("test_xray_map.program")),
           "the module is the program's base name");
    tap_ok(map && !weft_xray_map_find(map, 0, &info) && !weft_xray_map_find(map, 2, &info),
           "other ids are not found");
    tap_ok(map && weft_xray_map_count(map) == 1, "one function");
    weft_xray_map_free(map);
    (void)remove(path);
    path = write_file("test_xray_map.tsv", "1\t0x1\ta\n", 8);
    tap_ok(weft_xray_map_open_elf(path, &map, &err) == WEFT_E_MALFORMED &&
               strstr(err.text, "is this a function map?") && strcmp(err.file, path) == 0,
           "a map where a program is expected: %s", err.text);
    (void)remove(path);
    err = (struct weft_err){ 0 };
    tap_ok(weft_xray_map_open(path, &map, &err) == WEFT_E_IO && err.file[0], "a missing map: %s",
           err.text);
}

int main(void)
{
    test_programs();
    test_bad_programs();
    test_damaged_programs();
    test_texts();
    test_files();
    return tap_done();
}
