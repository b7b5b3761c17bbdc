/* SPDX-License-Identifier: MIT
 *
 * What threads did while others waited for a lock that they had.
 */
#ifndef WEFT_ANALYSIS_LOCKS_CONTEXT_H
#define WEFT_ANALYSIS_LOCKS_CONTEXT_H

#include "analysis/locks/rows.h"
#include "base/pool.h"
#include "model/trace.h"
#include "model/twins.h"

/* `thread_id` made another one wait for `lock`. */
struct weft_locks_blame {
    uint64_t from_ns, to_ns;
    uint32_t thread_id, lock;
};

/* Adds, for each blame, to the functions in which that thread was meanwhile: the innermost calls,
 * or, of a thread without calls, functions of stack samples, each of which stands for the time
 * since the one before. Sums are exact: the time of a blame is divided without rest. Sorts the
 * blames. Names are those of `names`. */
WEFT_CHECKED enum weft_code
weft_locks_contexts_find(const struct weft_trace *trace, const struct weft_twins *twins,
                         struct weft_locks_blame *blames, size_t n_blames,
                         const struct weft_run *run, struct weft_strtab *names,
                         struct weft_locks_contexts *contexts, struct weft_err *err);

#endif
