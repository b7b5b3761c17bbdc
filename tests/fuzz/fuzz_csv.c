/* SPDX-License-Identifier: MIT
 *
 * Any bytes as CSV of spans: what stands before a zero byte, if there is one, names the columns.
 * The importer keeps the rules of the sink, fails only with a reason, and delivers the same
 * whatever room there is to sort.
 */
#include "checking_sink.h"
#include "ingest/csv/csv.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

struct outcome {
    enum weft_code code;
    uint64_t n_calls, n_events, checksum;
};

static struct outcome import(const struct weft_mapped *file, const struct weft_csv_opts *opts)
{
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return (struct outcome){ 0 };
    struct outcome outcome = { .code = weft_csv_import(file, opts, &sink->sink, NULL, &err) };
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
    const char *split = n_bytes ? memchr(bytes, 0, n_bytes) : NULL;
    size_t n_columns = split ? (size_t)(split - (const char *)bytes) + 1 : 0;
    const struct weft_mapped file = { .bytes = n_bytes > n_columns ? bytes + n_columns : NULL,
                                      .n_bytes = n_bytes - n_columns };
    (void)weft_csv_sniff(file.bytes, (size_t)file.n_bytes);
    const char *columns = split ? (const char *)bytes : NULL;
    struct outcome whole = import(&file, &(struct weft_csv_opts){ .columns = columns });
    struct outcome spilled =
        import(&file, &(struct weft_csv_opts){ .columns = columns, .sort_limit_bytes = 400 });
    check(whole.code == spilled.code && whole.n_calls == spilled.n_calls &&
          whole.n_events == spilled.n_events && whole.checksum == spilled.checksum);
    return 0;
}
