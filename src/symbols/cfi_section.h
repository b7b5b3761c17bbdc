/* SPDX-License-Identifier: MIT
 *
 * A section with call frame information: its entries are read from the file when they are asked
 * for, and found by the table that linkers write (.eh_frame_hdr), else by an index made here. A
 * file that is cut meanwhile gives damage, and no crash: nothing is mapped.
 */
#ifndef WEFT_SYMBOLS_CFI_SECTION_H
#define WEFT_SYMBOLS_CFI_SECTION_H

#include "symbols/cfi.h"
#include "symbols/section.h"

/* Blocks of a table that are held; the longest CIE that is read. */
enum { WEFT_CFI_BLOCKS = 8, WEFT_CFI_MOST_CIE = 4096 };

/* The table of .eh_frame_hdr: (function, entry) as 32-bit distances from `base`, by function. */
struct weft_cfi_search {
    int fd; /* not owned */
    uint64_t file_off, n_bytes;
    uint64_t base, n_entries; /* 0: there is no such table */
    int32_t *firsts;          /* of each block */
    uint8_t *blocks[WEFT_CFI_BLOCKS];
    uint64_t block_of[WEFT_CFI_BLOCKS];
    bool is_nomem;
};

struct weft_cfi_place {
    uint64_t begin, offset; /* of the function; of its entry */
};

struct weft_cfi_section {
    struct weft_cfi_source source;
    struct weft_section bytes;
    struct weft_cfi_search search;
    struct {
        struct weft_cfi_place *items; /* by begin: in place of a table */
        size_t n, cap;
    } index;
    bool is_indexed;
    bool is_nomem;       /* since it was last asked */
    uint64_t cie_offset; /* the CIE that was read last */
    bool has_cie;
    struct weft_cfi_cie cie;
    uint8_t cie_bytes[WEFT_CFI_MOST_CIE];
};

/* Finds .eh_frame, or .debug_frame, of a file that stays open as long as the section. False: there
 * is none, or it is damaged. */
bool weft_cfi_section_open(struct weft_cfi_section *section, const struct weft_elf_file *file,
                           bool is_debug_frame);
void weft_cfi_section_fini(struct weft_cfi_section *section);

/* Calls `see` for each entry of a function, in order of the file, until it returns false. False:
 * damage ended it. */
bool weft_cfi_section_walk(struct weft_cfi_section *section,
                           bool (*see)(void *context, uint64_t begin, uint64_t end,
                                       uint64_t offset),
                           void *context);

/* The offset of the entry that holds `address`, if any does. An index takes at most `most_bytes`.
 * False: there is none, or no memory, which weft_cfi_section_nomem says. */
bool weft_cfi_section_seek(struct weft_cfi_section *section, uint64_t address, size_t most_bytes,
                           uint64_t *offset);

/* The rows of the function of the entry at `offset`; the caller frees. NULL: damage, or no memory.
 */
struct weft_cfi_function *weft_cfi_section_compile(struct weft_cfi_section *section,
                                                   uint64_t offset);

/* Was there no memory for an answer since this was last asked? */
bool weft_cfi_section_nomem(struct weft_cfi_section *section);

/* Bytes that the section holds. */
size_t weft_cfi_section_bytes(const struct weft_cfi_section *section);

#endif
