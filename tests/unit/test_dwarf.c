/* SPDX-License-Identifier: MIT
 *
 * Debugging information that no compiler writes: entries that share a long list of ranges, and
 * sections longer than their file. It takes no more memory than its size explains, and is damage;
 * and functions in several parts, which compilers do write.
 */
#include "symbols/dwarf.h"
#include "symbols/inlines.h"
#include "symbols/symtab.h"
#include "tap.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROOM = 1 << 20, SECTIONS = 5, SHARING = 8000, RANGES = 8000, MOST_KB = 64 << 10 };

/* A file that is made. */
struct made {
    uint8_t bytes[ROOM];
    size_t n;
    Elf64_Shdr headers[SECTIONS];
    unsigned n_sections;
};

static struct made made;

static void put(const void *bytes, size_t n_bytes)
{
    if (n_bytes > sizeof made.bytes - made.n)
        abort();
    memcpy(made.bytes + made.n, bytes, n_bytes);
    made.n += n_bytes;
}

static void put_number(uint64_t value, size_t n_bytes)
{
    put(&value, n_bytes);
}

static const char section_names[] = "\0.debug_info\0.debug_abbrev\0.debug_ranges\0.shstrtab";
static const uint32_t names_at[SECTIONS] = { 0, 1, 13, 27, 41 };

static void begin_file(void)
{
    made.n = sizeof(Elf64_Ehdr);
    made.n_sections = 1;
    memset(made.headers, 0, sizeof made.headers);
}

static void begin_section(void)
{
    made.headers[made.n_sections] = (Elf64_Shdr){ .sh_name = names_at[made.n_sections],
                                                  .sh_type = SHT_PROGBITS,
                                                  .sh_offset = made.n };
}

static void end_section(void)
{
    Elf64_Shdr *header = &made.headers[made.n_sections++];
    header->sh_size = made.n - header->sh_offset;
}

/* A unit, functions without names that share the list at 0, and "split_in_two", in the list at
 * `list_at`. */
static void put_info(uint32_t n_sharing, uint32_t list_at)
{
    begin_section();
    const size_t at = made.n;
    put_number(0, 4);
    put_number(4, 2);
    put_number(0, 4);
    put_number(8, 1);
    put_number(1, 1);
    put_number(0, 8);
    put_number(UINT64_C(1) << 40, 8);
    for (uint32_t k = 0; k < n_sharing; k++) {
        put_number(2, 1);
        put_number(0, 4);
    }
    put_number(3, 1);
    put("split_in_two", sizeof "split_in_two");
    put_number(list_at, 4);
    put_number(0, 1);
    const uint32_t n_bytes = (uint32_t)(made.n - at - 4);
    memcpy(made.bytes + at, &n_bytes, sizeof n_bytes);
    end_section();
}

static void put_abbrevs(void)
{
    /* code, tag, has inner; attribute, form ... */
    static const uint8_t abbrevs[] = {
        1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0, /* unit: low, high */
        2, 0x2e, 0, 0x55, 0x17, 0,    0,          /* function: ranges */
        3, 0x2e, 0, 0x03, 0x08, 0x55, 0x17, 0, 0, /* function: name, ranges */
        0,
    };
    begin_section();
    put(abbrevs, sizeof abbrevs);
    end_section();
}

static void put_range(uint64_t begin, uint64_t end)
{
    put_number(begin, 8);
    put_number(end, 8);
}

/* The list at 0; where the one behind it is. */
static uint32_t put_ranges(uint32_t n_ranges)
{
    begin_section();
    for (uint64_t k = 0; k < n_ranges; k++)
        put_range(0x100000 + 16 * k, 0x100008 + 16 * k);
    put_range(0, 0);
    const size_t at = made.n - made.headers[made.n_sections].sh_offset;
    put_range(0x5000, 0x5040);
    put_range(0x9000, 0x9010);
    put_range(0, 0);
    end_section();
    return (uint32_t)at;
}

static void end_file(void)
{
    begin_section();
    made.headers[made.n_sections].sh_type = SHT_STRTAB;
    put(section_names, sizeof section_names);
    end_section();
    const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
                                .e_type = ET_EXEC,
                                .e_machine = EM_X86_64,
                                .e_version = 1,
                                .e_shoff = made.n,
                                .e_ehsize = sizeof header,
                                .e_shentsize = sizeof(Elf64_Shdr),
                                .e_shnum = SECTIONS,
                                .e_shstrndx = SECTIONS - 1 };
    memcpy(made.bytes, &header, sizeof header);
    put(made.headers, sizeof made.headers);
}

static void make_file(uint32_t n_sharing, uint32_t n_ranges)
{
    begin_file();
    put_info(n_sharing, 16 * (n_ranges + 1));
    put_abbrevs();
    if (put_ranges(n_ranges) != 16 * (n_ranges + 1))
        abort();
    end_file();
}

/* Its path; `*fd` is the caller's to close. */
static const char *write_file(int *fd)
{
    static char path[64];
    *fd = memfd_create("made", MFD_CLOEXEC);
    if (*fd < 0 || write(*fd, made.bytes, made.n) != (ssize_t)made.n)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    return path;
}

static long most_kb(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_shared_list(void)
{
    int fd;
    const char *names[4];
    bool is_nomem;
    make_file(SHARING, RANGES);
    const long before_kb = most_kb();
    struct weft_inlines *inlines = weft_inlines_open(write_file(&fd), &is_nomem);
    tap_ok(inlines && !is_nomem, "functions that share a list");
    if (inlines)
        tap_ok(weft_inlines_at(inlines, 0x100004, names, 4) == 0 && !weft_inlines_nomem(inlines),
               "have nothing inlined, and memory is enough");
    const long n_kb = most_kb() - before_kb;
    tap_ok(n_kb < MOST_KB, "%d functions of %d ranges: %ld kB, of a file of %zu", SHARING, RANGES,
           n_kb, made.n >> 10);
    weft_inlines_free(inlines);
    (void)close(fd);
}

/* What is read of lists counts like what is read of entries, and ends there. */
static void test_budget(void)
{
    struct weft_dwarf_entry entry;
    int fd;
    bool is_nomem;
    make_file(1, RANGES);
    struct weft_dwarf *dwarf = weft_dwarf_open(write_file(&fd), &is_nomem);
    const bool is_there =
        dwarf && weft_dwarf_unit_entry(dwarf, 0, &entry) && weft_dwarf_follow(&entry);
    tap_ok(is_there, "a function with a list");
    if (is_there) {
        const uint64_t n_before = dwarf->n_read, n_list = UINT64_C(16) * RANGES;
        const uint64_t last = 0x100000 + 16 * (RANGES - 1);
        tap_ok(weft_dwarf_holds(&entry, last), "the last of its ranges is found");
        tap_ok(dwarf->n_read >= n_before + n_list,
               "%" PRIu64 " bytes counted of a list of %" PRIu64, dwarf->n_read - n_before, n_list);
        dwarf->most_read = dwarf->n_read + n_list / 2;
        tap_ok(!weft_dwarf_holds(&entry, last), "not beyond what a file may take to read");
        tap_ok(!weft_dwarf_nomem(dwarf), "which is not the end of memory");
    }
    weft_dwarf_free(dwarf);
    (void)close(fd);
}

/* A section that is said to be longer than the file is none. */
static void test_long_sections(void)
{
    static const uint64_t sizes[] = { ROOM, UINT64_C(1) << 62, UINT64_MAX };
    for (unsigned section = 1; section < SECTIONS - 1; section++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const bool is_needed = section < 3;
            int fd;
            bool is_nomem;
            make_file(1, 1);
            made.headers[section].sh_size = sizes[k];
            memcpy(made.bytes + made.n - sizeof made.headers, made.headers, sizeof made.headers);
            struct weft_dwarf *dwarf = weft_dwarf_open(write_file(&fd), &is_nomem);
            tap_ok(is_needed ? !dwarf : dwarf && dwarf->most_read < UINT64_C(2) << 30,
                   "section %u of %" PRIu64 " bytes: most_read %" PRIu64, section, sizes[k],
                   dwarf ? dwarf->most_read : 0);
            tap_ok(!is_nomem, "which is not the end of memory");
            weft_dwarf_free(dwarf);
            (void)close(fd);
        }
}

/* A function in several parts has no DW_AT_low_pc; the first part has its name. */
static void test_parts(void)
{
    struct weft_elf_file file;
    struct weft_symtab *symtab = NULL;
    int fd;
    make_file(3, 3);
    const bool is_open = weft_elf_file_open(write_file(&fd), &file);
    tap_ok(is_open && weft_symtab_read(&file, &symtab, NULL) == WEFT_OK, "a program");
    if (symtab) {
        const struct weft_str name = weft_symtab_find(symtab, 0x5010);
        tap_ok(weft_str_equal(name, WEFT_STR("split_in_two")), "the first part has the name: %.*s",
               (int)name.n_bytes, name.bytes);
        tap_eq_u64(weft_symtab_count(symtab), 1, "no other function has one");
    }
    weft_symtab_free(symtab);
    if (is_open)
        weft_elf_file_close(&file);
    (void)close(fd);
}

int main(void)
{
    test_shared_list();
    test_budget();
    test_long_sections();
    test_parts();
    return tap_done();
}
