/* SPDX-License-Identifier: MIT
 *
 * Names of frames, fit for folded stacks ("outer;inner"): what would end a frame is replaced,
 * inlined functions are included, and a place that no symbol names is named by itself.
 */
#ifndef WEFT_SYMBOLS_FOLDED_H
#define WEFT_SYMBOLS_FOLDED_H

#include "base/json_text.h"
#include "schema/sink.h"
#include "symbols/symbols.h"

#define WEFT_FOLDED_NO_MODULE UINT32_MAX

struct weft_folded {
    struct weft_symbols *symbols; /* NULL: files are not read; not owned */
    struct weft_strtab *names;
    struct weft_json_text text; /* a name being made */
    struct weft_strtab *parts;  /* functions of names in modules; */
    struct {
        uint32_t *items; /* of each the library it is in, in `names`; or WEFT_FOLDED_NO_LIBRARY */
        size_t n, cap;
    } library_of;
};

#define WEFT_FOLDED_NO_LIBRARY UINT32_MAX

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

/* Announces the functions of libraries (weft_module_is_library) among the names in modules, in the
 * order in which they came; not those that another module has, too. WEFT_E_NOMEM and the sink's. */
WEFT_CHECKED enum weft_code weft_folded_tell_libraries(const struct weft_folded *folded,
                                                       struct weft_sink *sink,
                                                       struct weft_err *err);

/* Lives as long as the names. */
static inline struct weft_str weft_folded_get(const struct weft_folded *folded, uint32_t id)
{
    return weft_strtab_get(folded->names, id);
}

#endif
