/* SPDX-License-Identifier: MIT
 *
 * Names of the kernel's functions that stacks lie in. Addresses are collected as records go by; the
 * kernel's table of symbols is read when names are asked for, as that takes a tenth of a second.
 */
#ifndef WEFT_RECORD_KERNEL_NAMES_H
#define WEFT_RECORD_KERNEL_NAMES_H

#include "base/error.h"
#include "base/map.h"
#include "schema/recording.h"
#include "symbols/kallsyms.h"

struct weft_kernel_names {
    struct weft_map *addresses; /* each once, in order of appearance */
    uint32_t n_named;           /* of them, the first ones */
    bool has_symbols;
    struct weft_kallsyms symbols;
    struct {
        char *items;
        size_t n, cap;
    } text;
};

/* Whole records. False without memory. */
bool weft_kernel_names_see(struct weft_kernel_names *names,
                           const struct weft_kernel_record *records, size_t n_bytes);
/* False without memory. */
bool weft_kernel_names_read_symbols(struct weft_kernel_names *names);
/* Lines ADDRESS NAME of addresses that were not written yet. False without memory. */
bool weft_kernel_names_tell(struct weft_kernel_names *names, struct weft_str *text);
void weft_kernel_names_fini(struct weft_kernel_names *names);

#endif
