/* SPDX-License-Identifier: MIT
 *
 * Text traces, in two forms (docs/ingest/text.md): lines "direction name ns", direction 0 for entry
 * and 1 for exit, one file a thread; and TimeSquared's lines "--> name tid ns object".
 */
#ifndef WEFT_INGEST_TEXT_TEXT_H
#define WEFT_INGEST_TEXT_TEXT_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the first line (within the bytes given) is a line of either form. An empty file is not
 * text. */
bool weft_text_sniff(const uint8_t *bytes, size_t n_bytes);

/* One input of several that become one trace. The lines of file k that name no thread are one
 * thread: its name is the file's base name without extension; its tid is the last number in that
 * name if it has one, else k + 1. Threads that lines name follow in order of their first lines. */
struct weft_text_input {
    struct weft_mapped file;
    const char *path; /* for errors */
    const char *name; /* what the thread is named by, as a path; NULL: the path */
};

/* Time 0 of the trace is the smallest time of all files. A line that is no record is an error with
 * its line number and reason. */
WEFT_CHECKED enum weft_code weft_text_import(const struct weft_text_input *inputs, size_t n_inputs,
                                             struct weft_sink *sink, const struct weft_run *run,
                                             struct weft_err *err);

#endif
