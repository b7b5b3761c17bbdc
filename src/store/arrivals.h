/* SPDX-License-Identifier: MIT
 *
 * What events of one thread say of another: that it got a CPU, was woken, was forked. The writer
 * collects these *arrivals* while events are delivered, and puts them under the thread that they
 * concern, and switches once more under their CPU, so that a question about a thread need not read
 * the others (docs/format.md, "ARRV").
 *
 *     events of source threads  -->  arrivals by target thread, by time   \   external sort,
 *                               -->  switches by CPU, by time       /   bounded memory
 *
 * With a wakeup goes what the source did: the innermost interrupt that it was serving.
 */
#ifndef WEFT_STORE_ARRIVALS_H
#define WEFT_STORE_ARRIVALS_H

#include "base/error.h"
#include "schema/event.h"
#include "store/commit.h"

#include <stddef.h>
#include <stdint.h>

struct weft_arrivals;

/* The interrupts that a thread is serving; NULL: none so far. */
struct weft_interrupts;

/* NULL without memory. `limit_bytes` of arrivals are held in memory, and as much of switches; 0:
 * 64 MiB. */
struct weft_arrivals *weft_arrivals_new(size_t limit_bytes);
void weft_arrivals_free(struct weft_arrivals *arrivals);
void weft_interrupts_free(struct weft_interrupts *interrupts);

/* Takes what events of `thread_id` (of host `host_id`) say of others. For different threads from
 * several workers at once; `*interrupts` is the thread's. WEFT_E_NOMEM, WEFT_E_IO. */
WEFT_CHECKED enum weft_code weft_arrivals_take(struct weft_arrivals *arrivals, uint32_t thread_id,
                                               uint32_t host_id,
                                               struct weft_interrupts **interrupts,
                                               const struct weft_event *events, size_t n_events,
                                               struct weft_err *err);

/* Puts all of them into the file, in blocks of at most `block_events`; once, when no events come
 * any more. The bytes depend on the events alone. Fails as weft_commit_arrivals. */
WEFT_CHECKED enum weft_code weft_arrivals_write(struct weft_arrivals *arrivals, uint32_t n_threads,
                                                uint32_t block_events, struct weft_commit *commit,
                                                struct weft_err *err);

#endif
