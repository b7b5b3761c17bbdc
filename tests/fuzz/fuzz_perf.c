/* SPDX-License-Identifier: MIT
 *
 * Any bytes as perf.data.
 */
#include "fuzz_import.h"
#include "ingest/perf/perf.h"

enum { MOST_UNPACKED_BYTES = 1 << 18 };

static enum weft_code import(const struct weft_mapped *file, struct weft_sink *sink,
                             struct weft_err *err)
{
    const struct weft_perf_opts opts = { .most_unpacked_bytes = MOST_UNPACKED_BYTES };
    return weft_perf_import(file, &opts, sink, NULL, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    if (weft_perf_sniff(bytes, n_bytes))
        (void)fuzz_import(bytes, n_bytes, import, MOST_UNPACKED_BYTES);
    return 0;
}
