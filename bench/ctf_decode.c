/* SPDX-License-Identifier: MIT
 *
 * Measures reading of CTF: metadata and plans; these and all events, every field (which is what
 * `babeltrace2 -o dummy` does); and the import into a .weft file.
 *
 * usage: ctf_decode RUNS OUTPUT DIRECTORY...   (prints one JSON object a directory: the best of the
 * runs, in ns of processor time an event, so that a busy machine does not count)
 */
#include "ingest/ctf/ctf.h"
#include "ingest/ctf/folders.h"
#include "measure.h"
#include "store/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct result {
    uint64_t n_events, bytes_out;
    uint64_t open_ns, decode_ns, import_ns; /* the best */
};

static void keep_best(uint64_t *best_ns, uint64_t begin_ns)
{
    const uint64_t ns = bench_cpu_ns() - begin_ns;
    if (*best_ns == 0 || ns < *best_ns)
        *best_ns = ns;
}

static enum weft_code decode(const char *path, struct result *result, struct weft_err *err)
{
    const uint64_t begin_ns = bench_cpu_ns();
    struct ctf_folders folders;
    struct ctf_reader reader = { 0 };
    struct ctf_event event;
    bool is_end = false;
    enum weft_code code = ctf_folders_open(path, &folders, err);
    if (code == WEFT_OK)
        code = ctf_reader_open(folders.inputs, folders.n, NULL, &reader, err);
    keep_best(&result->open_ns, begin_ns);
    for (result->n_events = 0; code == WEFT_OK && !is_end; result->n_events += !is_end)
        code = ctf_reader_next(&reader, &event, &is_end, err);
    ctf_reader_close(&reader);
    ctf_folders_close(&folders);
    keep_best(&result->decode_ns, begin_ns);
    return code;
}

static enum weft_code import(const char *path, const char *output, struct result *result,
                             struct weft_err *err)
{
    const uint64_t begin_ns = bench_cpu_ns();
    const struct weft_writer_opts opts = { .source_name = "bench" };
    struct weft_writer_totals totals = { 0 };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(output, &opts, &writer, err);
    if (code != WEFT_OK)
        return code;
    code = weft_ctf_import(path, weft_writer_sink(writer), NULL, err);
    if (code == WEFT_OK) {
        code = weft_writer_commit(writer, &totals, err);
        result->bytes_out = totals.bytes_out;
        keep_best(&result->import_ns, begin_ns);
    } else {
        weft_writer_abort(writer);
    }
    return code;
}

static enum weft_code measure(const char *path, const char *output, unsigned long n_runs,
                              struct weft_err *err)
{
    struct result result = { 0 };
    enum weft_code code = WEFT_OK;
    for (unsigned long run = 0; code == WEFT_OK && run < n_runs; run++) {
        code = decode(path, &result, err);
        if (code == WEFT_OK)
            code = import(path, output, &result, err);
    }
    const double per_event = result.n_events ? 1.0 / (double)result.n_events : 0;
    if (code == WEFT_OK)
        printf("{\"trace\":\"%s\",\"events\":%" PRIu64 ",\"open_ms\":%.2f,\"decode_ns\":%.1f,"
               "\"import_ns\":%.1f,\"bytes\":%.2f}\n",
               path, result.n_events, (double)result.open_ns / 1e6,
               (double)result.decode_ns * per_event, (double)result.import_ns * per_event,
               (double)result.bytes_out * per_event);
    return code;
}

int main(int argc, char **argv)
{
    const unsigned long n_runs = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
    if (n_runs < 1) {
        (void)fprintf(stderr, "usage: ctf_decode RUNS OUTPUT DIRECTORY...\n");
        return 2;
    }
    for (int k = 3; k < argc; k++) {
        struct weft_err err = { 0 };
        if (measure(argv[k], argv[2], n_runs, &err) != WEFT_OK) {
            char text[1024];
            weft_err_print(&err, text, sizeof text);
            (void)fprintf(stderr, "ctf_decode: %s\n", text);
            return 1;
        }
    }
    return 0;
}
