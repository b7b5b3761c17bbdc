/* SPDX-License-Identifier: MIT */
#include "ingest/perf/symbols.h"

#include "base/search.h"
#include "base/vec.h"
#include "schema/event.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_SYMBOL_BYTES = 1 << 24, MOST_KALLSYMS_BYTES = 1 << 28, NOTES_BYTES = 4096 };
enum { PIECE_BYTES = 1 << 16 };

bool perf_symbols_init(struct perf_symbols *symbols, const struct perf_file *file,
                       bool reads_programs, const char *programs)
{
    *symbols =
        (struct perf_symbols){ .file = file,
                               .programs = reads_programs ? weft_symbols_new(programs) : NULL,
                               .paths = weft_strtab_new(),
                               .of_place = weft_map_new() };
    return weft_folded_init(&symbols->folded, symbols->programs) && symbols->paths &&
           symbols->of_place && (symbols->programs || !reads_programs);
}

void perf_symbols_fini(struct perf_symbols *symbols)
{
    weft_symbols_free(symbols->programs);
    WEFT_VEC_FINI(&symbols->modules);
    WEFT_VEC_FINI(&symbols->name_of);
    WEFT_VEC_FINI(&symbols->kernel);
    free(symbols->kernel.text);
    weft_strtab_free(symbols->paths);
    weft_map_free(symbols->of_place);
    weft_folded_fini(&symbols->folded);
}

bool perf_symbol_nowhere(struct perf_symbols *symbols, uint64_t address, struct weft_str *name)
{
    uint32_t id;
    if (!weft_folded_place(&symbols->folded, (struct weft_str){ 0 }, address, &id))
        return false;
    *name = weft_folded_get(&symbols->folded, id);
    return true;
}

/* ---- places -----------------------------------------------------------------------------------
 */

/* What names a place; false: its numbers are too large for a key, and it is looked up each time. */
static bool file_key(uint32_t path, uint64_t file_off, unsigned back, uint64_t *key)
{
    *key = (uint64_t)path << 41 | file_off << 1 | back;
    return path < 1 << 22 && file_off < UINT64_C(1) << 40;
}

static bool kernel_key(uint64_t address, unsigned back, uint64_t *key)
{
    *key = address << 1 | back;
    return address >> 62 == 3;
}

/* The number of a place's name, to be set if it is new. NULL without memory. */
static uint32_t *name_of_place(struct perf_symbols *symbols, uint64_t key, bool *is_new)
{
    const uint32_t index = weft_map_add(symbols->of_place, key, is_new);
    if (index == WEFT_MAP_NONE || (*is_new && !WEFT_VEC_PUSH(&symbols->name_of)))
        return NULL;
    return &symbols->name_of.items[index];
}

/* ---- programs ---------------------------------------------------------------------------------
 */

static struct weft_str build_id_of(const struct perf_symbols *symbols, struct weft_str path)
{
    for (size_t k = 0; k < symbols->file->build_ids.n; k++) {
        const struct perf_build_id *build_id = &symbols->file->build_ids.items[k];
        if (weft_str_equal(build_id->path, path))
            return (struct weft_str){ (const char *)build_id->bytes, build_id->n_bytes };
    }
    return WEFT_STR("");
}

bool perf_symbols_module(struct perf_symbols *symbols, uint32_t path, uint32_t *module)
{
    while (symbols->modules.n <= path) {
        uint32_t *place = WEFT_VEC_PUSH(&symbols->modules);
        if (!place)
            return false;
        *place = WEFT_ID_NONE;
    }
    *module = symbols->modules.items[path];
    if (!symbols->programs || *module != WEFT_ID_NONE)
        return true;
    const struct weft_str text = weft_strtab_get(symbols->paths, path);
    if (weft_symbols_module(symbols->programs, text, build_id_of(symbols, text), module, NULL) !=
        WEFT_OK)
        return false;
    symbols->modules.items[path] = *module;
    return true;
}

static bool name_in_file(struct perf_symbols *symbols, uint32_t path, uint64_t file_off,
                         unsigned back, uint32_t *id)
{
    uint32_t module;
    return perf_symbols_module(symbols, path, &module) &&
           weft_folded_in_module(&symbols->folded, module, weft_strtab_get(symbols->paths, path),
                                 file_off, back, id);
}

bool perf_symbol_in_file(struct perf_symbols *symbols, uint32_t path, uint64_t file_off,
                         unsigned back, struct weft_str *name)
{
    uint64_t key;
    bool is_new = true;
    uint32_t loose;
    uint32_t *id = &loose;
    if (file_key(path, file_off, back, &key))
        id = name_of_place(symbols, key, &is_new);
    if (!id || (is_new && !name_in_file(symbols, path, file_off, back, id)))
        return false;
    *name = weft_folded_get(&symbols->folded, *id);
    return true;
}

/* ---- the kernel -------------------------------------------------------------------------------
 */

static bool parse_kallsym(struct weft_str line, uint64_t *address, struct weft_str *name)
{
    size_t at = 0;
    *address = 0;
    for (; at < line.n_bytes && at < 16; at++) {
        const char c = line.bytes[at];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            break;
        *address = *address << 4 | (uint64_t)digit;
    }
    if (at == 0 || at + 3 >= line.n_bytes || line.bytes[at] != ' ' || *address == 0)
        return false;
    const char kind = line.bytes[at + 1];
    *name = (struct weft_str){ line.bytes + at + 3, line.n_bytes - at - 3 };
    const char *module = memchr(name->bytes, '\t', name->n_bytes);
    if (module)
        name->n_bytes = (size_t)(module - name->bytes);
    return kind == 't' || kind == 'T' || kind == 'w' || kind == 'W';
}

static bool add_symbol(struct perf_kernel *kernel, uint64_t address, struct weft_str name)
{
    struct perf_symbol *symbol = name.n_bytes <= UINT32_MAX ? WEFT_VEC_PUSH(kernel) : NULL;
    if (symbol)
        *symbol = (struct perf_symbol){ .address = address,
                                        .bytes = name.bytes,
                                        .n_bytes = (uint32_t)name.n_bytes };
    return symbol != NULL;
}

static int compare_symbols(const void *a_void, const void *b_void)
{
    const struct perf_symbol *a = a_void;
    const struct perf_symbol *b = b_void;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return weft_str_compare((struct weft_str){ a->bytes, a->n_bytes },
                            (struct weft_str){ b->bytes, b->n_bytes });
}

/* Mostly they are sorted already. */
static void sort_symbols(struct perf_kernel *kernel)
{
    bool is_sorted = true;
    for (size_t k = 1; is_sorted && k < kernel->n; k++)
        is_sorted = compare_symbols(&kernel->items[k - 1], &kernel->items[k]) <= 0;
    if (!is_sorted)
        qsort(kernel->items, kernel->n, sizeof *kernel->items, compare_symbols);
}

/* Of several symbols at one address the first; NULL: none holds the address. */
static const struct perf_symbol *find_symbol(const struct perf_kernel *kernel, uint64_t address)
{
    size_t low;
    WEFT_SEARCH(low, kernel->n, kernel->items[low].address <= address);
    if (low == 0 || address - kernel->items[low - 1].address > MOST_SYMBOL_BYTES)
        return NULL;
    const struct perf_symbol *symbol = &kernel->items[low - 1];
    while (symbol > kernel->items && symbol[-1].address == symbol->address)
        symbol--;
    return symbol;
}

/* Lines like those of /proc/kallsyms. False without memory. */
static bool read_kallsyms(struct weft_str text, struct perf_kernel *kernel)
{
    while (text.n_bytes > 0) {
        const char *end = memchr(text.bytes, '\n', text.n_bytes);
        const size_t n_line = end ? (size_t)(end - text.bytes) : text.n_bytes;
        struct weft_str name;
        uint64_t address;
        if (parse_kallsym((struct weft_str){ text.bytes, n_line }, &address, &name) &&
            !add_symbol(kernel, address, name))
            return false;
        text.bytes += n_line + (end != NULL);
        text.n_bytes -= n_line + (end != NULL);
    }
    sort_symbols(kernel);
    return true;
}

/* A file of the kernel, which has no size before it is read; the caller frees. */
static char *read_all(const char *path, size_t n_most, size_t *n_bytes)
{
    struct {
        char *items;
        size_t n, cap;
    } text = { 0 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n_read = fd < 0 ? 0 : 1;
    while (n_read > 0 && text.n < n_most) {
        if (!weft_vec_reserve(&text.items, &text.cap, text.n + PIECE_BYTES, 1))
            break;
        n_read = read(fd, text.items + text.n, PIECE_BYTES);
        text.n += n_read > 0 ? (size_t)n_read : 0;
    }
    if (fd >= 0)
        (void)close(fd);
    *n_bytes = text.n;
    return text.items;
}

/* Was it recorded on the kernel that runs now? Its build id stands among its notes. */
static bool is_running_kernel(const struct perf_symbols *symbols)
{
    const struct weft_str build_id = build_id_of(symbols, WEFT_STR("[kernel.kallsyms]"));
    size_t n_bytes = 0;
    if (build_id.n_bytes == 0)
        return false;
    char *notes = read_all("/sys/kernel/notes", NOTES_BYTES, &n_bytes);
    const bool is_same = notes && memmem(notes, n_bytes, build_id.bytes, build_id.n_bytes);
    free(notes);
    return is_same;
}

static bool read_kernel(struct perf_symbols *symbols)
{
    bool is_good = true;
    symbols->kernel.is_tried = true;
    if (symbols->file->tracing.kallsyms.n_bytes > 0)
        return read_kallsyms(symbols->file->tracing.kallsyms, &symbols->kernel);
    if (symbols->programs && is_running_kernel(symbols)) {
        size_t n_bytes = 0;
        symbols->kernel.text = read_all("/proc/kallsyms", MOST_KALLSYMS_BYTES, &n_bytes);
        const struct weft_str text = { symbols->kernel.text, n_bytes };
        is_good = read_kallsyms(text, &symbols->kernel);
    }
    return is_good;
}

static bool name_in_kernel(struct perf_symbols *symbols, uint64_t address, unsigned back,
                           uint32_t *id)
{
    if (!symbols->kernel.is_tried && !read_kernel(symbols))
        return false;
    const struct perf_symbol *symbol = find_symbol(&symbols->kernel, address - back);
    return symbol ? weft_folded_name(&symbols->folded,
                                     (struct weft_str){ symbol->bytes, symbol->n_bytes }, id)
                  : weft_folded_place(&symbols->folded, WEFT_STR("[kernel]"), address, id);
}

bool perf_symbol_in_kernel(struct perf_symbols *symbols, uint64_t address, unsigned back,
                           struct weft_str *name)
{
    uint64_t key;
    bool is_new = true;
    uint32_t loose;
    uint32_t *id = &loose;
    if (kernel_key(address, back, &key))
        id = name_of_place(symbols, key, &is_new);
    if (!id || (is_new && !name_in_kernel(symbols, address, back, id)))
        return false;
    *name = weft_folded_get(&symbols->folded, *id);
    return true;
}
