/* SPDX-License-Identifier: MIT
 *
 * The model: an opened trace as analyses see it - threads, functions with names to show, and the
 * calls of a thread, block by block in pre-order. Read-only and shared by all workers.
 */
#ifndef WEFT_MODEL_TRACE_H
#define WEFT_MODEL_TRACE_H

#include "base/error.h"
#include "base/private.h"
#include "base/str.h"
#include "schema/table.h"
#include "store/reader.h"

#include <stddef.h>
#include <stdint.h>

struct weft_trace;

struct weft_model_thread {
    struct weft_thread_info info; /* name never empty: "T28989" if unnamed; valid UTF-8 */
    uint64_t calls, cut_calls;
    uint64_t first_ns, last_ns;
    uint64_t n_blocks;
    uint64_t events; /* that are no calls; by kind in weft_trace_meta */
    uint64_t n_event_blocks;
    uint32_t max_depth;
};

WEFT_CHECKED enum weft_code weft_trace_open(const char *path, struct weft_trace **trace,
                                            struct weft_err *err);
void weft_trace_close(struct weft_trace *trace);

const struct weft_store_meta *weft_trace_meta(const struct weft_trace *trace);
/* Does the format of the source count what was lost? Else none lost means that nothing is known. */
bool weft_trace_counts_losses(const struct weft_trace *trace);
/* Does the trace have a kernel's scheduling events? */
bool weft_trace_has_switches(const struct weft_trace *trace);
/* Does the trace have all system calls of the threads that it has any of, entries and exits? */
bool weft_trace_has_calls(const struct weft_trace *trace);
const struct weft_note *weft_trace_note(const struct weft_trace *trace, size_t note);
uint32_t weft_trace_n_threads(const struct weft_trace *trace);
uint32_t weft_trace_n_functions(const struct weft_trace *trace);
/* Of `n_ids` threads, those of most calls and events, at most `n_most`: they become the first,
 * by id, as they were if all are few enough. Their number. */
size_t weft_trace_busiest(const struct weft_trace *trace, uint32_t *ids, size_t n_ids,
                          size_t n_most);
const struct weft_model_thread *weft_trace_thread(const struct weft_trace *trace, uint32_t id);
/* Threads of processes that are not of the recorded program (weft_thread_info.is_foreign); 0 also
 * where no program was recorded apart from others. */
uint32_t weft_trace_n_foreign(const struct weft_trace *trace);
const struct weft_function *weft_trace_function(const struct weft_trace *trace, uint32_t id);

/* For the fields of tables: ids are those of the trace, getters refer to `of`. */
struct weft_table_context weft_trace_context(const struct weft_trace *trace, const void *of);
/* Names, modules and details without the folders of absolute paths from now on (base/private.h),
 * and no details of the command and the host; before any work on the trace. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_trace_hide_paths(struct weft_trace *trace, struct weft_err *err);
/* By which rules, for texts of events; NULL: paths are shown. */
const struct weft_private *weft_trace_private(const struct weft_trace *trace);

/* The store below, for scans (weft_store_load and friends; see model/calls/scan.h). */
struct weft_store *weft_trace_store(const struct weft_trace *trace);

#endif
