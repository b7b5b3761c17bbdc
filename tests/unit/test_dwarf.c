/* SPDX-License-Identifier: MIT
 *
 * Debugging information that no compiler writes: entries that share a long list of ranges, and
 * sections longer than their file. It takes no more memory than its size explains, and is damage;
 * and functions in several parts, which compilers do write.
 */
#include "dwarf_builder.h"
#include "symbols/dwarf.h"
#include "symbols/inlines.h"
#include "symbols/symtab.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SECTIONS = 5, SHARING = 8000, RANGES = 8000, MOST_KB = 64 << 10 };

static struct db_file made;

/* A unit, functions without names that share the list at 0, and "split_in_two", in the list at
 * `list_at`. */
static void put_info(uint32_t n_sharing, uint32_t list_at)
{
    db_begin_section(&made, ".debug_info");
    const size_t at = db_begin_unit(&made);
    db_put_number(&made, 1, 1);
    db_put_number(&made, 0, 8);
    db_put_number(&made, UINT64_C(1) << 40, 8);
    for (uint32_t k = 0; k < n_sharing; k++) {
        db_put_number(&made, 2, 1);
        db_put_number(&made, 0, 4);
    }
    db_put_number(&made, 3, 1);
    db_put(&made, "split_in_two", sizeof "split_in_two");
    db_put_number(&made, list_at, 4);
    db_put_number(&made, 0, 1);
    db_end_unit(&made, at);
    db_end_section(&made);
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
    db_begin_section(&made, ".debug_abbrev");
    db_put(&made, abbrevs, sizeof abbrevs);
    db_end_section(&made);
}

static void put_range(uint64_t begin, uint64_t end)
{
    db_put_number(&made, begin, 8);
    db_put_number(&made, end, 8);
}

/* The list at 0; where the one behind it is. */
static uint32_t put_ranges(uint32_t n_ranges)
{
    db_begin_section(&made, ".debug_ranges");
    for (uint64_t k = 0; k < n_ranges; k++)
        put_range(0x100000 + 16 * k, 0x100008 + 16 * k);
    put_range(0, 0);
    const uint32_t at = db_offset(&made);
    put_range(0x5000, 0x5040);
    put_range(0x9000, 0x9010);
    put_range(0, 0);
    db_end_section(&made);
    return at;
}

static void make_file(uint32_t n_sharing, uint32_t n_ranges)
{
    db_begin_file(&made);
    put_info(n_sharing, 16 * (n_ranges + 1));
    put_abbrevs();
    if (put_ranges(n_ranges) != 16 * (n_ranges + 1))
        abort();
    db_end_file(&made);
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
    struct weft_inlines *inlines = weft_inlines_open(db_write(&made, &fd), &is_nomem);
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
    struct weft_dwarf *dwarf = weft_dwarf_open(db_write(&made, &fd), &is_nomem);
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
    static const uint64_t sizes[] = { DB_ROOM, UINT64_C(1) << 62, UINT64_MAX };
    for (unsigned section = 1; section < SECTIONS - 1; section++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const bool is_needed = section < 3;
            int fd;
            bool is_nomem;
            make_file(1, 1);
            made.headers[section].sh_size = sizes[k];
            memcpy(made.bytes + made.n - SECTIONS * sizeof *made.headers, made.headers,
                   SECTIONS * sizeof *made.headers);
            struct weft_dwarf *dwarf = weft_dwarf_open(db_write(&made, &fd), &is_nomem);
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
    const bool is_open = weft_elf_file_open(db_write(&made, &fd), &file);
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
