/* SPDX-License-Identifier: MIT
 *
 * The file "info": a header of 40 bytes, and lines "key:value".
 */
#ifndef WEFT_INGEST_UFTRACE_INFO_H
#define WEFT_INGEST_UFTRACE_INFO_H

#include "base/error.h"
#include "base/file.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { WEFT_UFT_HEADER_BYTES = 40 };

/* Bits of the header's feature mask. */
enum weft_uft_feature {
    WEFT_UFT_KERNEL = 1 << 2,
    WEFT_UFT_SYM_REL_ADDR = 1 << 5, /* symbols are relative to the module's mapping */
    WEFT_UFT_ESTIMATE_RETURN = 1 << 11,
};

enum weft_uft_pattern { WEFT_UFT_SIMPLE, WEFT_UFT_REGEX, WEFT_UFT_GLOB };

struct weft_uft_info {
    uint32_t version;
    uint64_t features;
    uint16_t max_stack;
    enum weft_uft_pattern pattern;
    bool has_auto_args;
    bool is_monotonic; /* recorded with CLOCK_MONOTONIC */
    /* Lists of what was recorded with calls; views of the file. */
    struct weft_str args, rets, auto_args, auto_rets;
    struct weft_str writer; /* "v0.13" */
};

/* True if the bytes begin with the magic. */
bool weft_uft_is_info(const uint8_t *bytes, size_t n_bytes);

/* TRUNCATED, MALFORMED, or UNSUPPORTED: another version, 32 bits, big endian. */
WEFT_CHECKED enum weft_code weft_uft_info_read(const struct weft_mapped *file,
                                               struct weft_uft_info *info, struct weft_err *err);

#endif
