/* SPDX-License-Identifier: MIT
 *
 * Builds the little of an ELF program that a function map is read from: sleds, symbols,
 * relocations.
 *
 *   ELF header | sleds | symbols | strings | relocations | section names | section headers
 */
#ifndef WEFT_TESTS_ELF_BUILDER_H
#define WEFT_TESTS_ELF_BUILDER_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EB_SLEDS_ADDRESS = 0x40000, EB_MOST = 16 };

/* Two sleds, entry and exit, are written for each function. */
struct eb_function {
    uint64_t address;
    const char *name; /* NULL: no symbol */
};

struct eb_opts {
    const struct eb_function *functions;
    size_t n_functions;
    uint8_t sled_version;   /* 0, 1: absolute; 2: relative to the field */
    bool is_relocated;      /* absolute sleds hold 0, the value is in R_X86_64_RELATIVE */
    bool is_stripped;       /* symbols in .dynsym only */
    bool has_no_sleds;      /* no such section */
    uint8_t elf_class;      /* 0: ELFCLASS64 */
    uint8_t elf_data;       /* 0: little-endian */
    uint16_t elf_type;      /* 0: ET_DYN */
    size_t n_extra_bytes;   /* behind the last sled */
    const char *build_id;   /* 8 bytes; NULL: none */
    const char *debug_link; /* NULL: none */
};

struct eb_out {
    uint8_t bytes[16384];
    size_t n_bytes;
};

__attribute__((unused)) static size_t eb_put(struct eb_out *out, const void *bytes, size_t n_bytes)
{
    size_t at = out->n_bytes;
    if (n_bytes > sizeof out->bytes - at)
        abort();
    memcpy(out->bytes + at, bytes, n_bytes);
    out->n_bytes += n_bytes;
    return at;
}

__attribute__((unused)) static void eb_put_sled(struct eb_out *out, const struct eb_opts *opts,
                                                uint64_t place, uint64_t function, uint8_t kind)
{
    uint8_t sled[32] = { 0 };
    bool is_relative = opts->sled_version >= 2;
    uint64_t address = opts->is_relocated ? 0 : function + kind;
    uint64_t stored = opts->is_relocated ? 0 : function;
    if (is_relative) {
        address = function + kind - place;
        stored = function - (place + 8);
    }
    memcpy(sled, &address, 8);
    memcpy(sled + 8, &stored, 8);
    sled[16] = kind;
    sled[17] = 1;
    sled[18] = opts->sled_version;
    eb_put(out, sled, sizeof sled);
}

/* Says which build it is, and where its debugging information lies: two sections, or unused ones.
 */
__attribute__((unused)) static void eb_put_build(struct eb_out *out, const struct eb_opts *opts,
                                                 Elf64_Shdr *sections)
{
    static const uint8_t note[16] = { 4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
    while (out->n_bytes % 4)
        eb_put(out, "", 1);
    if (opts->build_id) {
        sections[0] = (Elf64_Shdr){ .sh_name = 58,
                                    .sh_type = SHT_NOTE,
                                    .sh_offset = eb_put(out, note, sizeof note),
                                    .sh_size = sizeof note + 8,
                                    .sh_addralign = 4 };
        eb_put(out, opts->build_id, 8);
    }
    if (opts->debug_link) {
        char link[64] = "";
        const size_t n_link = strlen(opts->debug_link) / 4 * 4 + 8;
        memcpy(link, opts->debug_link, strlen(opts->debug_link));
        sections[1] = (Elf64_Shdr){ .sh_name = 77,
                                    .sh_type = SHT_PROGBITS,
                                    .sh_offset = eb_put(out, link, n_link),
                                    .sh_size = n_link };
    }
}

/* Writes a program; hosts of these tests are little-endian. */
__attribute__((unused)) static void eb_build(struct eb_out *out, const struct eb_opts *opts)
{
    static const char names[] = "\0xray_instr_map\0.symtab\0.strtab\0.rela.dyn\0.shstrtab\0other"
                                "\0.note.gnu.build-id\0.gnu_debuglink";
    Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F',
                                       opts->elf_class ? opts->elf_class : ELFCLASS64,
                                       opts->elf_data ? opts->elf_data : ELFDATA2LSB, 1 },
                          .e_type = opts->elf_type ? opts->elf_type : ET_DYN,
                          .e_machine = EM_X86_64,
                          .e_version = 1,
                          .e_ehsize = sizeof header,
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = 8,
                          .e_shstrndx = 5 };
    Elf64_Shdr sections[8] = { 0 };
    char strings[1024] = "";
    size_t n_strings = 1;
    out->n_bytes = 0;
    eb_put(out, &header, sizeof header);

    size_t at = out->n_bytes;
    for (size_t k = 0; k < opts->n_functions * 2; k++)
        eb_put_sled(out, opts, EB_SLEDS_ADDRESS + k * 32, opts->functions[k / 2].address,
                    (uint8_t)(k % 2));
    static const uint8_t extra[64] = { 0 };
    eb_put(out, extra, opts->n_extra_bytes);
    sections[1] = (Elf64_Shdr){ .sh_name = opts->has_no_sleds ? 51 : 1,
                                .sh_type = SHT_PROGBITS,
                                .sh_addr = EB_SLEDS_ADDRESS,
                                .sh_offset = at,
                                .sh_size = out->n_bytes - at };

    const Elf64_Sym none = { 0 };
    at = eb_put(out, &none, sizeof none);
    for (size_t k = 0; k < opts->n_functions; k++) {
        const char *name = opts->functions[k].name;
        if (!name)
            continue;
        const Elf64_Sym symbol = { .st_name = (Elf64_Word)n_strings,
                                   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                   .st_shndx = 1,
                                   .st_value = opts->functions[k].address,
                                   .st_size = 16 };
        eb_put(out, &symbol, sizeof symbol);
        memcpy(strings + n_strings, name, strlen(name) + 1);
        n_strings += strlen(name) + 1;
    }
    sections[2] = (Elf64_Shdr){ .sh_name = 16,
                                .sh_type = opts->is_stripped ? SHT_DYNSYM : SHT_SYMTAB,
                                .sh_offset = at,
                                .sh_size = out->n_bytes - at,
                                .sh_link = 3,
                                .sh_entsize = sizeof none };
    sections[3] = (Elf64_Shdr){ .sh_name = 24,
                                .sh_type = SHT_STRTAB,
                                .sh_offset = eb_put(out, strings, n_strings),
                                .sh_size = n_strings };

    at = out->n_bytes;
    for (size_t k = 0; opts->is_relocated && k < opts->n_functions * 2; k++) {
        const Elf64_Rela relocation = { .r_offset = EB_SLEDS_ADDRESS + k * 32 + 8,
                                        .r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
                                        .r_addend = (Elf64_Sxword)opts->functions[k / 2].address };
        eb_put(out, &relocation, sizeof relocation);
    }
    sections[4] = (Elf64_Shdr){ .sh_name = 32,
                                .sh_type = SHT_RELA,
                                .sh_offset = at,
                                .sh_size = out->n_bytes - at,
                                .sh_entsize = sizeof(Elf64_Rela) };
    sections[5] = (Elf64_Shdr){ .sh_name = 42,
                                .sh_type = SHT_STRTAB,
                                .sh_offset = eb_put(out, names, sizeof names),
                                .sh_size = sizeof names };
    eb_put_build(out, opts, sections + 6);
    while (out->n_bytes % 8)
        eb_put(out, "", 1);
    header.e_shoff = eb_put(out, sections, sizeof sections);
    memcpy(out->bytes, &header, sizeof header);
}

#endif
