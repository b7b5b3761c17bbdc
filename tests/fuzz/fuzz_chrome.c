/* SPDX-License-Identifier: MIT
 *
 * Any bytes as trace event JSON, with room for few records, so that sorting goes through its file
 * too. The importer keeps the rules of the sink, fails only with a reason, and delivers the same
 * whatever the room.
 */
#include "checking_sink.h"
#include "ingest/chrome/chrome.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

/* What the sink counted, or zeros after a failure. */
struct outcome {
    enum weft_code code;
    uint64_t n_calls, n_events, checksum;
};

static struct outcome import(const struct weft_mapped *file, size_t limit_bytes)
{
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return (struct outcome){ 0 };
    const struct weft_chrome_opts opts = { .sort_limit_bytes = limit_bytes };
    struct outcome outcome = { .code = weft_chrome_import(file, &opts, &sink->sink, NULL, &err) };
    if (outcome.code == WEFT_OK) {
        check_complete(sink);
        check(sink->n_calls <= file->n_bytes);
        outcome.n_calls = sink->n_calls;
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
    (void)weft_chrome_sniff(bytes, n_bytes);
    struct outcome whole = import(&file, 0);
    struct outcome spilled = import(&file, 400);
    check(whole.code == spilled.code && whole.n_calls == spilled.n_calls &&
          whole.n_events == spilled.n_events && whole.checksum == spilled.checksum);
    return 0;
}
