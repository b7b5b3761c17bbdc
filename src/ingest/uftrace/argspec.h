/* SPDX-License-Identifier: MIT
 *
 * What uftrace recorded with a call: arguments and return values. The data of a record has no
 * length of its own; it follows from the specification of its function.
 *
 *     add@arg1/i32,arg2;half@fparg1/64;name@retval/s
 */
#ifndef WEFT_INGEST_UFTRACE_ARGSPEC_H
#define WEFT_INGEST_UFTRACE_ARGSPEC_H

#include "base/error.h"
#include "base/str.h"
#include "ingest/uftrace/info.h"
#include "ingest/uftrace/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_UFT_MOST_ARGS = 16 };

struct weft_uft_arg {
    char format;      /* d i u x c f s p e t, as in the specification */
    uint16_t n_bytes; /* of the value; 0 with s and S, which carry their length */
};

/* The values of one call, in the order of the data. */
struct weft_uft_args {
    struct weft_uft_arg items[WEFT_UFT_MOST_ARGS];
    uint8_t n;
};

/* Reads "arg1/i32,arg2/s"; `rets` chooses the return values. False if it cannot be understood:
 * then the length of the data is unknown. An empty list is understood. */
bool weft_uft_args_parse(struct weft_str list, bool rets, struct weft_uft_args *args);

/* What was recorded at entry (or exit) of a function: by what the user asked for, debug
 * information, and uftrace's own list for the C library, in this order. Not *is_known if nothing
 * says. WEFT_E_LIMIT for a pattern beyond the limits of base/regex.h. */
WEFT_CHECKED enum weft_code weft_uft_args_of(const struct weft_uft_info *info,
                                             const struct weft_uft_module *module, uint32_t symbol,
                                             bool rets, struct weft_uft_args *args, bool *is_known,
                                             struct weft_err *err);

/* Bytes that the values take at the start of `n_bytes` bytes, with padding to 8; 0 if they do not
 * fit. */
size_t weft_uft_args_size(const struct weft_uft_args *args, const uint8_t *bytes, size_t n_bytes);

/* Writes the values as text, "5, \"hello\", 0x7ffe", cut at n_text bytes; the bytes written. The
 * data must hold them (weft_uft_args_size). *first is the first value's bits. */
size_t weft_uft_args_print(const struct weft_uft_args *args, const uint8_t *bytes, char *text,
                           size_t n_text, uint64_t *first);

#endif
