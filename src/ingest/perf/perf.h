/* SPDX-License-Identifier: MIT
 *
 * perf.data, as `perf record` writes it: to a file or to a pipe, of either byte order.
 * docs/ingest/perf.md says what becomes of which record.
 */
#ifndef WEFT_INGEST_PERF_PERF_H
#define WEFT_INGEST_PERF_PERF_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the bytes begin like perf.data. */
bool weft_perf_sniff(const uint8_t *bytes, size_t n_bytes);

struct weft_perf_opts {
    const char *beside;      /* a path; packed records are unpacked into a file beside it */
    const char *program_dir; /* programs are looked for here first, by their last name; or NULL */
    bool reads_programs;     /* names of functions come from the programs on this machine */
    uint64_t most_queued;    /* records that wait to be sorted; 0: 2^23 */
    uint64_t most_kept;      /* records whose order is kept from reading to reading; 0: 2^20 */
    uint64_t most_unpacked_bytes; /* of packed records; 0: 2^40 */
};

/* Delivers tracepoints as events of the kernel, samples, and what records contain of threads, in
 * order of time; threads in the order in which they are met. Records are read three times: to look
 * over the file, to meet threads, and to deliver. Damage is noted and counted; a header that cannot
 * be used is an error. `opts` may be NULL. Memory: formats of events, maps and symbols of programs,
 * threads, stacks, and 16 bytes for each record that waits to be sorted or whose order is kept. */
WEFT_CHECKED enum weft_code weft_perf_import(const struct weft_mapped *file,
                                             const struct weft_perf_opts *opts,
                                             struct weft_sink *sink, const struct weft_run *run,
                                             struct weft_err *err);

#endif
