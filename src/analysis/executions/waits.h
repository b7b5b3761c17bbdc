/* SPDX-License-Identifier: MIT
 *
 * Waits for locks of one thread, as a lock library records them: from a request to what answers it.
 * In order of their start, where events record them at their end: those between lie in a sorter.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_WAITS_H
#define WEFT_ANALYSIS_EXECUTIONS_WAITS_H

#include "base/sort.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request of a lock that is granted sooner had not to wait. */
enum { WEFT_LOCK_WAIT_LEAST_NS = 1000 };

struct weft_lock_wait {
    uint64_t start_ns, end_ns;
};

/* All zero has none. */
struct weft_execution_waits {
    struct weft_sorter *sorter;
    struct weft_sort_reader *reader;
    const struct weft_sort_record *records;
    size_t n_records, at;
};

void weft_execution_waits_fini(struct weft_execution_waits *waits);

/* Reads the thread's events of locks. Memory: requests that are open, and 4 MB of waits. Fails as
 * loading blocks does, and sorting. */
WEFT_CHECKED enum weft_code weft_execution_waits_read(struct weft_execution_waits *waits,
                                                      const struct weft_trace *trace,
                                                      uint32_t thread_id, struct weft_err *err);

/* The next wait, if it begins before before_ns. */
WEFT_CHECKED enum weft_code weft_execution_waits_next(struct weft_execution_waits *waits,
                                                      uint64_t before_ns,
                                                      struct weft_lock_wait *wait, bool *is_there,
                                                      struct weft_err *err);

#endif
