/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an XRay log. The importer keeps the rules of the sink, reports no more calls than
 * the bytes can hold, and fails only with a reason.
 */
#include "checking_sink.h"
#include "ingest/xray/xray.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    const struct weft_mapped file = { .bytes = n_bytes ? bytes : NULL, .n_bytes = n_bytes };
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return 0;
    (void)weft_xray_sniff(bytes, n_bytes < 32 ? n_bytes : 32);
    if (weft_xray_import(&file, NULL, &sink->sink, NULL, &err) == WEFT_OK) {
        check_complete(sink);
        check(sink->n_calls <= n_bytes / 8 && sink->n_payload_bytes <= n_bytes);
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return 0;
}
