/* SPDX-License-Identifier: MIT
 *
 * The events of a thread that are no calls, one after the other, in the order in which the importer
 * gave them.
 */
#ifndef WEFT_MODEL_EVENTS_H
#define WEFT_MODEL_EVENTS_H

#include "model/trace.h"

#include <stddef.h>
#include <stdint.h>

struct weft_events;

/* A reader of the events of `thread_id` whose kinds are in `kinds` (bit k: enum weft_event_kind k)
 * and that lie in [from_ns, to_ns), or reach into it. */
WEFT_CHECKED enum weft_code weft_events_open(const struct weft_trace *trace, uint32_t thread_id,
                                             uint32_t kinds, uint64_t from_ns, uint64_t to_ns,
                                             struct weft_events **events, struct weft_err *err);

/* Goes on, never back, to the block with the first CALL_ARGS of calls from `row` on: what lies
 * before is not decoded. O(log blocks). */
void weft_events_skip_to_row(struct weft_events *events, uint64_t row);

/* Begins again with another thread; what was read before stays allocated. */
void weft_events_turn(struct weft_events *events, uint32_t thread_id);

/* NULL is allowed. */
void weft_events_close(struct weft_events *events);

/* The next event, valid until the next call, or NULL at the end. */
WEFT_CHECKED enum weft_code weft_events_next(struct weft_events *events,
                                             const struct weft_event **event, struct weft_err *err);

/* What is decoded of the trace's events stays for others, in a small share of a ceiling on memory
 * (0: none), from keep to drop; both nest. */
void weft_events_keep(const struct weft_trace *trace, uint64_t memory_bytes);
void weft_events_drop(const struct weft_trace *trace);

#endif
