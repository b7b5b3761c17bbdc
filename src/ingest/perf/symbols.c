/* SPDX-License-Identifier: MIT
 *
 * Resolves addresses to names for stacks.c, with a cache by place in the file. Kernel names come
 * from the kallsyms stored in perf.data, else from the running kernel if its build id is the
 * recorded one. Programs are opened only if the caller allows it (reads_programs).
 */
#include "ingest/perf/symbols.h"

#include "base/search.h"
#include "base/vec.h"
#include "schema/event.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NOTES_BYTES = 4096 };

bool perf_symbols_init(struct perf_symbols *symbols, const struct perf_file *file,
                       bool reads_programs, const char *programs)
{
    *symbols =
        (struct perf_symbols){ .file = file,
                               .programs = reads_programs ? weft_symbols_new(programs) : NULL,
                               .paths = weft_strtab_new(),
                               .of_place = weft_map_new() };
    return weft_folded_init(&symbols->folded, symbols->programs) && symbols->paths &&
           symbols->of_place && (symbols->programs || !reads_programs);
}

void perf_symbols_fini(struct perf_symbols *symbols)
{
    weft_symbols_free(symbols->programs);
    WEFT_VEC_FINI(&symbols->modules);
    WEFT_VEC_FINI(&symbols->name_of);
    weft_kallsyms_fini(&symbols->kernel);
    weft_strtab_free(symbols->paths);
    weft_map_free(symbols->of_place);
    weft_folded_fini(&symbols->folded);
}

bool perf_symbol_nowhere(struct perf_symbols *symbols, uint64_t address, struct weft_str *name)
{
    uint32_t id;
    if (!weft_folded_place(&symbols->folded, (struct weft_str){ 0 }, address, &id))
        return false;
    *name = weft_folded_get(&symbols->folded, id);
    return true;
}

/* ---- places -----------------------------------------------------------------------------------
 */

/* What names a place; false: its numbers are too large for a key, and it is looked up each time. */
static bool file_key(uint32_t path, uint64_t file_off, unsigned back, uint64_t *key)
{
    *key = (uint64_t)path << 41 | file_off << 1 | back;
    return path < 1 << 22 && file_off < UINT64_C(1) << 40;
}

static bool kernel_key(uint64_t address, unsigned back, uint64_t *key)
{
    *key = address << 1 | back;
    return address >> 62 == 3;
}

/* The number of a place's name, to be set if it is new. NULL without memory. */
static uint32_t *name_of_place(struct perf_symbols *symbols, uint64_t key, bool *is_new)
{
    const uint32_t index = weft_map_add(symbols->of_place, key, is_new);
    if (index == WEFT_MAP_NONE || (*is_new && !WEFT_VEC_PUSH(&symbols->name_of)))
        return NULL;
    return &symbols->name_of.items[index];
}

/* ---- programs ---------------------------------------------------------------------------------
 */

static struct weft_str build_id_of(const struct perf_symbols *symbols, struct weft_str path)
{
    for (size_t k = 0; k < symbols->file->build_ids.n; k++) {
        const struct perf_build_id *build_id = &symbols->file->build_ids.items[k];
        if (weft_str_equal(build_id->path, path))
            return (struct weft_str){ (const char *)build_id->bytes, build_id->n_bytes };
    }
    return WEFT_STR("");
}

bool perf_symbols_module(struct perf_symbols *symbols, uint32_t path, uint32_t *module)
{
    while (symbols->modules.n <= path) {
        uint32_t *place = WEFT_VEC_PUSH(&symbols->modules);
        if (!place)
            return false;
        *place = WEFT_ID_NONE;
    }
    *module = symbols->modules.items[path];
    if (!symbols->programs || *module != WEFT_ID_NONE)
        return true;
    const struct weft_str text = weft_strtab_get(symbols->paths, path);
    if (weft_symbols_module(symbols->programs, text, build_id_of(symbols, text), module, NULL) !=
        WEFT_OK)
        return false;
    symbols->modules.items[path] = *module;
    return true;
}

static bool name_in_file(struct perf_symbols *symbols, uint32_t path, uint64_t file_off,
                         unsigned back, uint32_t *id)
{
    uint32_t module;
    return perf_symbols_module(symbols, path, &module) &&
           weft_folded_in_module(&symbols->folded, module, weft_strtab_get(symbols->paths, path),
                                 file_off, back, id);
}

bool perf_symbol_in_file(struct perf_symbols *symbols, uint32_t path, uint64_t file_off,
                         unsigned back, struct weft_str *name)
{
    uint64_t key;
    bool is_new = true;
    uint32_t loose;
    uint32_t *id = &loose;
    if (file_key(path, file_off, back, &key))
        id = name_of_place(symbols, key, &is_new);
    if (!id || (is_new && !name_in_file(symbols, path, file_off, back, id)))
        return false;
    *name = weft_folded_get(&symbols->folded, *id);
    return true;
}

/* ---- the kernel -------------------------------------------------------------------------------
 */

/* Was it recorded on the kernel that runs now? Its build id stands among its notes. */
static bool is_running_kernel(const struct perf_symbols *symbols, bool *is_nomem)
{
    const struct weft_str build_id = build_id_of(symbols, WEFT_STR("[kernel.kallsyms]"));
    size_t n_bytes = 0;
    *is_nomem = false;
    if (build_id.n_bytes == 0)
        return false;
    char *notes = weft_kernel_text("/sys/kernel/notes", NOTES_BYTES, &n_bytes, is_nomem);
    const bool is_same = notes && memmem(notes, n_bytes, build_id.bytes, build_id.n_bytes);
    free(notes);
    return is_same;
}

static bool read_kernel(struct perf_symbols *symbols)
{
    bool is_nomem;
    symbols->has_tried_kernel = true;
    if (symbols->file->tracing.kallsyms.n_bytes > 0)
        return weft_kallsyms_parse(symbols->file->tracing.kallsyms, &symbols->kernel);
    if (!symbols->programs)
        return true;
    return is_running_kernel(symbols, &is_nomem) ? weft_kallsyms_of_machine(&symbols->kernel)
                                                 : !is_nomem;
}

static bool name_in_kernel(struct perf_symbols *symbols, uint64_t address, unsigned back,
                           uint32_t *id)
{
    if (!symbols->has_tried_kernel && !read_kernel(symbols))
        return false;
    const struct weft_str name = weft_kallsyms_find(&symbols->kernel, address - back);
    return name.n_bytes ? weft_folded_name(&symbols->folded, name, id)
                        : weft_folded_place(&symbols->folded, WEFT_STR("[kernel]"), address, id);
}

bool perf_symbol_in_kernel(struct perf_symbols *symbols, uint64_t address, unsigned back,
                           struct weft_str *name)
{
    uint64_t key;
    bool is_new = true;
    uint32_t loose;
    uint32_t *id = &loose;
    if (kernel_key(address, back, &key))
        id = name_of_place(symbols, key, &is_new);
    if (!id || (is_new && !name_in_kernel(symbols, address, back, id)))
        return false;
    *name = weft_folded_get(&symbols->folded, *id);
    return true;
}
