/* SPDX-License-Identifier: MIT
 *
 * Names of functions that a trace contains by their address in a program or library. Files are
 * looked for where the trace says they were, below a place that the user gives, and where
 * distributions keep debugging information. A file is accepted if its build id is the one in the
 * trace; without a build id in the trace only files of the user's place are, since the machine of
 * the trace may have had others.
 */
#ifndef WEFT_SYMBOLS_SYMBOLS_H
#define WEFT_SYMBOLS_SYMBOLS_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_symbols;

/* Why a module has names, or none. */
enum weft_symbols_state {
    WEFT_SYMBOLS_READ,        /* its functions are known */
    WEFT_SYMBOLS_NO_FILE,     /* there is no such file */
    WEFT_SYMBOLS_OTHER_BUILD, /* files of that name are of other builds */
    WEFT_SYMBOLS_UNPROVEN,    /* there is one, but the trace has no build id to prove it by */
    WEFT_SYMBOLS_NO_NAMES,    /* the file has no symbols */
    WEFT_SYMBOLS_SCATTERED,   /* it has more parts than a program that runs: it is not read */
};

/* `place`: a folder of programs and libraries, or one of them; NULL: none. Not copied. Opens
 * nothing yet. NULL without memory; the caller frees. */
struct weft_symbols *weft_symbols_new(const char *place);
/* NULL is allowed. */
void weft_symbols_free(struct weft_symbols *symbols);

/* The module of this path and build id (raw bytes; empty if unknown); its file is read when it is
 * asked for first. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_symbols_module(struct weft_symbols *symbols, struct weft_str path,
                                                struct weft_str build_id, uint32_t *module,
                                                struct weft_err *err);

struct weft_str weft_symbols_path(const struct weft_symbols *symbols, uint32_t module);
enum weft_symbols_state weft_symbols_state(const struct weft_symbols *symbols, uint32_t module);

/* Why a function of a module in this state has no name, and what helps. */
const char *weft_symbols_why(enum weft_symbols_state state);

/* The file that was believed, and the one beside it with its debugging information; NULL: none. */
const char *weft_symbols_file(const struct weft_symbols *symbols, uint32_t module);
const char *weft_symbols_debug_file(const struct weft_symbols *symbols, uint32_t module);

/* The address, as weft_symbols_name takes it, of a place in the module's file; the place itself if
 * that is not loaded, or the file is not known. */
uint64_t weft_symbols_address(const struct weft_symbols *symbols, uint32_t module,
                              uint64_t file_off);

/* The function at `address` of the module, as people write it (demangled); empty: not known.
 * Addresses count from the lowest one of a position-independent module, else they are absolute.
 * Valid until the next call. O(log functions). */
struct weft_str weft_symbols_name(struct weft_symbols *symbols, uint32_t module, uint64_t address);

/* Where a part of the module's file that can be executed, mapped from `file_off` on to [begin,
 * end), puts the addresses as weft_symbols_name takes them: `*base` is that of 0. False: it is no
 * such part, or the file is not known. */
bool weft_symbols_base(const struct weft_symbols *symbols, uint32_t module, uint64_t begin,
                       uint64_t end, uint64_t file_off, uint64_t *base);

/* Variables of the module, its .bss too, lie in [*begin, *end) of such addresses: part `*at`, which
 * moves on; false: there are no more. */
bool weft_symbols_data_part(const struct weft_symbols *symbols, uint32_t module, size_t *at,
                            uint64_t *begin, uint64_t *end);

/* The variable that `address` lies in, as people write it, and how far behind its begin; empty: not
 * known. They are read when this is first asked. Valid until the next call. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_symbols_data_name(struct weft_symbols *symbols, uint32_t module,
                                                   uint64_t address, struct weft_str *name,
                                                   uint64_t *offset_bytes, struct weft_err *err);

/* "[5].guard", ".append_mu": which member of the variable lies `offset_bytes` behind its begin, at
 * `address`, by debugging information, which is looked for as for what was inlined. The number of
 * bytes; 0: unknown. */
size_t weft_symbols_member(struct weft_symbols *symbols, uint32_t module, uint64_t address,
                           uint64_t offset_bytes, char *text, size_t n_text);

/* A name as people write it: demangled, or as it is. Valid until the next call. */
struct weft_str weft_symbols_plain(struct weft_symbols *symbols, const char *name);

/* Was there no memory for what was inlined? Then names are missing. */
bool weft_symbols_nomem(const struct weft_symbols *symbols);

/* Functions that the compiler put in the place of a call, outermost first: those that the
 * instruction at `address` belongs to, within the function that weft_symbols_name gives. At most
 * `n_most` of the outermost; names as in the file, valid as long as the symbols. 0: none, or not
 * known. Debugging information is looked for when this is first asked: in the module's file, and if
 * there is a place of the user in a file of its own, too. */
size_t weft_symbols_inlined(struct weft_symbols *symbols, uint32_t module, uint64_t address,
                            const char **names, size_t n_most);

/* "libc.so.6+0x1f40": what a function without a name is called, with a NUL. At most 300 bytes; 0 if
 * there is no room for it. */
size_t weft_symbols_place_name(struct weft_str path, uint64_t address, char *name, size_t n_name);

#endif
