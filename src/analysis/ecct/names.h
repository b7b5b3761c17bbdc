/* SPDX-License-Identifier: MIT
 *
 * What threads are called in trees of executions, so that those of one kind are one.
 */
#ifndef WEFT_ANALYSIS_ECCT_NAMES_H
#define WEFT_ANALYSIS_ECCT_NAMES_H

#include "model/trace.h"
#include "schema/ecct.h"

struct weft_ecct_names;

/* Of all threads of a trace, which must live longer. Shared by all workers. WEFT_E_NOMEM; of a
 * trace that names no processes also as weft_processes_find. */
WEFT_CHECKED enum weft_code weft_ecct_names_new(const struct weft_trace *trace,
                                                struct weft_ecct_names **names,
                                                struct weft_err *err);
/* NULL is allowed. */
void weft_ecct_names_free(struct weft_ecct_names *names);

/* The frame of a thread on a chain that begins with `first`: its module is the name of its process,
 * if that is another one, and not known to be of the recorded program. In a trace that names no
 * processes, it is another one unless the threads are tied (model/calls/processes.h) or have one
 * name; it is called like the first of its threads. The name is that of the thread without the
 * number at its end, if a character that is neither letter nor digit stands before that
 * ("worker-3"), or another thread is called the same but for the number; "kworker" of workers of
 * the kernel; "thread" of one that has no name; empty of tasks that idle. Flags say whether it is
 * of the first one's process, or of one that this started, by the ledger (WEFT_FRAME_OF). */
struct weft_frame weft_ecct_names_frame(const struct weft_ecct_names *names, uint32_t thread_id,
                                        uint32_t first);

/* The module of a function, whichever of those of its name made the frame: that of the first one of
 * the trace. That of the frame, if there is none, or it is no function. By one worker at a time, as
 * it collects them once. Expected O(bytes). */
WEFT_CHECKED enum weft_code weft_ecct_names_module(struct weft_ecct_names *names,
                                                   const struct weft_frame *frame,
                                                   struct weft_str *module, struct weft_err *err);

#endif
