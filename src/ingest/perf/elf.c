/* SPDX-License-Identifier: MIT
 *
 * Symbol tables of programs, through libelf.
 */
#include "base/vec.h"
#include "ingest/perf/symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SYMBOLS = 1 << 24 };

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

/* ---- build ids --------------------------------------------------------------------------------
 */

/* True if a note of the section is the build id. */
static bool notes_hold(Elf_Scn *section, const struct perf_build_id *build_id)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t name_off;
    size_t id_off;
    GElf_Nhdr note;
    for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name_off, &id_off)) > 0;) {
        const char *bytes = data->d_buf;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(bytes + name_off, "GNU", 4) == 0)
            return note.n_descsz == build_id->n_bytes &&
                   memcmp(bytes + id_off, build_id->bytes, build_id->n_bytes) == 0;
    }
    return false;
}

static bool is_recorded_one(Elf *elf, const struct perf_build_id *build_id)
{
    if (!build_id || build_id->n_bytes == 0)
        return true;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
            notes_hold(section, build_id))
            return true;
    }
    return false;
}

/* ---- symbols ----------------------------------------------------------------------------------
 */

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

static bool read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                       struct perf_program *program)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t n_symbols = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t k = 0; k < n_symbols && k < MOST_SYMBOLS; k++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)k, &symbol) || symbol.st_value == 0 ||
            symbol.st_shndx == SHN_UNDEF ||
            (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
             GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC))
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name || !*name)
            continue;
        const uint64_t end = symbol.st_size ? symbol.st_value + symbol.st_size : 0;
        if (!perf_symbol_add(program, symbol.st_value, end, weft_str_of(name)))
            return false;
    }
    return true;
}

/* The whole symbol table, or else the one for dynamic linking. */
static bool read_symbols(Elf *elf, struct perf_program *program)
{
    const GElf_Word types[] = { SHT_SYMTAB, SHT_DYNSYM };
    bool is_good = true;
    for (size_t k = 0; is_good && k < 2 && program->symbols.n == 0; k++)
        for (Elf_Scn *section = NULL; is_good && (section = elf_nextscn(elf, section));) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) && header.sh_type == types[k])
                is_good = read_table(elf, section, &header, program);
        }
    return is_good;
}

bool perf_program_read(const char *path, const struct perf_build_id *build_id,
                       struct perf_program *program)
{
    struct stat status;
    bool is_good = true;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return true;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && elf_version(EV_CURRENT) != EV_NONE) {
        Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
        if (elf && elf_kind(elf) == ELF_K_ELF && is_recorded_one(elf, build_id))
            is_good = (program->segments.n > 0 || read_segments(elf, program)) &&
                      (program->symbols.n > 0 || read_symbols(elf, program));
        (void)elf_end(elf);
    }
    (void)close(fd);
    return is_good;
}
