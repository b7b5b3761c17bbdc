/* SPDX-License-Identifier: MIT
 *
 * Symbols of the kernel, from a text like that of /proc/kallsyms.
 */
#ifndef WEFT_SYMBOLS_KALLSYMS_H
#define WEFT_SYMBOLS_KALLSYMS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of the kernel; it ends where the next one begins. */
struct weft_kallsym {
    uint64_t address;
    const char *bytes; /* of the name, as it stands in the text */
    uint32_t n_bytes;
};

/* By address. */
struct weft_kallsyms {
    struct {
        struct weft_kallsym *items;
        size_t n, cap;
    };
    char *text; /* that names stand in, if it is not the caller's */
};

/* Adds the functions of a text, which must live as long as the table. Lines without an address, as
 * of a kernel that hides them, add nothing. False without memory. */
bool weft_kallsyms_parse(struct weft_str text, struct weft_kallsyms *kernel);

/* Those of the kernel that runs here; none if they are hidden. False without memory. */
bool weft_kallsyms_of_machine(struct weft_kallsyms *kernel);

/* Of several names of one address the first; empty: no function has it. */
struct weft_str weft_kallsyms_find(const struct weft_kallsyms *kernel, uint64_t address);

void weft_kallsyms_fini(struct weft_kallsyms *kernel);

/* A file of the kernel, which has no size before it is read; the caller frees. NULL: none, or no
 * memory, which `*is_nomem` says. */
char *weft_kernel_text(const char *path, size_t n_most, size_t *n_bytes, bool *is_nomem);

#endif
