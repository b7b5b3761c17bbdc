/* SPDX-License-Identifier: MIT
 *
 * Decompresses one part of a version 7 file, whose size the file states and sections.c has limited.
 * A result of another size is damage.
 */
#include "ingest/tracecmd/file.h"

#include <zlib.h>
#include <zstd.h>

bool tracecmd_unpack(struct weft_str packing, struct weft_str packed, uint8_t *out, size_t n_out)
{
    if (weft_str_equal(packing, WEFT_STR("zstd"))) {
        const size_t n_done = ZSTD_decompress(out, n_out, packed.bytes, packed.n_bytes);
        return !ZSTD_isError(n_done) && n_done == n_out;
    }
    if (weft_str_equal(packing, WEFT_STR("zlib"))) {
        uLongf n_done = n_out;
        return uncompress(out, &n_done, (const Bytef *)packed.bytes, packed.n_bytes) == Z_OK &&
               n_done == n_out;
    }
    return false;
}
