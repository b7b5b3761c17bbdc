/* SPDX-License-Identifier: MIT */
#include "symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_linked(Elf *elf)
{
    GElf_Ehdr header;
    return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
           (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

bool weft_elf_file_open(const char *path, struct weft_elf_file *file)
{
    struct stat about;
    *file =
        (struct weft_elf_file){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
    if (file->fd < 0)
        return false;
    /* Read, not mapped: a file that is cut meanwhile is then damage, and no crash. */
    if (fstat(file->fd, &about) == 0 && S_ISREG(about.st_mode) &&
        elf_version(EV_CURRENT) != EV_NONE)
        file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
    if (is_linked(file->elf))
        return true;
    weft_elf_file_close(file);
    return false;
}

void weft_elf_file_close(struct weft_elf_file *file)
{
    if (file->elf)
        (void)elf_end(file->elf);
    if (file->fd >= 0)
        (void)close(file->fd);
    *file = (struct weft_elf_file){ .fd = -1 };
}

struct weft_str weft_elf_file_build_id(const struct weft_elf_file *file)
{
    const void *bytes = NULL;
    const ssize_t n_bytes = dwelf_elf_gnu_build_id(file->elf, &bytes);
    return n_bytes > 0 ? (struct weft_str){ bytes, (size_t)n_bytes } : WEFT_STR("");
}

const char *weft_elf_file_debug_link(const struct weft_elf_file *file)
{
    GElf_Word checksum;
    return dwelf_elf_gnu_debuglink(file->elf, &checksum);
}

bool weft_elf_file_has_symbols(const struct weft_elf_file *file)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            return true;
    }
    return false;
}

bool weft_elf_file_is_scattered(const struct weft_elf_file *file)
{
    size_t n_headers;
    return elf_getphdrnum(file->elf, &n_headers) == 0 && n_headers > WEFT_ELF_MOST_PARTS;
}

/* The next header of a part that is loaded. */
static bool next_load(const struct weft_elf_file *file, size_t *at, GElf_Phdr *header)
{
    size_t n_headers;
    if (elf_getphdrnum(file->elf, &n_headers) != 0)
        return false;
    while (*at < n_headers && *at < INT32_MAX)
        if (gelf_getphdr(file->elf, (int)(*at)++, header) && header->p_type == PT_LOAD)
            return true;
    return false;
}

bool weft_elf_file_segment(const struct weft_elf_file *file, size_t *at,
                           struct weft_elf_segment *segment)
{
    GElf_Phdr header;
    if (!next_load(file, at, &header))
        return false;
    *segment = (struct weft_elf_segment){ .file_off = header.p_offset,
                                          .n_bytes = header.p_filesz,
                                          .address = header.p_vaddr,
                                          .n_memory_bytes = header.p_memsz,
                                          .is_writable = (header.p_flags & PF_W) != 0,
                                          .is_executable = (header.p_flags & PF_X) != 0 };
    return true;
}

uint64_t weft_elf_file_bias(const struct weft_elf_file *file)
{
    GElf_Ehdr header;
    GElf_Phdr segment;
    size_t at = 0;
    if (!gelf_getehdr(file->elf, &header) || header.e_type != ET_DYN ||
        !next_load(file, &at, &segment))
        return 0;
    return segment.p_align > 1 ? segment.p_vaddr - segment.p_vaddr % segment.p_align
                               : segment.p_vaddr;
}
