/* SPDX-License-Identifier: MIT
 *
 * How often executions call a function: whether those that last longer do more, or the same for
 * longer.
 */
#ifndef WEFT_QUERY_WORK_H
#define WEFT_QUERY_WORK_H

#include "base/error.h"
#include "base/pool.h"
#include "base/str.h"
#include "model/trace.h"
#include "schema/ecct.h"

#include <stdint.h>

/* Of one execution: calls that lie within it on its thread, and how long they last together, those
 * within others of the function counted twice. A call is that of the execution of its thread that
 * began last before it, of equals the last item. */
struct weft_work_done {
    uint64_t calls, ns;
};

/* Counts calls of the functions of this name within each item of `matrix`, all of which are of the
 * trace. `*done`, by item, is the caller's to free. Reads all calls once; O(calls x log items). */
WEFT_CHECKED enum weft_code weft_work_count(const struct weft_trace *trace,
                                            const struct weft_ecct_matrix *matrix,
                                            struct weft_str function, const struct weft_run *run,
                                            struct weft_work_done **done, struct weft_err *err);

#endif
