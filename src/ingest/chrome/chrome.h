/* SPDX-License-Identifier: MIT
 *
 * Trace event JSON, as Chrome, Perfetto, llvm-xray, PyTorch and many others write it.
 * docs/ingest/chrome.md says what becomes of which event.
 */
#ifndef WEFT_INGEST_CHROME_CHROME_H
#define WEFT_INGEST_CHROME_CHROME_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the first bytes can begin such a file: an array of objects with fields of events, or an
 * object with the members that go around such an array. */
bool weft_chrome_sniff(const uint8_t *bytes, size_t n_bytes);

struct weft_chrome_opts {
    size_t sort_limit_bytes; /* events held in memory while sorting; 0: the sorter's default */
};

/* Delivers all events: calls in order of time, threads in the order of their first event (ties by
 * pid and tid), in parallel. What stands before a mistake in the text is kept, and a note says
 * where it is; a text without any event is an error. `opts` may be NULL. Memory: the sorter's
 * limit, names, threads, stack frames, asynchronous spans that are open at one time, and the depth
 * of the deepest stack. */
WEFT_CHECKED enum weft_code weft_chrome_import(const struct weft_mapped *file,
                                               const struct weft_chrome_opts *opts,
                                               struct weft_sink *sink, const struct weft_run *run,
                                               struct weft_err *err);

#endif
