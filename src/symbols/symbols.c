/* SPDX-License-Identifier: MIT
 *
 * The search for the file of a module, in the order of docs/symbols.md, and the answers about it:
 * names, variables, inlined functions, segments. Each module is searched once; its tables are read
 * when they are first asked for. Not thread-safe. Whether a build id fits is decided in try_file
 * and read_debug_file only.
 */
#include "symbols/symbols.h"

#include "base/vec.h"
#include "symbols/elf_file.h"
#include "symbols/inlines.h"
#include "symbols/members.h"
#include "symbols/symtab.h"

#include <libiberty/demangle.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- vdso ------------------------------------------------------------------------------------ */

/* The library that the kernel maps into every process: no file has it, but this process does, too.
 * Copies the vDSO of this process into a memfd, so that the rest of the code can open it by a path
 * like any file. Whether the build id fits is compared before it is used. */

/* Its sections' headers stand at its end. */
static size_t image_bytes(const ElfW(Ehdr) * header)
{
    return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

/* A nameless file with a copy of it, and a path that opens it again ("/proc/self/fd/7"). -1: there
 * is none. The caller closes. */
static int weft_vdso_open(char *path, size_t n_path)
{
    const uintptr_t address = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    ElfW(Ehdr) header;
    if (!address)
        return -1;
    memcpy(&header, (const void *)address, sizeof header);
    const size_t n_bytes = image_bytes(&header);
    const int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (write(fd, (const void *)address, n_bytes) != (ssize_t)n_bytes ||
        snprintf(path, n_path, "/proc/self/fd/%d", fd) >= (int)n_path) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* Longer build ids are none. */
enum { MOST_ID_BYTES = 64 };

static const char debug_root[] = "/usr/lib/debug";

struct module {
    uint32_t path, build_id; /* in `texts` */
    enum weft_symbols_state state;
    struct weft_symtab *symtab; /* NULL: nothing is known */
    struct weft_symtab *data;   /* its variables, likewise */
    uint64_t bias;
    struct {
        struct weft_elf_segment *items;
        size_t n, cap;
    } segments; /* at most WEFT_ELF_MOST_PARTS, since each address passes them */

    char *file, *debug_file; /* that were believed; NULL: none */
    struct weft_inlines *inlines;
    struct weft_members *members;
    bool has_sought_inlines, has_sought_members, has_sought_data;
};

struct weft_symbols {
    const char *place;
    bool is_place_folder;
    int vdso_fd; /* -1: there is none, or it was not asked for */
    char vdso_path[64];
    struct weft_strtab *texts;
    struct weft_strtab *identities; /* path id and build id as bytes -> module */
    struct {
        struct module *items;
        size_t n, cap;
    } modules;
    char *plain; /* the last name that was demangled */
    bool is_nomem;
};

struct weft_symbols *weft_symbols_new(const char *place)
{
    struct weft_symbols *symbols = calloc(1, sizeof *symbols);
    struct stat about;
    if (!symbols)
        return NULL;
    symbols->place = place;
    symbols->vdso_fd = -1;
    symbols->is_place_folder = place && stat(place, &about) == 0 && S_ISDIR(about.st_mode);
    symbols->texts = weft_strtab_new();
    symbols->identities = weft_strtab_new();
    if (symbols->texts && symbols->identities)
        return symbols;
    weft_symbols_free(symbols);
    return NULL;
}

static void module_fini(struct module *module)
{
    weft_symtab_free(module->symtab);
    weft_symtab_free(module->data);
    weft_inlines_free(module->inlines);
    weft_members_free(module->members);
    WEFT_VEC_FINI(&module->segments);
    free(module->file);
    free(module->debug_file);
}

void weft_symbols_free(struct weft_symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t k = 0; k < symbols->modules.n; k++)
        module_fini(&symbols->modules.items[k]);
    WEFT_VEC_FINI(&symbols->modules);
    weft_strtab_free(symbols->texts);
    weft_strtab_free(symbols->identities);
    free(symbols->plain);
    if (symbols->vdso_fd >= 0)
        (void)close(symbols->vdso_fd);
    free(symbols);
}

/* ---- finding a file -------------------------------------------------------------------------- */

/* A file that is looked for. */
struct search {
    struct weft_symbols *symbols;
    struct module *module;
    struct weft_str build_id; /* empty: unknown */
    struct weft_err *err;
    enum weft_code code;
    bool is_over;
};

/* "/usr/lib/debug/.build-id/ab/cdef.debug"; false if it does not fit. */
static bool build_id_path(const char *root, struct weft_str id, const char *end, char *path)
{
    size_t n_used = (size_t)snprintf(path, PATH_MAX, "%s/.build-id/", root);
    if (n_used >= PATH_MAX || n_used + 2 * id.n_bytes + 8 >= PATH_MAX || id.n_bytes < 2)
        return false;
    for (size_t k = 0; k < id.n_bytes; k++)
        n_used += (size_t)snprintf(path + n_used, PATH_MAX - n_used, "%02x%s",
                                   (unsigned char)id.bytes[k], k == 0 ? "/" : "");
    (void)snprintf(path + n_used, PATH_MAX - n_used, "%s", end);
    return true;
}

/* Reads the names of `path` if it is of the build `id`, or of any if that is empty. */
static bool read_debug_file(struct search *search, const char *path, struct weft_str id)
{
    struct weft_elf_file file;
    if (!weft_elf_file_open(path, &file))
        return false;
    const bool is_right = !weft_elf_file_is_scattered(&file) && weft_elf_file_has_symbols(&file) &&
                          weft_str_equal(weft_elf_file_build_id(&file), id);
    if (is_right) {
        search->code = weft_symtab_read(&file, &search->module->symtab, search->err);
        search->module->debug_file = strdup(path); /* without memory: it has no inlined functions */
    }
    weft_elf_file_close(&file);
    return is_right;
}

/* The file that the program names: beside it, in .debug there, or below /usr/lib/debug. */
static bool find_debug_link(struct search *search, const char *path, const char *name,
                            struct weft_str id)
{
    const char *slash = strrchr(path, '/');
    const int n_folder = slash ? (int)(slash - path) : 0;
    const struct {
        const char *front, *middle;
    } forms[] = { { "", "" }, { "", "/.debug" }, { debug_root, "" } };
    char other[PATH_MAX];
    for (size_t k = 0; slash && k < sizeof forms / sizeof *forms; k++)
        if (snprintf(other, sizeof other, "%s%.*s%s/%s", forms[k].front, n_folder, path,
                     forms[k].middle, name) < PATH_MAX &&
            read_debug_file(search, other, id))
            return true;
    return false;
}

/* Debugging information in a file of its own: by build id, else by its name beside the program. */
static bool find_debug_file(struct search *search, const char *path,
                            const struct weft_elf_file *main_file)
{
    const struct weft_str id = weft_elf_file_build_id(main_file);
    const char *place = search->symbols->is_place_folder ? search->symbols->place : NULL;
    const char *name = weft_elf_file_debug_link(main_file);
    char other[PATH_MAX];
    if (id.n_bytes == 0 || id.n_bytes > MOST_ID_BYTES)
        return false; /* nothing proves that it belongs to the program */
    if ((place && build_id_path(place, id, ".debug", other) &&
         read_debug_file(search, other, id)) ||
        (build_id_path(debug_root, id, ".debug", other) && read_debug_file(search, other, id)))
        return true;
    return name && find_debug_link(search, path, name, id);
}

static enum weft_code read_segments(struct module *module, const struct weft_elf_file *file,
                                    struct weft_err *err)
{
    struct weft_elf_segment segment;
    for (size_t at = 0; weft_elf_file_segment(file, &at, &segment);) {
        struct weft_elf_segment *place = WEFT_VEC_PUSH(&module->segments);
        if (!place)
            return weft_no_memory(err, "symbols");
        *place = segment;
    }
    return WEFT_OK;
}

static void read_file(struct search *search, const char *path, const struct weft_elf_file *file)
{
    struct module *module = search->module;
    module->file = strdup(path);
    if (weft_elf_file_has_symbols(file) || !find_debug_file(search, path, file))
        search->code = weft_symtab_read(file, &module->symtab, search->err);
    search->is_over = true;
    if (search->code == WEFT_OK)
        search->code = read_segments(module, file, search->err);
    if (search->code != WEFT_OK)
        return;
    module->bias = weft_elf_file_bias(file);
    module->state = weft_symtab_count(module->symtab) ? WEFT_SYMBOLS_READ : WEFT_SYMBOLS_NO_NAMES;
}

/* `is_trusted`: the user gave it. */
static void try_file(struct search *search, const char *path, bool is_trusted)
{
    struct weft_elf_file file;
    if (search->is_over || !weft_elf_file_open(path, &file))
        return;
    if (weft_elf_file_is_scattered(&file))
        search->module->state = WEFT_SYMBOLS_SCATTERED;
    else if (search->build_id.n_bytes
                 ? weft_str_equal(weft_elf_file_build_id(&file), search->build_id)
                 : is_trusted)
        read_file(search, path, &file);
    else
        search->module->state =
            search->build_id.n_bytes ? WEFT_SYMBOLS_OTHER_BUILD : WEFT_SYMBOLS_UNPROVEN;
    weft_elf_file_close(&file);
}

/* The path without its first folders, below the user's place: the longest that there is. */
static void try_place(struct search *search, const char *path)
{
    const char *place = search->symbols->place;
    char own[PATH_MAX];
    for (const char *at = path; at && !search->is_over; at = strchr(at + 1, '/'))
        if (snprintf(own, sizeof own, "%s%s%s", place, *at == '/' ? "" : "/", at) < PATH_MAX)
            try_file(search, own, true);
    if (search->build_id.n_bytes && build_id_path(place, search->build_id, "", own))
        try_file(search, own, true);
}

/* The user's place may be one file: it stands for modules of its name. */
static void try_one(struct search *search, const char *path)
{
    const char *place = search->symbols->place;
    const char *own = strrchr(place, '/');
    const char *name = strrchr(path, '/');
    if (search->build_id.n_bytes || strcmp(own ? own + 1 : place, name ? name + 1 : path) == 0)
        try_file(search, place, true);
}

/* A path as the C library takes it, which goes nowhere else. */
static bool copy_path(struct weft_str text, char *path)
{
    if (text.n_bytes == 0 || text.n_bytes >= PATH_MAX || memchr(text.bytes, 0, text.n_bytes))
        return false;
    memcpy(path, text.bytes, text.n_bytes);
    path[text.n_bytes] = '\0';
    return strstr(path, "..") == NULL;
}

/* The kernel's library is no file; that of this machine may be the one that was recorded. */
static void try_vdso(struct search *search)
{
    struct weft_symbols *symbols = search->symbols;
    if (symbols->vdso_fd < 0)
        symbols->vdso_fd = weft_vdso_open(symbols->vdso_path, sizeof symbols->vdso_path);
    if (symbols->vdso_fd >= 0)
        try_file(search, symbols->vdso_path, false);
}

static enum weft_code find_file(struct weft_symbols *symbols, struct module *module,
                                struct weft_err *err)
{
    struct search search = { .symbols = symbols,
                             .module = module,
                             .build_id = weft_strtab_get(symbols->texts, module->build_id),
                             .err = err };
    char path[PATH_MAX];
    module->state = WEFT_SYMBOLS_NO_FILE;
    if (!copy_path(weft_strtab_get(symbols->texts, module->path), path))
        return WEFT_OK;
    if (symbols->is_place_folder)
        try_place(&search, path);
    else if (symbols->place)
        try_one(&search, path);
    if (strcmp(path, "[vdso]") == 0)
        try_vdso(&search);
    else if (*path == '/')
        try_file(&search, path, false);
    return search.code;
}

/* ---- modules --------------------------------------------------------------------------------- */

enum weft_code weft_symbols_module(struct weft_symbols *symbols, struct weft_str path,
                                   struct weft_str build_id, uint32_t *module, struct weft_err *err)
{
    uint32_t ids[2];
    const uint32_t n_before = weft_strtab_count(symbols->identities);
    if (build_id.n_bytes > MOST_ID_BYTES)
        build_id.n_bytes = 0;
    enum weft_code code = weft_strtab_intern(symbols->texts, path, &ids[0], err);
    WEFT_THEN(code, weft_strtab_intern(symbols->texts, build_id, &ids[1], err));
    WEFT_THEN(code,
              weft_strtab_intern(symbols->identities,
                                 (struct weft_str){ (const char *)ids, sizeof ids }, module, err));
    if (code != WEFT_OK || *module != n_before)
        return code;
    struct module *own = WEFT_VEC_PUSH(&symbols->modules);
    if (!own)
        return weft_no_memory(err, "symbols");
    own->path = ids[0];
    own->build_id = ids[1];
    return find_file(symbols, own, err);
}

struct weft_str weft_symbols_path(const struct weft_symbols *symbols, uint32_t module)
{
    return weft_strtab_get(symbols->texts, symbols->modules.items[module].path);
}

enum weft_symbols_state weft_symbols_state(const struct weft_symbols *symbols, uint32_t module)
{
    return symbols->modules.items[module].state;
}

const char *weft_symbols_why(enum weft_symbols_state state)
{
    switch (state) {
    case WEFT_SYMBOLS_READ:
        return "not among its symbols";
    case WEFT_SYMBOLS_NO_FILE:
        return "not found; give its folder with --symbols";
    case WEFT_SYMBOLS_OTHER_BUILD:
        return "the file found is another build; give the right one with --symbols";
    case WEFT_SYMBOLS_UNPROVEN:
        return "the build is unknown in the trace; --symbols takes any file";
    case WEFT_SYMBOLS_NO_NAMES:
        return "stripped; its debugging information gives names";
    case WEFT_SYMBOLS_SCATTERED:
        return "it is to be loaded in more parts than a program can have: it was not read";
    }
    return "";
}

const char *weft_symbols_file(const struct weft_symbols *symbols, uint32_t module)
{
    return symbols->modules.items[module].file;
}

const char *weft_symbols_debug_file(const struct weft_symbols *symbols, uint32_t module)
{
    return symbols->modules.items[module].debug_file;
}

uint64_t weft_symbols_address(const struct weft_symbols *symbols, uint32_t module,
                              uint64_t file_off)
{
    const struct module *own = &symbols->modules.items[module];
    for (size_t k = 0; k < own->segments.n; k++) {
        const struct weft_elf_segment *segment = &own->segments.items[k];
        if (file_off - segment->file_off < segment->n_bytes)
            return file_off - segment->file_off + segment->address - own->bias;
    }
    return file_off;
}

struct weft_str weft_symbols_name(struct weft_symbols *symbols, uint32_t module, uint64_t address)
{
    const struct module *own = &symbols->modules.items[module];
    const struct weft_str name =
        own->symtab ? weft_symtab_find(own->symtab, address + own->bias) : WEFT_STR("");
    if (name.n_bytes == 0)
        return name;
    return weft_symbols_plain(symbols, name.bytes);
}

/* ---- variables ------------------------------------------------------------------------------- */

bool weft_symbols_base(const struct weft_symbols *symbols, uint32_t module, uint64_t begin,
                       uint64_t end, uint64_t file_off, uint64_t *base)
{
    const struct module *own = &symbols->modules.items[module];
    const uint64_t n_mapped_bytes = end - begin;
    for (size_t k = 0; k < own->segments.n; k++) {
        const struct weft_elf_segment *segment = &own->segments.items[k];
        /* Whole pages are mapped: the part may begin before the segment, or within it. */
        const bool overlaps = segment->file_off >= file_off
                                  ? segment->file_off - file_off < n_mapped_bytes
                                  : file_off - segment->file_off < segment->n_bytes;
        if (!segment->is_executable || !overlaps)
            continue;
        *base = begin - file_off + segment->file_off - segment->address + own->bias;
        return true;
    }
    return false;
}

bool weft_symbols_data_part(const struct weft_symbols *symbols, uint32_t module, size_t *at,
                            uint64_t *begin, uint64_t *end)
{
    const struct module *own = &symbols->modules.items[module];
    while (*at < own->segments.n) {
        const struct weft_elf_segment *segment = &own->segments.items[(*at)++];
        *begin = segment->address - own->bias;
        *end = *begin + segment->n_memory_bytes;
        if (segment->is_writable && *begin < *end)
            return true;
    }
    return false;
}

/* They stand in the file that the names of functions are of. */
static enum weft_code read_data(struct module *module, struct weft_err *err)
{
    const char *path = module->debug_file ? module->debug_file : module->file;
    struct weft_elf_file file;
    enum weft_code code = WEFT_OK;
    if (!module->has_sought_data && path && weft_elf_file_open(path, &file)) {
        code = weft_symtab_read_data(&file, &module->data, err);
        weft_elf_file_close(&file);
    }
    module->has_sought_data = true;
    return code;
}

enum weft_code weft_symbols_data_name(struct weft_symbols *symbols, uint32_t module,
                                      uint64_t address, struct weft_str *name,
                                      uint64_t *offset_bytes, struct weft_err *err)
{
    struct module *own = &symbols->modules.items[module];
    const enum weft_code code = read_data(own, err);
    *name = WEFT_STR("");
    *offset_bytes = 0;
    if (code == WEFT_OK && own->data)
        *name = weft_symtab_find_around(own->data, address + own->bias, offset_bytes);
    if (name->n_bytes)
        *name = weft_symbols_plain(symbols, name->bytes);
    return code;
}

/* ---- names as people write them, and what was inlined ---------------------------------------- */

struct weft_str weft_symbols_plain(struct weft_symbols *symbols, const char *name)
{
    const bool is_mangled = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
    free(symbols->plain);
    symbols->plain = is_mangled ? cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO) : NULL;
    return weft_str_of(symbols->plain ? symbols->plain : name);
}

/* Files of debugging information alone are large, packed, and mostly of the distribution's own
 * libraries: they are asked only if the user named a place. */
static struct weft_inlines *inlines_of(struct weft_symbols *symbols, struct module *module)
{
    bool is_nomem = false;
    if (!module->has_sought_inlines && module->file) {
        module->inlines = weft_inlines_open(module->file, &is_nomem);
        if (!module->inlines && !is_nomem && module->debug_file && symbols->place)
            module->inlines = weft_inlines_open(module->debug_file, &is_nomem);
    }
    symbols->is_nomem |= is_nomem;
    module->has_sought_inlines = true;
    return module->inlines;
}

size_t weft_symbols_inlined(struct weft_symbols *symbols, uint32_t module, uint64_t address,
                            const char **names, size_t n_most)
{
    struct module *own = &symbols->modules.items[module];
    struct weft_inlines *inlines = inlines_of(symbols, own);
    const size_t n_names =
        inlines ? weft_inlines_at(inlines, address + own->bias, names, n_most) : 0;
    symbols->is_nomem |= inlines && weft_inlines_nomem(inlines);
    return n_names;
}

static struct weft_members *members_of(struct weft_symbols *symbols, struct module *module)
{
    bool is_nomem = false;
    if (!module->has_sought_members && module->file) {
        module->members = weft_members_open(module->file, &is_nomem);
        if (!module->members && !is_nomem && module->debug_file && symbols->place)
            module->members = weft_members_open(module->debug_file, &is_nomem);
    }
    symbols->is_nomem |= is_nomem;
    module->has_sought_members = true;
    return module->members;
}

size_t weft_symbols_member(struct weft_symbols *symbols, uint32_t module, uint64_t address,
                           uint64_t offset_bytes, char *text, size_t n_text)
{
    struct module *own = &symbols->modules.items[module];
    struct weft_members *members = members_of(symbols, own);
    const size_t n = members ? weft_members_at(members, address + own->bias - offset_bytes,
                                               offset_bytes, text, n_text)
                             : 0;
    symbols->is_nomem |= members && weft_members_nomem(members);
    return n;
}

bool weft_symbols_nomem(const struct weft_symbols *symbols)
{
    return symbols->is_nomem;
}

size_t weft_symbols_place_name(struct weft_str path, uint64_t address, char *name, size_t n_name)
{
    static const char digits[] = "0123456789abcdef";
    char hex[20];
    size_t at = path.n_bytes;
    size_t hex_at = sizeof hex;
    while (at > 0 && path.bytes[at - 1] != '/')
        at--;
    do {
        hex[--hex_at] = digits[address & 15];
        address >>= 4;
    } while (address);
    hex[--hex_at] = 'x';
    hex[--hex_at] = '0';
    const size_t n_file = path.n_bytes - at < 256 ? path.n_bytes - at : 256;
    const size_t n_hex = sizeof hex - hex_at;
    if (n_name < n_file + n_hex + 2)
        return 0;
    if (n_file) {
        memcpy(name, path.bytes + at, n_file);
        name[n_file] = '+';
    }
    const size_t n_front = n_file + (n_file > 0);
    memcpy(name + n_front, hex + hex_at, n_hex);
    name[n_front + n_hex] = '\0';
    return n_front + n_hex;
}
