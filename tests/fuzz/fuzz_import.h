/* SPDX-License-Identifier: MIT
 *
 * What any importer of events promises, whatever the bytes: it keeps the rules of the sink,
 * delivers no more than the bytes can hold, the same a second time, and fails only with a reason.
 */
#ifndef WEFT_TESTS_FUZZ_IMPORT_H
#define WEFT_TESTS_FUZZ_IMPORT_H

#include "base/file.h"
#include "checking_sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

/* An importer with the limits that it is tried with. */
typedef enum weft_code fuzz_importer(const struct weft_mapped *file, struct weft_sink *sink,
                                     struct weft_err *err);

struct fuzz_outcome {
    enum weft_code code;
    uint64_t n_events, checksum;
};

static struct fuzz_outcome fuzz_once(const struct weft_mapped *file, fuzz_importer *import,
                                     uint64_t most_events)
{
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return (struct fuzz_outcome){ 0 };
    struct fuzz_outcome outcome = { .code = import(file, &sink->sink, &err) };
    if (outcome.code == WEFT_OK) {
        check_complete(sink);
        check(sink->n_calls == 0 && sink->n_events <= most_events);
        outcome.n_events = sink->n_events;
        outcome.checksum = sink->checksum;
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return outcome;
}

/* What the import gave. `most_unpacked`: bytes that packed ones may become. */
static enum weft_code fuzz_import(const uint8_t *bytes, size_t n_bytes, fuzz_importer *import,
                                  uint64_t most_unpacked)
{
    const struct weft_mapped file = { .bytes = n_bytes ? bytes : NULL, .n_bytes = n_bytes };
    const struct fuzz_outcome first = fuzz_once(&file, import, n_bytes + most_unpacked);
    const struct fuzz_outcome second = fuzz_once(&file, import, n_bytes + most_unpacked);
    check(first.code == second.code && first.n_events == second.n_events &&
          first.checksum == second.checksum);
    return first.code;
}

#endif
