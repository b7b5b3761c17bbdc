/* SPDX-License-Identifier: MIT
 *
 * Any bytes as text of perf script or ftrace. The importer keeps the rules of the sink and fails
 * only with a reason; bytes that the sniffer takes have an event.
 */
#include "checking_sink.h"
#include "ingest/ftrace/ftrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    const struct weft_mapped file = { .bytes = n_bytes ? bytes : NULL, .n_bytes = n_bytes };
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return 0;
    if (weft_ftrace_import(&file, &sink->sink, NULL, &err) == WEFT_OK) {
        check_complete(sink);
    } else {
        check(err.text[0] != '\0');
        check(!weft_ftrace_sniff(bytes, n_bytes));
    }
    free(sink);
    return 0;
}
