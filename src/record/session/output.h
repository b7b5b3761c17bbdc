/* SPDX-License-Identifier: MIT
 *
 * Where pieces go: to the file of the recording, or, of a flight recorder, into memory, from which
 * the last seconds are written when that is asked for.
 */
#ifndef WEFT_RECORD_SESSION_OUTPUT_H
#define WEFT_RECORD_SESSION_OUTPUT_H

#include "base/error.h"
#include "base/str.h"
#include "schema/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session_output;

struct session_output_opts {
    const char *path;
    uint64_t size_bytes;  /* of a file, or of the flight recorder's memory; 0: no limit, 256 MiB */
    uint64_t snapshot_ns; /* flight recorder: how much is kept; 0: none */
};

/* Creates the file, unless it is a flight recorder. WEFT_E_IO, WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code session_output_open(const struct session_output_opts *opts,
                                                struct session_output **output,
                                                struct weft_err *err);

/* Appends a piece of two parts, one after the other, to what will be flushed. Where a file cannot
 * take more (disk full, a limit), it says so once, and takes nothing any more: WEFT_E_IO. */
WEFT_CHECKED enum weft_code session_put(struct session_output *output, enum weft_piece_kind kind,
                                        uint32_t stream, uint32_t pid, struct weft_str front,
                                        struct weft_str payload, struct weft_err *err);

/* Hands to the system what was put; begins the next file if this one is full. */
WEFT_CHECKED enum weft_code session_flush(struct session_output *output, struct weft_err *err);

/* Flight recorder: writes what it keeps to the next file. `*path`: its, valid until the next one;
 * NULL of one that is none. */
WEFT_CHECKED enum weft_code session_snapshot(struct session_output *output, struct weft_str why,
                                             const char **path, struct weft_err *err);

/* Ends the recording in order. */
WEFT_CHECKED enum weft_code session_output_end(struct session_output *output, struct weft_str why,
                                               struct weft_err *err);
void session_output_close(struct session_output *output); /* NULL is allowed */

uint64_t session_output_bytes(const struct session_output *output);
/* Of what was put, what a file could not take. */
uint64_t session_output_unwritten(const struct session_output *output);
/* The files that were written, oldest first. */
size_t session_output_n_files(const struct session_output *output);
const char *session_output_file(const struct session_output *output, size_t place);

#endif
