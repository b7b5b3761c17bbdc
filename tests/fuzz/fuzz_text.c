/* SPDX-License-Identifier: MIT
 *
 * Any bytes as one or two text traces: a zero byte separates the files. The importer keeps the
 * rules of the sink and fails only with a reason; text that is taken has a first line that the
 * sniffer takes too.
 */
#include "checking_sink.h"
#include "ingest/text/text.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    const uint8_t *split = n_bytes ? memchr(bytes, 0, n_bytes) : NULL;
    size_t n_first = split ? (size_t)(split - bytes) : n_bytes;
    const struct weft_text_input inputs[] = {
        { .file = { .bytes = n_first ? bytes : NULL, .n_bytes = n_first }, .path = "first-1.txt" },
        { .file = { .bytes = split ? split + 1 : NULL, .n_bytes = n_bytes - n_first - !!split },
          .path = "second-1.txt" },
    };
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return 0;
    if (weft_text_import(inputs, split ? 2 : 1, &sink->sink, NULL, &err) == WEFT_OK) {
        check_complete(sink);
        check(sink->n_calls <= n_bytes && weft_text_sniff(bytes, n_first));
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return 0;
}
