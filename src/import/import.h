/* SPDX-License-Identifier: MIT
 *
 * Detects the format of the inputs by content and joins the importer to a store writer.
 */
#ifndef WEFT_IMPORT_IMPORT_H
#define WEFT_IMPORT_IMPORT_H

#include "base/error.h"
#include "base/pool.h"
#include "store/writer.h"

#include <stddef.h>

struct weft_import_opts {
    const char *const *inputs; /* see import/input.h for what they may be */
    size_t n_inputs;
    const char *output;        /* path of the .weft file */
    const char *binary_path;   /* names: the instrumented program; may be NULL */
    const char *map_path;      /* names: YAML or TSV; may be NULL */
    const char *symbols_path;  /* programs and libraries, for names; may be NULL */
    const int64_t *offsets_ns; /* by input, where they become several traces; NULL: none */
    const char *columns;       /* of CSV: their names; NULL: the first line has them */
    uint64_t memory_bytes;     /* ceiling for unpacking; 0: none */
};

/* Inputs that do not become one trace by themselves (of several formats, or of one that takes one
 * input only) are imported one by one and merged (import/merge.h). An unknown format is
 * WEFT_E_UNSUPPORTED with the first bytes and the formats that are known. The output appears whole
 * or not at all. */
WEFT_CHECKED enum weft_code weft_import_run(const struct weft_import_opts *opts,
                                            const struct weft_run *run,
                                            struct weft_writer_totals *totals,
                                            struct weft_err *err);

/* The format of a trace that weft_import_run would read, "perf.data"; NULL: of none that is seen by
 * its first bytes as they are, or it cannot be read. */
const char *weft_import_format(const char *path);

#endif
