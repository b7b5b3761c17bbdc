/* SPDX-License-Identifier: MIT
 *
 * Headers, notes and segments by libelf. Files are read, not mapped, so that one that is truncated
 * meanwhile cannot cause SIGBUS. Files of any class and byte order are accepted; relocatable
 * objects and core files are not.
 */
#include "symbols/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
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
    file->n_bytes = file->elf ? (uint64_t)about.st_size : 0;
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

/* The build id among notes. */
static struct weft_str find_build_id(Elf_Data *notes)
{
    size_t name_at, id_at;
    GElf_Nhdr note;
    for (size_t at = 0, next;
         notes && (next = gelf_getnote(notes, at, &note, &name_at, &id_at)) > 0; at = next) {
        const char *bytes = notes->d_buf;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(bytes + name_at, "GNU", sizeof "GNU") == 0)
            return (struct weft_str){ bytes + id_at, note.n_descsz };
    }
    return WEFT_STR("");
}

/* Sections have the notes as well, but a program may be without headers of these. */
struct weft_str weft_elf_file_build_id(const struct weft_elf_file *file)
{
    struct weft_str id = WEFT_STR("");
    size_t n_headers = 0;
    GElf_Phdr header;
    (void)elf_getphdrnum(file->elf, &n_headers);
    for (size_t k = 0; id.n_bytes == 0 && k < n_headers && k < WEFT_ELF_MOST_PARTS; k++)
        if (gelf_getphdr(file->elf, (int)k, &header) && header.p_type == PT_NOTE)
            id = find_build_id(
                elf_getdata_rawchunk(file->elf, (int64_t)header.p_offset, header.p_filesz,
                                     header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
    for (Elf_Scn *section = NULL; id.n_bytes == 0 && (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr about;
        if (gelf_getshdr(section, &about) && about.sh_type == SHT_NOTE)
            id = find_build_id(elf_getdata(section, NULL));
    }
    return id;
}

const char *weft_elf_file_debug_link(const struct weft_elf_file *file)
{
    size_t names;
    if (elf_getshdrstrndx(file->elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr about;
        const char *own =
            gelf_getshdr(section, &about) ? elf_strptr(file->elf, names, about.sh_name) : NULL;
        if (!own || strcmp(own, ".gnu_debuglink") != 0 || about.sh_type == SHT_NOBITS)
            continue;
        const Elf_Data *data = elf_getdata(section, NULL);
        return data && data->d_buf && memchr(data->d_buf, 0, data->d_size) ? data->d_buf : NULL;
    }
    return NULL;
}

bool weft_elf_file_is_big(const struct weft_elf_file *file)
{
    GElf_Ehdr header;
    return gelf_getehdr(file->elf, &header) && header.e_ident[EI_DATA] == ELFDATA2MSB;
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
