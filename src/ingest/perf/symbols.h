/* SPDX-License-Identifier: MIT
 *
 * Names of functions: of programs from their symbol tables, if the program on this machine is the
 * one that was recorded (by its build id), and of the kernel from a text of kallsyms.
 */
#ifndef WEFT_INGEST_PERF_SYMBOLS_H
#define WEFT_INGEST_PERF_SYMBOLS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "ingest/perf/file.h"
#include "symbols/symtab.h"

/* A function of the kernel; it ends where the next one begins. */
struct perf_symbol {
    uint64_t address;
    const char *bytes; /* of the name, as it stands in the text */
    uint32_t n_bytes;
    uint32_t name; /* in `names`; WEFT_ID_NONE until it is asked for */
};

/* Symbols of one program, and where its parts lie in its file. */
struct perf_program {
    struct weft_symtab *symtab; /* NULL: none */
    struct {
        struct perf_segment {
            uint64_t file_off, n_bytes, address;
        } * items;
        size_t n, cap;
    } segments;
    bool is_tried;
};

/* Symbols of the kernel by address. */
struct perf_kernel {
    struct {
        struct perf_symbol *items;
        size_t n, cap;
    };
    struct weft_arena *arena; /* of names; NULL: there are none */
    bool is_tried;
};

struct perf_symbols {
    const struct perf_file *file;
    const char *program_dir;
    bool reads_programs;
    struct weft_strtab *paths; /* of mappings; an id each */
    struct weft_strtab *names; /* of functions, fit for a folded stack */
    struct {
        struct perf_program *items; /* by path */
        size_t n, cap;
    } programs;
    struct perf_kernel kernel;
};

bool perf_symbols_init(struct perf_symbols *symbols, const struct perf_file *file,
                       bool reads_programs, const char *program_dir);
void perf_symbols_fini(struct perf_symbols *symbols);

/* Name of what stands `back` bytes before `file_off` of a file, or before an address of the kernel
 * (where a call returns to may be another function than where it was made); a name that no
 * symbol gives is made of the place ("libc.so.6+0x2724a", "[kernel]+0xffffffff81000130"). False
 * without memory. */
bool perf_symbol_in_file(struct perf_symbols *symbols, uint32_t path, uint64_t file_off,
                         unsigned back, struct weft_str *name);
bool perf_symbol_in_kernel(struct perf_symbols *symbols, uint64_t address, unsigned back,
                           struct weft_str *name);
/* "0x7f0000001000" */
bool perf_symbol_nowhere(struct perf_symbols *symbols, uint64_t address, struct weft_str *name);

/* Segments and symbols of a program (elf.c), those that it has none of yet: none if the file cannot
 * be opened, or is another one than was recorded. `build_id` may be NULL: then `is_trusted`
 * decides. False without memory. */
bool perf_program_read(const char *path, const struct perf_build_id *build_id, bool is_trusted,
                       struct perf_program *program);

/* The name as it may stand in a folded stack, demangled. False without memory. */
bool perf_name_intern(struct weft_strtab *names, struct weft_str name, uint32_t *id);

#endif
