/* SPDX-License-Identifier: MIT
 *
 * uftrace: a directory with a file of records for each task, and the sessions, memory maps and
 * symbols that name them. docs/ingest/uftrace.md.
 */
#ifndef WEFT_INGEST_UFTRACE_UFTRACE_H
#define WEFT_INGEST_UFTRACE_UFTRACE_H

#include "base/error.h"
#include "base/folder.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>

/* True if the directory holds a file "info" that begins with uftrace's magic. */
bool weft_uftrace_sniff_dir(const char *path);

/* Imports the directory. An info file that cannot be read, or of a 32-bit or big-endian program, is
 * an error; damage in records is counted in notes. Works on `run`'s pool by task. */
WEFT_CHECKED enum weft_code weft_uftrace_import(const char *path, struct weft_sink *sink,
                                                const struct weft_run *run, struct weft_err *err);

/* The same from files that are mapped already, or lie in memory. */
WEFT_CHECKED enum weft_code weft_uftrace_import_folder(const struct weft_folder *folder,
                                                       struct weft_sink *sink,
                                                       const struct weft_run *run,
                                                       struct weft_err *err);

#endif
