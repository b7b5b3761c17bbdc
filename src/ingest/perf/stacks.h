/* SPDX-License-Identifier: MIT
 *
 * Stacks of samples as folded text, "outer;inner": each different one is made once.
 */
#ifndef WEFT_INGEST_PERF_STACKS_H
#define WEFT_INGEST_PERF_STACKS_H

#include "base/json_text.h"
#include "ingest/perf/spaces.h"
#include "ingest/perf/symbols.h"
#include "ingest/perf/unwind.h"

enum { PERF_MOST_FRAMES = 1024 };

/* Innermost first. */
struct perf_frame {
    uint64_t address;
    unsigned back; /* 1 where a call returns to: it was made before */
    bool is_kernel;
};

struct perf_stack {
    uint32_t text;
    bool is_cut; /* frame pointers led out of the program */
};

struct perf_stacks {
    struct perf_frame *frames; /* PERF_MOST_FRAMES, of the stack in work */
    uint64_t *unwound;         /* PERF_MOST_UNWOUND, likewise: the user's part */
    size_t n_unwound;
    struct perf_unwinder *unwinder;
    struct perf_symbols symbols;
    struct perf_spaces spaces;
    struct weft_strtab *keys; /* (version of the space, addresses) -> index in `made` */
    struct {
        struct perf_stack *items;
        size_t n, cap;
    } made;
    uint64_t n_cut; /* samples whose stack is */
    struct weft_strtab *texts;
    struct weft_json_text text, key; /* being made */
};

/* `memory_bytes`: the ceiling that all share; 0: none. */
bool perf_stacks_init(struct perf_stacks *stacks, const struct perf_file *file, bool reads_programs,
                      const char *program_dir, uint64_t memory_bytes);
void perf_stacks_fini(struct perf_stacks *stacks);

/* The stack of a sample: from its call chain, of which a walk over the copy of the user's stack
 * replaces the user's part, or, without one, from its instruction; empty if it has none of them.
 * False without memory. */
bool perf_stack_of(struct perf_stacks *stacks, const struct perf_sample *sample, uint16_t misc,
                   bool is_big, struct weft_str *text);

#endif
