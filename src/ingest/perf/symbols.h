/* SPDX-License-Identifier: MIT
 *
 * Names of functions: of programs from their symbol tables, if the program on this machine is the
 * one that was recorded (by its build id), and of the kernel from a text of kallsyms.
 */
#ifndef WEFT_INGEST_PERF_SYMBOLS_H
#define WEFT_INGEST_PERF_SYMBOLS_H

#include "base/map.h"
#include "base/str.h"
#include "ingest/perf/file.h"
#include "symbols/folded.h"
#include "symbols/kallsyms.h"

struct perf_symbols {
    const struct perf_file *file;
    struct weft_symbols *programs; /* NULL: files of this machine are not read */
    struct weft_strtab *paths;     /* of mappings; an id each */
    struct weft_folded folded;     /* names of frames */
    struct {
        uint32_t *items; /* by path: the module, or WEFT_ID_NONE */
        size_t n, cap;
    } modules;
    struct weft_map *of_place; /* (file, offset) or address of the kernel -> index in `name_of` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } name_of;
    struct weft_kallsyms kernel;
    bool has_tried_kernel;
};

/* `programs`: see weft_symbols_new; not read unless `reads_programs`. False without memory. */
bool perf_symbols_init(struct perf_symbols *symbols, const struct perf_file *file,
                       bool reads_programs, const char *programs);
void perf_symbols_fini(struct perf_symbols *symbols);

/* The module of a path; WEFT_ID_NONE: files are not read. False without memory. */
bool perf_symbols_module(struct perf_symbols *symbols, uint32_t path, uint32_t *module);

/* Name of what stands `back` bytes before `file_off` of a file, or before an address of the kernel
 * (where a call returns to may be another function than where it was made): of several, of which
 * all but the first were inlined, "outer;inner (inlined)". A name that no symbol gives is made of
 * the place ("libc.so.6+0x2724a", "[kernel]+0xffffffff81000130"). Each place is looked up once.
 * False without memory. */
bool perf_symbol_in_file(struct perf_symbols *symbols, uint32_t path, uint64_t file_off,
                         unsigned back, struct weft_str *name);
bool perf_symbol_in_kernel(struct perf_symbols *symbols, uint64_t address, unsigned back,
                           struct weft_str *name);
/* "0x7f0000001000" */
bool perf_symbol_nowhere(struct perf_symbols *symbols, uint64_t address, struct weft_str *name);

#endif
