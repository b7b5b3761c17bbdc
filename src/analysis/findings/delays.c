/* SPDX-License-Identifier: MIT
 *
 * Both are told by what they last, or by where the other thread is; docs/analyses/diagnose.md has
 * the rules.
 */
#include "analysis/findings/delays.h"

#include <string.h>

static const double ACK_NS = 38e6, ACK_END_NS = 50e6; /* the least of Linux, 40 ms, and a tick */
static const double NEARLY_ALL = 0.8;
enum { LEAST_ACKS = 3 };

bool weft_delay_is_of_ack(double wait_ns)
{
    return wait_ns >= ACK_NS && wait_ns < ACK_END_NS;
}

bool weft_delay_is_ack_problem(const struct weft_problem *problem, const struct weft_kind *kind,
                               uint64_t n_acks)
{
    return problem->kind == WEFT_PROBLEM_NETWORK && kind->holder && !kind->last &&
           (kind->holder->flags & WEFT_FRAME_OF_PROCESS) && n_acks >= LEAST_ACKS &&
           (double)n_acks >= NEARLY_ALL * (double)problem->n_with;
}

static bool begins_with(struct weft_str text, struct weft_str start)
{
    return text.n_bytes >= start.n_bytes && memcmp(text.bytes, start.bytes, start.n_bytes) == 0;
}

bool weft_delay_is_of_idle_peer(struct weft_str type, const struct weft_kind *kind)
{
    const struct weft_str after = WEFT_STR(" after "), in = WEFT_STR(" in ");
    const struct weft_frame *thread = kind->last ? kind->last : kind->holder;
    if (kind->kind != WEFT_PROBLEM_SLEEP || !thread)
        return false;
    const struct weft_str stem = weft_str_stem(thread->name);
    const struct weft_str name = begins_with(type, thread->name) ? thread->name : stem;
    const struct weft_str rest = { type.bytes + name.n_bytes, type.n_bytes - name.n_bytes };
    if (!begins_with(type, name) || !begins_with(rest, after))
        return false;
    const char *call = rest.bytes + after.n_bytes;
    const size_t n = rest.n_bytes - after.n_bytes;
    const char *end = memmem(call, n, in.bytes, in.n_bytes);
    return weft_kind_is_sleep((struct weft_str){ call, end ? (size_t)(end - call) : n });
}
