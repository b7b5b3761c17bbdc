/* SPDX-License-Identifier: MIT
 *
 * Bytes that calls of a thread read and wrote, where the texts of their arguments contain it: of
 * blocking I/O {"asked": BYTES, "result": BYTES}, as recordings have it.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_BYTES_H
#define WEFT_ANALYSIS_EXECUTIONS_BYTES_H

#include "base/error.h"
#include "base/str.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum weft_bytes_way { WEFT_BYTES_NONE, WEFT_BYTES_READ, WEFT_BYTES_WRITTEN };

/* What a call, or system call, of this name does with bytes. */
enum weft_bytes_way weft_bytes_way_of(struct weft_str name);

/* What a call did, when it began; 0 bytes if it failed. */
struct weft_bytes_moved {
    enum weft_bytes_way way;
    uint64_t at_ns, n_bytes;
};

/* Reads the bytes of calls of the thread that begin in [from_ns, to_ns). Decodes texts, and blocks
 * with such calls. */
struct weft_bytes_reader;

WEFT_CHECKED enum weft_code
weft_bytes_reader_open(const struct weft_trace *trace, uint32_t thread_id, uint64_t from_ns,
                       uint64_t to_ns, struct weft_bytes_reader **reader, struct weft_err *err);

/* NULL is allowed. */
void weft_bytes_reader_close(struct weft_bytes_reader *reader);

/* The next call that has them; its way is WEFT_BYTES_NONE at the end. */
WEFT_CHECKED enum weft_code weft_bytes_reader_next(struct weft_bytes_reader *reader,
                                                   struct weft_bytes_moved *moved,
                                                   struct weft_err *err);

#endif
