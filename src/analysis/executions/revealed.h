/* SPDX-License-Identifier: MIT
 *
 * What a trace would reveal to its readers: command line, hosts, users, paths, names.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_REVEALED_H
#define WEFT_ANALYSIS_EXECUTIONS_REVEALED_H

#include "base/error.h"
#include "base/pool.h"
#include "model/trace.h"

#include <stddef.h>
#include <stdint.h>

enum weft_revealed_kind {
    WEFT_REVEALED_SOURCE,  /* the file that it was imported from */
    WEFT_REVEALED_DETAILS, /* command line, version, kernel and host, as the source has them */
    WEFT_REVEALED_USER,    /* users whose home folders paths are in */
    WEFT_REVEALED_MODULE,  /* programs and libraries */
    WEFT_REVEALED_FILE,    /* absolute paths in names, arguments and texts of events */
    WEFT_REVEALED_THREAD,  /* names of threads, which begin as those of their programs */
    WEFT_REVEALED_NOTE,    /* details of losses and repairs */
    WEFT_REVEALED_KINDS,
};

struct weft_revealed_row {
    enum weft_revealed_kind kind;
    struct weft_str text;
    uint64_t count; /* how often it was found */
};

struct weft_revealed {
    struct weft_arena *arena;
    struct weft_revealed_row *rows; /* by kind, then as they were found */
    size_t n_rows;
    uint64_t n_omitted; /* finds beyond the limit of distinct texts */
    uint64_t n_texts;   /* arguments and texts of events, which may hold anything */
};

/* Reads all events. WEFT_E_NOMEM, WEFT_E_CANCELLED, and errors of reading. */
WEFT_CHECKED enum weft_code weft_revealed_find(const struct weft_trace *trace,
                                               const struct weft_progress *progress,
                                               struct weft_revealed **revealed,
                                               struct weft_err *err);
void weft_revealed_free(struct weft_revealed *revealed);

/* "module" */
const char *weft_revealed_name(enum weft_revealed_kind kind);

#endif
