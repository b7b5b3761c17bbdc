/* SPDX-License-Identifier: MIT
 *
 * Waits that last as long as a limit in time, although nothing works meanwhile: for an ACK that TCP
 * delays, and for a thread that was not woken.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_DELAYS_H
#define WEFT_ANALYSIS_FINDINGS_DELAYS_H

#include "analysis/findings/kinds.h"
#include "schema/findings.h"

#include <stdbool.h>
#include <stdint.h>

/* May so long a wait be for a delayed ACK? Linux delays them for 40 ms. */
bool weft_delay_is_of_ack(double wait_ns);

/* Is a problem of waits for the network, of `n_acks` executions for as long as ACKs are delayed,
 * one of these? Then another thread of this process waits for the network, too, and for no other.
 */
bool weft_delay_is_ack_problem(const struct weft_problem *problem, const struct weft_kind *kind,
                               uint64_t n_acks);

/* Do half of the usual executions wait in the function in which those of the node do, for the same
 * condition, or, if that is a time-out and no function is known, in the same call? Else the limit
 * is planned. O(nodes + values). False without memory. */
bool weft_delay_is_at_usual_place(const struct weft_finding *finding, uint32_t node);

/* Does a thread sleep, for which the execution waits, where threads of the execution's own name
 * begin their next one? Then it did not wait for that one, but for any that comes. */
bool weft_delay_is_of_idle_peer(struct weft_str type, const struct weft_kind *kind);

#endif
