/* SPDX-License-Identifier: MIT
 *
 * Which functions are recorded, by their addresses: the lines `skip` and `only` of the filters.
 */
#ifndef WEFT_RECORD_RUNTIME_RANGES_H
#define WEFT_RECORD_RUNTIME_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* Adds the functions in [start, end) of the module whose path is the `n_bytes` bytes at `path`.
 * False when there is no memory. */
bool weft_ranges_add(bool is_only, const char *path, uint64_t n_bytes, uint64_t start,
                     uint64_t end);

/* Only functions that are added so are recorded: none, so far. */
void weft_ranges_only_added(void);

/* More may be added while calls are recorded: `read` adds what is new, when the 8 bytes at
 * `version` (of a page that another process writes) have changed. */
void weft_ranges_grow(const void *version, void (*read)(void));

/* Whether any was added, or may be. */
bool weft_ranges_exist(void);

/* To be called once, before there are two threads: until the first table is made, it is unknown
 * what to keep. */
void weft_ranges_begin(void);

/* Whether the function at `address` is to be recorded. Modules that are loaded later are found when
 * the first function of theirs is asked for. */
bool weft_ranges_keep(uint64_t address);

#endif
