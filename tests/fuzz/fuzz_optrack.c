/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a set of OpTrack files: a byte that chooses the name, two bytes of size, the file.
 * The importer keeps the rules of the sink, reports no more calls than the records can hold (and
 * cut at the edges of runs), and fails only with a reason.
 */
#include "base/cursor.h"
#include "checking_sink.h"
#include "ingest/optrack/optrack.h"

enum { MOST_FILES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    static const char *const names[] = { "optrack.0000000001.0000000002",
                                         "optrack.1.2",
                                         "optrack-map.1",
                                         "d/optrack.2.7",
                                         "optrack-map.2",
                                         "odd" };
    struct weft_optrack_input inputs[MOST_FILES];
    struct weft_cursor cur = weft_cur_init(bytes, n_bytes, 0);
    size_t n_inputs = 0;
    while (n_inputs < MOST_FILES && weft_cur_left(&cur) >= 3) {
        uint8_t name = weft_cur_u8(&cur);
        size_t n_file = weft_cur_u16(&cur);
        n_file = n_file < weft_cur_left(&cur) ? n_file : weft_cur_left(&cur);
        const uint8_t *file = weft_cur_take(&cur, n_file);
        inputs[n_inputs++] = (struct weft_optrack_input){
            .file = { .bytes = n_file ? file : NULL, .n_bytes = n_file },
            .path = names[name % (sizeof names / sizeof *names)],
        };
        (void)weft_optrack_sniff(file, n_file);
    }
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return 0;
    if (weft_optrack_import(inputs, n_inputs, NULL, &sink->sink, NULL, &err) == WEFT_OK) {
        check_complete(sink);
        check(sink->n_calls <= n_bytes / 8);
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return 0;
}
