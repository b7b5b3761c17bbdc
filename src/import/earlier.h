/* SPDX-License-Identifier: MIT
 *
 * Threads that are blocked, or end, where a window begins: the switch that they left their CPU
 * with, or their exit, lies before it, and would be lost with the wait, or with the end.
 */
#ifndef WEFT_IMPORT_EARLIER_H
#define WEFT_IMPORT_EARLIER_H

#include "base/error.h"
#include "store/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* The state, as a SWITCH has it, in which the thread is off its CPU at `from_ns` and since before,
 * or 0: it runs then, or could, has ended, or that is unknown. Reads the blocks of the thread's
 * events and arrivals that may be the last before `from_ns`. As loading those fails. */
WEFT_CHECKED enum weft_code weft_earlier_state(struct weft_store *store, uint32_t thread_id,
                                               uint64_t from_ns, struct weft_event_buf *buf,
                                               uint32_t *state, struct weft_err *err);

/* Has the thread begun to end before `from_ns`? As loading blocks with exits fails. */
WEFT_CHECKED enum weft_code weft_earlier_exit(struct weft_store *store, uint32_t thread_id,
                                              uint64_t from_ns, struct weft_event_buf *buf,
                                              bool *has, struct weft_err *err);

#endif
