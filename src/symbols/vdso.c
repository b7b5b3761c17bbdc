/* SPDX-License-Identifier: MIT
 *
 * Copies the vDSO of this process into a memfd, so that the rest of the code can open it by a path
 * like any file. symbols.c keeps the descriptor and compares the build id.
 */
#include "symbols/vdso.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* Its sections' headers stand at its end. */
static size_t image_bytes(const ElfW(Ehdr) * header)
{
    return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

int weft_vdso_open(char *path, size_t n_path)
{
    const uintptr_t address = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    ElfW(Ehdr) header;
    if (!address)
        return -1;
    memcpy(&header, (const void *)address, sizeof header);
    const size_t n_bytes = image_bytes(&header);
    const int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (write(fd, (const void *)address, n_bytes) != (ssize_t)n_bytes ||
        snprintf(path, n_path, "/proc/self/fd/%d", fd) >= (int)n_path) {
        (void)close(fd);
        return -1;
    }
    return fd;
}
