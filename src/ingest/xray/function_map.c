/* SPDX-License-Identifier: MIT
 *
 * Function maps: detection by content, storage, lookup.
 */
#include "ingest/xray/function_map.h"

#include "base/file.h"
#include "base/vec.h"
#include "ingest/xray/map_build.h"

#include <elf.h>
#include <inttypes.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

enum map_form { FORM_UNKNOWN, FORM_ELF, FORM_YAML, FORM_TSV };

static struct weft_xray_map *map_new(void)
{
    struct weft_xray_map *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    map->names = weft_strtab_new();
    uint32_t empty_id;
    if (map->names && weft_strtab_intern(map->names, WEFT_STR(""), &empty_id, NULL) == WEFT_OK) {
        map->module_id = empty_id;
        return map;
    }
    weft_xray_map_free(map);
    return NULL;
}

void weft_xray_map_free(struct weft_xray_map *map)
{
    if (!map)
        return;
    WEFT_VEC_FINI(&map->functions);
    weft_strtab_free(map->names);
    free(map);
}

enum weft_code weft_xray_map_add(struct weft_xray_map *map, uint32_t key, uint64_t address,
                                 struct weft_str name, struct weft_err *err)
{
    uint32_t name_id;
    WEFT_TRY(weft_strtab_intern(map->names, name, &name_id, err));
    struct weft_xray_function *function = WEFT_VEC_PUSH(&map->functions);
    if (!function)
        return weft_no_memory(err, "the table of functions");
    *function = (struct weft_xray_function){ .key = key, .name_id = name_id, .address = address };
    return WEFT_OK;
}

static int digit_of(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if (letter >= 'a' && letter <= 'f')
        return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F')
        return letter - 'A' + 10;
    return 16;
}

bool weft_xray_parse_number(struct weft_str text, uint64_t *value)
{
    bool is_hex = text.n_bytes > 2 && text.bytes[0] == '0' && (text.bytes[1] | 0x20) == 'x';
    uint64_t base = is_hex ? 16 : 10;
    size_t at = is_hex ? 2 : 0;
    uint64_t sum = 0;
    if (at == text.n_bytes)
        return false;
    for (; at < text.n_bytes; at++) {
        uint64_t digit = (uint64_t)digit_of(text.bytes[at]);
        if (digit >= base || __builtin_mul_overflow(sum, base, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

static int compare_functions(const void *a_void, const void *b_void)
{
    const struct weft_xray_function *a = a_void;
    const struct weft_xray_function *b = b_void;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

/* Sorts by key and drops repetitions: a YAML map names a function once a sled. */
static enum weft_code settle(struct weft_xray_map *map, struct weft_err *err)
{
    struct weft_xray_function *items = map->functions.items;
    if (map->functions.n == 0)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected instrumented functions, found none");
    qsort(items, map->functions.n, sizeof *items, compare_functions);
    size_t n_kept = 1;
    for (size_t k = 1; k < map->functions.n; k++) {
        const struct weft_xray_function *last = &items[n_kept - 1];
        if (items[k].key != last->key) {
            items[n_kept++] = items[k];
        } else if (items[k].address != last->address) {
            return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                             "expected one address for function %" PRIu32 ", found 0x%" PRIx64
                             " and 0x%" PRIx64,
                             last->key, last->address, items[k].address);
        }
    }
    map->functions.n = n_kept;
    return WEFT_OK;
}

/* By the first line that is neither empty nor a comment. */
static enum map_form sniff_text(const uint8_t *bytes, size_t n_bytes)
{
    for (size_t at = 0; at < n_bytes;) {
        const uint8_t *line = bytes + at;
        const uint8_t *end = memchr(line, '\n', n_bytes - at);
        size_t n_line = end ? (size_t)(end - line) : n_bytes - at;
        at += n_line + 1;
        if (n_line == 0 || line[0] == '#' || line[0] == '\r')
            continue;
        if (line[0] == '-' || line[0] == '%' || line[0] == '[')
            return FORM_YAML;
        return memchr(line, '\t', n_line) ? FORM_TSV : FORM_UNKNOWN;
    }
    return FORM_UNKNOWN;
}

static enum map_form sniff(const uint8_t *bytes, size_t n_bytes)
{
    if (n_bytes >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0)
        return FORM_ELF;
    return sniff_text(bytes, n_bytes);
}

static enum weft_code read_form(struct weft_xray_map *map, enum map_form form, const uint8_t *bytes,
                                size_t n_bytes, struct weft_err *err)
{
    switch (form) {
    case FORM_ELF:
        return weft_xray_map_read_elf(map, bytes, n_bytes, err);
    case FORM_YAML:
        return weft_xray_map_read_yaml(map, bytes, n_bytes, err);
    case FORM_TSV:
        return weft_xray_map_read_tsv(map, bytes, n_bytes, err);
    case FORM_UNKNOWN:
        break;
    }
    return weft_fail_line(err, WEFT_E_UNSUPPORTED, 0, 1,
                          "expected a function map: the list that `llvm-xray extract` writes, or "
                          "lines \"id TAB address TAB name\"");
}

static enum weft_code read_map(const uint8_t *bytes, size_t n_bytes, bool is_program,
                               struct weft_xray_map **map, struct weft_err *err)
{
    *map = NULL;
    if (n_bytes == 0)
        return weft_fail(err, WEFT_E_TRUNCATED, 0, "expected %s, found an empty file",
                         is_program ? "a program" : "a function map");
    enum map_form form = sniff(bytes, n_bytes);
    if (is_program && form != FORM_ELF)
        return weft_fail(err, WEFT_E_MALFORMED, 0,
                         "expected an ELF program (7f 45 4c 46), found %02x%s", bytes[0],
                         form == FORM_UNKNOWN ? "" : "; is this a function map?");
    struct weft_xray_map *fresh = map_new();
    if (!fresh)
        return weft_no_memory(err, "the function map");
    enum weft_code code = read_form(fresh, form, bytes, n_bytes, err);
    WEFT_THEN(code, settle(fresh, err));
    if (code != WEFT_OK) {
        weft_xray_map_free(fresh);
        return code;
    }
    *map = fresh;
    return WEFT_OK;
}

/* The module of all functions is the program's base name. */
static enum weft_code set_module(struct weft_xray_map *map, const char *path, struct weft_err *err)
{
    const char *slash = strrchr(path, '/');
    return weft_strtab_intern(map->names, weft_str_of(slash ? slash + 1 : path), &map->module_id,
                              err);
}

static enum weft_code open_map(const char *path, bool is_program, struct weft_xray_map **map,
                               struct weft_err *err)
{
    *map = NULL;
    struct weft_mapped file;
    WEFT_TRY(weft_mapped_open(path, &file, err));
    enum weft_code code = read_map(file.bytes, file.n_bytes, is_program, map, err);
    bool is_elf = code == WEFT_OK && sniff(file.bytes, file.n_bytes) == FORM_ELF;
    weft_mapped_close(&file);
    if (is_elf)
        code = set_module(*map, path, err);
    if (code == WEFT_OK)
        return WEFT_OK;
    weft_xray_map_free(*map);
    *map = NULL;
    weft_in_file(err, path);
    return code;
}

enum weft_code weft_xray_map_open_elf(const char *path, struct weft_xray_map **map,
                                      struct weft_err *err)
{
    return open_map(path, true, map, err);
}

enum weft_code weft_xray_map_open(const char *path, struct weft_xray_map **map,
                                  struct weft_err *err)
{
    return open_map(path, false, map, err);
}

enum weft_code weft_xray_map_read(const uint8_t *bytes, size_t n_bytes, struct weft_xray_map **map,
                                  struct weft_err *err)
{
    return read_map(bytes, n_bytes, false, map, err);
}

size_t weft_xray_map_count(const struct weft_xray_map *map)
{
    return map->functions.n;
}

uint32_t weft_xray_map_last_key(const struct weft_xray_map *map)
{
    return map->functions.items[map->functions.n - 1].key;
}

/* Index of the first function whose key is not below `key`. */
static size_t lower_bound(const struct weft_xray_map *map, uint32_t key)
{
    size_t low = 0;
    size_t high = map->functions.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->functions.items[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The name as a person writes it; without memory it stays as it is. */
static struct weft_str plain_name(struct weft_xray_map *map, struct weft_str name)
{
    if (!map->is_mangled || name.n_bytes == 0)
        return name;
    char *plain = cplus_demangle(name.bytes, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
    uint32_t plain_id;
    if (plain && weft_strtab_intern(map->names, weft_str_of(plain), &plain_id, NULL) == WEFT_OK)
        name = weft_strtab_get(map->names, plain_id);
    free(plain);
    return name;
}

bool weft_xray_map_find(struct weft_xray_map *map, uint32_t key, struct weft_function_info *info)
{
    size_t at = lower_bound(map, key);
    if (at == map->functions.n || map->functions.items[at].key != key)
        return false;
    const struct weft_xray_function *function = &map->functions.items[at];
    *info = (struct weft_function_info){
        .key = key,
        .name = plain_name(map, weft_strtab_get(map->names, function->name_id)),
        .module = weft_strtab_get(map->names, map->module_id),
        .address = function->address,
    };
    return true;
}
