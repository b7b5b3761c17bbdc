/* SPDX-License-Identifier: MIT
 *
 * Bytes that calls of a thread read and wrote, where the texts of their arguments tell it: of
 * blocking input and output {"asked": BYTES, "result": BYTES}, as recordings have it.
 */
#ifndef WEFT_ANALYSIS_EXECUTION_BYTES_H
#define WEFT_ANALYSIS_EXECUTION_BYTES_H

#include "base/error.h"
#include "base/str.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum weft_bytes_way { WEFT_BYTES_NONE, WEFT_BYTES_READ, WEFT_BYTES_WRITTEN };

/* What a call, or system call, of this name does with bytes. */
enum weft_bytes_way weft_bytes_way_of(struct weft_str name);

/* `n_bytes` at at_ns, when the call began; 0 of one that failed. */
typedef enum weft_code (*weft_bytes_see_fn)(void *context, enum weft_bytes_way way, uint64_t at_ns,
                                            uint64_t n_bytes, struct weft_err *err);

/* Calls `see` for each call of the thread that tells. Decodes texts, and blocks with such calls. */
WEFT_CHECKED enum weft_code weft_execution_bytes_read(const struct weft_trace *trace,
                                                      uint32_t thread_id, weft_bytes_see_fn see,
                                                      void *context, struct weft_err *err);

#endif
