/* SPDX-License-Identifier: MIT
 *
 * A trace in the formats of other tools, written as it is read: memory is that of one block, of the
 * calls open at once and of the names, never of the trace. What each format carries is described in
 * docs/export.md.
 */
#ifndef WEFT_RENDER_EXPORT_EXPORT_H
#define WEFT_RENDER_EXPORT_EXPORT_H

#include "model/calls/walk.h"
#include "model/trace.h"
#include "render/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_export_format {
    WEFT_EXPORT_CHROME,
    WEFT_EXPORT_PERFETTO,
    WEFT_EXPORT_FOLDED,
    WEFT_EXPORT_CSV,
    WEFT_EXPORT_SPEEDSCOPE,
    WEFT_EXPORT_FORMATS, /* how many there are */
};

/* What stands behind a folded stack. */
enum weft_export_weight {
    WEFT_EXPORT_SELF,    /* nanoseconds in the innermost function itself */
    WEFT_EXPORT_CALLS,   /* calls of it */
    WEFT_EXPORT_SAMPLES, /* the weights of the stack samples of the trace, instead of calls */
    WEFT_EXPORT_STACKS,  /* how often each stack was taken, below the name of what took it */
};

struct weft_export_opts {
    const struct weft_trace *trace;
    const char *name;           /* of the trace, for whoever looks at it */
    const uint32_t *thread_ids; /* ascending; NULL: all */
    size_t n_thread_ids;
    struct weft_window window;
    enum weft_export_format format;
    enum weft_export_weight weight; /* WEFT_EXPORT_FOLDED */
    uint32_t paths_max;             /* WEFT_EXPORT_FOLDED: paths kept at once; 0: 262,144 */
    struct weft_progress *progress;
};

/* What was written, and what the format has no place for. */
struct weft_export_totals {
    uint64_t calls;
    uint64_t events;         /* that are no calls */
    uint64_t events_lost;    /* that are no calls, and that the format cannot express */
    uint64_t weightless;     /* stacks of weight 0, as tracepoints take: no sum contains them */
    uint64_t args_lost;      /* calls whose arguments the format cannot express */
    uint64_t threads_merged; /* threads that the format cannot distinguish from another */
};

/* Writes the trace to `out`, which the caller closes: failures of the output come out there, all
 * others (damage, no memory, an interruption) here. The same bytes at every call. */
WEFT_CHECKED enum weft_code weft_export_write(const struct weft_export_opts *opts,
                                              struct weft_output *out,
                                              struct weft_export_totals *totals,
                                              struct weft_err *err);

#endif
