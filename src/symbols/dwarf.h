/* SPDX-License-Identifier: MIT
 *
 * Debugging information (DWARF 2 to 5), as far as names of functions need it: units, entries, where
 * their instructions lie, and names. It is read by cursor, a window of the file at a time; memory
 * grows with the units and the abbreviations of those that are read, not with the file.
 *
 *     unit: header | entry | entry ...     an entry: code of an abbreviation, values
 *                     \- its abbreviation says tag, attributes, and whether entries are within it
 *
 * All bytes are hostile: damage ends what is read, and gives no names.
 */
#ifndef WEFT_SYMBOLS_DWARF_H
#define WEFT_SYMBOLS_DWARF_H

#include "base/str.h"
#include "symbols/section.h"

struct weft_dwarf;

/* NULL: the file has no debugging information, or there is no memory, which `*is_nomem` says. The
 * caller frees. */
struct weft_dwarf *weft_dwarf_open(const char *path, bool *is_nomem);
/* The same of a file that is open, and stays so as long. */
struct weft_dwarf *weft_dwarf_of(const struct weft_elf_file *file, bool *is_nomem);
/* NULL is allowed. */
void weft_dwarf_free(struct weft_dwarf *dwarf);

size_t weft_dwarf_n_units(const struct weft_dwarf *dwarf);

/* Was there no memory for an answer? Then what was found is not all. */
bool weft_dwarf_nomem(const struct weft_dwarf *dwarf);

/* What a value of an attribute is. */
enum weft_dwarf_kind {
    WEFT_DWARF_NONE, /* the attribute is missing, or of no use here */
    WEFT_DWARF_NUMBER,
    WEFT_DWARF_ADDRESS,
    WEFT_DWARF_ADDRESS_INDEX, /* in .debug_addr */
    WEFT_DWARF_LIST_INDEX,    /* in .debug_rnglists */
    WEFT_DWARF_TEXT,          /* in .debug_info */
    WEFT_DWARF_STR,           /* in .debug_str */
    WEFT_DWARF_LINE_STR,      /* in .debug_line_str */
    WEFT_DWARF_STR_INDEX,     /* in .debug_str_offsets */
    WEFT_DWARF_ALT_STR,       /* in .debug_str of the file that several share */
    WEFT_DWARF_REF,           /* an entry */
    WEFT_DWARF_ALT_REF,       /* an entry of the file that several share */
};

struct weft_dwarf_value {
    enum weft_dwarf_kind kind;
    uint64_t value;
};

struct weft_dwarf_unit;

struct weft_dwarf_entry {
    struct weft_dwarf *dwarf; /* that it is of: another file may be shared */
    const struct weft_dwarf_unit *unit;
    uint64_t off, next; /* in .debug_info; of what follows its values */
    unsigned tag;       /* DW_TAG_*; 0: the end of those within another one */
    bool has_inner;
    struct weft_dwarf_value name, linkage_name, origin, specification, low, high, ranges, sibling,
        str_base, addr_base, list_base;
    /* Of variables and types: a location is that of a variable with an address. */
    struct weft_dwarf_value location, type, n_bytes, member_off, upper_bound, count;
    struct weft_dwarf_value language; /* of a unit */
};

/* The first entry of unit `index`. False: damage. */
bool weft_dwarf_unit_entry(struct weft_dwarf *dwarf, size_t index, struct weft_dwarf_entry *entry);
/* The entry at an offset of the same file. */
bool weft_dwarf_entry_at(struct weft_dwarf *dwarf, uint64_t off, struct weft_dwarf_entry *entry);
/* What follows the values of an entry, in the same unit; false: nothing. */
bool weft_dwarf_follow(struct weft_dwarf_entry *entry);
/* The first within an entry; the next beside it. False: there are no more. */
bool weft_dwarf_inner(const struct weft_dwarf_entry *entry, struct weft_dwarf_entry *inner);
bool weft_dwarf_beside(struct weft_dwarf_entry *entry);

/* Calls `see` for each range of instructions of an entry; until it returns false, which this
 * returns. */
bool weft_dwarf_ranges(const struct weft_dwarf_entry *entry,
                       bool (*see)(void *context, uint64_t begin, uint64_t end), void *context);
/* Does one of them hold the address? */
bool weft_dwarf_holds(const struct weft_dwarf_entry *entry, uint64_t address);

/* The name for linkers, else the plain one, of an entry or what it is made of; empty: none. Valid
 * until the next call. */
struct weft_str weft_dwarf_name(const struct weft_dwarf_entry *entry);

/* ---- within dwarf*.c ------------------------------------------------------------------------- */

enum weft_dwarf_section {
    WEFT_DWARF_INFO,
    WEFT_DWARF_ABBREV,
    WEFT_DWARF_STRINGS,
    WEFT_DWARF_LINE_STRINGS,
    WEFT_DWARF_STR_OFFSETS,
    WEFT_DWARF_ADDRESSES,
    WEFT_DWARF_OLD_RANGES,
    WEFT_DWARF_RANGE_LISTS,
    WEFT_DWARF_SECTIONS,
};

struct weft_dwarf_unit {
    uint64_t off, first, end; /* of the header; of the first entry */
    uint64_t abbrev_off;
    uint8_t version, n_offset, n_address; /* bytes of offsets, of addresses */
    bool has_bases;
    uint64_t low, str_base, addr_base, list_base, language; /* once they were needed */
};

struct weft_dwarf_abbrev {
    uint64_t code;
    uint32_t specs_at, n_specs;
    uint16_t tag;
    bool has_inner;
};

struct weft_dwarf_spec {
    uint16_t name, form;
    int64_t number; /* of DW_FORM_implicit_const */
};

struct weft_dwarf_abbrevs {
    uint64_t off, last_used;
    bool is_used;
    struct {
        struct weft_dwarf_abbrev *items; /* by code */
        size_t n, cap;
    } codes;
    struct {
        struct weft_dwarf_spec *items;
        size_t n, cap;
    } specs;
};

/* Bytes of entries that take as long to read as going elsewhere in the file. */
enum { WEFT_DWARF_HELD_ABBREVS = 16, WEFT_DWARF_JUMP_COST = 256 };

struct weft_dwarf {
    struct weft_elf_file file;
    struct weft_section sections[WEFT_DWARF_SECTIONS];
    struct {
        struct weft_dwarf_unit *items; /* by offset */
        size_t n, cap;
    } units;
    struct weft_dwarf_abbrevs abbrevs[WEFT_DWARF_HELD_ABBREVS];
    uint64_t n_used;
    /* Bytes of entries, abbreviations, names and lists of ranges, and ranges that an index may
     * have: beyond that it is damage. */
    uint64_t n_read, most_read, most_ranges;
    uint64_t last_off; /* of the entry that was read last */
    bool owns_file, is_nomem;
    struct weft_dwarf *alt; /* what several files share; NULL: nothing */
    struct {
        char *items;
        size_t n, cap;
    } text; /* the last name */
};

/* NULL: damage, or no memory. */
const struct weft_dwarf_abbrev *weft_dwarf_abbrev(struct weft_dwarf *dwarf,
                                                  const struct weft_dwarf_unit *unit, uint64_t code,
                                                  const struct weft_dwarf_spec **specs);
/* Reads the bases of a unit, if that was not done yet. */
void weft_dwarf_bases(struct weft_dwarf *dwarf, const struct weft_dwarf_unit *unit);
/* The address that a value is. */
bool weft_dwarf_address(const struct weft_dwarf_entry *entry, struct weft_dwarf_value value,
                        uint64_t *address);
/* `n_bytes` (1 to 8) of a section as a number. */
bool weft_dwarf_number(const struct weft_section *section, uint64_t at, unsigned n_bytes,
                       uint64_t *value);

#endif
