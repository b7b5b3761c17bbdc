/* SPDX-License-Identifier: MIT
 *
 * Finds the switch that starts each window, decodes the thread's own events merged with arrivals
 * through machine.c, and ends the last window by ends.c. states.c keeps decoded windows; nothing
 * else may call this file.
 */
#include "model/states/windows.h"

#include "base/checked.h"
#include "base/vec.h"
#include "model/states/thread_ends.h"
#include "store/event_group.h"

#include <stdlib.h>
#include <string.h>

#define NONE WEFT_HISTORY_NONE

/* ---- blocks --------------------------------------------------------------------------------- */

static const struct weft_event_block_info *info_of(const struct weft_history *history,
                                                   uint32_t thread_id, uint64_t block)
{
    return weft_store_event_block_get(history->store, thread_id, block);
}

/* Small blocks share a chunk with those of other threads, which come next: it stays decoded. */
static enum weft_code block_load(struct weft_history *history, uint32_t thread_id, uint64_t block,
                                 const struct weft_event **events, size_t *n, struct weft_err *err)
{
    const bool is_small = info_of(history, thread_id, block)->n_events <= WEFT_EVENT_GROUP_EVENTS;
    return weft_store_load_events(history->store, thread_id, block,
                                  history->blocks[is_small ? 2 : block & 1], events, n, err);
}

/* Events that change states; others may stand anywhere among them. */
static bool is_of_state(const struct weft_event *event)
{
    return WEFT_MACHINE_KINDS >> event->kind & 1;
}

/* A name that lives as long as the history. Few occur, in turn: they are looked for by where they
 * stand in the block first. */
static enum weft_code name_keep(struct weft_history *history, struct weft_str *name,
                                struct weft_err *err)
{
    uint32_t *guess = &history->guesses[((uintptr_t)name->bytes ^ (uintptr_t)name->bytes >> 6) %
                                        WEFT_HISTORY_GUESSES];
    if (*guess > 0) {
        const struct weft_str known = weft_strtab_get(history->names, *guess - 1);
        if (weft_str_equal(known, *name)) {
            *name = known;
            return WEFT_OK;
        }
    }
    uint32_t id;
    WEFT_TRY(weft_strtab_intern(history->names, *name, &id, err));
    *name = weft_strtab_get(history->names, id);
    *guess = id + 1;
    return WEFT_OK;
}

/* When the first and the last event of a block are that change states: what the file says of it
 * counts others too. */
static enum weft_code times_find(struct weft_history *history, uint32_t thread_id,
                                 struct weft_state_block *block, uint64_t *last_ns,
                                 struct weft_err *err)
{
    const struct weft_event *events;
    size_t n = 0;
    if (!(info_of(history, thread_id, block->number)->kinds & ~WEFT_MACHINE_KINDS))
        return WEFT_OK;
    const enum weft_code code = block_load(history, thread_id, block->number, &events, &n, err);
    uint64_t first_ns = UINT64_MAX;
    *last_ns = 0;
    for (size_t i = 0; i < n && code == WEFT_OK; i++) {
        if (!is_of_state(&events[i]))
            continue;
        first_ns = events[i].time_ns < first_ns ? events[i].time_ns : first_ns;
        *last_ns = events[i].time_ns > *last_ns ? events[i].time_ns : *last_ns;
    }
    block->first_ns = first_ns;
    return code;
}

/* Do the blocks follow each other? Those of which the file does not say so are looked at. */
static enum weft_code order_find(struct weft_history *history, uint32_t thread_id,
                                 struct weft_thread_facts *facts, struct weft_err *err)
{
    uint64_t before_ns = 0;
    facts->is_ordered = true;
    for (uint64_t i = 0; i < facts->n_blocks; i++) {
        struct weft_state_block *block = &facts->blocks[i];
        uint64_t last_ns = info_of(history, thread_id, block->number)->last_ns;
        if (i > 0 && block->first_ns < before_ns) {
            enum weft_code code = times_find(history, thread_id, block - 1, &before_ns, err);
            WEFT_THEN(code, times_find(history, thread_id, block, &last_ns, err));
            if (code != WEFT_OK)
                return code;
        }
        facts->is_ordered &= block->first_ns >= before_ns;
        before_ns = last_ns;
    }
    return WEFT_OK;
}

static enum weft_code facts_make(struct weft_history *history, uint32_t thread_id,
                                 struct weft_thread_facts *facts, struct weft_err *err)
{
    const uint64_t n_all = weft_store_thread_get(history->store, thread_id)->n_event_blocks;
    *facts = (struct weft_thread_facts){ .first_exit_block = UINT64_MAX };
    facts->blocks = calloc(n_all + 1, sizeof *facts->blocks);
    if (!facts->blocks)
        return weft_no_memory(err, "states of threads");
    for (uint64_t i = 0; i < n_all; i++) {
        const struct weft_event_block_info *info = info_of(history, thread_id, i);
        if (!(info->kinds & WEFT_MACHINE_KINDS))
            continue;
        facts->has_calls |= info->kinds >> WEFT_EVENT_SYSCALL_ENTER & 1;
        if (facts->first_exit_block == UINT64_MAX && info->kinds >> WEFT_EVENT_EXIT & 1)
            facts->first_exit_block = facts->n_blocks;
        facts->blocks[facts->n_blocks++] = (struct weft_state_block){ i, info->first_ns };
    }
    facts->has_calls &= weft_trace_has_calls(history->trace);
    return order_find(history, thread_id, facts, err);
}

enum weft_code weft_history_facts(struct weft_history *history, uint32_t thread_id,
                                  struct weft_thread_facts *facts, struct weft_err *err)
{
    bool is_new;
    const uint32_t id = weft_map_add(history->of_thread, thread_id, &is_new);
    if (id == WEFT_MAP_NONE)
        return weft_no_memory(err, "states of threads");
    while (history->facts.n <= id) {
        struct weft_thread_facts *made = WEFT_VEC_PUSH(&history->facts);
        if (!made)
            return weft_no_memory(err, "states of threads");
        const uint32_t thread =
            (uint32_t)weft_map_key(history->of_thread, (uint32_t)history->facts.n - 1);
        const enum weft_code code = facts_make(history, thread, made, err);
        if (code != WEFT_OK) {
            free(made->blocks);
            history->facts.n--;
            return code;
        }
    }
    *facts = history->facts.items[id];
    return WEFT_OK;
}

/* ---- where windows start -------------------------------------------------------------------- */

static bool is_in_order(const struct weft_event *events, size_t n)
{
    uint64_t last_ns = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_of_state(&events[i]))
            continue;
        if (events[i].time_ns < last_ns)
            return false;
        last_ns = events[i].time_ns;
    }
    return true;
}

/* The last switch away from the thread in the block, at or after all kernel events before it, at a
 * ns at which no other does anything to the thread. */
static enum weft_code sync_find(struct weft_history *history, uint32_t thread_id, uint64_t block,
                                struct weft_state_sync *sync, struct weft_err *err)
{
    const struct weft_event *events;
    size_t n_events;
    *sync = (struct weft_state_sync){ .index = NONE };
    if (!(info_of(history, thread_id, block)->kinds >> WEFT_EVENT_SWITCH & 1))
        return WEFT_OK;
    enum weft_code code = block_load(history, thread_id, block, &events, &n_events, err);
    if (code != WEFT_OK || !is_in_order(events, n_events))
        return code;
    for (size_t i = n_events; i-- > 0;) {
        bool has;
        if (!weft_machine_leaves(thread_id, &events[i]))
            continue;
        code = weft_arrival_at(history->store, history->arrival_buf, thread_id, events[i].time_ns,
                               &has, err);
        if (code != WEFT_OK)
            return code;
        if (has)
            continue;
        *sync = (struct weft_state_sync){ .time_ns = events[i].time_ns, .index = (uint32_t)i };
        return WEFT_OK;
    }
    return WEFT_OK;
}

/* `block` counts all blocks of the thread. */
static enum weft_code sync_get(struct weft_history *history, uint32_t thread_id, uint64_t block,
                               struct weft_state_sync *sync, struct weft_err *err)
{
    const uint64_t key = (uint64_t)thread_id << 32 | block;
    const uint32_t known = weft_map_find(history->of_block, key);
    if (known != WEFT_MAP_NONE) {
        *sync = history->syncs.items[known];
        return WEFT_OK;
    }
    WEFT_TRY(sync_find(history, thread_id, block, sync, err));
    struct weft_state_sync *kept = WEFT_VEC_PUSH(&history->syncs);
    if (!kept)
        return weft_no_memory(err, "states of threads");
    *kept = *sync;
    if (weft_map_add(history->of_block, key, NULL) == WEFT_MAP_NONE) {
        history->syncs.n--;
        return weft_no_memory(err, "states of threads");
    }
    return WEFT_OK;
}

enum weft_code weft_window_start(struct weft_history *history, uint32_t thread_id,
                                 const struct weft_thread_facts *facts, uint64_t window,
                                 struct weft_state_sync *sync, struct weft_err *err)
{
    *sync = (struct weft_state_sync){ .index = NONE };
    if (!facts->is_ordered)
        return WEFT_OK;
    return sync_get(history, thread_id, facts->blocks[window - 1].number, sync, err);
}

enum weft_code weft_window_of(struct weft_history *history, uint32_t thread_id,
                              const struct weft_thread_facts *facts, uint64_t t_ns,
                              uint64_t *window, struct weft_err *err)
{
    uint64_t low = 0;
    uint64_t high = facts->is_ordered ? facts->n_blocks : 0;
    while (low < high) { /* blocks that begin before t_ns */
        const uint64_t mid = low + (high - low) / 2;
        if (facts->blocks[mid].first_ns < t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    for (*window = low; *window > 0; --*window) {
        struct weft_state_sync sync;
        WEFT_TRY(weft_window_start(history, thread_id, facts, *window, &sync, err));
        if (sync.index != NONE && sync.time_ns < t_ns)
            break;
    }
    return WEFT_OK;
}

/* ---- decoding a window ---------------------------------------------------------------------- */

/* The system call that the thread is in when the window starts. */
static enum weft_code call_find(struct weft_history *history, const struct weft_thread_facts *facts,
                                const struct weft_state_window *window, struct weft_err *err)
{
    const uint32_t kinds = 1U << WEFT_EVENT_SYSCALL_ENTER | 1U << WEFT_EVENT_SYSCALL_EXIT;
    struct weft_machine *machine = &history->machine;
    for (uint64_t i = window->number; i-- > 0;) {
        const uint64_t block = facts->blocks[i].number;
        if (!(info_of(history, window->thread_id, block)->kinds & kinds))
            continue;
        const struct weft_event *events;
        size_t n;
        WEFT_TRY(block_load(history, window->thread_id, block, &events, &n, err));
        n = i + 1 == window->number ? window->start.index : n;
        while (n-- > 0) {
            if (!(kinds >> events[n].kind & 1))
                continue;
            machine->is_in_call = events[n].kind == WEFT_EVENT_SYSCALL_ENTER;
            machine->call = events[n].name;
            machine->has_mode = machine->has_calls;
            return name_keep(history, &machine->call, err);
        }
    }
    return WEFT_OK;
}

/* The block in which the window starts. */
static enum weft_code start_load(struct weft_history *history,
                                 const struct weft_thread_facts *facts,
                                 const struct weft_state_window *window,
                                 const struct weft_event **events, size_t *n, struct weft_err *err)
{
    return block_load(history, window->thread_id, facts->blocks[window->number - 1].number, events,
                      n, err);
}

/* Has the thread begun to end when the window starts? */
static enum weft_code exit_find(struct weft_history *history, const struct weft_thread_facts *facts,
                                const struct weft_state_window *window, struct weft_err *err)
{
    if (facts->first_exit_block >= window->number)
        return WEFT_OK;
    history->machine.is_exiting = facts->first_exit_block + 1 < window->number;
    if (history->machine.is_exiting)
        return WEFT_OK;
    const struct weft_event *events;
    size_t n;
    const enum weft_code code = start_load(history, facts, window, &events, &n, err);
    for (size_t i = 0; code == WEFT_OK && i < window->start.index; i++)
        history->machine.is_exiting |= events[i].kind == WEFT_EVENT_EXIT;
    return code;
}

/* Arrivals before `own`, and those of its ns that fit better; all that are left if it is NULL. */
static void arrivals_take(struct weft_history *history, struct weft_state_window *window,
                          const struct weft_event *own)
{
    struct weft_machine *machine = &history->machine;
    while (window->at_arrival < history->arrivals.n) {
        struct weft_arrival *first = &history->arrivals.items[window->at_arrival];
        const uint64_t time_ns = first->time_ns;
        if (own && own->time_ns < time_ns)
            return;
        size_t n = 1;
        while (window->at_arrival + n < history->arrivals.n && n < 64 &&
               first[n].time_ns == time_ns)
            n++;
        const bool is_tied = own && own->time_ns == time_ns;
        const uint32_t best =
            weft_machine_choose(machine, window->thread_id, is_tied ? own : NULL, first, n);
        if (best == WEFT_ID_NONE)
            return;
        const struct weft_arrival chosen = first[best];
        memmove(first + 1, first, best * sizeof *first);
        window->at_arrival++;
        weft_machine_arrive(machine, &chosen);
    }
}

static enum weft_code own_take(struct weft_history *history, struct weft_state_window *window,
                               const struct weft_event *given, struct weft_err *err)
{
    struct weft_event event = *given;
    if (event.time_ns < window->time_ns)
        event.time_ns = window->time_ns;
    window->time_ns = event.time_ns;
    arrivals_take(history, window, &event);
    enum weft_code code = WEFT_OK;
    if (event.name.n_bytes > 0)
        code = name_keep(history, &event.name, err);
    weft_machine_own(&history->machine, window->thread_id, &event);
    return code;
}

/* Own events from behind the switch at the start up to the one at the end. */
static enum weft_code own_events_take(struct weft_history *history,
                                      const struct weft_thread_facts *facts,
                                      struct weft_state_window *window, struct weft_err *err)
{
    const bool has_start = window->start.index != NONE;
    enum weft_code code = WEFT_OK;
    for (uint64_t block = window->number - has_start;
         block < facts->n_blocks && block < window->end; block++) {
        const struct weft_event *events;
        size_t n;
        code =
            block_load(history, window->thread_id, facts->blocks[block].number, &events, &n, err);
        if (code != WEFT_OK)
            return code;
        const bool is_first = has_start && block + 1 == window->number;
        const bool is_last = block + 1 == window->end && window->stop.index != NONE;
        for (size_t i = is_first ? window->start.index + 1 : 0;
             i < (is_last ? window->stop.index : n) && code == WEFT_OK; i++)
            if (is_of_state(&events[i]))
                code = own_take(history, window, &events[i], err);
        if (is_last)
            window->ran_ns = events[window->stop.index].value;
        if (code != WEFT_OK)
            return code;
    }
    return code;
}

/* The switch at which the window starts, and what else is known there. */
static enum weft_code window_begin(struct weft_history *history,
                                   const struct weft_thread_facts *facts,
                                   struct weft_state_window *window, struct weft_err *err)
{
    const bool is_idle = weft_trace_thread(history->trace, window->thread_id)->info.tid == 0;
    weft_machine_reset(&history->machine, is_idle);
    history->machine.has_calls = facts->has_calls;
    if (window->start.index == NONE)
        return WEFT_OK;
    enum weft_code code = call_find(history, facts, window, err);
    WEFT_THEN(code, exit_find(history, facts, window, err));
    const struct weft_event *events;
    size_t n;
    WEFT_THEN(code, start_load(history, facts, window, &events, &n, err));
    if (code != WEFT_OK)
        return code;
    weft_machine_sync(&history->machine, &events[window->start.index]);
    window->time_ns = window->start.time_ns;
    return WEFT_OK;
}

/* Finds where window `window->number` ends. */
static enum weft_code window_end(struct weft_history *history,
                                 const struct weft_thread_facts *facts,
                                 struct weft_state_window *window, struct weft_err *err)
{
    window->start.index = window->stop.index = NONE;
    enum weft_code code = WEFT_OK;
    if (window->number > 0)
        code = weft_window_start(history, window->thread_id, facts, window->number, &window->start,
                                 err);
    for (window->end = window->number + 1; code == WEFT_OK && window->end <= facts->n_blocks;
         window->end++) {
        code =
            weft_window_start(history, window->thread_id, facts, window->end, &window->stop, err);
        if (window->stop.index != NONE)
            break;
    }
    return code;
}

/* A recording says when it ceased to record the thread, and a part of a trace where it ends for one
 * that is blocked throughout: until then it had no event. */
static uint64_t known_until(const struct weft_history *history, uint32_t thread_id,
                            uint64_t known_ns)
{
    const struct weft_str format = weft_trace_meta(history->trace)->format;
    return history->machine.now.flags & WEFT_STATE_EARLIER ||
                   weft_str_equal(format, WEFT_STR("weft record"))
               ? weft_max_u64(known_ns, weft_thread_stated_end(history->trace, thread_id))
               : known_ns;
}

/* The last window ends: with the trace, or where another thread has the tid. */
static enum weft_code thread_end(struct weft_history *history,
                                 const struct weft_state_window *window, struct weft_err *err)
{
    const struct weft_arrival_list *arrivals = &history->arrivals;
    const uint64_t arrival_ns = arrivals->n ? arrivals->items[arrivals->n - 1].time_ns : 0;
    WEFT_TRY(weft_state_ends_make(&history->ends, history->trace, history->arrival_buf, err));
    const struct weft_state_end end =
        weft_state_end_get(&history->ends, history->trace, window->thread_id);
    if (end.next_ns != UINT64_MAX && end.next_ns >= weft_max_u64(window->time_ns, arrival_ns))
        weft_machine_vanish(&history->machine, end.next_ns);
    else
        weft_machine_end(&history->machine, known_until(history, window->thread_id, end.known_ns),
                         weft_trace_meta(history->trace)->duration_ns);
    return WEFT_OK;
}

enum weft_code weft_window_decode(struct weft_history *history,
                                  const struct weft_thread_facts *facts,
                                  struct weft_state_window *window, struct weft_err *err)
{
    WEFT_TRY(window_end(history, facts, window, err));
    const bool is_last = window->stop.index == NONE;
    const uint64_t until_ns = is_last ? UINT64_MAX : window->stop.time_ns;
    enum weft_code code =
        weft_arrivals_load(history->trace, history->arrival_buf, window->thread_id,
                           window->start.index == NONE ? 0 : window->start.time_ns + 1, until_ns,
                           &history->arrivals, err);
    WEFT_THEN(code, window_begin(history, facts, window, err));
    WEFT_THEN(code, own_events_take(history, facts, window, err));
    if (code != WEFT_OK)
        return code;
    arrivals_take(history, window, NULL);
    if (is_last)
        code = thread_end(history, window, err);
    else
        weft_machine_finish(&history->machine, until_ns, window->ran_ns);
    return history->machine.has_failed ? weft_no_memory(err, "states of threads") : code;
}
