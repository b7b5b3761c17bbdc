/* SPDX-License-Identifier: MIT
 *
 * Which threads are of one process, in traces of a kernel that name no processes (trace.dat
 * contains threads alone).
 */
#ifndef WEFT_MODEL_CALLS_PROCESSES_H
#define WEFT_MODEL_CALLS_PROCESSES_H

#include "base/error.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Is the trace a kernel's, and does it name no process at all? */
bool weft_processes_are_unknown(const struct weft_trace *trace);

/* Sets leaders[i] (n_threads elements) to the thread with the least tid of those that are tied to
 * thread i, itself among them. Tied are a thread and one that it made, unless that ran another
 * program since, and one that in a futex call woke another: they share memory. Reads all events of
 * forks, wakeups, system calls, interrupts and instants. WEFT_E_NOMEM; else as loading blocks. */
WEFT_CHECKED enum weft_code weft_processes_find(const struct weft_trace *trace, uint32_t *leaders,
                                                struct weft_err *err);

#endif
