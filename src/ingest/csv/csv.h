/* SPDX-License-Identifier: MIT
 *
 * Tables of spans: rows with a start, an end or a duration, and a name; and, if they have them, a
 * thread, a process, a node, a category. docs/ingest/csv.md.
 */
#ifndef WEFT_INGEST_CSV_CSV_H
#define WEFT_INGEST_CSV_CSV_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the first line names the columns that spans need. */
bool weft_csv_sniff(const uint8_t *bytes, size_t n_bytes);

struct weft_csv_opts {
    const char *columns;     /* names of the columns, by comma; NULL: the first line has them */
    size_t sort_limit_bytes; /* rows held in memory while sorting; 0: the sorter's default */
};

/* Delivers every row as a call, threads in the order of their first one. A row that is no span is
 * skipped and counted; a table without any is an error with the line. Columns that do not suffice
 * are WEFT_E_ARG if `opts` named them, else WEFT_E_MALFORMED. `opts` may be NULL. Memory: the
 * sorter's limit, names, threads, and the depth of the deepest stack. */
WEFT_CHECKED enum weft_code weft_csv_import(const struct weft_mapped *file,
                                            const struct weft_csv_opts *opts,
                                            struct weft_sink *sink, const struct weft_run *run,
                                            struct weft_err *err);

#endif
