/* SPDX-License-Identifier: MIT
 *
 * Sections of programs, read a window at a time.
 */
#include "symbols/section.h"

#include "base/file.h"
#include "base/vec.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PACKED_BYTES = 64 << 10, /* read, and written, at once while unpacking */
    MOST_TIMES = 100,        /* as large as it was packed; what compilers write is 2-10 */
    LEAST_MOST_BYTES = 1 << 20,
    GNU_HEAD_BYTES = 12, /* "ZLIB" and the size, big end first */
    NAME_BYTES = 64,
};

static bool file_read(int fd, uint64_t off, uint8_t *bytes, size_t n_bytes)
{
    while (n_bytes > 0) {
        const ssize_t n = off <= INT64_MAX ? pread(fd, bytes, n_bytes, (off_t)off) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        off += (uint64_t)n;
        n_bytes -= (size_t)n;
    }
    return true;
}

bool weft_section_view(struct weft_section *section, uint64_t at, size_t n_bytes, size_t n_ahead,
                       struct weft_cursor *cur)
{
    if (at > section->n_bytes)
        return false;
    const uint64_t n_left = section->n_bytes - at;
    const size_t n_view = n_bytes < n_left ? n_bytes : (size_t)n_left;
    if (section->memory) {
        *cur = weft_cur_init(section->memory + at, n_view, at);
        return true;
    }
    const bool is_there = section->window && at >= section->window_at &&
                          at - section->window_at <= section->window_n &&
                          section->window_n - (at - section->window_at) >= n_view;
    if (!is_there) {
        const size_t n_wanted = n_view > n_ahead ? n_view : n_ahead;
        const size_t n_read = n_wanted < n_left ? n_wanted : (size_t)n_left;
        section->window_n = 0;
        if (!weft_vec_reserve(&section->window, &section->window_cap, n_read + 1, 1)) {
            section->is_nomem = true;
            return false;
        }
        if (!file_read(section->fd, section->file_off + at, section->window, n_read))
            return false;
        section->window_at = at;
        section->window_n = n_read;
    }
    *cur = weft_cur_init(section->window + (at - section->window_at), n_view, at);
    return true;
}

bool weft_section_copy(const struct weft_section *section, uint64_t at, void *to, size_t n_bytes)
{
    if (at > section->n_bytes || n_bytes > section->n_bytes - at)
        return false;
    if (!section->memory)
        return file_read(section->fd, section->file_off + at, to, n_bytes);
    memcpy(to, section->memory + at, n_bytes);
    return true;
}

size_t weft_section_held(const struct weft_section *section)
{
    return section->window_cap + (section->owns_memory ? (size_t)section->n_bytes : 0);
}

void weft_section_fini(struct weft_section *section)
{
    if (section->owns_fd)
        (void)close(section->fd);
    if (section->owns_memory)
        free((void *)(uintptr_t)section->memory);
    free(section->window);
    *section = (struct weft_section){ .fd = -1 };
}

/* ---- unpacking ------------------------------------------------------------------------------- */

/* From `at` in a section on to the end of a file. */
struct unpacking {
    const struct weft_section *from;
    int to;
    uint64_t at, n_out, n_most;
    uint8_t *packed, *plain; /* PACKED_BYTES each */
    z_stream stream;
};

/* True: continue. `*is_over`: all is there. */
static bool unpack_step(struct unpacking *unpacking, bool *is_over)
{
    z_stream *stream = &unpacking->stream;
    if (stream->avail_in == 0) {
        const uint64_t n_left = unpacking->from->n_bytes - unpacking->at;
        const size_t n = n_left < PACKED_BYTES ? (size_t)n_left : PACKED_BYTES;
        if (n == 0 || !weft_section_copy(unpacking->from, unpacking->at, unpacking->packed, n))
            return false;
        unpacking->at += n;
        stream->next_in = unpacking->packed;
        stream->avail_in = (uInt)n;
    }
    stream->next_out = unpacking->plain;
    stream->avail_out = PACKED_BYTES;
    const int state = inflate(stream, Z_NO_FLUSH);
    const size_t n_out = PACKED_BYTES - stream->avail_out;
    unpacking->n_out += n_out;
    *is_over = state == Z_STREAM_END;
    return (state == Z_OK || *is_over) && unpacking->n_out <= unpacking->n_most &&
           weft_fd_write(unpacking->to, unpacking->plain, n_out, NULL) == WEFT_OK;
}

static bool inflate_all(struct unpacking *unpacking)
{
    bool is_good, is_over = false;
    unpacking->packed = malloc(2 * PACKED_BYTES);
    if (!unpacking->packed)
        return false;
    unpacking->plain = unpacking->packed + PACKED_BYTES;
    is_good = inflateInit(&unpacking->stream) == Z_OK;
    if (is_good) {
        while (is_good && !is_over)
            is_good = unpack_step(unpacking, &is_over);
        (void)inflateEnd(&unpacking->stream);
    }
    free(unpacking->packed);
    return is_good && unpacking->n_out == unpacking->n_most;
}

/* Replaces the section by a file of what it unpacks to, behind `n_head` bytes. */
static bool unpack(struct weft_section *section, size_t n_head, uint64_t n_plain)
{
    const uint64_t n_packed = section->n_bytes - n_head;
    struct unpacking unpacking = { .from = section, .to = -1, .at = n_head, .n_most = n_plain };
    if (n_plain == 0 || (n_plain > LEAST_MOST_BYTES && n_plain / MOST_TIMES > n_packed) ||
        weft_scratch_open(&unpacking.to, NULL) != WEFT_OK)
        return false;
    if (!inflate_all(&unpacking)) {
        (void)close(unpacking.to);
        return false;
    }
    section->fd = unpacking.to;
    section->owns_fd = true;
    section->file_off = 0;
    section->n_bytes = n_plain;
    section->memory = NULL;
    return true;
}

/* As ELF says it: type, size and alignment in front. */
static bool unpack_elf(struct weft_section *section, bool is_64)
{
    uint8_t head[sizeof(Elf64_Chdr)];
    const size_t n_head = is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
    if (section->n_bytes < n_head || !weft_section_copy(section, 0, head, n_head))
        return false;
    const uint64_t n_plain = is_64 ? weft_load_u64(head + 8) : weft_load_u32(head + 4);
    return weft_load_u32(head) == ELFCOMPRESS_ZLIB && unpack(section, n_head, n_plain);
}

static bool unpack_gnu(struct weft_section *section)
{
    uint8_t head[GNU_HEAD_BYTES];
    return section->n_bytes >= sizeof head && weft_section_copy(section, 0, head, sizeof head) &&
           memcmp(head, "ZLIB", 4) == 0 &&
           unpack(section, sizeof head, __builtin_bswap64(weft_load_u64(head + 4)));
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool find(Elf *elf, const char *name, GElf_Shdr *header)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *own =
            gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (own && strcmp(own, name) == 0)
            return header->sh_type != SHT_NOBITS && header->sh_size > 0;
    }
    return false;
}

static bool is_packed_by_gnu(Elf *elf, const char *name, GElf_Shdr *header)
{
    char packed[NAME_BYTES];
    return strncmp(name, ".debug_", 7) == 0 &&
           snprintf(packed, sizeof packed, ".z%s", name + 1) < NAME_BYTES &&
           find(elf, packed, header);
}

/* Where the bytes of a section are; false: beyond the end of the file. */
static bool place(struct weft_section *section, const struct weft_elf_file *file,
                  const GElf_Shdr *header)
{
    if (header->sh_offset > file->n_bytes || header->sh_size > file->n_bytes - header->sh_offset)
        return false;
    *section = (struct weft_section){ .fd = file->fd,
                                      .file_off = header->sh_offset,
                                      .n_bytes = header->sh_size,
                                      .address = header->sh_addr };
    if (file->bytes)
        section->memory = file->bytes + header->sh_offset;
    return true;
}

bool weft_section_of(struct weft_section *section, const struct weft_elf_file *file, Elf_Scn *from)
{
    GElf_Shdr header;
    *section = (struct weft_section){ .fd = -1 };
    return gelf_getshdr(from, &header) && header.sh_type != SHT_NOBITS && header.sh_size > 0 &&
           !(header.sh_flags & SHF_COMPRESSED) && place(section, file, &header);
}

bool weft_section_open(struct weft_section *section, const struct weft_elf_file *file,
                       const char *name)
{
    GElf_Shdr header;
    const bool is_plain = find(file->elf, name, &header);
    *section = (struct weft_section){ .fd = -1 };
    if ((!is_plain && !is_packed_by_gnu(file->elf, name, &header)) ||
        !place(section, file, &header))
        return false;
    const bool is_good = is_plain ? !(header.sh_flags & SHF_COMPRESSED) ||
                                        unpack_elf(section, gelf_getclass(file->elf) == ELFCLASS64)
                                  : unpack_gnu(section);
    if (!is_good)
        weft_section_fini(section);
    return is_good;
}
