/* SPDX-License-Identifier: MIT
 *
 * Writes an ELF program that is nothing but sections with names, whose bytes the caller puts.
 *
 *   ELF header | section ... | section names | section headers
 */
#ifndef WEFT_TESTS_DWARF_BUILDER_H
#define WEFT_TESTS_DWARF_BUILDER_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DB_ROOM = 1 << 20, DB_SECTIONS = 8 };

struct db_file {
    uint8_t bytes[DB_ROOM];
    size_t n;
    Elf64_Shdr headers[DB_SECTIONS];
    unsigned n_sections;
    char names[128];
    size_t n_names;
};

__attribute__((unused)) static void db_put(struct db_file *file, const void *bytes, size_t n_bytes)
{
    if (n_bytes > sizeof file->bytes - file->n)
        abort();
    memcpy(file->bytes + file->n, bytes, n_bytes);
    file->n += n_bytes;
}

/* Hosts of these tests are little-endian. */
__attribute__((unused)) static void db_put_number(struct db_file *file, uint64_t value,
                                                  size_t n_bytes)
{
    db_put(file, &value, n_bytes);
}

__attribute__((unused)) static void db_begin_file(struct db_file *file)
{
    file->n = sizeof(Elf64_Ehdr);
    file->n_sections = 1; /* the first is empty, and so is the first name */
    file->n_names = 1;
    memset(file->headers, 0, sizeof file->headers);
    memset(file->names, 0, sizeof file->names);
}

__attribute__((unused)) static void db_begin_section(struct db_file *file, const char *name)
{
    const size_t n_name = strlen(name) + 1;
    if (file->n_sections == DB_SECTIONS || n_name > sizeof file->names - file->n_names)
        abort();
    file->headers[file->n_sections] = (Elf64_Shdr){ .sh_name = (Elf64_Word)file->n_names,
                                                    .sh_type = SHT_PROGBITS,
                                                    .sh_offset = file->n };
    memcpy(file->names + file->n_names, name, n_name);
    file->n_names += n_name;
}

__attribute__((unused)) static void db_end_section(struct db_file *file)
{
    Elf64_Shdr *header = &file->headers[file->n_sections++];
    header->sh_size = file->n - header->sh_offset;
}

/* Offset in the section that was begun last. */
__attribute__((unused)) static uint32_t db_offset(const struct db_file *file)
{
    return (uint32_t)(file->n - file->headers[file->n_sections].sh_offset);
}

/* A unit of DWARF 4: where its length stands, for db_end_unit. */
__attribute__((unused)) static size_t db_begin_unit(struct db_file *file)
{
    const size_t at = file->n;
    db_put_number(file, 0, 4);
    db_put_number(file, 4, 2);
    db_put_number(file, 0, 4);
    db_put_number(file, 8, 1);
    return at;
}

__attribute__((unused)) static void db_end_unit(struct db_file *file, size_t at)
{
    const uint32_t n_bytes = (uint32_t)(file->n - at - 4);
    memcpy(file->bytes + at, &n_bytes, sizeof n_bytes);
}

/* Section headers are the last bytes. */
__attribute__((unused)) static void db_end_file(struct db_file *file)
{
    db_begin_section(file, ".shstrtab");
    file->headers[file->n_sections].sh_type = SHT_STRTAB;
    db_put(file, file->names, file->n_names);
    db_end_section(file);
    const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
                                .e_type = ET_EXEC,
                                .e_machine = EM_X86_64,
                                .e_version = 1,
                                .e_shoff = file->n,
                                .e_ehsize = sizeof header,
                                .e_shentsize = sizeof(Elf64_Shdr),
                                .e_shnum = (Elf64_Half)file->n_sections,
                                .e_shstrndx = (Elf64_Half)(file->n_sections - 1) };
    memcpy(file->bytes, &header, sizeof header);
    db_put(file, file->headers, file->n_sections * sizeof *file->headers);
}

/* A path of the file, in memory; `*fd` is the caller's to close. */
__attribute__((unused)) static const char *db_write(const struct db_file *file, int *fd)
{
    static char path[64];
    *fd = memfd_create("made", MFD_CLOEXEC);
    if (*fd < 0 || write(*fd, file->bytes, file->n) != (ssize_t)file->n)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    return path;
}

#endif
