/* SPDX-License-Identifier: MIT
 *
 * What parts of the model want to know of a history.
 */
#ifndef WEFT_MODEL_STATES_HISTORY_H
#define WEFT_MODEL_STATES_HISTORY_H

#include "model/states/states.h"

/* The trace that a history is of. */
const struct weft_trace *weft_history_trace(const struct weft_history *history);

/* A buffer for arrivals of a CPU, shared by all readers of the history. */
struct weft_event_buf *weft_history_cpu_buf(struct weft_history *history, int32_t cpu);

#endif
