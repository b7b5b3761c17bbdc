/* SPDX-License-Identifier: MIT
 *
 * Bytes of a section of a program, a window at a time: nothing is mapped, so that a file that is
 * cut meanwhile gives damage, and no crash, and memory does not depend on the section's size. A
 * packed section is unpacked into a file without a name.
 */
#ifndef WEFT_SYMBOLS_SECTION_H
#define WEFT_SYMBOLS_SECTION_H

#include "base/cursor.h"
#include "symbols/elf_file.h"

struct weft_section {
    int fd;
    bool owns_fd; /* it was unpacked */
    uint64_t file_off, n_bytes;
    uint64_t address;      /* where it is loaded */
    const uint8_t *memory; /* all of it; NULL: in the file */
    bool owns_memory;
    uint8_t *window; /* what was read last */
    uint64_t window_at;
    size_t window_n, window_cap;
    bool is_nomem; /* there was no memory for the window */
};

/* The section of this name of a file, which stays open as long as the section. ".debug_" may be
 * packed, or ".zdebug_" in the file. False: there is none, it has no bytes, or cannot be unpacked.
 */
bool weft_section_open(struct weft_section *section, const struct weft_elf_file *file,
                       const char *name);
/* The same of a section of libelf, which is not unpacked. */
bool weft_section_of(struct weft_section *section, const struct weft_elf_file *file, Elf_Scn *from);
/* One that is all zeros is allowed. */
void weft_section_fini(struct weft_section *section);

/* `n_bytes` from `at` on, as far as there are so many; more may be read ahead. Valid until the next
 * call. Offsets of the cursor are those in the section. False: it begins beyond the end, cannot be
 * read, or there is no memory. */
bool weft_section_view(struct weft_section *section, uint64_t at, size_t n_bytes, size_t n_ahead,
                       struct weft_cursor *cur);

/* Copies bytes; the window stays. False: there are not so many, or they cannot be read. */
bool weft_section_copy(const struct weft_section *section, uint64_t at, void *to, size_t n_bytes);

/* Bytes of memory that it holds. */
size_t weft_section_held(const struct weft_section *section);

#endif
