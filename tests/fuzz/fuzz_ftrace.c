/* SPDX-License-Identifier: MIT
 *
 * Any bytes as text of perf script or ftrace; those that the sniffer takes have an event.
 */
#include "fuzz_import.h"
#include "ingest/ftrace/ftrace.h"

static enum weft_code import(const struct weft_mapped *file, struct weft_sink *sink,
                             struct weft_err *err)
{
    return weft_ftrace_import(file, sink, NULL, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    check(fuzz_import(bytes, n_bytes, import, 0) == WEFT_OK || !weft_ftrace_sniff(bytes, n_bytes));
    return 0;
}
