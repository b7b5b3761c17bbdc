/* SPDX-License-Identifier: MIT
 *
 * Any bytes as the metadata of a CTF trace whose one stream is zeros: they are refused with a
 * reason, or become plans that decode.
 */
#include "checking_sink.h"
#include "ingest/ctf/ctf.h"
#include "ingest/ctf/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    static const uint8_t zeros[512];
    const struct ctf_stream_input stream = { .name = "stream",
                                             .file = { .bytes = zeros, .n_bytes = sizeof zeros } };
    const struct ctf_input input = { .path = "trace",
                                     .metadata = { .bytes = n_bytes ? bytes : NULL,
                                                   .n_bytes = n_bytes },
                                     .streams = &stream,
                                     .n_streams = 1 };
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return 0;
    (void)ctf_metadata_sniff(bytes, n_bytes);
    if (weft_ctf_import_inputs(&input, 1, &sink->sink, NULL, &err) == WEFT_OK) {
        check_complete(sink);
        check(sink->n_events + sink->n_calls <= 8 * sizeof zeros);
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return 0;
}
