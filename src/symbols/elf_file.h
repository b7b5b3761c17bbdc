/* SPDX-License-Identifier: MIT
 *
 * An ELF file that is open to be looked at.
 */
#ifndef WEFT_SYMBOLS_ELF_FILE_H
#define WEFT_SYMBOLS_ELF_FILE_H

#include "base/str.h"

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct weft_elf_file {
    Elf *elf;
    int fd;               /* -1: it is in memory */
    const uint8_t *bytes; /* there, not owned */
    uint64_t n_bytes;     /* of the file */
};

/* False if there is no such file, it is no regular one, or no linked program or library. */
bool weft_elf_file_open(const char *path, struct weft_elf_file *file);
void weft_elf_file_close(struct weft_elf_file *file);

/* Its GNU build id; empty: none. Valid until it is closed. */
struct weft_str weft_elf_file_build_id(const struct weft_elf_file *file);

/* Name of the file with its debugging information; NULL: none. Valid until it is closed. */
const char *weft_elf_file_debug_link(const struct weft_elf_file *file);

/* Its byte order. */
bool weft_elf_file_is_big(const struct weft_elf_file *file);

/* True if it has a symbol table; programs are often installed without. */
bool weft_elf_file_has_symbols(const struct weft_elf_file *file);

/* Headers of parts that a program may have: Linux loads none with more than 64 KiB of them. */
enum { WEFT_ELF_MOST_PARTS = 65536 / sizeof(Elf64_Phdr) };

/* True if it has more. No such file ran, and to read even its build id may take long. */
bool weft_elf_file_is_scattered(const struct weft_elf_file *file);

/* A part of the file that is loaded. */
struct weft_elf_segment {
    uint64_t file_off, n_bytes; /* in the file */
    uint64_t address;           /* as in the symbol table */
    uint64_t n_memory_bytes;    /* behind those of the file are zeros: .bss */
    bool is_writable, is_executable;
};

/* The next part that is loaded from the `*at`-th header on, which moves behind it; false: none. */
bool weft_elf_file_segment(const struct weft_elf_file *file, size_t *at,
                           struct weft_elf_segment *segment);

/* What is added to an address that counts from the lowest one of the module, to have one as in the
 * symbol table. */
uint64_t weft_elf_file_bias(const struct weft_elf_file *file);

#endif
