/* SPDX-License-Identifier: MIT
 *
 * Any bytes as trace.dat.
 */
#include "fuzz_import.h"
#include "ingest/tracecmd/tracecmd.h"

enum { MOST_UNPACKED_BYTES = 1 << 18 };

static enum weft_code import(const struct weft_mapped *file, struct weft_sink *sink,
                             struct weft_err *err)
{
    const struct weft_tracecmd_opts opts = { .most_unpacked_bytes = MOST_UNPACKED_BYTES };
    return weft_tracecmd_import(file, &opts, sink, NULL, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    if (weft_tracecmd_sniff(bytes, n_bytes))
        (void)fuzz_import(bytes, n_bytes, import, MOST_UNPACKED_BYTES);
    return 0;
}
