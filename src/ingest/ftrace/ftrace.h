/* SPDX-License-Identifier: MIT
 *
 * Text that perf and ftrace print: `perf script`, /sys/kernel/tracing/trace, `trace-cmd report`. A
 * line is an event of the kernel, or a sample with the lines of its stack below
 * (docs/ingest/ftrace.md).
 */
#ifndef WEFT_INGEST_FTRACE_FTRACE_H
#define WEFT_INGEST_FTRACE_FTRACE_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if a line within the bytes given is an event, after comments only. */
bool weft_ftrace_sniff(const uint8_t *bytes, size_t n_bytes);

/* Reads the text twice, in one pass each; memory for threads and kinds of events only. Lines that
 * are no events are counted and noted. WEFT_E_MALFORMED if there is no event at all. */
WEFT_CHECKED enum weft_code weft_ftrace_import(const struct weft_mapped *file,
                                               struct weft_sink *sink, const struct weft_run *run,
                                               struct weft_err *err);

#endif
