/* SPDX-License-Identifier: MIT
 *
 * Names of frames, fit for folded stacks ("outer;inner"): what would end a frame is replaced,
 * inlined functions are included, and a place that no symbol names is named by itself.
 */
#ifndef WEFT_SYMBOLS_FOLDED_H
#define WEFT_SYMBOLS_FOLDED_H

#include "base/json_text.h"
#include "symbols/symbols.h"

#define WEFT_FOLDED_NO_MODULE UINT32_MAX

struct weft_folded {
    struct weft_symbols *symbols; /* NULL: files are not read; not owned */
    struct weft_strtab *names;
    struct weft_json_text text; /* a name being made */
    struct weft_strtab *parts;  /* functions of names in modules; */
    struct {
        uint32_t *items; /* of each the file name of its module, in `names`; or NO_MODULE */
        size_t n, cap;
    } module_of;
};

/* False without memory. */
bool weft_folded_init(struct weft_folded *folded, struct weft_symbols *symbols);
void weft_folded_fini(struct weft_folded *folded);

/* All give the name a number, and are false without memory. */

/* Name of what stands `back` bytes before `file_off` of a module, whose file is `path` (where a
 * call returns to may be another function than where it was made): of several, of which all but the
 * first were inlined, "outer;inner (inlined)". Without a symbol, "libc.so.6+0x2724a". */
bool weft_folded_in_module(struct weft_folded *folded, uint32_t module, struct weft_str path,
                           uint64_t file_off, unsigned back, uint32_t *id);
/* "PATH+0x2724a"; without a path "0x7f0000001000" */
bool weft_folded_place(struct weft_folded *folded, struct weft_str path, uint64_t address,
                       uint32_t *id);
/* A name that is known. */
bool weft_folded_name(struct weft_folded *folded, struct weft_str name, uint32_t *id);

/* The functions among the names in modules, in the order in which they came, and the file name of
 * the module; not those that several modules have. From *at on; false at the end. */
bool weft_folded_next_function(const struct weft_folded *folded, size_t *at, struct weft_str *name,
                               struct weft_str *module);

/* Lives as long as the names. */
static inline struct weft_str weft_folded_get(const struct weft_folded *folded, uint32_t id)
{
    return weft_strtab_get(folded->names, id);
}

#endif
