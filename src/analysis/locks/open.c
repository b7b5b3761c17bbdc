/* SPDX-License-Identifier: MIT
 *
 * Collects waits without an end, names joined threads by their handles, and finds deadlocks as
 * cycles of the function "wait -> open wait of its holder": each wait has one successor, so one
 * marking walk finds all in O(n).
 */
#include "analysis/locks/open.h"

#include "base/vec.h"
#include "model/graph/ends.h"

#include <stdlib.h>

enum weft_code weft_locks_open_add(struct weft_locks_opens *opens, const struct weft_locks *locks,
                                   size_t at, struct weft_err *err)
{
    size_t n_ops;
    const struct weft_lock_op *op = &weft_locks_ops(locks, &n_ops)[at];
    struct weft_locks_open *open = WEFT_VEC_PUSH(opens);
    if (!open)
        return weft_no_memory(err, "locks");
    *open = (struct weft_locks_open){ .lock = op->object,
                                      .waiter_id = op->thread_id,
                                      .holder_id = weft_locks_holder(locks, at),
                                      .function = weft_locks_site(locks, op->site),
                                      .start_ns = op->start_ns,
                                      .wait_ns = op->got_ns - op->start_ns };
    return WEFT_OK;
}

/* ---- joins by handle ------------------------------------------------------------------------- */

static bool is_join_by_handle(const struct weft_locks *locks, const struct weft_locks_open *open)
{
    const struct weft_lock_object *object = weft_locks_object(locks, open->lock);
    return object->kind == WEFT_LOCK_JOIN && open->holder_id == WEFT_ID_NONE && !object->is_untold;
}

static enum weft_code name_joined(struct weft_locks_opens *opens, const struct weft_trace *trace,
                                  const struct weft_locks *locks, struct weft_err *err)
{
    struct weft_graph_ends ends = { 0 };
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < opens->n && code == WEFT_OK; i++) {
        struct weft_locks_open *open = &opens->items[i];
        if (!is_join_by_handle(locks, open))
            continue;
        code = weft_graph_ends_handles(&ends, trace, UINT64_MAX, err);
        if (code == WEFT_OK)
            open->holder_id = weft_graph_ends_thread(
                &ends, &weft_trace_thread(trace, open->waiter_id)->info,
                weft_locks_object(locks, open->lock)->address, open->start_ns);
    }
    weft_graph_ends_fini(&ends);
    return code;
}

/* ---- circles --------------------------------------------------------------------------------- */

/* The open wait of each thread, + 1: the last that began, if there are two. */
static uint32_t *waits_of(const struct weft_locks_opens *opens, size_t n_threads)
{
    uint32_t *wait_of = calloc(n_threads + 1, sizeof *wait_of);
    for (uint32_t i = 0; i < opens->n && wait_of; i++) {
        uint32_t *of = &wait_of[opens->items[i].waiter_id];
        if (!*of || opens->items[*of - 1].start_ns <= opens->items[i].start_ns)
            *of = i + 1;
    }
    return wait_of;
}

/* The wait that the holder of this one is in, + 1; 0: none. */
static uint32_t next_of(const struct weft_locks_opens *opens, const uint32_t *wait_of, uint32_t at)
{
    const uint32_t holder_id = opens->items[at - 1].holder_id;
    return holder_id == WEFT_ID_NONE ? 0 : wait_of[holder_id];
}

/* From each wait on to that of its holder, until one was seen before: if in this walk, from there
 * on it is a circle. */
static enum weft_code find_circles(struct weft_locks_opens *opens, size_t n_threads,
                                   uint32_t *n_deadlocks, struct weft_err *err)
{
    uint32_t *wait_of = waits_of(opens, n_threads);
    uint32_t *seen = calloc(opens->n + 2, sizeof *seen);
    *n_deadlocks = 0;
    for (uint32_t first = 1; first <= opens->n && wait_of && seen; first++) {
        uint32_t at = first;
        for (; at && !seen[at]; at = next_of(opens, wait_of, at))
            seen[at] = first;
        if (!at || seen[at] != first || opens->items[at - 1].deadlock)
            continue;
        ++*n_deadlocks;
        for (uint32_t order = 0; !opens->items[at - 1].deadlock; at = next_of(opens, wait_of, at)) {
            opens->items[at - 1].deadlock = *n_deadlocks;
            opens->items[at - 1].order = order++;
        }
    }
    const bool is_good = wait_of && seen;
    free(wait_of);
    free(seen);
    return is_good ? WEFT_OK : weft_no_memory(err, "locks");
}

static int by_thread(const void *a, const void *b)
{
    const struct weft_locks_open *x = a, *y = b;
    if (x->waiter_id != y->waiter_id)
        return x->waiter_id < y->waiter_id ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->lock > y->lock) - (x->lock < y->lock);
}

static int by_rank(const void *a, const void *b)
{
    const struct weft_locks_open *x = a, *y = b;
    const uint32_t x_rank = x->deadlock - 1, y_rank = y->deadlock - 1; /* none: last */
    if (x_rank != y_rank)
        return x_rank < y_rank ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns > y->wait_ns ? -1 : 1;
    return by_thread(a, b);
}

enum weft_code weft_locks_opens_finish(struct weft_locks_opens *opens,
                                       const struct weft_trace *trace,
                                       const struct weft_locks *locks, const uint32_t *place,
                                       uint32_t *n_deadlocks, struct weft_err *err)
{
    *n_deadlocks = 0;
    if (opens->n == 0)
        return WEFT_OK;
    qsort(opens->items, opens->n, sizeof *opens->items, by_thread);
    enum weft_code code = name_joined(opens, trace, locks, err);
    WEFT_THEN(code, find_circles(opens, weft_trace_n_threads(trace), n_deadlocks, err));
    qsort(opens->items, opens->n, sizeof *opens->items, by_rank);
    for (size_t i = 0; i < opens->n; i++)
        opens->items[i].lock = place[opens->items[i].lock];
    return code;
}
