/* SPDX-License-Identifier: MIT
 *
 * Function maps from the instrumented program.
 *
 *   sled, 32 bytes: u64 address | u64 function | u8 kind | u8 always | u8 version | 13 padding
 *
 * From version 2 on, address and function are relative to the place of their own field, so a
 * position-independent program needs no relocation. Before, they are absolute, and in a
 * position-independent program the value stands in the relocation (R_*_RELATIVE).
 * The runtime numbers functions by runs: 1 for the first sled's function, one more whenever the
 * next sled belongs to another.
 */
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "ingest/xray/map_build.h"
#include "symbols/symtab.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

enum { SLED_BYTES = 32, SLED_FUNCTION_OFF = 8, SLED_VERSION_OFF = 18, RELATIVE_SLED_VERSION = 2 };

struct program {
    Elf *elf;
    GElf_Ehdr header;
    size_t names_section;
    Elf_Scn *sleds;
    GElf_Shdr sleds_header;
    /* Relocations into the sleds: id -> place, and addends by id. */
    struct weft_map *places;
    struct {
        uint64_t *items;
        size_t n, cap;
    } addends;
    struct weft_elf_file file;  /* the same, for names */
    struct weft_symtab *symtab; /* names as in the program, mangled */
};

static enum weft_code fail_elf(struct weft_err *err, const char *place)
{
    const char *text = elf_errmsg(-1);
    return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET, "expected %s, found damage: %s", place,
                     text ? text : "unknown");
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static enum weft_code check_program(struct program *program, struct weft_err *err)
{
    if (elf_kind(program->elf) != ELF_K_ELF || !gelf_getehdr(program->elf, &program->header))
        return fail_elf(err, "an ELF program");
    if (program->header.e_ident[EI_CLASS] != ELFCLASS64 ||
        program->header.e_ident[EI_DATA] != ELFDATA2LSB)
        return weft_fail(err, WEFT_E_UNSUPPORTED, EI_CLASS,
                         "expected a 64-bit little-endian program, found class %d, data %d",
                         program->header.e_ident[EI_CLASS], program->header.e_ident[EI_DATA]);
    if (program->header.e_type != ET_EXEC && program->header.e_type != ET_DYN)
        return weft_fail(err, WEFT_E_MALFORMED, 16, "expected a linked program, found ELF type %d",
                         program->header.e_type);
    if (elf_getshdrstrndx(program->elf, &program->names_section) != 0)
        return fail_elf(err, "section names");
    return WEFT_OK;
}

static enum weft_code find_sleds(struct program *program, struct weft_err *err)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(program->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        const char *name = elf_strptr(program->elf, program->names_section, header.sh_name);
        if (!name || strcmp(name, "xray_instr_map") != 0 || header.sh_type == SHT_NOBITS)
            continue;
        program->sleds = section;
        program->sleds_header = header;
        return WEFT_OK;
    }
    return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                     "expected section xray_instr_map, found none: was the program built with "
                     "-fxray-instrument?");
}

/* ---- relocations ------------------------------------------------------------------------------
 */

static uint32_t relative_type(uint16_t machine)
{
    switch (machine) {
    case EM_X86_64:
        return R_X86_64_RELATIVE;
    case EM_AARCH64:
        return R_AARCH64_RELATIVE;
    case EM_PPC64:
        return R_PPC64_RELATIVE;
    case EM_RISCV:
        return R_RISCV_RELATIVE;
    default:
        return UINT32_MAX;
    }
}

static enum weft_code keep_relocation(struct program *program, const GElf_Rela *relocation,
                                      struct weft_err *err)
{
    uint64_t first = program->sleds_header.sh_addr;
    if (GELF_R_TYPE(relocation->r_info) != relative_type(program->header.e_machine) ||
        relocation->r_offset < first ||
        relocation->r_offset - first >= program->sleds_header.sh_size)
        return WEFT_OK;
    bool is_new;
    if (weft_map_add(program->places, relocation->r_offset, &is_new) == WEFT_MAP_NONE)
        return weft_no_memory(err, "relocations");
    if (!is_new)
        return WEFT_OK;
    uint64_t *addend = WEFT_VEC_PUSH(&program->addends);
    if (!addend)
        return weft_no_memory(err, "relocations");
    *addend = (uint64_t)relocation->r_addend;
    return WEFT_OK;
}

static enum weft_code read_relocations(struct program *program, struct weft_err *err)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(program->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t n_relocations = data ? data->d_size / sizeof(Elf64_Rela) : 0;
        for (size_t k = 0; k < n_relocations && k < INT32_MAX; k++) {
            GElf_Rela relocation;
            if (!gelf_getrela(data, (int)k, &relocation))
                break;
            WEFT_TRY(keep_relocation(program, &relocation, err));
        }
    }
    return WEFT_OK;
}

/* The function address of the sled whose bytes lie at `sled` and address `place`. */
static uint64_t sled_function(const struct program *program, const uint8_t *sled, uint64_t place)
{
    uint64_t function = weft_load_u64(sled + SLED_FUNCTION_OFF);
    if (sled[SLED_VERSION_OFF] >= RELATIVE_SLED_VERSION)
        return function + place + SLED_FUNCTION_OFF;
    if (function == 0) {
        uint32_t id = weft_map_find(program->places, place + SLED_FUNCTION_OFF);
        return id == WEFT_MAP_NONE ? 0 : program->addends.items[id];
    }
    return function;
}

/* ---- the map ----------------------------------------------------------------------------------
 */

static enum weft_code add_function(struct weft_xray_map *map, const struct program *program,
                                   uint32_t key, uint64_t address, struct weft_err *err)
{
    return weft_xray_map_add(map, key, address, weft_symtab_find(program->symtab, address), err);
}

static enum weft_code read_sleds(struct weft_xray_map *map, struct program *program,
                                 struct weft_err *err)
{
    Elf_Data *data = elf_rawdata(program->sleds, NULL);
    uint64_t at_off = program->sleds_header.sh_offset;
    if (!data || !data->d_buf || data->d_size == 0)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected sleds in section xray_instr_map, found it empty");
    if (data->d_size % SLED_BYTES)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected section xray_instr_map to be a multiple of %d bytes, found %zu",
                         SLED_BYTES, data->d_size);
    const uint8_t *sleds = data->d_buf;
    uint64_t last_address = 0;
    uint32_t key = 0;
    for (size_t off = 0; off < data->d_size; off += SLED_BYTES) {
        uint64_t place = program->sleds_header.sh_addr + off;
        uint64_t address = sled_function(program, sleds + off, place);
        if (key && address == last_address)
            continue;
        if (key == WEFT_XRAY_MOST_KEY)
            return weft_fail(err, WEFT_E_LIMIT, at_off + off, "more than 2^28 - 1 functions");
        last_address = address;
        WEFT_TRY(add_function(map, program, ++key, address, err));
    }
    return WEFT_OK;
}

static enum weft_code read_program(struct weft_xray_map *map, struct program *program,
                                   struct weft_err *err)
{
    enum weft_code code = check_program(program, err);
    WEFT_THEN(code, find_sleds(program, err));
    WEFT_THEN(code, read_relocations(program, err));
    WEFT_THEN(code, weft_symtab_read(&program->file, &program->symtab, err));
    WEFT_THEN(code, read_sleds(map, program, err));
    return code;
}

/* libelf wants a pointer to bytes that it may change; when it only reads, it does not. */
static Elf *open_memory(const uint8_t *bytes, size_t n_bytes)
{
    union {
        const uint8_t *in;
        char *out;
    } view = { .in = bytes };
    if (elf_version(EV_CURRENT) == EV_NONE)
        return NULL;
    return elf_memory(view.out, n_bytes);
}

enum weft_code weft_xray_map_read_elf(struct weft_xray_map *map, const uint8_t *bytes,
                                      size_t n_bytes, struct weft_err *err)
{
    struct program program = { .elf = open_memory(bytes, n_bytes) };
    map->is_mangled = true;
    if (!program.elf)
        return fail_elf(err, "an ELF program");
    program.file =
        (struct weft_elf_file){ .elf = program.elf, .fd = -1, .bytes = bytes, .n_bytes = n_bytes };
    program.places = weft_map_new();
    enum weft_code code =
        program.places ? read_program(map, &program, err) : weft_no_memory(err, "program");
    WEFT_VEC_FINI(&program.addends);
    weft_map_free(program.places);
    weft_symtab_free(program.symtab);
    (void)elf_end(program.elf);
    return code;
}
