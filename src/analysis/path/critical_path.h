/* SPDX-License-Identifier: MIT
 *
 * Critical paths: what happened, on whatever thread, that a thread's time depended on
 * (docs/analyses/critical-path.md).
 */
#ifndef WEFT_ANALYSIS_PATH_CRITICAL_PATH_H
#define WEFT_ANALYSIS_PATH_CRITICAL_PATH_H

#include "base/pool.h"
#include "model/trace.h"
#include "schema/path.h"

#define WEFT_PATH_INNERMOST UINT32_MAX

struct weft_path_opts {
    uint32_t thread_id;
    uint64_t from_ns, to_ns; /* to_ns is not before from_ns */
    uint32_t call_depth;     /* functions named are those called at this depth (0: root calls) or,
                                where calls are not so deep, or with WEFT_PATH_INNERMOST, the
                                innermost */
};

/* The path of a thread from from_ns to to_ns. Reads what the path touches: the blocks of its
 * threads at its times, and tables of packets, locks and flows of that part of the trace, if it
 * waits for such. A path with more segments than run->memory_bytes admits is WEFT_E_LIMIT. */
WEFT_CHECKED enum weft_code weft_path_run(const struct weft_trace *trace,
                                          const struct weft_path_opts *opts,
                                          const struct weft_run *run,
                                          struct weft_path_table **table, struct weft_err *err);

#endif
