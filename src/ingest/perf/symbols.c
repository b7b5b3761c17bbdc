/* SPDX-License-Identifier: MIT */
#include "ingest/perf/symbols.h"

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
                       bool reads_programs, const char *program_dir)
{
    *symbols = (struct perf_symbols){ .file = file,
                                      .program_dir = program_dir,
                                      .reads_programs = reads_programs,
                                      .paths = weft_strtab_new(),
                                      .names = weft_strtab_new() };
    return symbols->paths && symbols->names;
}

void perf_symbols_fini(struct perf_symbols *symbols)
{
    for (size_t k = 0; k < symbols->programs.n; k++) {
        WEFT_VEC_FINI(&symbols->programs.items[k].segments);
        weft_symtab_free(symbols->programs.items[k].symtab);
    }
    WEFT_VEC_FINI(&symbols->programs);
    WEFT_VEC_FINI(&symbols->kernel);
    weft_arena_free(symbols->kernel.arena);
    weft_strtab_free(symbols->paths);
    weft_strtab_free(symbols->names);
}

/* ---- names of places --------------------------------------------------------------------------
 */

static struct weft_str base_name(struct weft_str path)
{
    size_t at = path.n_bytes;
    while (at > 0 && path.bytes[at - 1] != '/')
        at--;
    return (struct weft_str){ path.bytes + at, path.n_bytes - at };
}

static bool place_name(struct perf_symbols *symbols, struct weft_str file, uint64_t address,
                       struct weft_str *name)
{
    char text[320];
    uint32_t id;
    const int n_text = snprintf(text, sizeof text, "%.*s%s0x%" PRIx64,
                                (int)(file.n_bytes < 256 ? file.n_bytes : 256),
                                file.n_bytes ? file.bytes : "", file.n_bytes ? "+" : "", address);
    if (!perf_name_intern(symbols->names, (struct weft_str){ text, (size_t)n_text }, &id))
        return false;
    *name = weft_strtab_get(symbols->names, id);
    return true;
}

bool perf_symbol_nowhere(struct perf_symbols *symbols, uint64_t address, struct weft_str *name)
{
    return place_name(symbols, (struct weft_str){ 0 }, address, name);
}

/* ---- programs ---------------------------------------------------------------------------------
 */

static const struct perf_build_id *build_id_of(const struct perf_symbols *symbols,
                                               struct weft_str path)
{
    for (size_t k = 0; k < symbols->file->build_ids.n; k++)
        if (weft_str_equal(symbols->file->build_ids.items[k].path, path))
            return &symbols->file->build_ids.items[k];
    return NULL;
}

/* A stripped program's symbols are in a file that is named after its build id. */
static bool read_debug_file(const struct perf_build_id *build_id, struct perf_program *program)
{
    char path[96] = "/usr/lib/debug/.build-id/";
    size_t at = strlen(path);
    if (!build_id || build_id->n_bytes < 2)
        return true;
    for (size_t k = 0; k < build_id->n_bytes; k++)
        at += (size_t)snprintf(path + at, sizeof path - at, "%02x%s", build_id->bytes[k],
                               k == 0 ? "/" : "");
    (void)snprintf(path + at, sizeof path - at, ".debug");
    const bool is_good = perf_program_read(path, build_id, false, program);
    WEFT_VEC_FINI(&program->segments); /* they are not those of the program */
    return is_good;
}

/* Looks in the folder that was given, then where the program was. */
static bool read_program(struct perf_symbols *symbols, struct weft_str path,
                         struct perf_program *program)
{
    const struct perf_build_id *build_id = build_id_of(symbols, path);
    const struct weft_str name = base_name(path);
    char place[4096];
    bool is_good = true;
    program->is_tried = true;
    if (symbols->program_dir && snprintf(place, sizeof place, "%s/%.*s", symbols->program_dir,
                                         (int)name.n_bytes, name.bytes) < (int)sizeof place)
        is_good = perf_program_read(place, build_id, true, program);
    if (is_good && symbols->reads_programs && path.n_bytes > 0 && path.bytes[0] == '/' &&
        !program->symtab &&
        snprintf(place, sizeof place, "%.*s", (int)path.n_bytes, path.bytes) < (int)sizeof place)
        is_good = read_debug_file(build_id, program) &&
                  perf_program_read(place, build_id, false, program);
    return is_good;
}

static struct perf_program *program_of(struct perf_symbols *symbols, uint32_t path)
{
    while (symbols->programs.n <= path)
        if (!WEFT_VEC_PUSH(&symbols->programs))
            return NULL;
    struct perf_program *program = &symbols->programs.items[path];
    const struct weft_str text = weft_strtab_get(symbols->paths, path);
    if (!program->is_tried && !read_program(symbols, text, program))
        return NULL;
    return program;
}

static uint64_t address_in(const struct perf_program *program, uint64_t file_off)
{
    for (size_t k = 0; k < program->segments.n; k++) {
        const struct perf_segment *segment = &program->segments.items[k];
        if (file_off - segment->file_off < segment->n_bytes)
            return file_off - segment->file_off + segment->address;
    }
    return file_off;
}

bool perf_symbol_in_file(struct perf_symbols *symbols, uint32_t path, uint64_t file_off,
                         unsigned back, struct weft_str *name)
{
    const struct perf_program *program = program_of(symbols, path);
    if (!program)
        return false;
    const uint64_t address = address_in(program, file_off);
    struct weft_str found = { 0 };
    uint32_t id;
    if (program->symtab)
        found = weft_symtab_find(program->symtab, address - back);
    if (found.n_bytes > 0) {
        if (!perf_name_intern(symbols->names, found, &id))
            return false;
        *name = weft_strtab_get(symbols->names, id);
        return true;
    }
    return place_name(symbols, base_name(weft_strtab_get(symbols->paths, path)), address, name);
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
    if (!kernel->arena)
        kernel->arena = weft_arena_new(0);
    char *bytes = kernel->arena ? WEFT_ARENA_NEW(kernel->arena, name.n_bytes, char) : NULL;
    struct perf_symbol *symbol = bytes ? WEFT_VEC_PUSH(kernel) : NULL;
    if (!symbol || name.n_bytes > UINT32_MAX)
        return false;
    memcpy(bytes, name.bytes, name.n_bytes);
    *symbol = (struct perf_symbol){
        .address = address, .bytes = bytes, .n_bytes = (uint32_t)name.n_bytes, .name = WEFT_ID_NONE
    };
    return true;
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
static struct perf_symbol *find_symbol(const struct perf_kernel *kernel, uint64_t address)
{
    size_t low = 0;
    size_t high = kernel->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (kernel->items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - kernel->items[low - 1].address > MOST_SYMBOL_BYTES)
        return NULL;
    struct perf_symbol *symbol = &kernel->items[low - 1];
    while (symbol > kernel->items && symbol[-1].address == symbol->address)
        symbol--;
    return symbol;
}

/* The name of a symbol, made fit when it is first asked for. */
static bool symbol_name(struct perf_symbols *symbols, struct perf_symbol *symbol,
                        struct weft_str *name)
{
    if (symbol->name == WEFT_ID_NONE &&
        !perf_name_intern(symbols->names, (struct weft_str){ symbol->bytes, symbol->n_bytes },
                          &symbol->name))
        return false;
    *name = weft_strtab_get(symbols->names, symbol->name);
    return true;
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
    const struct perf_build_id *build_id = build_id_of(symbols, WEFT_STR("[kernel.kallsyms]"));
    size_t n_bytes = 0;
    if (!build_id || build_id->n_bytes == 0)
        return false;
    char *notes = read_all("/sys/kernel/notes", NOTES_BYTES, &n_bytes);
    const bool is_same = notes && memmem(notes, n_bytes, build_id->bytes, build_id->n_bytes);
    free(notes);
    return is_same;
}

static bool read_kernel(struct perf_symbols *symbols)
{
    bool is_good = true;
    symbols->kernel.is_tried = true;
    if (symbols->file->tracing.kallsyms.n_bytes > 0)
        return read_kallsyms(symbols->file->tracing.kallsyms, &symbols->kernel);
    if (symbols->reads_programs && is_running_kernel(symbols)) {
        size_t n_bytes = 0;
        char *text = read_all("/proc/kallsyms", MOST_KALLSYMS_BYTES, &n_bytes);
        is_good = read_kallsyms((struct weft_str){ text, n_bytes }, &symbols->kernel);
        free(text);
    }
    return is_good;
}

bool perf_symbol_in_kernel(struct perf_symbols *symbols, uint64_t address, unsigned back,
                           struct weft_str *name)
{
    if (!symbols->kernel.is_tried && !read_kernel(symbols))
        return false;
    struct perf_symbol *symbol = find_symbol(&symbols->kernel, address - back);
    return symbol ? symbol_name(symbols, symbol, name)
                  : place_name(symbols, WEFT_STR("[kernel]"), address, name);
}
