/* SPDX-License-Identifier: MIT
 *
 * Cuts a part out of a trace: what happened between two times, in some threads.
 */
#ifndef WEFT_IMPORT_CUT_H
#define WEFT_IMPORT_CUT_H

#include "base/error.h"
#include "base/pool.h"
#include "store/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_cut_time {
    uint64_t at_ns;
    bool is_absolute; /* as weft_clock_zero_ns has it; else since the trace's start */
};

struct weft_cut_opts {
    const char *input; /* a .weft file, in any form of import/input.h */
    const char *output;
    struct weft_cut_time from, to; /* from <= time < to; to UINT64_MAX: up to the end */
    const uint64_t *tids;          /* only these threads, by the system's ids */
    size_t n_tids;                 /* 0: all */
    uint64_t memory_bytes;         /* as for import */
};

/* Writes the part as a trace of its own whose time 0 is `from`. Calls open at its edges are kept,
 * as WEFT_CALL_CUT_START and CUT_END; a note says of what it is a part. Threads that did not exist
 * then are omitted. WEFT_E_ARG if the times lie outside of the trace, if nothing happened between
 * them, or for a tid that no thread has. The output appears whole or not at all. */
WEFT_CHECKED enum weft_code weft_cut_run(const struct weft_cut_opts *opts,
                                         const struct weft_run *run,
                                         struct weft_writer_totals *totals, struct weft_err *err);

#endif
