/* SPDX-License-Identifier: MIT
 *
 * Common Trace Format 1.8 and 2, as LTTng, babeltrace2, barectf, perf and others write it.
 * docs/ingest/ctf.md says what becomes of which event.
 */
#ifndef WEFT_INGEST_CTF_CTF_H
#define WEFT_INGEST_CTF_CTF_H

#include "base/error.h"
#include "base/pool.h"
#include "ingest/ctf/reader.h"
#include "schema/sink.h"

#include <stdbool.h>

/* True for a directory that holds CTF, itself or below. */
bool weft_ctf_sniff_dir(const char *path);

/* Delivers the events of all traces in the directory in order of time; threads in the order in
 * which they are mentioned. Events are read twice. Damage in streams is noted and counted; an error
 * in metadata is an error, with file, line and what was expected. Memory: metadata, 64 bytes a
 * packet, threads, and what the sink holds. */
WEFT_CHECKED enum weft_code weft_ctf_import(const char *path, struct weft_sink *sink,
                                            const struct weft_run *run, struct weft_err *err);

/* The same of inputs in memory. */
WEFT_CHECKED enum weft_code weft_ctf_import_inputs(const struct ctf_input *inputs, size_t n_inputs,
                                                   struct weft_sink *sink,
                                                   const struct weft_run *run,
                                                   struct weft_err *err);

#endif
