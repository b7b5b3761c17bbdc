/* SPDX-License-Identifier: MIT
 *
 * Programs of any bytes: symbols, debugging information and what was inlined. Reading ends, names
 * end with NUL, and the debugging information read from memory is that read from the file.
 */
#include "symbols/dwarf.h"
#include "symbols/inlines.h"
#include "symbols/members.h"
#include "symbols/symtab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

enum { MOST_BYTES = 1 << 16, MOST_ENTRIES = 5000, PLACES = 16, MOST_NAMES = 64 };

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static bool see(void *context, uint64_t begin, uint64_t end)
{
    uint64_t *sum = context;
    must(begin < end);
    *sum += end - begin;
    return true;
}

/* A number that all entries of the units make. */
static uint64_t read_entries(struct weft_dwarf *dwarf)
{
    uint64_t sum = 0;
    unsigned n_entries = 0;
    for (size_t k = 0; dwarf && k < weft_dwarf_n_units(dwarf); k++) {
        struct weft_dwarf_entry entry, beside;
        uint64_t off = 0;
        bool has_entry = weft_dwarf_unit_entry(dwarf, k, &entry);
        for (; has_entry && n_entries++ < MOST_ENTRIES; has_entry = weft_dwarf_follow(&entry)) {
            must(entry.next > entry.off && entry.off >= off);
            off = entry.off;
            const struct weft_str name = weft_dwarf_name(&entry);
            must(name.n_bytes == 0 || strlen(name.bytes) == name.n_bytes);
            (void)weft_dwarf_ranges(&entry, see, &sum);
            beside = entry;
            sum = sum * 31 + entry.tag + name.n_bytes +
                  (n_entries % 16 == 0 && weft_dwarf_beside(&beside));
        }
    }
    return sum;
}

static void read_file(const char *path)
{
    bool is_nomem;
    struct weft_inlines *inlines = weft_inlines_open(path, &is_nomem);
    for (uint64_t k = 0; inlines && k < PLACES; k++) {
        const char *names[MOST_NAMES];
        const size_t n = weft_inlines_at(inlines, k * 0x111, names, MOST_NAMES);
        for (size_t i = 0; i < n; i++)
            must(strlen(names[i]) < MOST_BYTES);
    }
    weft_inlines_free(inlines);
}

static void read_members(const char *path)
{
    bool is_nomem;
    char text[40];
    struct weft_members *members = weft_members_open(path, &is_nomem);
    for (uint64_t k = 0; members && k < PLACES; k++)
        for (uint64_t offset = 0; offset < 64; offset += 8)
            must(weft_members_at(members, k * 0x10, offset, text, sizeof text) < sizeof text);
    weft_members_free(members);
}

static void read_symbols(const struct weft_elf_file *file)
{
    struct weft_symtab *symtab = NULL;
    must(weft_symtab_read(file, &symtab, NULL) == WEFT_OK);
    for (size_t k = 1; k < weft_symtab_count(symtab); k++)
        must(weft_symtab_at(symtab, k - 1).address <= weft_symtab_at(symtab, k).address);
    weft_symtab_free(symtab);
    (void)weft_elf_file_build_id(file);
    (void)weft_elf_file_debug_link(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char path[64];
    struct weft_elf_file file;
    if (n_bytes > MOST_BYTES)
        return 0;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, data, n_bytes) == (ssize_t)n_bytes);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (weft_elf_file_open(path, &file)) {
        struct weft_elf_file memory = file;
        memory.bytes = data;
        memory.n_bytes = n_bytes;
        bool is_nomem;
        struct weft_dwarf *from_file = weft_dwarf_of(&file, &is_nomem);
        struct weft_dwarf *from_memory = weft_dwarf_of(&memory, &is_nomem);
        must(read_entries(from_file) == read_entries(from_memory));
        weft_dwarf_free(from_file);
        weft_dwarf_free(from_memory);
        read_symbols(&file);
        weft_elf_file_close(&file);
        read_file(path);
        read_members(path);
    }
    (void)close(fd);
    return 0;
}
