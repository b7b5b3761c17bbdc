/* SPDX-License-Identifier: MIT
 *
 * See image.h. Reads ELF headers of programs that may be anything: bounds-checked, 64 KiB at most.
 */
#include "record/session/image.h"

#include "base/cursor.h"
#include "schema/recording.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { HEAD_BYTES = 1 << 16, MOST_SCRIPTS = 4 };

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

/* The dynamic linker's path, as far as it lies in what was read; false: there is none. */
static bool find_linker(const uint8_t *bytes, size_t n_bytes, struct weft_str *path)
{
    Elf64_Ehdr head;
    memcpy(&head, bytes, sizeof head);
    for (unsigned k = 0; k < head.e_phnum && head.e_phentsize == sizeof(Elf64_Phdr); k++) {
        Elf64_Phdr part;
        if (head.e_phoff > n_bytes || (n_bytes - head.e_phoff) / sizeof part <= k)
            return false;
        memcpy(&part, bytes + head.e_phoff + k * sizeof part, sizeof part);
        if (part.p_type != PT_INTERP)
            continue;
        const bool is_within = part.p_offset <= n_bytes && part.p_filesz <= n_bytes - part.p_offset;
        *path = (struct weft_str){ is_within ? (const char *)bytes + part.p_offset : "",
                                   is_within ? (size_t)part.p_filesz : 0 };
        return true;
    }
    return false;
}

static enum weft_ledger_why why_of_elf(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_str linker;
    if (n_bytes < sizeof(Elf64_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return WEFT_LEDGER_NOT_LOADED;
    if (bytes[EI_CLASS] != ELFCLASS64 ||
        weft_load_u16(bytes + offsetof(Elf64_Ehdr, e_machine)) != OWN_MACHINE)
        return WEFT_LEDGER_OTHER_ABI;
    if (!find_linker(bytes, n_bytes, &linker))
        return WEFT_LEDGER_STATIC;
    static const char own[] = "/ld-linux";
    if (linker.n_bytes && !memmem(linker.bytes, linker.n_bytes, own, sizeof own - 1))
        return WEFT_LEDGER_OTHER_LIBC;
    return WEFT_LEDGER_NOT_LOADED;
}

/* "#!/usr/bin/env python3": the program is the first word. */
static bool find_interpreter(const uint8_t *bytes, size_t n_bytes, char path[PATH_MAX])
{
    size_t from = 2, to;
    if (n_bytes < 3 || bytes[0] != '#' || bytes[1] != '!')
        return false;
    while (from < n_bytes && (bytes[from] == ' ' || bytes[from] == '\t'))
        from++;
    for (to = from; to < n_bytes && to - from < PATH_MAX - 1 && !strchr(" \t\n", bytes[to]);)
        to++;
    memcpy(path, bytes + from, to - from);
    path[to - from] = '\0';
    return path[0] == '/';
}

static bool is_privileged(int fd)
{
    struct stat about;
    return (fstat(fd, &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID))) ||
           fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static enum weft_ledger_why why_of_file(const char *path)
{
    static const size_t n_most = HEAD_BYTES;
    char next[PATH_MAX];
    enum weft_ledger_why why = WEFT_LEDGER_NOT_LOADED;
    uint8_t *bytes = malloc(n_most);
    (void)snprintf(next, sizeof next, "%s", path);
    for (int n = 0; bytes && n < MOST_SCRIPTS; n++) {
        const int fd = open(next, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        const ssize_t n_read = fd >= 0 ? read(fd, bytes, n_most) : -1;
        const bool is_script = n_read > 0 && find_interpreter(bytes, (size_t)n_read, next);
        if (n_read > 0 && !is_script)
            why = why_of_elf(bytes, (size_t)n_read);
        if (why == WEFT_LEDGER_NOT_LOADED && !is_script && fd >= 0 && is_privileged(fd))
            why = WEFT_LEDGER_PRIVILEGED;
        if (fd >= 0)
            (void)close(fd);
        if (!is_script)
            break;
    }
    free(bytes);
    return why;
}

static bool names(const struct proc_text *text, const char *what)
{
    return memmem(text->items, text->n, what, strlen(what)) != NULL;
}

enum weft_ledger_why image_look_at(uint32_t pid, const char *path, struct proc_text *room)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/%" PRIu32 "/exe", pid);
    const bool is_there = access(link, R_OK) == 0;
    enum weft_ledger_why why = WEFT_LEDGER_NOT_LOADED;
    if (is_there)
        why = why_of_file(link);
    else if (path && path[0] == '/')
        why = why_of_file(path);
    if (why != WEFT_LEDGER_NOT_LOADED || !is_there)
        return why;
    if (proc_read(pid, "maps", room) && names(room, "/libweft-"))
        return WEFT_LEDGER_UNREACHABLE;
    if (proc_read(pid, "environ", room) &&
        (!names(room, "libweft-") || !names(room, WEFT_RING_ENV "=")))
        return WEFT_LEDGER_ENVIRONMENT;
    return why;
}
