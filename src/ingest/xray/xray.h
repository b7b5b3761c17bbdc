/* SPDX-License-Identifier: MIT
 *
 * LLVM XRay logs: flight data recorder (FDR, versions 1 to 5) and basic mode. docs/ingest/xray.md
 * names the sources of the format, and what is repaired or lost.
 */
#ifndef WEFT_INGEST_XRAY_XRAY_H
#define WEFT_INGEST_XRAY_XRAY_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the first bytes can begin an XRay log. Reads at most 32 bytes. */
bool weft_xray_sniff(const uint8_t *bytes, size_t n_bytes);

/* Where names come from; at most one of them is given. Ids without a name stay #id. */
struct weft_xray_opts {
    const char *binary_path; /* the instrumented ELF program */
    const char *map_path;    /* `llvm-xray extract` YAML, or TSV (id, address, name) */
};

/* Delivers the whole log: clock, functions, threads in the order of their first time stamp (ties by
 * tid), calls in parallel by thread. Peak memory O(buffers + functions + workers). */
WEFT_CHECKED enum weft_code weft_xray_import(const struct weft_mapped *log,
                                             const struct weft_xray_opts *opts,
                                             struct weft_sink *sink, const struct weft_run *run,
                                             struct weft_err *err);

#endif
