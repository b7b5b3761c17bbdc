/* SPDX-License-Identifier: MIT
 *
 * Functions that a runtime compiled while its program ran: which of them lay at an address, and
 * when. Where several overlap the one that came last counts; an address may be used again.
 */
#ifndef WEFT_SYMBOLS_JIT_TABLE_H
#define WEFT_SYMBOLS_JIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_JIT_NONE UINT32_MAX

enum { WEFT_JIT_MOST = 1 << 20 }; /* functions of a table */

struct weft_jit_function {
    uint64_t begin;
    uint64_t from_ns;
    uint32_t n_bytes;
    uint32_t name; /* the caller's number; WEFT_JIT_NONE: from then on nothing is known to lie
                      there */
};

/* All zero is an empty one. */
struct weft_jit_table {
    struct {
        struct weft_jit_function *items; /* once sealed by time, then as they were added */
        size_t n, cap;
    };
    size_t n_most; /* functions, if it has_limit; else WEFT_JIT_MOST */
    bool has_limit;
    uint64_t n_dropped;            /* beyond the limits */
    uint64_t *bounds;              /* begins and ends, ascending */
    uint32_t *places, *first_of;   /* by part of the addresses: the functions there */
    uint32_t n_bounds, n_segments; /* a segment lies between two bounds */
};

void weft_jit_table_fini(struct weft_jit_table *table);

/* From `from_ns` on a function lies there, of at most 4 GiB. Empty ones, and what leads beyond the
 * last address, are ignored. False without memory. */
bool weft_jit_add(struct weft_jit_table *table, uint64_t begin, uint64_t n_bytes, uint64_t from_ns,
                  uint32_t name);

/* Is what is added from now on dropped? */
bool weft_jit_is_full(const struct weft_jit_table *table);

/* Then nothing is added any more. O(n log n) time; memory is bounded, what does not fit is counted
 * as dropped. False without memory. */
bool weft_jit_seal(struct weft_jit_table *table);

/* Of a sealed table: how many of its functions had come at `ns`. Between two times with the same
 * era, answers are the same. */
uint32_t weft_jit_era(const struct weft_jit_table *table, uint64_t ns);

/* The name at the address in an era; WEFT_JIT_NONE: none. O(log^2 n). */
uint32_t weft_jit_find(const struct weft_jit_table *table, uint64_t address, uint32_t era);

#endif
