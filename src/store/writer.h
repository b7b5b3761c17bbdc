/* SPDX-License-Identifier: MIT
 *
 * Writes a .weft file (docs/format.md): implements the sink, balances calls, encodes blocks in the
 * worker that filled them and appends them in (thread, block) order when the source is parallel, in
 * arrival order otherwise; finished blocks of threads that are not next wait in memory up to a
 * bound and then in an unlinked temporary file. The bytes do not depend on the number of workers.
 */
#ifndef WEFT_STORE_WRITER_H
#define WEFT_STORE_WRITER_H

#include "base/error.h"
#include "base/pool.h"
#include "schema/sink.h"

struct weft_writer;

struct weft_writer_opts {
    const char *source_name;      /* base name of the input, metadata only; may be NULL */
    uint64_t bytes_in;            /* size of the input, metadata only */
    uint64_t memory_bytes;        /* ceiling that all share, of which it takes some; 0: none */
    uint64_t backlog_limit_bytes; /* finished blocks kept in memory; 0: a share, at most 64 MiB */
    uint32_t block_rows;          /* 0: the format's default */
    uint32_t block_events;        /* likewise */
    uint32_t cell_rows;           /* of a level of detail (lod.h); likewise */
};

struct weft_writer_totals {
    uint64_t bytes_out, n_threads, n_functions, calls, cut_calls, events, duration_ns;
};

WEFT_CHECKED enum weft_code weft_writer_open(const char *path, const struct weft_writer_opts *opts,
                                             struct weft_writer **writer, struct weft_err *err);

/* The sink of this writer; lives as long as it. */
struct weft_sink *weft_writer_sink(struct weft_writer *writer);

/* Ends every thread still open, writes directory and footer, renames into place, and frees. Frees
 * on failure too (the old file stays). `totals` may be NULL. */
WEFT_CHECKED enum weft_code weft_writer_commit(struct weft_writer *writer,
                                               struct weft_writer_totals *totals,
                                               struct weft_err *err);

/* Removes the temporary and frees; NULL is allowed. */
void weft_writer_abort(struct weft_writer *writer);

#endif
