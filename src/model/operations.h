/* SPDX-License-Identifier: MIT
 *
 * System calls that a trace contains as calls of the C library's functions: weft record wraps these
 * (docs/record-runtime.md), and what was wrapped has no module.
 */
#ifndef WEFT_MODEL_OPERATIONS_H
#define WEFT_MODEL_OPERATIONS_H

#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Does the function stand for system calls, one of which is called like the pattern, in which * and
 * ? stand for any: "accept4" for accept, "recv*" for recv? Not where the trace has the begins of
 * system calls themselves. */
bool weft_operation_is(const struct weft_trace *trace, uint32_t function_id,
                       struct weft_str pattern);

/* Does the system call, or the function of that name, return a descriptor that it has made? */
bool weft_operation_makes_descriptor(struct weft_str name);

/* Is the first argument of the C library's function of that name no descriptor: a lock, a time, a
 * process? */
bool weft_operation_lacks_descriptor(struct weft_str name);

#endif
