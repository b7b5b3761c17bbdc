/* SPDX-License-Identifier: MIT
 *
 * Programs that were recorded: where their parts lie in their files, and their symbols.
 */
#include "base/vec.h"
#include "ingest/perf/symbols.h"
#include "symbols/elf_file.h"

#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdlib.h>

bool perf_name_intern(struct weft_strtab *names, struct weft_str name, uint32_t *id)
{
    const bool is_mangled =
        name.n_bytes > 2 && name.bytes[0] == '_' && (name.bytes[1] == 'Z' || name.bytes[1] == 'R');
    char *plain = NULL;
    char *kept = is_mangled ? strndup(name.bytes, name.n_bytes) : NULL;
    if (kept)
        plain = cplus_demangle(kept, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
    free(kept);
    if (!plain)
        plain = strndup(name.bytes, name.n_bytes);
    if (!plain)
        return false;
    for (char *at = plain; *at; at++)
        *at = *at == ';' ? ':' : *at;
    const bool is_good = weft_strtab_intern(names, weft_str_of(plain), id, NULL) == WEFT_OK;
    free(plain);
    return is_good;
}

static bool read_segments(Elf *elf, struct perf_program *program)
{
    size_t n_headers = 0;
    if (elf_getphdrnum(elf, &n_headers) != 0)
        return true;
    for (size_t k = 0; k < n_headers && k < UINT16_MAX; k++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)k, &header) || header.p_type != PT_LOAD)
            continue;
        struct perf_segment *segment = WEFT_VEC_PUSH(&program->segments);
        if (!segment)
            return false;
        *segment = (struct perf_segment){ .file_off = header.p_offset,
                                          .n_bytes = header.p_filesz,
                                          .address = header.p_vaddr };
    }
    return true;
}

/* Without a recorded build id a file is believed only where the user says so. */
static bool is_recorded_one(const struct weft_elf_file *file, const struct perf_build_id *build_id,
                            bool is_trusted)
{
    if (!build_id || build_id->n_bytes == 0)
        return is_trusted;
    return weft_str_equal(weft_elf_file_build_id(file),
                          (struct weft_str){ (const char *)build_id->bytes, build_id->n_bytes });
}

bool perf_program_read(const char *path, const struct perf_build_id *build_id, bool is_trusted,
                       struct perf_program *program)
{
    struct weft_elf_file file;
    bool is_good = true;
    if (!weft_elf_file_open(path, &file))
        return true;
    if (is_recorded_one(&file, build_id, is_trusted)) {
        is_good = program->segments.n > 0 || read_segments(file.elf, program);
        if (is_good && !program->symtab)
            is_good = weft_symtab_read(file.elf, &program->symtab, NULL) == WEFT_OK;
    }
    weft_elf_file_close(&file);
    return is_good;
}
