/* SPDX-License-Identifier: MIT
 *
 * Finds the state of a thread before a window starts, and whether it is ending: its last own
 * scheduling event, unless a later wakeup or switch by another thread replaces it. It reads event
 * blocks from the last one backwards and skips those whose summary excludes them.
 */
#include "import/earlier.h"

enum {
    SLEEPING = 1 | 2,
    DEAD = 0x10 | 0x20,
    STATES = 0xff, /* what is above says only how it was preempted */
};

/* What a kernel says of the thread that runs. */
static bool is_of_state(enum weft_event_kind kind)
{
    return (kind >= WEFT_EVENT_SWITCH && kind <= WEFT_EVENT_SYSCALL_EXIT) ||
           kind == WEFT_EVENT_FORK || kind == WEFT_EVENT_EXIT;
}

static uint32_t kinds_of_state(void)
{
    uint32_t kinds = 0;
    for (unsigned kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        kinds |= is_of_state((enum weft_event_kind)kind) ? UINT32_C(1) << kind : 0;
    return kinds;
}

/* The last that the thread does before `from_ns`: `*state` is 0 unless it leaves its CPU. */
static enum weft_code last_own(struct weft_store *store, uint32_t thread_id, uint64_t from_ns,
                               struct weft_event_buf *buf, uint64_t *last_ns, uint32_t *state,
                               struct weft_err *err)
{
    const uint32_t kinds = kinds_of_state();
    bool is_found = false;
    *last_ns = 0;
    *state = 0;
    for (uint64_t k = weft_store_thread_get(store, thread_id)->n_event_blocks; k-- > 0;) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, k);
        const struct weft_event *events;
        size_t n, best = SIZE_MAX;
        if (info->first_ns >= from_ns || info->last_ns < *last_ns || !(info->kinds & kinds))
            continue;
        WEFT_TRY(weft_store_load_events(store, thread_id, k, buf, &events, &n, err));
        for (size_t i = 0; i < n; i++)
            if (is_of_state(events[i].kind) && events[i].time_ns < from_ns &&
                (best == SIZE_MAX || events[i].time_ns >= events[best].time_ns))
                best = i;
        if (best == SIZE_MAX || (is_found && events[best].time_ns <= *last_ns))
            continue; /* of one ns, the one of the later block counts */
        is_found = true;
        const bool leaves =
            events[best].kind == WEFT_EVENT_SWITCH && events[best].next_thread_id != thread_id;
        *last_ns = events[best].time_ns;
        *state = leaves ? events[best].prev_state & STATES : 0;
    }
    return WEFT_OK;
}

enum weft_code weft_earlier_exit(struct weft_store *store, uint32_t thread_id, uint64_t from_ns,
                                 struct weft_event_buf *buf, bool *has, struct weft_err *err)
{
    *has = false;
    for (uint64_t k = weft_store_thread_get(store, thread_id)->n_event_blocks; k-- > 0 && !*has;) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, k);
        const struct weft_event *events;
        size_t n;
        if (info->first_ns >= from_ns || !(info->kinds >> WEFT_EVENT_EXIT & 1))
            continue;
        WEFT_TRY(weft_store_load_events(store, thread_id, k, buf, &events, &n, err));
        for (size_t i = 0; i < n && !*has; i++)
            *has = events[i].kind == WEFT_EVENT_EXIT && events[i].time_ns < from_ns;
    }
    return WEFT_OK;
}

/* Has another thread woken it, or given it a CPU, in [since_ns, from_ns)? A fork of a thread that
 * is blocked already says nothing. */
static enum weft_code has_come(struct weft_store *store, uint32_t thread_id, uint64_t since_ns,
                               uint64_t from_ns, struct weft_event_buf *buf, bool *has,
                               struct weft_err *err)
{
    *has = false;
    for (uint64_t k = weft_store_n_arrival_blocks(store, thread_id); k-- > 0 && !*has;) {
        const struct weft_event_block_info *info =
            weft_store_arrival_block_get(store, thread_id, k);
        const struct weft_event *events;
        size_t n;
        if (info->first_ns >= from_ns)
            continue;
        if (info->last_ns < since_ns)
            break;
        WEFT_TRY(weft_store_load_arrivals(store, thread_id, k, buf, &events, &n, err));
        for (size_t i = 0; i < n && !*has; i++)
            *has = events[i].time_ns >= since_ns && events[i].time_ns < from_ns &&
                   events[i].kind != WEFT_EVENT_FORK &&
                   (events[i].kind != WEFT_EVENT_SWITCH || events[i].prev_state == 0);
    }
    return WEFT_OK;
}

enum weft_code weft_earlier_state(struct weft_store *store, uint32_t thread_id, uint64_t from_ns,
                                  struct weft_event_buf *buf, uint32_t *state, struct weft_err *err)
{
    uint64_t last_ns;
    bool has_ended = false, has = false;
    enum weft_code code = last_own(store, thread_id, from_ns, buf, &last_ns, state, err);
    if (code != WEFT_OK || *state == 0)
        return code;
    if (*state & DEAD)
        has_ended = true;
    else if (!(*state & SLEEPING))
        code = weft_earlier_exit(store, thread_id, from_ns, buf, &has_ended, err);
    if (code == WEFT_OK && !has_ended)
        code = has_come(store, thread_id, last_ns, from_ns, buf, &has, err);
    if (has_ended || has)
        *state = 0;
    return code;
}
