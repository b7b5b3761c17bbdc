/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a recording: as they are, or, where they begin with a P, as pieces (kind, bits,
 * stream, 2 bytes of process, 4 of time, 2 of length, the payload) that get right checksums. The
 * importer keeps the rules of the sink, gives the same a second time, and fails only with a reason.
 */
#include "base/cursor.h"
#include "checking_sink.h"
#include "ingest/recording/recording.h"
#include "recording_builder.h"

enum { MOST_UNPACKED_BYTES = 1 << 18, PACKED = 1, DAMAGED = 2, MOST_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void build(struct weft_cursor *cur, struct rb *file)
{
    rb_head(file);
    while (weft_cur_left(cur) >= 11) {
        const uint8_t kind = weft_cur_u8(cur), bits = weft_cur_u8(cur), stream = weft_cur_u8(cur);
        const uint16_t pid = weft_cur_u16(cur);
        const uint32_t time = weft_cur_u32(cur);
        size_t n_payload = weft_cur_u16(cur);
        n_payload = n_payload < weft_cur_left(cur) ? n_payload : weft_cur_left(cur);
        const uint8_t *payload = weft_cur_take(cur, n_payload);
        const size_t at = file->n_bytes;
        file->is_packed = bits & PACKED;
        rb_piece(file, (enum weft_piece_kind)kind, stream, pid, time, payload, n_payload);
        if (bits & DAMAGED)
            file->bytes[at + n_payload % (file->n_bytes - at)] ^= 1;
    }
}

static uint64_t import(const struct weft_mapped *file, enum weft_code *code)
{
    const struct weft_recording_opts opts = { .most_unpacked = MOST_UNPACKED_BYTES };
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    uint64_t checksum = 0;
    if (!sink)
        return 0;
    *code = weft_recording_import(file, &opts, &sink->sink, NULL, &err);
    if (*code == WEFT_OK) {
        check_complete(sink);
        check(sink->n_calls <= 2 * (file->n_bytes + MOST_UNPACKED_BYTES));
        checksum = sink->checksum;
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return checksum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct rb built = { 0 };
    struct weft_mapped file = { .bytes = n_bytes ? bytes : NULL, .n_bytes = n_bytes };
    enum weft_code first = WEFT_OK, second = WEFT_OK;
    if (n_bytes > MOST_BYTES)
        return 0;
    if (n_bytes && bytes[0] == 'P') {
        struct weft_cursor cur = weft_cur_init(bytes + 1, n_bytes - 1, 0);
        build(&cur, &built);
        file = (struct weft_mapped){ .bytes = built.bytes, .n_bytes = built.n_bytes };
    } else if (!weft_recording_sniff(bytes, n_bytes)) {
        return 0;
    }
    const uint64_t checksum = import(&file, &first);
    check(import(&file, &second) == checksum && first == second);
    rb_fini(&built);
    return 0;
}
