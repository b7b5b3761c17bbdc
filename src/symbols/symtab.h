/* SPDX-License-Identifier: MIT
 *
 * The functions of a program or library by address: from its symbol table, else from its debugging
 * information and its dynamic symbols. Likewise its variables, from the symbols alone.
 */
#ifndef WEFT_SYMBOLS_SYMTAB_H
#define WEFT_SYMBOLS_SYMTAB_H

#include "base/error.h"
#include "base/str.h"
#include "symbols/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_symtab;

/* Reads the functions of `file`, which the caller keeps open meanwhile only. Damage ends a table
 * early. O(n) of its symbols; the caller frees. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_symtab_read(const struct weft_elf_file *file,
                                             struct weft_symtab **symtab, struct weft_err *err);
/* The same of its variables that have a size; those of threads, which have no address, are none. */
WEFT_CHECKED enum weft_code weft_symtab_read_data(const struct weft_elf_file *file,
                                                  struct weft_symtab **symtab,
                                                  struct weft_err *err);
/* NULL is allowed. */
void weft_symtab_free(struct weft_symtab *symtab);

size_t weft_symtab_count(const struct weft_symtab *symtab);

/* The functions by address; those of several names are there several times. `place` < count; the
 * name is as in the file, and followed by a NUL. */
struct weft_symtab_function {
    uint64_t address, n_bytes;
    struct weft_str name;
};
struct weft_symtab_function weft_symtab_at(const struct weft_symtab *symtab, size_t place);

/* The name, as in the file (mangled), of the function that begins at `address`, else of one that
 * covers it; of several names the global one, then the weak one, then the one met first. Empty:
 * none. Valid until the table is freed, and followed by a NUL. O(log n). */
struct weft_str weft_symtab_find(const struct weft_symtab *symtab, uint64_t address);
/* The same, and how far behind its begin the address lies. */
struct weft_str weft_symtab_find_around(const struct weft_symtab *symtab, uint64_t address,
                                        uint64_t *offset_bytes);

#endif
