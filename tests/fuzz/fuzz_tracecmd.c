/* SPDX-License-Identifier: MIT
 *
 * Any bytes as trace.dat. The importer keeps the rules of the sink, delivers no more than the bytes
 * can hold, packed ones included, the same a second time, and fails only with a reason.
 */
#include "checking_sink.h"
#include "ingest/tracecmd/tracecmd.h"

enum { MOST_UNPACKED_BYTES = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

struct outcome {
    enum weft_code code;
    uint64_t n_events, checksum;
};

static struct outcome import(const struct weft_mapped *file, const struct weft_tracecmd_opts *opts)
{
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return (struct outcome){ 0 };
    struct outcome outcome = { .code = weft_tracecmd_import(file, opts, &sink->sink, NULL, &err) };
    if (outcome.code == WEFT_OK) {
        check_complete(sink);
        check(sink->n_calls == 0 && sink->n_events <= file->n_bytes + MOST_UNPACKED_BYTES);
        outcome.n_events = sink->n_events;
        outcome.checksum = sink->checksum;
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    const struct weft_mapped file = { .bytes = n_bytes ? bytes : NULL, .n_bytes = n_bytes };
    const struct weft_tracecmd_opts opts = { .most_unpacked_bytes = MOST_UNPACKED_BYTES };
    if (!weft_tracecmd_sniff(bytes, n_bytes))
        return 0;
    const struct outcome first = import(&file, &opts);
    const struct outcome second = import(&file, &opts);
    check(first.code == second.code && first.n_events == second.n_events &&
          first.checksum == second.checksum);
    return 0;
}
