/* SPDX-License-Identifier: MIT
 *
 * Records that are lost, where the trace says when: what a thread of the process did meanwhile may
 * have ended a wait, unseen. A loss lasts from the thread's last event to its next one; it may be
 * recorded at either.
 */
#include "base/room.h"
#include "model/interplay/parts.h"

#include <stdlib.h>

static const struct weft_thread_info *info_of(const struct weft_interplay *interplay,
                                              uint32_t thread_id)
{
    return &weft_trace_thread(interplay->trace, thread_id)->info;
}

static int by_process(const void *a, const void *b)
{
    const struct weft_loss *x = a, *y = b;
    if (x->host_id != y->host_id)
        return x->host_id < y->host_id ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

/* Words of a thread about locks, before that time and after it: the loss is between them.
 * O(log n). */
static void set_span(const struct weft_interplay *interplay, struct weft_loss *loss)
{
    const uint32_t thread_id = loss->thread_id;
    const uint64_t at_ns = loss->from_ns;
    size_t n_ops;
    const struct weft_lock_op *ops = weft_locks_ops(interplay->locks, &n_ops);
    const uint32_t *by_thread = weft_locks_by_thread(interplay->locks);
    size_t low = 0, high = n_ops;
    while (low < high) { /* first that was got then or later */
        const size_t middle = low + (high - low) / 2;
        const struct weft_lock_op *op = &ops[by_thread[middle]];
        if (op->thread_id < thread_id || (op->thread_id == thread_id && op->got_ns < at_ns))
            low = middle + 1;
        else
            high = middle;
    }
    const struct weft_lock_op *before = low > 0 ? &ops[by_thread[low - 1]] : NULL;
    while (low < n_ops && ops[by_thread[low]].thread_id == thread_id &&
           ops[by_thread[low]].got_ns == at_ns)
        low++;
    const struct weft_lock_op *after = low < n_ops ? &ops[by_thread[low]] : NULL;
    loss->from_ns = before && before->thread_id == thread_id ? before->got_ns
                    : interplay->first_ns[thread_id] < at_ns ? interplay->first_ns[thread_id]
                                                             : at_ns;
    loss->to_ns =
        after && after->thread_id == thread_id ? after->got_ns : interplay->last_ns[thread_id];
    loss->to_ns = loss->to_ns > at_ns ? loss->to_ns : at_ns;
}

bool weft_interplay_add_loss(struct weft_interplay *interplay, uint32_t thread_id, uint64_t at_ns,
                             uint64_t n_records)
{
    struct weft_loss *loss = WEFT_ROOM_PUSH(&interplay->losses);
    if (loss)
        *loss = (struct weft_loss){ .from_ns = at_ns,
                                    .n_records = n_records,
                                    .pid = info_of(interplay, thread_id)->pid,
                                    .host_id = info_of(interplay, thread_id)->host_id,
                                    .thread_id = thread_id };
    return loss != NULL;
}

static bool is_one_process(const struct weft_loss *a, const struct weft_loss *b)
{
    return a->host_id == b->host_id && a->pid == b->pid;
}

void weft_interplay_order_losses(struct weft_interplay *interplay)
{
    struct weft_loss *items = interplay->losses.items;
    for (size_t i = 0; i < interplay->losses.n; i++)
        set_span(interplay, &items[i]);
    if (interplay->losses.n)
        weft_room_sort(items, interplay->losses.n, sizeof *items, by_process);
    for (size_t i = 0; i < interplay->losses.n; i++) {
        items[i].latest_ns = items[i].to_ns;
        if (i > 0 && is_one_process(&items[i - 1], &items[i]) &&
            items[i - 1].latest_ns > items[i].latest_ns)
            items[i].latest_ns = items[i - 1].latest_ns;
    }
}

/* Whether a thread of the same process lost records in [from_ns, to_ns]. O(log n). */
static bool has_loss(const struct weft_interplay *interplay, uint32_t thread_id, uint64_t from_ns,
                     uint64_t to_ns)
{
    const struct weft_loss *items = interplay->losses.items;
    const struct weft_loss wanted = { .from_ns = to_ns,
                                      .pid = info_of(interplay, thread_id)->pid,
                                      .host_id = info_of(interplay, thread_id)->host_id,
                                      .thread_id = WEFT_ID_NONE };
    size_t low = 0, high = interplay->losses.n;
    while (low < high) { /* first that begins later */
        const size_t middle = low + (high - low) / 2;
        if (by_process(&items[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && is_one_process(&items[low - 1], &wanted) &&
           items[low - 1].latest_ns >= from_ns;
}

/* A release after the one that is known, of what is held; of what is signalled, any. */
static uint64_t doubt_from(const struct weft_wait *wait)
{
    const bool is_held = weft_shared_is_held(wait->kind);
    return is_held && wait->releaser_id != WEFT_ID_NONE ? wait->release_ns : wait->start_ns;
}

void weft_interplay_mark_losses(struct weft_interplay *interplay, bool has_untimed)
{
    for (size_t i = 0; i < interplay->waits.n; i++) {
        struct weft_wait *wait = &interplay->waits.items[i];
        const bool is_joined = wait->releaser_id != WEFT_ID_NONE;
        if (is_joined ? wait->confidence == WEFT_SURETY_CONFIRMED ||
                            wait->confidence == WEFT_SURETY_WAKEUP
                      : wait->unknown != WEFT_UNKNOWN_NO_RELEASE)
            continue;
        if (!has_loss(interplay, wait->waiter_id, doubt_from(wait), wait->end_ns) &&
            (is_joined || !has_untimed))
            continue;
        wait->flags |= WEFT_CORRESPONDENCE_LOSSY;
        if (is_joined)
            wait->confidence = WEFT_SURETY_AMBIGUOUS;
        else
            wait->unknown = WEFT_UNKNOWN_LOSSY;
    }
}
