/* SPDX-License-Identifier: MIT
 *
 * Reads symbols through windows of 64 KiB, so that a hostile table costs no memory by itself, sorts
 * them by radix (address, then binding), and finds by halves. Of several names at one address the
 * global one wins. Without a symbol table it walks DWARF (dwarf.h).
 */
#include "symbols/symtab.h"

#include "base/vec.h"
#include "symbols/dwarf.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>

enum { WINDOW_BYTES = 64 << 10, NAME_BYTES = 256, LONGEST_NAME = 64 << 10 };

/* A name of a function. */
struct symbol {
    uint64_t address;
    uint64_t n_bytes;
    uint32_t name_at; /* among the names, each with a NUL */
    uint8_t rank;     /* of several names at one address the lowest is taken */
};

struct symbols {
    struct symbol *items;
    size_t n, cap;
};

struct weft_symtab {
    struct {
        char *items;
        size_t n, cap;
    } names;
    struct symbols symbols; /* sorted once all are read */
    bool is_of_data;        /* variables, no functions */
};

/* Marks like __TMC_END__ are variables of no size, and stand where others do. */
static bool is_wanted(const struct weft_symtab *symtab, const GElf_Sym *symbol)
{
    const unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF)
        return false;
    return symtab->is_of_data ? (type == STT_OBJECT || type == STT_COMMON) && symbol->st_size > 0
                              : type == STT_FUNC || type == STT_GNU_IFUNC;
}

static enum weft_code keep_symbol(struct weft_symtab *symtab, const GElf_Sym *symbol,
                                  const char *name, struct weft_err *err)
{
    const unsigned binding = GELF_ST_BIND(symbol->st_info);
    if (!name || !*name)
        return WEFT_OK;
    const size_t n_name = strlen(name) + 1;
    const size_t name_at = symtab->names.n;
    struct symbol *kept = name_at <= UINT32_MAX ? WEFT_VEC_PUSH(&symtab->symbols) : NULL;
    if (!kept || !weft_vec_reserve(&symtab->names.items, &symtab->names.cap, name_at + n_name, 1))
        return weft_no_memory(err, "symbols");
    memcpy(symtab->names.items + name_at, name, n_name);
    symtab->names.n += n_name;
    *kept = (struct symbol){
        .address = symbol->st_value,
        .n_bytes = symbol->st_size,
        .name_at = (uint32_t)name_at,
        .rank = binding == STB_GLOBAL ? 0
                : binding == STB_WEAK ? 1
                                      : 2,
    };
    return WEFT_OK;
}

/* A table of symbols, and the one of their names: read a window at a time. */
struct tables {
    struct weft_section symbols, names;
    bool is_64, is_big; /* its byte order */
    uint64_t n_symbols;
};

static uint64_t take_word(const struct tables *tables, struct weft_cursor *cur)
{
    if (!tables->is_64)
        return tables->is_big ? __builtin_bswap32(weft_cur_u32(cur)) : weft_cur_u32(cur);
    return tables->is_big ? __builtin_bswap64(weft_cur_u64(cur)) : weft_cur_u64(cur);
}

static bool take_symbol(struct tables *tables, uint64_t index, GElf_Sym *symbol)
{
    const size_t n_bytes = tables->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    struct weft_cursor cur;
    if (!weft_section_view(&tables->symbols, index * n_bytes, n_bytes, WINDOW_BYTES, &cur))
        return false;
    *symbol = (GElf_Sym){ .st_name = weft_cur_u32(&cur) };
    if (!tables->is_64) {
        symbol->st_value = take_word(tables, &cur);
        symbol->st_size = take_word(tables, &cur);
    }
    symbol->st_info = weft_cur_u8(&cur);
    symbol->st_other = weft_cur_u8(&cur);
    symbol->st_shndx = weft_cur_u16(&cur);
    if (tables->is_64) {
        symbol->st_value = take_word(tables, &cur);
        symbol->st_size = take_word(tables, &cur);
    }
    if (tables->is_big) {
        symbol->st_name = __builtin_bswap32(symbol->st_name);
        symbol->st_shndx = __builtin_bswap16(symbol->st_shndx);
    }
    return !cur.fault;
}

/* Valid until the next call; NULL: it does not end. */
static const char *take_name(struct tables *tables, uint64_t at)
{
    for (size_t n = NAME_BYTES; n <= LONGEST_NAME; n *= 16) {
        struct weft_cursor cur;
        if (!weft_section_view(&tables->names, at, n, WINDOW_BYTES, &cur))
            return NULL;
        if (memchr(cur.at, 0, weft_cur_left(&cur)))
            return (const char *)cur.at;
        if (weft_cur_left(&cur) < n)
            return NULL;
    }
    return NULL;
}

static enum weft_code read_tables(struct weft_symtab *symtab, struct tables *tables,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint64_t k = 0; code == WEFT_OK && k < tables->n_symbols; k++) {
        GElf_Sym symbol;
        if (!take_symbol(tables, k, &symbol))
            break;
        if (is_wanted(symtab, &symbol))
            code = keep_symbol(symtab, &symbol, take_name(tables, symbol.st_name), err);
    }
    if (code == WEFT_OK && (tables->symbols.is_nomem || tables->names.is_nomem))
        code = weft_no_memory(err, "symbols");
    return code;
}

static enum weft_code read_section(struct weft_symtab *symtab, const struct weft_elf_file *file,
                                   Elf_Scn *section, const GElf_Shdr *header, struct weft_err *err)
{
    struct tables tables = { .is_64 = gelf_getclass(file->elf) == ELFCLASS64,
                             .is_big = weft_elf_file_is_big(file) };
    Elf_Scn *names = elf_getscn(file->elf, header->sh_link);
    enum weft_code code = WEFT_OK;
    if (weft_section_of(&tables.symbols, file, section)) {
        tables.n_symbols =
            tables.symbols.n_bytes / (tables.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
        if (names && weft_section_of(&tables.names, file, names))
            code = read_tables(symtab, &tables, err);
    }
    weft_section_fini(&tables.symbols);
    weft_section_fini(&tables.names);
    return code;
}

static enum weft_code read_sections(struct weft_symtab *symtab, const struct weft_elf_file *file,
                                    uint32_t type, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (Elf_Scn *section = NULL; code == WEFT_OK && (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            code = read_section(symtab, file, section, &header, err);
    }
    return code;
}

/* ---- names that only the debugging information has ------------------------------------------- */

struct debug_walk {
    struct weft_symtab *symtab;
    struct weft_err *err;
    enum weft_code code;
    struct weft_str name;
};

/* Of parts in several places only the first has the name. */
static bool keep_debug_function(void *context, uint64_t begin, uint64_t end)
{
    struct debug_walk *walk = context;
    const GElf_Sym symbol = {
        .st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC),
        .st_shndx = SHN_ABS,
        .st_value = begin,
        .st_size = end - begin,
    };
    walk->code = keep_symbol(walk->symtab, &symbol, walk->name.bytes, walk->err);
    return false;
}

static enum weft_code read_debug_names(struct weft_symtab *symtab, const struct weft_elf_file *file,
                                       struct weft_err *err)
{
    struct debug_walk walk = { .symtab = symtab, .err = err, .code = WEFT_OK };
    bool is_nomem;
    struct weft_dwarf *dwarf = weft_dwarf_of(file, &is_nomem);
    const size_t n_units = dwarf ? weft_dwarf_n_units(dwarf) : 0;
    for (size_t k = 0; walk.code == WEFT_OK && k < n_units; k++) {
        struct weft_dwarf_entry entry;
        for (bool has_entry = weft_dwarf_unit_entry(dwarf, k, &entry);
             has_entry && walk.code == WEFT_OK; has_entry = weft_dwarf_follow(&entry)) {
            if (entry.tag != DW_TAG_subprogram ||
                (entry.low.kind == WEFT_DWARF_NONE && entry.ranges.kind == WEFT_DWARF_NONE))
                continue;
            walk.name = weft_dwarf_name(&entry);
            if (walk.name.n_bytes)
                (void)weft_dwarf_ranges(&entry, keep_debug_function, &walk);
        }
    }
    is_nomem |= dwarf && weft_dwarf_nomem(dwarf);
    weft_dwarf_free(dwarf);
    if (walk.code == WEFT_OK && is_nomem)
        return weft_no_memory(err, "symbols");
    return walk.code;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The byte of a key that a pass sorts by: first the rank, then the address from its lowest byte. */
static unsigned byte_of(const struct symbol *symbol, unsigned pass)
{
    return pass == 0 ? symbol->rank : (unsigned)(symbol->address >> (8 * (pass - 1)) & 0xff);
}

/* One pass of a radix sort, which keeps the order of equals; nothing moves if all are. */
static void sort_pass(struct symbols *symbols, struct symbol **room, unsigned pass)
{
    size_t places[256] = { 0 };
    size_t n_before = 0;
    for (size_t k = 0; k < symbols->n; k++)
        places[byte_of(&symbols->items[k], pass)]++;
    if (places[byte_of(&symbols->items[0], pass)] == symbols->n)
        return;
    for (size_t k = 0; k < 256; k++) {
        const size_t n_here = places[k];
        places[k] = n_before;
        n_before += n_here;
    }
    for (size_t k = 0; k < symbols->n; k++)
        (*room)[places[byte_of(&symbols->items[k], pass)]++] = symbols->items[k];
    struct symbol *items = symbols->items;
    symbols->items = *room;
    *room = items;
}

/* By address, then rank, then as they were met. False without memory. */
static bool sort_symbols(struct symbols *symbols)
{
    if (symbols->n == 0)
        return true;
    struct symbol *room = calloc(symbols->cap, sizeof *room);
    if (!room)
        return false;
    for (unsigned pass = 0; pass <= sizeof(uint64_t); pass++)
        sort_pass(symbols, &room, pass);
    free(room);
    return true;
}

static enum weft_code read_all(struct weft_symtab *symtab, const struct weft_elf_file *file,
                               struct weft_err *err)
{
    enum weft_code code = read_sections(symtab, file, SHT_SYMTAB, err);
    if (code == WEFT_OK && symtab->symbols.n == 0) {
        if (!symtab->is_of_data)
            code = read_debug_names(symtab, file, err);
        WEFT_THEN(code, read_sections(symtab, file, SHT_DYNSYM, err));
    }
    if (code == WEFT_OK && !sort_symbols(&symtab->symbols))
        return weft_no_memory(err, "symbols");
    return code;
}

static enum weft_code read_table(const struct weft_elf_file *file, bool is_of_data,
                                 struct weft_symtab **symtab, struct weft_err *err)
{
    struct weft_symtab *made = calloc(1, sizeof *made);
    *symtab = NULL;
    if (!made)
        return weft_no_memory(err, "symbols");
    made->is_of_data = is_of_data;
    const enum weft_code code = read_all(made, file, err);
    if (code == WEFT_OK)
        *symtab = made;
    else
        weft_symtab_free(made);
    return code;
}

enum weft_code weft_symtab_read(const struct weft_elf_file *file, struct weft_symtab **symtab,
                                struct weft_err *err)
{
    return read_table(file, false, symtab, err);
}

enum weft_code weft_symtab_read_data(const struct weft_elf_file *file, struct weft_symtab **symtab,
                                     struct weft_err *err)
{
    return read_table(file, true, symtab, err);
}

void weft_symtab_free(struct weft_symtab *symtab)
{
    if (!symtab)
        return;
    WEFT_VEC_FINI(&symtab->symbols);
    WEFT_VEC_FINI(&symtab->names);
    free(symtab);
}

size_t weft_symtab_count(const struct weft_symtab *symtab)
{
    return symtab->symbols.n;
}

static const struct symbol *find(const struct weft_symtab *symtab, uint64_t address)
{
    const struct symbol *items = symtab->symbols.items;
    size_t low = 0;
    size_t high = symtab->symbols.n;
    while (low < high) { /* the first symbol not below the address */
        const size_t middle = low + (high - low) / 2;
        if (items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < symtab->symbols.n && items[low].address == address)
        return &items[low];
    if (low == 0 || address - items[low - 1].address >= items[low - 1].n_bytes)
        return NULL;
    return &items[low - 1];
}

struct weft_symtab_function weft_symtab_at(const struct weft_symtab *symtab, size_t place)
{
    const struct symbol *symbol = &symtab->symbols.items[place];
    return (struct weft_symtab_function){
        .address = symbol->address,
        .n_bytes = symbol->n_bytes,
        .name = weft_str_of(symtab->names.items + symbol->name_at),
    };
}

struct weft_str weft_symtab_find(const struct weft_symtab *symtab, uint64_t address)
{
    uint64_t unused;
    return weft_symtab_find_around(symtab, address, &unused);
}

struct weft_str weft_symtab_find_around(const struct weft_symtab *symtab, uint64_t address,
                                        uint64_t *offset_bytes)
{
    const struct symbol *symbol = find(symtab, address);
    *offset_bytes = symbol ? address - symbol->address : 0;
    return symbol ? weft_str_of(symtab->names.items + symbol->name_at) : WEFT_STR("");
}
