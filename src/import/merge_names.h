/* SPDX-License-Identifier: MIT
 *
 * What a merged trace calls functions: keys that are unique in it.
 */
#ifndef WEFT_IMPORT_MERGE_NAMES_H
#define WEFT_IMPORT_MERGE_NAMES_H

#include "import/merge.h"

struct weft_merge_names;

/* NULL without memory. */
struct weft_merge_names *weft_merge_names_new(const struct weft_merge_input *inputs,
                                              size_t n_inputs);
void weft_merge_names_free(struct weft_merge_names *names);

/* The next trace: gives each of its functions (by id) a key, and announces those that are new. The
 * same (module, name, address) in two traces is one function; an unnamed one without module and
 * address is never the same as another trace's. A function keeps its key if that is free. */
WEFT_CHECKED enum weft_code weft_merge_functions(struct weft_merge_names *names,
                                                 const struct weft_store *store, uint32_t *keys,
                                                 struct weft_sink *sink, struct weft_err *err);

#endif
