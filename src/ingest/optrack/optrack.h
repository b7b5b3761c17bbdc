/* SPDX-License-Identifier: MIT
 *
 * WiredTiger's operation tracking: a file of records for each session, and a map of operation ids
 * to function names for each process. docs/ingest/optrack.md.
 */
#ifndef WEFT_INGEST_OPTRACK_OPTRACK_H
#define WEFT_INGEST_OPTRACK_OPTRACK_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the bytes begin a file of records, or a map. */
bool weft_optrack_sniff(const uint8_t *bytes, size_t n_bytes);

/* True if the directory holds a file "optrack.*" of records. */
bool weft_optrack_sniff_dir(const char *path);

/* A file of records or a map, in any order. Its name contains process and session
 * ("optrack.0000004474.0000000017", "optrack-map.0000004474"). */
struct weft_optrack_input {
    struct weft_mapped file;
    const char *path;
};

struct weft_optrack_opts {
    const char *map_path;    /* the map of all processes; NULL: those among the inputs */
    bool looks_beside_files; /* without map_path: also opens "optrack-map.PID" beside a file */
};

/* One thread a session. A map that cannot be read is an error with its line; damage in records is
 * counted in notes. Without a map, functions are "#id". */
WEFT_CHECKED enum weft_code weft_optrack_import(const struct weft_optrack_input *inputs,
                                                size_t n_inputs,
                                                const struct weft_optrack_opts *opts,
                                                struct weft_sink *sink, const struct weft_run *run,
                                                struct weft_err *err);

/* The files "optrack*" of a directory. */
WEFT_CHECKED enum weft_code weft_optrack_import_dir(const char *path, const char *map_path,
                                                    struct weft_sink *sink,
                                                    const struct weft_run *run,
                                                    struct weft_err *err);

#endif
