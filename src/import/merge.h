/* SPDX-License-Identifier: MIT
 *
 * Makes one trace of several (docs/ingest/inputs.md): times aligned by a clock that all have,
 * functions of the same name joined, and threads that both a kernel and a program recorded.
 */
#ifndef WEFT_IMPORT_MERGE_H
#define WEFT_IMPORT_MERGE_H

#include "base/error.h"
#include "base/pool.h"
#include "import/input.h"
#include "store/reader.h"
#include "store/writer.h"

#include <stddef.h>
#include <stdint.h>

/* How traces came to one time. */
enum weft_alignment {
    WEFT_ALIGNED_MONOTONIC, /* CLOCK_MONOTONIC of one host, since one boot */
    WEFT_ALIGNED_REALTIME,  /* the wall clocks */
    WEFT_ALIGNED_NOT,       /* each begins at 0 */
    WEFT_ALIGNED_PACKETS,   /* packets between hosts (import/clock_sync.h) */
};

struct weft_merge_input {
    struct weft_store *store;
    const char *name;               /* in notes and the source's name */
    int64_t offset_ns;              /* added to its times, on whatever clock */
    const struct weft_input *lossy; /* what it was opened from, to note losses; or NULL */
};

/* Chooses the clock, and by how much each trace is later than the earliest: shifts_ns has n_inputs
 * elements. `*clock` becomes the clock of the merged trace. */
enum weft_alignment weft_merge_align(const struct weft_merge_input *inputs, size_t n_inputs,
                                     uint64_t *shifts_ns, struct weft_clock *clock);

/* Hosts whose kernels recorded packets between them are set to one clock, unless there are offsets.
 * Writes the traces, threads in order of the inputs, as one. Does not depend on the number of
 * workers. The output appears whole or not at all. */
WEFT_CHECKED enum weft_code weft_merge_stores(const struct weft_merge_input *inputs,
                                              size_t n_inputs, const char *output,
                                              const struct weft_run *run,
                                              struct weft_writer_totals *totals,
                                              struct weft_err *err);

/* If a trace is of several hosts whose clocks packets can set, writes it again with them set. */
WEFT_CHECKED enum weft_code weft_merge_hosts(const char *path, const struct weft_run *run,
                                             struct weft_writer_totals *totals,
                                             struct weft_err *err);

struct weft_merge_opts {
    const char *const *inputs; /* .weft files, in any form of import/input.h */
    size_t n_inputs;
    const char *output;
    const int64_t *offsets_ns; /* by input, added to its times; NULL: none */
    uint64_t memory_bytes;     /* as for import */
};

WEFT_CHECKED enum weft_code weft_merge_run(const struct weft_merge_opts *opts,
                                           const struct weft_run *run,
                                           struct weft_writer_totals *totals, struct weft_err *err);

#endif
