/* SPDX-License-Identifier: MIT
 *
 * Sums of time on a CPU by mode, and samples that give the mode where system calls do not.
 */
#ifndef WEFT_ANALYSIS_STATES_RUN_MODES_H
#define WEFT_ANALYSIS_STATES_RUN_MODES_H

#include "base/error.h"
#include "model/trace.h"
#include "schema/states.h"

/* Adds a part of a state; states off the CPU and interrupts add nothing. */
void weft_modes_add(struct weft_run_modes *modes, enum weft_state_kind kind, uint64_t length_ns);
/* Adds a sample; one of unknown mode adds nothing. */
void weft_modes_count(struct weft_run_modes *modes, enum weft_sample_mode mode);
/* Of several threads: what is of unknown mode of one without samples stays so. */
void weft_modes_join(struct weft_run_modes *modes, const struct weft_run_modes *others);
uint64_t weft_modes_ns(const struct weft_run_modes *modes);

typedef void (*weft_modes_sample_fn)(void *context, int32_t cpu, enum weft_sample_mode mode);

/* Hands out the thread's samples in [from_ns, to_ns) that were taken by time or by cycles. Codes of
 * loading events. */
WEFT_CHECKED enum weft_code weft_modes_sample(const struct weft_trace *trace, uint32_t thread_id,
                                              uint64_t from_ns, uint64_t to_ns,
                                              weft_modes_sample_fn see, void *context,
                                              struct weft_err *err);

#endif
