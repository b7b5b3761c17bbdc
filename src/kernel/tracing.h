/* SPDX-License-Identifier: MIT
 *
 * The description of tracepoints that perf (in its header) and trace-cmd (before version 7, one
 * after the other; since then in sections) copy from tracefs.
 */
#ifndef WEFT_KERNEL_TRACING_H
#define WEFT_KERNEL_TRACING_H

#include "base/cursor.h"
#include "kernel/format.h"

#define KERNEL_TRACING_MAGIC "\x17\x08\x44tracing"

enum { KERNEL_TRACING_MAGIC_BYTES = 10 };

struct kernel_tracing {
    struct weft_str version;
    uint32_t page_bytes;
    struct weft_str header_page; /* layout of a page of the ring buffer, in the words of a format */
    struct weft_str kallsyms;    /* "ffffffff81000000 T _text" a line; may be empty */
    struct weft_str cmdlines;    /* "18 migration/0" a line; may be empty */
    uint32_t n_bad_formats;
};

/* Magic, version, byte order, size of long and of pages. WEFT_E_TRUNCATED, WEFT_E_MALFORMED. */
WEFT_CHECKED enum weft_code kernel_tracing_begin(struct weft_cursor *cur,
                                                 struct kernel_formats *formats,
                                                 struct kernel_tracing *tracing,
                                                 struct weft_err *err);

/* The parts, in the order in which they stand in a file. Views of the bytes are kept. */
WEFT_CHECKED enum weft_code kernel_tracing_headers(struct weft_cursor *cur, bool is_big,
                                                   struct kernel_tracing *tracing,
                                                   struct weft_err *err);
WEFT_CHECKED enum weft_code kernel_tracing_ftrace(struct weft_cursor *cur,
                                                  struct kernel_formats *formats,
                                                  struct kernel_tracing *tracing,
                                                  struct weft_err *err);
WEFT_CHECKED enum weft_code kernel_tracing_events(struct weft_cursor *cur,
                                                  struct kernel_formats *formats,
                                                  struct kernel_tracing *tracing,
                                                  struct weft_err *err);
WEFT_CHECKED enum weft_code kernel_tracing_cmdlines(struct weft_cursor *cur, bool is_big,
                                                    struct kernel_tracing *tracing,
                                                    struct weft_err *err);

/* All parts after the start, as they stand in perf.data and in trace.dat before version 7. */
WEFT_CHECKED enum weft_code kernel_tracing_all(struct weft_cursor *cur,
                                               struct kernel_formats *formats,
                                               struct kernel_tracing *tracing, bool has_cmdlines,
                                               struct weft_err *err);

/* Names as the description has them, for threads that no event named. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code kernel_tracing_name_threads(const struct kernel_tracing *tracing,
                                                        struct kernel_convert *convert);

#endif
