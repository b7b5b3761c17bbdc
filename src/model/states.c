/* SPDX-License-Identifier: MIT
 *
 * States are decoded in windows, from a switch away from the thread in one block of its events to
 * the last such switch in the next block:
 *
 *     block k-1               block k                 block k+1
 *     ..........S.....  |  ..............S..  |  ........S......
 *               |<----- window k ------->|<-- window k+1 -->|
 *
 * A switch starts a window if nothing else happened to the thread in the same ns, so that the
 * states do not depend on where decoding began. Blocks without one make a window longer.
 */
#include "model/states.h"

#include "base/map.h"
#include "base/vec.h"
#include "model/arrival_reader.h"
#include "model/history.h"
#include "model/state_machine.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BYTES = 16 << 20, CPU_BUFS = 16, GUESSES = 256 };
#define NONE UINT32_MAX

/* States of a window; in a list by use. */
struct slot {
    struct weft_state *states; /* NULL: not decoded, or let go */
    size_t n;
    uint64_t end_window; /* the next window of the thread; n_event_blocks + 1: there is none */
    uint32_t newer, older;
    bool is_known;
};

/* The switch in a block of events at which a window starts. */
struct sync {
    uint64_t time_ns;
    uint32_t index; /* of the event in its block; NONE: there is none */
};

struct thread_facts {
    uint64_t first_exit_block; /* block of events with an exit; UINT64_MAX: none */
    bool is_ordered;           /* blocks of events follow each other in time */
};

struct weft_history {
    const struct weft_trace *trace;
    struct weft_store *store;
    uint64_t most_bytes, used_bytes;
    struct weft_strtab *names;
    uint32_t guesses[GUESSES];        /* 1 + a name, by where it stood; 0: none */
    struct weft_event_buf *blocks[2]; /* of own events: even and odd blocks */
    struct weft_event_buf *arrival_buf;
    struct weft_event_buf *cpu_bufs[CPU_BUFS]; /* by processor; NULL: not used yet */
    struct weft_machine machine;
    struct weft_arrival_list arrivals; /* of the window in work */
    struct weft_map *of_window;        /* thread and window -> slot */
    struct {
        struct slot *items;
        size_t n, cap;
    } slots;
    uint32_t newest, oldest;
    struct weft_map *of_block; /* thread and block -> sync */
    struct {
        struct sync *items;
        size_t n, cap;
    } syncs;
    struct weft_map *of_thread; /* -> facts */
    struct {
        struct thread_facts *items;
        size_t n, cap;
    } facts;
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "states of threads");
}

enum weft_code weft_history_open(const struct weft_trace *trace, uint64_t mem_bytes,
                                 struct weft_history **history_out, struct weft_err *err)
{
    struct weft_history *history = calloc(1, sizeof *history);
    *history_out = history;
    if (!history)
        return no_memory(err);
    history->trace = trace;
    history->store = weft_trace_store(trace);
    history->most_bytes = mem_bytes ? mem_bytes : DEFAULT_BYTES;
    history->names = weft_strtab_new();
    history->blocks[0] = weft_event_buf_new();
    history->blocks[1] = weft_event_buf_new();
    history->arrival_buf = weft_event_buf_new();
    history->of_window = weft_map_new();
    history->of_block = weft_map_new();
    history->of_thread = weft_map_new();
    history->newest = history->oldest = NONE;
    if (history->names && history->blocks[0] && history->blocks[1] && history->arrival_buf &&
        history->of_window && history->of_block && history->of_thread)
        return WEFT_OK;
    weft_history_close(history);
    *history_out = NULL;
    return no_memory(err);
}

void weft_history_close(struct weft_history *history)
{
    if (!history)
        return;
    for (size_t i = 0; i < history->slots.n; i++)
        free(history->slots.items[i].states);
    WEFT_VEC_FINI(&history->slots);
    WEFT_VEC_FINI(&history->syncs);
    WEFT_VEC_FINI(&history->facts);
    WEFT_VEC_FINI(&history->arrivals);
    WEFT_VEC_FINI(&history->machine.states);
    weft_map_free(history->of_window);
    weft_map_free(history->of_block);
    weft_map_free(history->of_thread);
    weft_strtab_free(history->names);
    weft_event_buf_free(history->blocks[0]);
    weft_event_buf_free(history->blocks[1]);
    weft_event_buf_free(history->arrival_buf);
    for (int i = 0; i < CPU_BUFS; i++)
        weft_event_buf_free(history->cpu_bufs[i]);
    free(history);
}

const struct weft_trace *weft_history_trace(const struct weft_history *history)
{
    return history->trace;
}

struct weft_event_buf *weft_history_cpu_buf(struct weft_history *history, int32_t cpu)
{
    struct weft_event_buf **buf = &history->cpu_bufs[(uint32_t)cpu % CPU_BUFS];
    if (!*buf)
        *buf = weft_event_buf_new();
    return *buf;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static uint64_t n_blocks_of(const struct weft_history *history, uint32_t thread_id)
{
    return weft_store_thread_get(history->store, thread_id)->n_event_blocks;
}

static const struct weft_event_block_info *info_of(const struct weft_history *history,
                                                   uint32_t thread_id, uint64_t block)
{
    return weft_store_event_block_get(history->store, thread_id, block);
}

static enum weft_code block_load(struct weft_history *history, uint32_t thread_id, uint64_t block,
                                 const struct weft_event **events, size_t *n, struct weft_err *err)
{
    return weft_store_load_events(history->store, thread_id, block, history->blocks[block & 1],
                                  events, n, err);
}

/* A name that lives as long as the history. Few occur, in turn: they are looked for by where they
 * stand in the block first. */
static enum weft_code name_keep(struct weft_history *history, struct weft_str *name,
                                struct weft_err *err)
{
    uint32_t *guess =
        &history->guesses[((uintptr_t)name->bytes ^ (uintptr_t)name->bytes >> 6) % GUESSES];
    if (*guess > 0) {
        const struct weft_str known = weft_strtab_get(history->names, *guess - 1);
        if (weft_str_equal(known, *name)) {
            *name = known;
            return WEFT_OK;
        }
    }
    uint32_t id;
    const enum weft_code code = weft_strtab_intern(history->names, *name, &id, err);
    if (code != WEFT_OK)
        return code;
    *name = weft_strtab_get(history->names, id);
    *guess = id + 1;
    return WEFT_OK;
}

/* The latest time of an event in a block: what the file says of it counts what lasts, too. */
static enum weft_code block_last_ns(struct weft_history *history, uint32_t thread_id,
                                    uint64_t block, uint64_t *last_ns, struct weft_err *err)
{
    const struct weft_event *events;
    size_t n = 0;
    *last_ns = info_of(history, thread_id, block)->last_ns;
    if (!(info_of(history, thread_id, block)->kinds >> WEFT_EVENT_SPAN & 1))
        return WEFT_OK;
    const enum weft_code code = block_load(history, thread_id, block, &events, &n, err);
    *last_ns = 0;
    for (size_t i = 0; i < n && code == WEFT_OK; i++)
        *last_ns = events[i].time_ns > *last_ns ? events[i].time_ns : *last_ns;
    return code;
}

static enum weft_code facts_make(struct weft_history *history, uint32_t thread_id,
                                 struct thread_facts *facts, struct weft_err *err)
{
    const uint64_t n_blocks = n_blocks_of(history, thread_id);
    *facts = (struct thread_facts){ .first_exit_block = UINT64_MAX, .is_ordered = true };
    for (uint64_t i = 0; i < n_blocks; i++) {
        const struct weft_event_block_info *info = info_of(history, thread_id, i);
        if (facts->first_exit_block == UINT64_MAX && info->kinds >> WEFT_EVENT_EXIT & 1)
            facts->first_exit_block = i;
        if (i == 0 || info->first_ns >= info_of(history, thread_id, i - 1)->last_ns)
            continue;
        uint64_t before_ns;
        const enum weft_code code = block_last_ns(history, thread_id, i - 1, &before_ns, err);
        if (code != WEFT_OK)
            return code;
        facts->is_ordered &= info->first_ns >= before_ns;
    }
    return WEFT_OK;
}

static enum weft_code facts_get(struct weft_history *history, uint32_t thread_id,
                                struct thread_facts *facts, struct weft_err *err)
{
    bool is_new;
    const uint32_t id = weft_map_add(history->of_thread, thread_id, &is_new);
    if (id == WEFT_MAP_NONE)
        return no_memory(err);
    while (history->facts.n <= id) {
        struct thread_facts *made = WEFT_VEC_PUSH(&history->facts);
        if (!made)
            return no_memory(err);
        const uint32_t thread =
            (uint32_t)weft_map_key(history->of_thread, (uint32_t)history->facts.n - 1);
        const enum weft_code code = facts_make(history, thread, made, err);
        if (code != WEFT_OK) {
            history->facts.n--;
            return code;
        }
    }
    *facts = history->facts.items[id];
    return WEFT_OK;
}

/* ---- where windows start -------------------------------------------------------------------- */

/* The last switch away from the thread in the block, at or after all kernel events before it, at a
 * ns at which no other does anything to the thread. */
static enum weft_code sync_find(struct weft_history *history, uint32_t thread_id, uint64_t block,
                                struct sync *sync, struct weft_err *err)
{
    const struct weft_event *events;
    size_t n_events;
    *sync = (struct sync){ .index = NONE };
    if (!(info_of(history, thread_id, block)->kinds >> WEFT_EVENT_SWITCH & 1))
        return WEFT_OK;
    enum weft_code code = block_load(history, thread_id, block, &events, &n_events, err);
    if (code != WEFT_OK)
        return code;
    for (size_t i = 1; i < n_events; i++)
        if (events[i].time_ns < events[i - 1].time_ns)
            return WEFT_OK;
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
        *sync = (struct sync){ .time_ns = events[i].time_ns, .index = (uint32_t)i };
        return WEFT_OK;
    }
    return WEFT_OK;
}

static enum weft_code sync_get(struct weft_history *history, uint32_t thread_id, uint64_t block,
                               struct sync *sync, struct weft_err *err)
{
    const uint64_t key = (uint64_t)thread_id << 32 | block;
    const uint32_t known = weft_map_find(history->of_block, key);
    if (known != WEFT_MAP_NONE) {
        *sync = history->syncs.items[known];
        return WEFT_OK;
    }
    const enum weft_code code = sync_find(history, thread_id, block, sync, err);
    if (code != WEFT_OK)
        return code;
    struct sync *kept = WEFT_VEC_PUSH(&history->syncs);
    if (!kept)
        return no_memory(err);
    *kept = *sync;
    if (weft_map_add(history->of_block, key, NULL) == WEFT_MAP_NONE) {
        history->syncs.n--;
        return no_memory(err);
    }
    return WEFT_OK;
}

/* Where window `window` > 0 starts, in the block before; index NONE: it does not. */
static enum weft_code window_start(struct weft_history *history, uint32_t thread_id,
                                   const struct thread_facts *facts, uint64_t window,
                                   struct sync *sync, struct weft_err *err)
{
    *sync = (struct sync){ .index = NONE };
    if (!facts->is_ordered)
        return WEFT_OK;
    return sync_get(history, thread_id, window - 1, sync, err);
}

/* The window in which the instant just before `t_ns` lies. */
static enum weft_code window_of(struct weft_history *history, uint32_t thread_id,
                                const struct thread_facts *facts, uint64_t t_ns, uint64_t *window,
                                struct weft_err *err)
{
    uint64_t low = 0;
    uint64_t high = facts->is_ordered ? n_blocks_of(history, thread_id) : 0;
    while (low < high) { /* blocks that begin before t_ns */
        const uint64_t mid = low + (high - low) / 2;
        if (info_of(history, thread_id, mid)->first_ns < t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    for (*window = low; *window > 0; --*window) {
        struct sync sync;
        const enum weft_code code = window_start(history, thread_id, facts, *window, &sync, err);
        if (code != WEFT_OK)
            return code;
        if (sync.index != NONE && sync.time_ns < t_ns)
            break;
    }
    return WEFT_OK;
}

/* ---- decoding a window ---------------------------------------------------------------------- */

/* A window in work. */
struct window {
    uint32_t thread_id;
    uint64_t number, end; /* it is [number, end) in windows */
    struct sync start, stop;
    size_t at_arrival;
    uint64_t time_ns; /* never descends */
};

/* The system call that the thread is in when the window starts. */
static enum weft_code call_find(struct weft_history *history, const struct window *window,
                                struct weft_err *err)
{
    const uint32_t kinds = 1U << WEFT_EVENT_SYSCALL_ENTER | 1U << WEFT_EVENT_SYSCALL_EXIT;
    struct weft_machine *machine = &history->machine;
    for (uint64_t block = window->number; block-- > 0;) {
        if (!(info_of(history, window->thread_id, block)->kinds & kinds))
            continue;
        const struct weft_event *events;
        size_t n;
        enum weft_code code = block_load(history, window->thread_id, block, &events, &n, err);
        if (code != WEFT_OK)
            return code;
        n = block + 1 == window->number ? window->start.index : n;
        while (n-- > 0) {
            if (!(kinds >> events[n].kind & 1))
                continue;
            machine->is_in_call = events[n].kind == WEFT_EVENT_SYSCALL_ENTER;
            machine->call = events[n].name;
            return name_keep(history, &machine->call, err);
        }
    }
    return WEFT_OK;
}

/* Has the thread begun to end when the window starts? */
static enum weft_code exit_find(struct weft_history *history, const struct thread_facts *facts,
                                const struct window *window, struct weft_err *err)
{
    if (facts->first_exit_block >= window->number)
        return WEFT_OK;
    history->machine.is_exiting = facts->first_exit_block + 1 < window->number;
    if (history->machine.is_exiting)
        return WEFT_OK;
    const struct weft_event *events;
    size_t n;
    const enum weft_code code =
        block_load(history, window->thread_id, window->number - 1, &events, &n, err);
    for (size_t i = 0; code == WEFT_OK && i < window->start.index; i++)
        history->machine.is_exiting |= events[i].kind == WEFT_EVENT_EXIT;
    return code;
}

/* Arrivals before `own`, and those of its ns that fit better; all that are left if it is NULL. */
static void arrivals_take(struct weft_history *history, struct window *window,
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

static enum weft_code own_take(struct weft_history *history, struct window *window,
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
static enum weft_code own_events_take(struct weft_history *history, struct window *window,
                                      struct weft_err *err)
{
    const uint64_t n_blocks = n_blocks_of(history, window->thread_id);
    const bool has_start = window->start.index != NONE;
    enum weft_code code = WEFT_OK;
    for (uint64_t block = window->number - has_start; block < n_blocks && block < window->end;
         block++) {
        if (!(info_of(history, window->thread_id, block)->kinds & WEFT_MACHINE_KINDS))
            continue;
        const struct weft_event *events;
        size_t n;
        code = block_load(history, window->thread_id, block, &events, &n, err);
        if (code != WEFT_OK)
            return code;
        const bool is_first = has_start && block + 1 == window->number;
        const bool is_last = block + 1 == window->end && window->stop.index != NONE;
        for (size_t i = is_first ? window->start.index + 1 : 0;
             i < (is_last ? window->stop.index : n) && code == WEFT_OK; i++)
            if (WEFT_MACHINE_KINDS >> events[i].kind & 1)
                code = own_take(history, window, &events[i], err);
        if (code != WEFT_OK)
            return code;
    }
    return code;
}

/* The switch at which the window starts, and what else is known there. */
static enum weft_code window_begin(struct weft_history *history, const struct thread_facts *facts,
                                   struct window *window, struct weft_err *err)
{
    const bool is_idle = weft_trace_thread(history->trace, window->thread_id)->info.tid == 0;
    weft_machine_reset(&history->machine, is_idle);
    if (window->start.index == NONE)
        return WEFT_OK;
    enum weft_code code = call_find(history, window, err);
    if (code == WEFT_OK)
        code = exit_find(history, facts, window, err);
    const struct weft_event *events;
    size_t n;
    if (code == WEFT_OK)
        code = block_load(history, window->thread_id, window->number - 1, &events, &n, err);
    if (code != WEFT_OK)
        return code;
    weft_machine_sync(&history->machine, &events[window->start.index]);
    window->time_ns = window->start.time_ns;
    return WEFT_OK;
}

/* Finds where window `window->number` ends. */
static enum weft_code window_end(struct weft_history *history, const struct thread_facts *facts,
                                 struct window *window, struct weft_err *err)
{
    const uint64_t n_blocks = n_blocks_of(history, window->thread_id);
    window->start.index = window->stop.index = NONE;
    enum weft_code code = WEFT_OK;
    if (window->number > 0)
        code = window_start(history, window->thread_id, facts, window->number, &window->start, err);
    for (window->end = window->number + 1; code == WEFT_OK && window->end <= n_blocks;
         window->end++) {
        code = window_start(history, window->thread_id, facts, window->end, &window->stop, err);
        if (window->stop.index != NONE)
            break;
    }
    return code;
}

static enum weft_code window_decode(struct weft_history *history, const struct thread_facts *facts,
                                    struct window *window, struct weft_err *err)
{
    enum weft_code code = window_end(history, facts, window, err);
    if (code != WEFT_OK)
        return code;
    const bool is_last = window->stop.index == NONE;
    const uint64_t until_ns = is_last ? UINT64_MAX : window->stop.time_ns;
    code = weft_arrivals_load(history->trace, history->arrival_buf, window->thread_id,
                              window->start.index == NONE ? 0 : window->start.time_ns + 1, until_ns,
                              &history->arrivals, err);
    if (code == WEFT_OK)
        code = window_begin(history, facts, window, err);
    if (code == WEFT_OK)
        code = own_events_take(history, window, err);
    if (code != WEFT_OK)
        return code;
    arrivals_take(history, window, NULL);
    weft_machine_finish(&history->machine,
                        is_last ? weft_trace_meta(history->trace)->duration_ns : until_ns, is_last);
    return history->machine.has_failed ? no_memory(err) : WEFT_OK;
}

/* ---- the cache ------------------------------------------------------------------------------ */

static void slot_unlink(struct weft_history *history, uint32_t id)
{
    struct slot *slot = &history->slots.items[id];
    if (slot->newer != NONE)
        history->slots.items[slot->newer].older = slot->older;
    else if (history->newest == id)
        history->newest = slot->older;
    if (slot->older != NONE)
        history->slots.items[slot->older].newer = slot->newer;
    else if (history->oldest == id)
        history->oldest = slot->newer;
    slot->newer = slot->older = NONE;
}

static void slot_use(struct weft_history *history, uint32_t id)
{
    if (history->newest == id)
        return;
    slot_unlink(history, id);
    struct slot *slot = &history->slots.items[id];
    slot->older = history->newest;
    if (history->newest != NONE)
        history->slots.items[history->newest].newer = id;
    history->newest = id;
    if (history->oldest == NONE)
        history->oldest = id;
}

static void slot_forget(struct weft_history *history, uint32_t id)
{
    struct slot *slot = &history->slots.items[id];
    slot_unlink(history, id);
    history->used_bytes -= slot->n * sizeof *slot->states;
    free(slot->states);
    slot->states = NULL;
    slot->is_known = false;
}

static enum weft_code slot_fill(struct weft_history *history, uint32_t id, uint64_t end_window,
                                struct weft_err *err)
{
    struct slot *slot = &history->slots.items[id];
    const size_t n = history->machine.states.n;
    struct weft_state *states = malloc((n ? n : 1) * sizeof *states);
    if (!states)
        return no_memory(err);
    if (n > 0)
        memcpy(states, history->machine.states.items, n * sizeof *states);
    slot->states = states;
    slot->n = n;
    slot->end_window = end_window;
    slot->is_known = true;
    history->used_bytes += n * sizeof *states;
    slot_use(history, id);
    while (history->used_bytes > history->most_bytes && history->oldest != id)
        slot_forget(history, history->oldest);
    return WEFT_OK;
}

/* The states of a window; valid until the next call. */
static enum weft_code window_get(struct weft_history *history, uint32_t thread_id,
                                 const struct thread_facts *facts, uint64_t number,
                                 const struct slot **slot, struct weft_err *err)
{
    const uint32_t id = weft_map_add(history->of_window, (uint64_t)thread_id << 32 | number, NULL);
    if (id == WEFT_MAP_NONE)
        return no_memory(err);
    while (history->slots.n <= id) {
        struct slot *made = WEFT_VEC_PUSH(&history->slots);
        if (!made)
            return no_memory(err);
        made->newer = made->older = NONE;
    }
    enum weft_code code = WEFT_OK;
    if (history->slots.items[id].is_known) {
        slot_use(history, id);
    } else {
        struct window window = { .thread_id = thread_id, .number = number };
        code = window_decode(history, facts, &window, err);
        if (code == WEFT_OK)
            code = slot_fill(history, id, window.end, err);
    }
    *slot = &history->slots.items[id];
    return code;
}

/* ---- questions ------------------------------------------------------------------------------ */

/* From window `*window` on, the first with a state; `*slot` is NULL if there is none. */
static enum weft_code window_forward(struct weft_history *history, uint32_t thread_id,
                                     const struct thread_facts *facts, uint64_t *window,
                                     const struct slot **slot, struct weft_err *err)
{
    const uint64_t n_blocks = n_blocks_of(history, thread_id);
    while (*window <= n_blocks) {
        const enum weft_code code = window_get(history, thread_id, facts, *window, slot, err);
        if (code != WEFT_OK || (*slot)->n > 0)
            return code;
        *window = (*slot)->end_window;
    }
    *slot = NULL;
    return WEFT_OK;
}

/* The same from `*window` back. */
static enum weft_code window_back(struct weft_history *history, uint32_t thread_id,
                                  const struct thread_facts *facts, uint64_t *window,
                                  const struct slot **slot, struct weft_err *err)
{
    for (;;) {
        struct sync start;
        enum weft_code code = window_get(history, thread_id, facts, *window, slot, err);
        if (code != WEFT_OK || (*slot)->n > 0)
            return code;
        *slot = NULL;
        if (*window == 0)
            return WEFT_OK;
        code = window_start(history, thread_id, facts, *window, &start, err);
        if (code == WEFT_OK)
            code = window_of(history, thread_id, facts, start.time_ns, window, err);
        if (code != WEFT_OK)
            return code;
    }
}

enum weft_code weft_history_life(struct weft_history *history, uint32_t thread_id,
                                 uint64_t *first_ns, uint64_t *last_ns, struct weft_err *err)
{
    struct thread_facts facts;
    const struct slot *slot = NULL;
    uint64_t window = 0;
    *first_ns = *last_ns = 0;
    enum weft_code code = facts_get(history, thread_id, &facts, err);
    if (code == WEFT_OK)
        code = window_forward(history, thread_id, &facts, &window, &slot, err);
    if (code != WEFT_OK || !slot)
        return code;
    *first_ns = slot->states[0].start_ns;
    code = window_of(history, thread_id, &facts, UINT64_MAX, &window, err);
    if (code == WEFT_OK)
        code = window_back(history, thread_id, &facts, &window, &slot, err);
    if (code == WEFT_OK && slot)
        *last_ns = slot->states[slot->n - 1].end_ns;
    return code;
}

static struct weft_state unknown_state(uint64_t start_ns, uint64_t end_ns)
{
    return (struct weft_state){ .start_ns = start_ns,
                                .end_ns = end_ns,
                                .kind = WEFT_STATE_UNKNOWN,
                                .cpu = -1,
                                .waker_thread_id = WEFT_ID_NONE,
                                .name = WEFT_STR("") };
}

/* The first state that ends at or after `t_ns`; slot->n if there is none. */
static size_t state_find(const struct slot *slot, uint64_t t_ns)
{
    size_t low = 0;
    size_t high = slot->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (slot->states[mid].end_ns < t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

enum weft_code weft_history_before(struct weft_history *history, uint32_t thread_id, uint64_t t_ns,
                                   struct weft_state *state, struct weft_err *err)
{
    struct thread_facts facts;
    const struct slot *slot = NULL;
    uint64_t window = 0;
    *state = unknown_state(0, 0);
    if (t_ns == 0)
        return WEFT_OK;
    enum weft_code code = facts_get(history, thread_id, &facts, err);
    if (code == WEFT_OK)
        code = window_of(history, thread_id, &facts, t_ns, &window, err);
    if (code == WEFT_OK)
        code = window_get(history, thread_id, &facts, window, &slot, err);
    if (code != WEFT_OK)
        return code;
    const size_t at = state_find(slot, t_ns);
    if (at < slot->n && slot->states[at].start_ns < t_ns) {
        *state = slot->states[at];
        return WEFT_OK;
    }
    uint64_t first_ns, last_ns;
    code = weft_history_life(history, thread_id, &first_ns, &last_ns, err);
    if (code == WEFT_OK && last_ns == 0)
        *state = unknown_state(0, UINT64_MAX);
    else if (code == WEFT_OK)
        *state = t_ns <= first_ns ? unknown_state(0, first_ns) : unknown_state(last_ns, UINT64_MAX);
    return code;
}

struct weft_states {
    struct weft_history *history;
    struct thread_facts facts;
    uint64_t from_ns, to_ns;
    uint64_t window;
    size_t at;
    uint32_t thread_id;
    struct weft_state state;
};

enum weft_code weft_states_open(struct weft_history *history, uint32_t thread_id, uint64_t from_ns,
                                uint64_t to_ns, struct weft_states **states_out,
                                struct weft_err *err)
{
    struct weft_states *states = calloc(1, sizeof *states);
    *states_out = NULL;
    if (!states)
        return no_memory(err);
    states->history = history;
    states->thread_id = thread_id;
    states->from_ns = from_ns;
    states->to_ns = to_ns;
    const struct slot *slot;
    enum weft_code code = facts_get(history, thread_id, &states->facts, err);
    if (code == WEFT_OK)
        code = window_of(history, thread_id, &states->facts,
                         from_ns == UINT64_MAX ? from_ns : from_ns + 1, &states->window, err);
    if (code == WEFT_OK)
        code = window_get(history, thread_id, &states->facts, states->window, &slot, err);
    if (code != WEFT_OK) {
        free(states);
        return code;
    }
    states->at = from_ns == UINT64_MAX ? slot->n : state_find(slot, from_ns + 1);
    *states_out = states;
    return WEFT_OK;
}

void weft_states_close(struct weft_states *states)
{
    free(states);
}

enum weft_code weft_states_next(struct weft_states *states, const struct weft_state **state,
                                struct weft_err *err)
{
    struct weft_history *history = states->history;
    const uint64_t n_blocks = n_blocks_of(history, states->thread_id);
    *state = NULL;
    while (states->window <= n_blocks) {
        const struct slot *slot;
        const enum weft_code code =
            window_get(history, states->thread_id, &states->facts, states->window, &slot, err);
        if (code != WEFT_OK)
            return code;
        if (states->at < slot->n) {
            states->state = slot->states[states->at++];
            if (states->state.start_ns < states->to_ns)
                *state = &states->state;
            return WEFT_OK;
        }
        states->window = slot->end_window;
        states->at = 0;
    }
    return WEFT_OK;
}
