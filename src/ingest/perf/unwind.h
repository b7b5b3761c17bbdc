/* SPDX-License-Identifier: MIT
 *
 * Stacks of user space from what perf copied of them (--call-graph dwarf).
 */
#ifndef WEFT_INGEST_PERF_UNWIND_H
#define WEFT_INGEST_PERF_UNWIND_H

#include "ingest/perf/attr.h"
#include "ingest/perf/spaces.h"
#include "ingest/perf/symbols.h"
#include "symbols/walk.h"

enum { PERF_MOST_UNWOUND = WEFT_WALK_MOST };

/* Why stacks are not whole. */
struct perf_unwind_ends {
    uint64_t n_no_program; /* samples: the way on leads through a program that was not found */
    uint32_t module;       /* the first such; WEFT_ID_NONE: its file is not even named */
    uint64_t n_no_stack;   /* samples: it lies beyond the copy of the stack */
};

struct perf_unwinder;

/* NULL without memory; the caller frees. `symbols` outlives it. `memory_bytes`: the ceiling that
 * all share; 0: none. */
struct perf_unwinder *perf_unwinder_new(struct perf_symbols *symbols, uint64_t memory_bytes);
/* NULL is allowed. */
void perf_unwinder_free(struct perf_unwinder *unwinder);

/* The user's part of the sample's stack: its instruction, then where calls return to, innermost
 * first. None: there is no copy, or nothing that could read it. False without memory. */
bool perf_unwind(struct perf_unwinder *unwinder, const struct perf_space *space,
                 const struct perf_sample *sample, bool is_big,
                 uint64_t addresses[PERF_MOST_UNWOUND], size_t *n_addresses);

const struct perf_unwind_ends *perf_unwind_ends(const struct perf_unwinder *unwinder);

#endif
