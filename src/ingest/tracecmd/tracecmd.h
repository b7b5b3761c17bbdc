/* SPDX-License-Identifier: MIT
 *
 * trace.dat, as trace-cmd writes it: versions 6 and 7, of either byte order, packed or not.
 * docs/ingest/tracecmd.md says what becomes of which event.
 */
#ifndef WEFT_INGEST_TRACECMD_TRACECMD_H
#define WEFT_INGEST_TRACECMD_TRACECMD_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the bytes begin like trace.dat. */
bool weft_tracecmd_sniff(const uint8_t *bytes, size_t n_bytes);

struct weft_tracecmd_opts {
    const char *beside;           /* a path; packed pages are unpacked into a file beside it */
    uint64_t most_unpacked_bytes; /* of packed sections and pages; 0: 2^40 */
};

/* Delivers the events of all CPUs in order of time; threads in the order in which they are met.
 * Events are read twice: to meet threads, and to deliver. Damage in pages is noted and counted; a
 * header that cannot be used is an error. `opts` may be NULL. Memory: formats of events, threads,
 * and what the sink holds. */
WEFT_CHECKED enum weft_code weft_tracecmd_import(const struct weft_mapped *file,
                                                 const struct weft_tracecmd_opts *opts,
                                                 struct weft_sink *sink, const struct weft_run *run,
                                                 struct weft_err *err);

#endif
