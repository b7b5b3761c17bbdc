/* SPDX-License-Identifier: MIT
 *
 * What the compiler put in the place of calls, from debugging information (DWARF): the functions
 * that an instruction belongs to within the one that it was compiled into.
 */
#ifndef WEFT_SYMBOLS_INLINES_H
#define WEFT_SYMBOLS_INLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_inlines;

/* NULL: the file has no debugging information, or there is no memory, which `*is_nomem` says. The
 * caller frees. */
struct weft_inlines *weft_inlines_open(const char *path, bool *is_nomem);
/* NULL is allowed. */
void weft_inlines_free(struct weft_inlines *inlines);

/* Names of the functions inlined at `address` (as in the symbol table), outermost first and at most
 * `n_most`; valid as long as `inlines`. Units are indexed when an address of theirs is first asked
 * for: O(functions of the unit), then O(log functions + entries of the function). */
size_t weft_inlines_at(struct weft_inlines *inlines, uint64_t address, const char **names,
                       size_t n_most);

/* Was there no memory for an answer? Then names are missing. */
bool weft_inlines_nomem(const struct weft_inlines *inlines);

#endif
