/* SPDX-License-Identifier: MIT
 *
 * Sections with call frame information: entries are read by cursor, a window of the file at a time.
 */
#include "symbols/cfi_section.h"

#include "base/vec.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
    AHEAD_BYTES = 512,      /* read at once for an entry */
    SCAN_BYTES = 64 << 10,  /* while all entries are passed */
    ENTRY_BYTES = 8,        /* of a search table */
    BLOCK_ENTRIES = 512,    /* read at once */
    HDR_BYTES = 32,         /* at most, before the table */
    MOST_ENTRIES = 1 << 28, /* of a table that distances of 32 bits reach all of */
    PE_TABLE_SIGNED = DW_EH_PE_datarel | DW_EH_PE_sdata4,
};

static bool file_read(int fd, uint64_t off, uint8_t *bytes, size_t n_bytes)
{
    const struct weft_section whole = { .fd = fd, .n_bytes = INT64_MAX };
    return weft_section_copy(&whole, off, bytes, n_bytes);
}

/* ---- the linker's table ---------------------------------------------------------------------- */

static bool search_open(struct weft_cfi_search *search, const uint8_t *head, size_t n_head,
                        uint64_t address, uint64_t *section_address)
{
    struct weft_cursor cur = weft_cur_init(head, n_head, 0);
    const uint8_t version = weft_cur_u8(&cur);
    const uint8_t section_encoding = weft_cur_u8(&cur);
    const uint8_t count_encoding = weft_cur_u8(&cur);
    const uint8_t table_encoding = weft_cur_u8(&cur);
    uint64_t n_entries;
    if (version != 1 || !weft_cfi_pointer(&cur, section_encoding, address + weft_cur_offset(&cur),
                                          address, section_address))
        return false;
    if (table_encoding != PE_TABLE_SIGNED ||
        !weft_cfi_pointer(&cur, count_encoding, address + weft_cur_offset(&cur), address,
                          &n_entries))
        return true; /* without a table */
    const uint64_t at = weft_cur_offset(&cur);
    if (n_entries <= (search->n_bytes - at) / ENTRY_BYTES && n_entries <= MOST_ENTRIES) {
        search->file_off += at;
        search->n_bytes = n_entries * ENTRY_BYTES;
        search->base = address;
        search->n_entries = n_entries;
    }
    return true;
}

static uint64_t n_blocks(const struct weft_cfi_search *search)
{
    return (search->n_entries + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
}

/* The first function of each block, so that one block is read for a question. A table that cannot
 * be read is none. False: no memory. */
static bool read_firsts(struct weft_cfi_search *search)
{
    const uint64_t n = n_blocks(search);
    if (search->firsts || n == 0)
        return true;
    int32_t *firsts = calloc((size_t)n, sizeof *firsts);
    search->is_nomem |= !firsts;
    for (uint64_t k = 0; firsts && k < n; k++) {
        uint8_t bytes[4];
        if (!file_read(search->fd, search->file_off + k * BLOCK_ENTRIES * ENTRY_BYTES, bytes,
                       sizeof bytes)) {
            free(firsts);
            search->n_entries = 0;
            return true;
        }
        firsts[k] = (int32_t)weft_load_u32(bytes);
    }
    search->firsts = firsts;
    return firsts != NULL;
}

static const uint8_t *block_of(struct weft_cfi_search *search, uint64_t block, size_t *n_entries)
{
    const size_t slot = (size_t)(block % WEFT_CFI_BLOCKS);
    const uint64_t first = block * BLOCK_ENTRIES;
    const uint64_t n_left = search->n_entries - first;
    *n_entries = n_left < BLOCK_ENTRIES ? (size_t)n_left : BLOCK_ENTRIES;
    if (search->blocks[slot] && search->block_of[slot] == block)
        return search->blocks[slot];
    if (!search->blocks[slot])
        search->blocks[slot] = malloc(BLOCK_ENTRIES * ENTRY_BYTES);
    search->block_of[slot] = UINT64_MAX;
    search->is_nomem |= !search->blocks[slot];
    if (!search->blocks[slot] || !file_read(search->fd, search->file_off + first * ENTRY_BYTES,
                                            search->blocks[slot], *n_entries * ENTRY_BYTES))
        return NULL;
    search->block_of[slot] = block;
    return search->blocks[slot];
}

/* The address of the entry of the last function that begins at `address` or before. */
static bool search_find(struct weft_cfi_search *search, uint64_t address, uint64_t *entry)
{
    const int64_t distance = (int64_t)(address - search->base);
    uint64_t low = 0, high = n_blocks(search);
    size_t n_entries;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (search->firsts[middle] <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    const uint8_t *block = low ? block_of(search, low - 1, &n_entries) : NULL;
    if (!block)
        return false;
    low = 0;
    high = n_entries;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if ((int32_t)weft_load_u32(block + middle * ENTRY_BYTES) <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    if (low)
        *entry =
            search->base + (uint64_t)(int32_t)weft_load_u32(block + (low - 1) * ENTRY_BYTES + 4);
    return low > 0;
}

static void search_fini(struct weft_cfi_search *search)
{
    free(search->firsts);
    for (size_t k = 0; k < WEFT_CFI_BLOCKS; k++)
        free(search->blocks[k]);
    *search = (struct weft_cfi_search){ 0 };
}

/* ---- finding the section --------------------------------------------------------------------- */

/* How many of `n_bytes` at an offset the file has. */
static uint64_t within(const struct weft_elf_file *file, uint64_t file_off, uint64_t n_bytes)
{
    const uint64_t n_left = file_off < file->n_bytes ? file->n_bytes - file_off : 0;
    return n_bytes < n_left ? n_bytes : n_left;
}

/* Where an address of a loaded part lies in the file, and how much follows. */
static bool place_of(const struct weft_elf_file *file, uint64_t address, uint64_t *file_off,
                     uint64_t *n_bytes)
{
    struct weft_elf_segment segment;
    for (size_t at = 0; weft_elf_file_segment(file, &at, &segment);) {
        const uint64_t n_there = within(file, segment.file_off, segment.n_bytes);
        const uint64_t in = address - segment.address;
        if (in >= n_there)
            continue;
        *file_off = segment.file_off + in;
        *n_bytes = n_there - in;
        return true;
    }
    return false;
}

/* A program without headers of sections still has the table, which leads to .eh_frame. */
static void open_search(struct weft_cfi_section *section, const struct weft_elf_file *file,
                        bool has_section)
{
    size_t n_headers;
    uint8_t head[HDR_BYTES];
    GElf_Phdr header = { 0 };
    uint64_t address;
    if (elf_getphdrnum(file->elf, &n_headers) != 0)
        return;
    for (size_t k = 0; k < n_headers && k < WEFT_ELF_MOST_PARTS; k++)
        if (gelf_getphdr(file->elf, (int)k, &header) && header.p_type == PT_GNU_EH_FRAME)
            break;
    const uint64_t n_bytes = within(file, header.p_offset, header.p_filesz);
    const size_t n_head = n_bytes < sizeof head ? (size_t)n_bytes : sizeof head;
    if (header.p_type != PT_GNU_EH_FRAME || !file_read(file->fd, header.p_offset, head, n_head))
        return;
    section->search.fd = file->fd;
    section->search.file_off = header.p_offset;
    section->search.n_bytes = n_bytes;
    if (!search_open(&section->search, head, n_head, header.p_vaddr, &address))
        return;
    if (!has_section &&
        place_of(file, address, &section->bytes.file_off, &section->bytes.n_bytes)) {
        section->bytes.fd = file->fd;
        section->bytes.address = address;
    }
}

bool weft_cfi_section_open(struct weft_cfi_section *section, const struct weft_elf_file *file,
                           bool is_debug_frame)
{
    *section = (struct weft_cfi_section){ .source = { .is_debug_frame = is_debug_frame } };
    GElf_Ehdr header;
    bool is_good = gelf_getehdr(file->elf, &header) && header.e_machine == EM_X86_64 &&
                   header.e_ident[EI_CLASS] == ELFCLASS64;
    if (is_good) {
        const bool has_section =
            weft_section_open(&section->bytes, file, is_debug_frame ? ".debug_frame" : ".eh_frame");
        if (!is_debug_frame)
            open_search(section, file, has_section);
        is_good = section->bytes.n_bytes > 0;
    }
    section->source.section_address = section->bytes.address;
    if (!is_good)
        weft_cfi_section_fini(section);
    return is_good;
}

void weft_cfi_section_fini(struct weft_cfi_section *section)
{
    weft_section_fini(&section->bytes);
    search_fini(&section->search);
    WEFT_VEC_FINI(&section->index);
    *section = (struct weft_cfi_section){ .bytes = { .fd = -1 } };
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The whole entry at `offset`. */
static bool read_entry(struct weft_cfi_section *section, uint64_t offset, size_t n_ahead,
                       struct weft_cfi_entry *entry, struct weft_cursor *cur)
{
    if (!weft_section_view(&section->bytes, offset, WEFT_CFI_HEADER, n_ahead, cur) ||
        !weft_cfi_entry(&section->source, *cur, offset, entry))
        return false;
    if (entry->is_end)
        return true;
    const uint64_t n_bytes = entry->next - offset;
    return n_bytes <= WEFT_CFI_MOST_ENTRY &&
           weft_section_view(&section->bytes, offset, (size_t)n_bytes, n_ahead, cur) &&
           weft_cur_left(cur) == n_bytes;
}

/* The CIE of an entry; most entries share a few. Its bytes are kept. */
static const struct weft_cfi_cie *cie_at(struct weft_cfi_section *section, uint64_t offset)
{
    struct weft_cfi_entry entry;
    uint8_t *bytes = section->cie_bytes;
    if (section->has_cie && section->cie_offset == offset)
        return &section->cie;
    const uint64_t n_left = offset < section->bytes.n_bytes ? section->bytes.n_bytes - offset : 0;
    const size_t n_head = n_left < WEFT_CFI_HEADER ? (size_t)n_left : WEFT_CFI_HEADER;
    section->has_cie = false;
    if (!weft_section_copy(&section->bytes, offset, bytes, n_head) ||
        !weft_cfi_entry(&section->source, weft_cur_init(bytes, n_head, offset), offset, &entry) ||
        entry.is_end || entry.next - offset > sizeof section->cie_bytes ||
        !weft_section_copy(&section->bytes, offset, bytes, (size_t)(entry.next - offset)))
        return NULL;
    section->has_cie =
        weft_cfi_cie(&section->source, weft_cur_init(bytes, (size_t)(entry.next - offset), offset),
                     &entry, &section->cie);
    section->cie_offset = offset;
    return section->has_cie ? &section->cie : NULL;
}

/* The function of an entry, and its program. */
static bool read_function(struct weft_cfi_section *section, const struct weft_cfi_entry *entry,
                          const struct weft_cursor *cur, struct weft_cfi_place *place,
                          uint64_t *end, struct weft_cursor *program)
{
    const struct weft_cfi_cie *cie =
        entry->is_end || entry->is_cie ? NULL : cie_at(section, entry->cie_offset);
    place->offset = entry->offset;
    return cie && weft_cfi_range(&section->source, cie, *cur, entry, &place->begin, end, program);
}

bool weft_cfi_section_walk(struct weft_cfi_section *section,
                           bool (*see)(void *context, uint64_t begin, uint64_t end,
                                       uint64_t offset),
                           void *context)
{
    for (uint64_t offset = 0; offset < section->bytes.n_bytes;) {
        struct weft_cfi_entry entry;
        struct weft_cfi_place place;
        struct weft_cursor cur, program;
        uint64_t end;
        if (!read_entry(section, offset, SCAN_BYTES, &entry, &cur))
            return false;
        if (entry.is_end && !section->source.is_debug_frame)
            return true;
        if (read_function(section, &entry, &cur, &place, &end, &program) &&
            !see(context, place.begin, end, offset))
            return true;
        offset = entry.next;
    }
    return true;
}

/* ---- the index ------------------------------------------------------------------------------- */

struct indexing {
    struct weft_cfi_section *section;
    size_t n_most;
    bool is_full;
};

static bool see_place(void *context, uint64_t begin, uint64_t end, uint64_t offset)
{
    struct indexing *indexing = context;
    struct weft_cfi_section *section = indexing->section;
    if (begin >= end)
        return true; /* what the linker took out */
    indexing->is_full = section->index.n == indexing->n_most;
    struct weft_cfi_place *place = indexing->is_full ? NULL : WEFT_VEC_PUSH(&section->index);
    section->is_nomem |= !place && !indexing->is_full;
    if (place)
        *place = (struct weft_cfi_place){ begin, offset };
    return place != NULL;
}

static int by_begin(const void *a_void, const void *b_void)
{
    const struct weft_cfi_place *a = a_void;
    const struct weft_cfi_place *b = b_void;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* A part of it would find other functions than those that hold an address: all, or nothing. */
static void make_index(struct weft_cfi_section *section, size_t most_bytes)
{
    struct indexing indexing = { .section = section,
                                 .n_most = most_bytes / sizeof(struct weft_cfi_place) };
    (void)weft_cfi_section_walk(section, see_place, &indexing);
    section->is_nomem |= section->bytes.is_nomem;
    section->is_indexed = !section->is_nomem;
    if (indexing.is_full || section->is_nomem)
        WEFT_VEC_FINI(&section->index);
    if (section->index.n)
        qsort(section->index.items, section->index.n, sizeof *section->index.items, by_begin);
}

static bool index_find(const struct weft_cfi_section *section, uint64_t address, uint64_t *offset)
{
    size_t low = 0, high = section->index.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (section->index.items[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low)
        *offset = section->index.items[low - 1].offset;
    return low > 0;
}

/* ---- functions ------------------------------------------------------------------------------- */

bool weft_cfi_section_seek(struct weft_cfi_section *section, uint64_t address, size_t most_bytes,
                           uint64_t *offset)
{
    uint64_t entry;
    if (!read_firsts(&section->search))
        return false;
    if (section->search.n_entries > 0) {
        if (!search_find(&section->search, address, &entry))
            return false;
        *offset = entry - section->source.section_address;
        return *offset < section->bytes.n_bytes;
    }
    if (!section->is_indexed)
        make_index(section, most_bytes);
    return index_find(section, address, offset);
}

struct weft_cfi_function *weft_cfi_section_compile(struct weft_cfi_section *section,
                                                   uint64_t offset)
{
    struct weft_cfi_entry entry;
    struct weft_cfi_place place;
    struct weft_cursor cur, program;
    uint64_t end;
    bool is_nomem = false;
    if (!read_entry(section, offset, AHEAD_BYTES, &entry, &cur) ||
        !read_function(section, &entry, &cur, &place, &end, &program))
        return NULL;
    struct weft_cfi_function *function =
        weft_cfi_compile(&section->source, &section->cie, place.begin, end, program, &is_nomem);
    section->is_nomem |= is_nomem;
    return function;
}

bool weft_cfi_section_nomem(struct weft_cfi_section *section)
{
    const bool is_nomem = section->is_nomem || section->bytes.is_nomem || section->search.is_nomem;
    section->is_nomem = section->bytes.is_nomem = section->search.is_nomem = false;
    return is_nomem;
}

size_t weft_cfi_section_bytes(const struct weft_cfi_section *section)
{
    size_t n_bytes = sizeof *section + weft_section_held(&section->bytes) +
                     section->index.cap * sizeof *section->index.items;
    if (section->search.firsts)
        n_bytes += (size_t)n_blocks(&section->search) * sizeof *section->search.firsts;
    for (size_t k = 0; k < WEFT_CFI_BLOCKS; k++)
        n_bytes += section->search.blocks[k] ? BLOCK_ENTRIES * ENTRY_BYTES : 0;
    return n_bytes;
}
