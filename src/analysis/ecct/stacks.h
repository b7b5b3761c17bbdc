/* SPDX-License-Identifier: MIT
 *
 * The stacks of the threads of a trace, as trees of executions need them: of calls, else of
 * samples, else spans.
 */
#ifndef WEFT_ANALYSIS_ECCT_STACKS_H
#define WEFT_ANALYSIS_ECCT_STACKS_H

#include "analysis/ecct/fill.h"
#include "analysis/ecct/names.h"
#include "model/trace.h"

struct weft_ecct_stacks;

/* The operations; `stacks` of them is a struct weft_ecct_stacks. */
extern const struct weft_ecct_ops weft_ecct_stacks_ops;

/* For one worker and one tree; names are shared. NULL without memory. */
struct weft_ecct_stacks *weft_ecct_stacks_new(const struct weft_trace *trace,
                                              const struct weft_ecct_names *names,
                                              uint64_t memory_bytes);
/* NULL is allowed. */
void weft_ecct_stacks_free(struct weft_ecct_stacks *stacks);

/* The tree's nodes get their confidence anew, also those that came from the stacks. */
void weft_ecct_stacks_trust(struct weft_ecct_stacks *stacks);

/* Questions are about [from_ns, to_ns] from now on. False without memory. */
bool weft_ecct_stacks_window(struct weft_ecct_stacks *stacks, uint64_t from_ns, uint64_t to_ns);

#endif
