/* SPDX-License-Identifier: MIT
 *
 * Programs with XRay: built with -fxray-instrument, they hold sleds of nops and a runtime that
 * patches them, and nothing happens until it is asked. It is asked here, as the program starts; its
 * own modes and logs stay off. Linkers do not put the runtime's functions into the dynamic symbols,
 * so they are also looked up in the symbol table of the program's file; a stripped program that
 * does not export them is not recorded.
 */
#include "record/runtime/functions.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum xray_entry { /* XRayEntryType of the runtime */
                  XRAY_ENTRY,
                  XRAY_EXIT,
                  XRAY_TAIL,
                  XRAY_ENTRY_WITH_ARGUMENT,
};

struct xray {
    int (*set_handler)(void (*handler)(int32_t id, enum xray_entry entry));
    int (*patch)(void);
    uintptr_t (*function_address)(int32_t id);
    size_t (*max_function_id)(void);
};

extern int __xray_set_handler(void (*handler)(int32_t, enum xray_entry)) __attribute__((weak));
extern int __xray_patch(void) __attribute__((weak));
extern uintptr_t __xray_function_address(int32_t id) __attribute__((weak));
extern size_t __xray_max_function_id(void) __attribute__((weak));

static uint64_t *addresses; /* of functions, by number */
static uint64_t n_addresses;

static void handle(int32_t id, enum xray_entry entry)
{
    if ((uint32_t)id >= n_addresses)
        return;
    if (entry == XRAY_ENTRY || entry == XRAY_ENTRY_WITH_ARGUMENT)
        weft_functions_record(WEFT_UNIT_ENTER, addresses[id]);
    else if (entry == XRAY_EXIT || entry == XRAY_TAIL)
        weft_functions_record(WEFT_UNIT_EXIT, addresses[id]);
}

/* ---- the symbol table of the program's file */

struct image {
    const char *bytes;
    uint64_t n_bytes;
};

/* `n` elements of `size` bytes at `off`; NULL when they do not all lie in the file. */
static const void *part(const struct image *image, uint64_t off, uint64_t n, uint64_t size)
{
    if (off > image->n_bytes || (image->n_bytes - off) / size < n || off % 8 != 0)
        return NULL;
    return image->bytes + off;
}

static const char *name_at(const struct image *image, const ElfW(Shdr) * strings, uint64_t off)
{
    const char *text = part(image, 0, image->n_bytes, 1);
    const uint64_t at = strings->sh_offset + off;
    if (at < off || off >= strings->sh_size || at >= image->n_bytes ||
        !memchr(text + at, 0, image->n_bytes - at))
        return "";
    return text + at;
}

static void take_symbol(struct xray *xray, const char *name, uintptr_t address)
{
    if (strncmp(name, "__xray_", 7) != 0)
        return;
    if (strcmp(name, "__xray_set_handler") == 0)
        xray->set_handler = (int (*)(void (*)(int32_t, enum xray_entry)))address;
    else if (strcmp(name, "__xray_patch") == 0)
        xray->patch = (int (*)(void))address;
    else if (strcmp(name, "__xray_function_address") == 0)
        xray->function_address = (uintptr_t(*)(int32_t))address;
    else if (strcmp(name, "__xray_max_function_id") == 0)
        xray->max_function_id = (size_t(*)(void))address;
}

static void search_symbols(const struct image *image, uintptr_t base, struct xray *xray)
{
    const ElfW(Ehdr) *head = part(image, 0, 1, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof(ElfW(Shdr)))
        return;
    const ElfW(Shdr) *sections = part(image, head->e_shoff, head->e_shnum, sizeof *sections);
    for (unsigned i = 0; sections && i < head->e_shnum; i++) {
        const ElfW(Shdr) *table = &sections[i];
        const uint64_t n_symbols = table->sh_size / sizeof(ElfW(Sym));
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= head->e_shnum)
            continue;
        const ElfW(Sym) *symbols = part(image, table->sh_offset, n_symbols, sizeof *symbols);
        for (uint64_t k = 0; symbols && k < n_symbols; k++)
            if (symbols[k].st_shndx != SHN_UNDEF && (symbols[k].st_info & 0xf) == STT_FUNC)
                take_symbol(xray, name_at(image, &sections[table->sh_link], symbols[k].st_name),
                            base + symbols[k].st_value);
    }
}

/* Where the program was loaded, and whether it has sleds at all: most have not, and their symbols
 * are not read. */
static int find_base(struct dl_phdr_info *info, size_t n_bytes, void *base)
{
    (void)n_bytes;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1; /* the program is the first */
}

static bool has_sleds(const struct image *image)
{
    const ElfW(Ehdr) *head = part(image, 0, 1, sizeof *head);
    if (!head || head->e_shentsize != sizeof(ElfW(Shdr)))
        return false;
    const ElfW(Shdr) *sections = part(image, head->e_shoff, head->e_shnum, sizeof *sections);
    if (!sections || head->e_shstrndx >= head->e_shnum)
        return false;
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (strcmp(name_at(image, &sections[head->e_shstrndx], sections[i].sh_name),
                   "xray_instr_map") == 0)
            return true;
    return false;
}

static void search_program(struct xray *xray)
{
    struct stat file;
    uintptr_t base = 0;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &file) == 0 && file.st_size > 0) {
        struct image image = { .n_bytes = (uint64_t)file.st_size };
        void *map = mmap(NULL, image.n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            image.bytes = map;
            (void)dl_iterate_phdr(find_base, &base);
            if (has_sleds(&image))
                search_symbols(&image, base, xray);
            (void)munmap(map, image.n_bytes);
        }
    }
    (void)syscall(SYS_close, fd);
}

void weft_xray_begin(void)
{
    const int kept_errno = errno;
    struct xray xray = { __xray_set_handler, __xray_patch, __xray_function_address,
                         __xray_max_function_id };
    if (!xray.patch)
        search_program(&xray);
    if (xray.set_handler && xray.patch && xray.function_address && xray.max_function_id) {
        const uint64_t n_ids = xray.max_function_id() + 1; /* the first is 1 */
        void *table = mmap(NULL, n_ids * sizeof *addresses, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (table != MAP_FAILED) {
            addresses = table;
            for (uint64_t id = 1; id < n_ids; id++)
                addresses[id] = xray.function_address((int32_t)id);
            n_addresses = n_ids;
            if (xray.set_handler(handle) == 1)
                (void)xray.patch();
        }
    }
    errno = kept_errno;
}
