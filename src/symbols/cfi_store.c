/* SPDX-License-Identifier: MIT
 *
 * A store of call frame information: tables of programs, their functions, and the places that were
 * asked for last.
 */
#include "symbols/cfi_store.h"

#include "base/map.h"
#include "base/vec.h"
#include "symbols/cfi_section.h"

enum {
    LEAST_BYTES = 1 << 20,
    CACHED_PLACES = 4096,
    MOST_TABLES = 256, /* each holds a file open */
    SECTIONS = 3,
    MAP_BYTES = 32,  /* of an entry of a map, roughly */
    INDEX_SHARE = 2, /* an index may take one in so many bytes of the store */
};

/* Of one program. Sections: its .eh_frame, its .debug_frame, that of its debugging information. */
struct table {
    uint32_t number;
    uint64_t last_used;
    size_t n_bytes, function_bytes;        /* in all; of functions */
    struct weft_elf_file file, debug_file; /* open, without what libelf has of them */
    struct weft_cfi_section *sections[SECTIONS];
    bool has_sought_debug;
    struct {
        struct weft_elf_segment *items; /* that can be executed */
        size_t n, cap;
    } segments;
    struct weft_map *of_entry; /* (section, offset) -> index in `functions` */
    struct {
        struct weft_cfi_function **items;
        size_t n, cap;
    } functions;
};

struct place {
    uint64_t file_off;
    uint32_t number;
    bool is_used;
    struct weft_cfi_found found;
};

struct weft_cfi_store {
    size_t most_bytes, n_bytes;
    uint64_t n_used;
    bool is_nomem;        /* of the question in work */
    struct place *places; /* CACHED_PLACES */
    struct {
        struct table **items;
        size_t n, cap;
    } tables;
};

struct weft_cfi_store *weft_cfi_store_new(size_t most_bytes)
{
    struct weft_cfi_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->most_bytes = most_bytes > LEAST_BYTES ? most_bytes : LEAST_BYTES;
    store->places = calloc(CACHED_PLACES, sizeof *store->places);
    if (store->places)
        return store;
    weft_cfi_store_free(store);
    return NULL;
}

size_t weft_cfi_store_bytes(const struct weft_cfi_store *store)
{
    return store->n_bytes + CACHED_PLACES * sizeof *store->places;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void drop_functions(struct table *table)
{
    for (size_t k = 0; k < table->functions.n; k++)
        free(table->functions.items[k]);
    WEFT_VEC_FINI(&table->functions);
    weft_map_free(table->of_entry);
    table->of_entry = NULL;
    table->function_bytes = 0;
}

static void table_free(struct table *table)
{
    if (!table)
        return;
    drop_functions(table);
    for (size_t k = 0; k < SECTIONS; k++) {
        if (table->sections[k])
            weft_cfi_section_fini(table->sections[k]);
        free(table->sections[k]);
    }
    weft_elf_file_close(&table->file);
    weft_elf_file_close(&table->debug_file);
    WEFT_VEC_FINI(&table->segments);
    free(table);
}

void weft_cfi_store_free(struct weft_cfi_store *store)
{
    if (!store)
        return;
    for (size_t k = 0; k < store->tables.n; k++)
        table_free(store->tables.items[k]);
    WEFT_VEC_FINI(&store->tables);
    free(store->places);
    free(store);
}

/* NULL: there is none. */
static struct weft_cfi_section *open_section(struct weft_cfi_store *store,
                                             const struct weft_elf_file *file, bool is_debug_frame)
{
    struct weft_cfi_section *section = malloc(sizeof *section);
    store->is_nomem |= !section;
    if (section && weft_cfi_section_open(section, file, is_debug_frame))
        return section;
    free(section);
    return NULL;
}

/* The descriptor is what is read from; what libelf keeps of the file is not needed any more. */
static void let_go(struct weft_elf_file *file)
{
    if (file->elf)
        (void)elf_end(file->elf);
    file->elf = NULL;
}

static bool read_segments(struct table *table)
{
    struct weft_elf_segment segment;
    for (size_t at = 0; weft_elf_file_segment(&table->file, &at, &segment);) {
        struct weft_elf_segment *place =
            segment.is_executable ? WEFT_VEC_PUSH(&table->segments) : NULL;
        if (place)
            *place = segment;
        else if (segment.is_executable)
            return false;
    }
    return true;
}

/* NULL without memory. A file that cannot be read makes a table without sections. */
static struct table *table_open(struct weft_cfi_store *store,
                                const struct weft_cfi_program *program)
{
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->number = program->number;
    table->file.fd = table->debug_file.fd = -1;
    if (!program->path || !weft_elf_file_open(program->path, &table->file))
        return table;
    const bool is_good = weft_elf_file_is_scattered(&table->file) || read_segments(table);
    if (is_good && table->segments.n > 0) {
        table->sections[0] = open_section(store, &table->file, false);
        table->sections[1] = open_section(store, &table->file, true);
    }
    let_go(&table->file);
    if (is_good)
        return table;
    table_free(table);
    return NULL;
}

static void seek_debug(struct weft_cfi_store *store, struct table *table, const char *path)
{
    if (table->has_sought_debug)
        return;
    table->has_sought_debug = true;
    if (!path || !weft_elf_file_open(path, &table->debug_file))
        return;
    if (!weft_elf_file_is_scattered(&table->debug_file))
        table->sections[2] = open_section(store, &table->debug_file, true);
    let_go(&table->debug_file);
    if (!table->sections[2])
        weft_elf_file_close(&table->debug_file);
}

static size_t section_bytes(const struct table *table)
{
    size_t n_bytes = 0;
    for (size_t k = 0; k < SECTIONS; k++)
        if (table->sections[k])
            n_bytes += weft_cfi_section_bytes(table->sections[k]);
    return n_bytes;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void forget_places(struct weft_cfi_store *store)
{
    memset(store->places, 0, CACHED_PLACES * sizeof *store->places);
}

/* The table that was not used for longest gives way; `kept` does not. False: there is no other. */
static bool evict(struct weft_cfi_store *store, const struct table *kept)
{
    size_t oldest = store->tables.n;
    for (size_t k = 0; k < store->tables.n; k++)
        if (store->tables.items[k] != kept &&
            (oldest == store->tables.n ||
             store->tables.items[k]->last_used < store->tables.items[oldest]->last_used))
            oldest = k;
    if (oldest == store->tables.n)
        return false;
    store->n_bytes -= store->tables.items[oldest]->n_bytes;
    table_free(store->tables.items[oldest]);
    store->tables.items[oldest] = store->tables.items[--store->tables.n];
    forget_places(store);
    return true;
}

static void recount(struct weft_cfi_store *store, struct table *table)
{
    store->n_bytes -= table->n_bytes;
    table->n_bytes = sizeof *table + table->segments.cap * sizeof *table->segments.items +
                     table->function_bytes + section_bytes(table);
    store->n_bytes += table->n_bytes;
}

/* Room for what the next question may need. */
static void make_room(struct weft_cfi_store *store, struct table *table)
{
    while (store->n_bytes > store->most_bytes && evict(store, table))
        ;
    if (store->n_bytes <= store->most_bytes)
        return;
    drop_functions(table);
    forget_places(store);
    recount(store, table);
}

/* NULL without memory. */
static struct table *table_of(struct weft_cfi_store *store, const struct weft_cfi_program *program)
{
    for (size_t k = 0; k < store->tables.n; k++)
        if (store->tables.items[k]->number == program->number)
            return store->tables.items[k];
    while (store->tables.n >= MOST_TABLES && evict(store, NULL))
        ;
    if (!weft_vec_reserve(&store->tables.items, &store->tables.cap, store->tables.n + 1,
                          sizeof(struct table *)))
        return NULL;
    struct table *table = table_open(store, program);
    if (table) {
        store->tables.items[store->tables.n++] = table;
        recount(store, table);
    }
    return table;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Keeps a function that was compiled; false without memory, when it is freed. */
static bool keep(struct table *table, uint64_t key, struct weft_cfi_function *function)
{
    if (!table->of_entry)
        table->of_entry = weft_map_new();
    const bool has_room = weft_vec_reserve(&table->functions.items, &table->functions.cap,
                                           table->functions.n + 1, sizeof(void *));
    if (!table->of_entry || !has_room ||
        weft_map_add(table->of_entry, key, NULL) == WEFT_MAP_NONE) {
        free(function);
        return false;
    }
    table->functions.items[table->functions.n++] = function;
    table->function_bytes += function->n_bytes + sizeof(void *) + MAP_BYTES;
    return true;
}

/* The entry of a section that may hold the address; NULL: none. */
static struct weft_cfi_function *function_in(struct weft_cfi_store *store, struct table *table,
                                             size_t section, uint64_t address)
{
    struct weft_cfi_section *in = table->sections[section];
    uint64_t offset;
    if (!in || !weft_cfi_section_seek(in, address, store->most_bytes / INDEX_SHARE, &offset))
        return NULL;
    const uint64_t key = offset << 2 | section;
    const uint32_t index = table->of_entry ? weft_map_find(table->of_entry, key) : WEFT_MAP_NONE;
    if (index != WEFT_MAP_NONE)
        return table->functions.items[index];
    struct weft_cfi_function *function = weft_cfi_section_compile(in, offset);
    if (!function || keep(table, key, function))
        return function;
    store->is_nomem = true;
    return NULL;
}

/* NULL: no section has the function. */
static const struct weft_cfi_function *function_at(struct weft_cfi_store *store,
                                                   struct table *table,
                                                   const struct weft_cfi_program *program,
                                                   uint64_t address)
{
    for (size_t k = 0; k < SECTIONS; k++) {
        if (k == SECTIONS - 1)
            seek_debug(store, table, program->debug_path);
        const struct weft_cfi_function *function = function_in(store, table, k, address);
        store->is_nomem |= table->sections[k] && weft_cfi_section_nomem(table->sections[k]);
        if (function && function->begin <= address && address < function->end)
            return function;
    }
    return NULL;
}

static bool address_of(const struct table *table, uint64_t file_off, uint64_t *address)
{
    for (size_t k = 0; k < table->segments.n; k++) {
        const struct weft_elf_segment *segment = &table->segments.items[k];
        if (file_off - segment->file_off < segment->n_bytes) {
            *address = file_off - segment->file_off + segment->address;
            return true;
        }
    }
    return false;
}

static struct weft_cfi_found seek(struct weft_cfi_store *store,
                                  const struct weft_cfi_program *program, uint64_t file_off)
{
    struct weft_cfi_found found = { 0 };
    store->is_nomem = false;
    struct table *table = table_of(store, program);
    store->is_nomem |= !table;
    if (!table)
        return found;
    table->last_used = ++store->n_used;
    make_room(store, table);
    if (!address_of(table, file_off, &found.address))
        return found;
    found.function = function_at(store, table, program, found.address);
    if (found.function)
        found.row = weft_cfi_row(found.function, found.address);
    recount(store, table);
    return found;
}

bool weft_cfi_store_find(struct weft_cfi_store *store, const struct weft_cfi_program *program,
                         uint64_t file_off, struct weft_cfi_found *found)
{
    const uint64_t hash =
        (file_off ^ (uint64_t)program->number << 40) * UINT64_C(0x9e3779b97f4a7c15);
    struct place *place = &store->places[hash >> 52];
    if (place->is_used && place->file_off == file_off && place->number == program->number) {
        *found = place->found;
        return true;
    }
    *found = seek(store, program, file_off);
    if (store->is_nomem) { /* others gave way, and it is read again */
        while (evict(store, NULL))
            ;
        *found = seek(store, program, file_off);
    }
    if (!store->is_nomem)
        *place = (struct place){ file_off, program->number, true, *found };
    return !store->is_nomem;
}
