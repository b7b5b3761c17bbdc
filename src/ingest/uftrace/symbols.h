/* SPDX-License-Identifier: MIT
 *
 * Symbol tables (*.sym), and what debug information says about arguments (*.dbg).
 *
 *     # symbols: 887
 *     # path name: /usr/bin/prog                    # path name: /usr/bin/prog
 *     0000000000006030 P _Znam                      F: 1269 add
 *     00000000000073a0 T main                       A: @arg1,arg2
 *     0000000000007a00 ? __sym_end                  R: @retval
 *
 * From feature SYM_SIZE on the size stands between address and type.
 */
#ifndef WEFT_INGEST_UFTRACE_SYMBOLS_H
#define WEFT_INGEST_UFTRACE_SYMBOLS_H

#include "base/error.h"
#include "base/file.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_UFT_NO_SYMBOL UINT32_MAX

struct weft_uft_symbol {
    uint64_t address;     /* within the module */
    uint64_t end;         /* behind its last byte */
    struct weft_str name; /* as in the program; a view of the file */
    bool is_function;
};

/* What debug information says about one function. */
struct weft_uft_debug {
    uint64_t address;
    struct weft_str args, rets; /* "@arg1,arg2/s"; views */
};

struct weft_uft_module {
    struct weft_str path; /* as the file says, else empty */
    struct weft_str name; /* base name */
    struct {
        struct weft_uft_symbol *items; /* ascending by address */
        size_t n, cap;
    } symbols;
    struct {
        struct weft_uft_debug *items; /* ascending by address */
        size_t n, cap;
    } debug;
};

/* The "# path name:" of a .sym or .dbg file, or an empty text. */
struct weft_str weft_uft_path_name(const struct weft_mapped *file);

/* NOMEM only: lines that are no symbols are passed over. The caller frees, also after a failure. */
WEFT_CHECKED enum weft_code weft_uft_symbols_read(const struct weft_mapped *file,
                                                  struct weft_uft_module *module,
                                                  struct weft_err *err);
WEFT_CHECKED enum weft_code weft_uft_debug_read(const struct weft_mapped *file,
                                                struct weft_uft_module *module,
                                                struct weft_err *err);
void weft_uft_module_fini(struct weft_uft_module *module);

/* The function that an address within the module belongs to, or WEFT_UFT_NO_SYMBOL. O(log n). */
uint32_t weft_uft_symbol_at(const struct weft_uft_module *module, uint64_t address);

/* What debug information says about the function at `address`; NULL if nothing. */
const struct weft_uft_debug *weft_uft_debug_at(const struct weft_uft_module *module,
                                               uint64_t address);

#endif
