/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a CTF trace: two bytes of size, the metadata, and two streams of the rest, cut where
 * two more bytes say. The importer keeps the rules of the sink, delivers no more events than there
 * are bits, the same ones a second time, and fails only with a reason.
 */
#include "base/cursor.h"
#include "checking_sink.h"
#include "ingest/ctf/ctf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

struct outcome {
    enum weft_code code;
    uint64_t n_calls, n_events, checksum;
};

static struct outcome import(const struct ctf_input *input, size_t n_bytes)
{
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return (struct outcome){ 0 };
    struct outcome outcome = { .code = weft_ctf_import_inputs(input, 1, &sink->sink, NULL, &err) };
    if (outcome.code == WEFT_OK) {
        check_complete(sink);
        check(sink->n_events + sink->n_calls <= 8 * n_bytes);
        outcome.n_calls = sink->n_calls;
        outcome.n_events = sink->n_events;
        outcome.checksum = sink->checksum;
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return outcome;
}

static struct weft_mapped take_file(struct weft_cursor *cur, size_t n_most)
{
    const size_t n_file = n_most < weft_cur_left(cur) ? n_most : weft_cur_left(cur);
    const uint8_t *bytes = weft_cur_take(cur, n_file);
    return (struct weft_mapped){ .bytes = n_file ? bytes : NULL, .n_bytes = n_file };
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_cursor cur = weft_cur_init(bytes, n_bytes, 0);
    const size_t n_metadata = weft_cur_u16(&cur);
    const size_t n_first = weft_cur_u16(&cur);
    if (cur.fault)
        return 0;
    struct ctf_input input = { .path = "trace", .metadata = take_file(&cur, n_metadata) };
    struct ctf_stream_input streams[2] = { { .name = "a", .file = take_file(&cur, n_first) },
                                           { .name = "b", .file = take_file(&cur, SIZE_MAX) } };
    input.streams = streams;
    input.n_streams = 1 + (streams[1].file.n_bytes > 0);
    const struct outcome first = import(&input, n_bytes);
    const struct outcome second = import(&input, n_bytes);
    check(first.code == second.code && first.n_calls == second.n_calls &&
          first.n_events == second.n_events && first.checksum == second.checksum);
    return 0;
}
