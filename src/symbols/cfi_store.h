/* SPDX-License-Identifier: MIT
 *
 * Call frame information of programs, as it is asked for: rows of functions are compiled once and
 * held, up to a limit on memory. Then what was not asked for longest gives way. One thread at a
 * time uses a store.
 */
#ifndef WEFT_SYMBOLS_CFI_STORE_H
#define WEFT_SYMBOLS_CFI_STORE_H

#include "symbols/cfi.h"

#include <stddef.h>

struct weft_cfi_store;

/* `most_bytes`: of all that is held; at least 1 MiB. NULL without memory; the caller frees. */
struct weft_cfi_store *weft_cfi_store_new(size_t most_bytes);
/* NULL is allowed. */
void weft_cfi_store_free(struct weft_cfi_store *store);

/* A program or library: `number` is the caller's, and stands for the same paths always. */
struct weft_cfi_program {
    uint32_t number;
    const char *path, *debug_path; /* of a file with its debugging information; NULL: none */
};

struct weft_cfi_found {
    const struct weft_cfi_function *function; /* NULL: none holds the place, or it is damaged */
    const struct weft_cfi_row *row;
    uint64_t address; /* of the place, as in the file's symbols */
};

/* What is known of the place at `file_off` of a program. Valid until the next call. False without
 * memory, even when nothing else is held. */
bool weft_cfi_store_find(struct weft_cfi_store *store, const struct weft_cfi_program *program,
                         uint64_t file_off, struct weft_cfi_found *found);

/* Bytes that are held now. */
size_t weft_cfi_store_bytes(const struct weft_cfi_store *store);

#endif
