/* SPDX-License-Identifier: MIT
 *
 * In which named span (an interval that is no call) a thread was.
 */
#ifndef WEFT_ANALYSIS_PATH_SPANS_H
#define WEFT_ANALYSIS_PATH_SPANS_H

#include "model/trace.h"

#include <stdint.h>

struct weft_path_spans;

/* Spans that overlap [from_ns, to_ns]. NULL without memory. */
struct weft_path_spans *weft_path_spans_new(const struct weft_trace *trace, uint64_t from_ns,
                                            uint64_t to_ns);
void weft_path_spans_free(struct weft_path_spans *spans);

/* The span of a thread that covers most of [from_ns, to_ns], of equal ones the shortest, then the
 * earliest; `*sum_ns` of it. Looks at the 4096 that begin last. The name is empty if there is none,
 * and lives as `spans`. A thread's spans are read once. */
WEFT_CHECKED enum weft_code weft_path_span(struct weft_path_spans *spans, uint32_t thread_id,
                                           uint64_t from_ns, uint64_t to_ns, struct weft_str *name,
                                           uint64_t *sum_ns, struct weft_err *err);

#endif
