/* SPDX-License-Identifier: MIT
 *
 * Questions, and the states of windows (state_windows.h) that are kept for the next one.
 */
#include "model/states/states.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/states/windows.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BYTES = 16 << 20 };
#define NONE WEFT_HISTORY_NONE

enum weft_code weft_history_open(const struct weft_trace *trace, uint64_t mem_bytes,
                                 struct weft_history **history_out, struct weft_err *err)
{
    struct weft_history *history = calloc(1, sizeof *history);
    *history_out = history;
    if (!history)
        return weft_no_memory(err, "states of threads");
    history->trace = trace;
    history->store = weft_trace_store(trace);
    history->most_bytes = mem_bytes ? mem_bytes : DEFAULT_BYTES;
    history->names = weft_strtab_new();
    bool has_blocks = true;
    for (size_t i = 0; i < WEFT_HISTORY_BLOCKS; i++)
        has_blocks &= (history->blocks[i] = weft_event_buf_new()) != NULL;
    history->arrival_buf = weft_event_buf_new();
    history->of_window = weft_map_new();
    history->of_block = weft_map_new();
    history->of_thread = weft_map_new();
    history->newest = history->oldest = NONE;
    if (history->names && has_blocks && history->arrival_buf && history->of_window &&
        history->of_block && history->of_thread)
        return WEFT_OK;
    weft_history_close(history);
    *history_out = NULL;
    return weft_no_memory(err, "states of threads");
}

void weft_history_close(struct weft_history *history)
{
    if (!history)
        return;
    for (size_t i = 0; i < history->slots.n; i++)
        free(history->slots.items[i].states);
    WEFT_VEC_FINI(&history->slots);
    WEFT_VEC_FINI(&history->syncs);
    for (size_t i = 0; i < history->facts.n; i++)
        free(history->facts.items[i].blocks);
    WEFT_VEC_FINI(&history->facts);
    WEFT_VEC_FINI(&history->arrivals);
    WEFT_VEC_FINI(&history->machine.states);
    weft_state_ends_fini(&history->ends);
    weft_map_free(history->of_window);
    weft_map_free(history->of_block);
    weft_map_free(history->of_thread);
    weft_strtab_free(history->names);
    for (size_t i = 0; i < WEFT_HISTORY_BLOCKS; i++)
        weft_event_buf_free(history->blocks[i]);
    weft_event_buf_free(history->arrival_buf);
    for (int i = 0; i < WEFT_HISTORY_CPU_BUFS; i++)
        weft_event_buf_free(history->cpu_bufs[i]);
    free(history);
}

const struct weft_trace *weft_history_trace(const struct weft_history *history)
{
    return history->trace;
}

struct weft_event_buf *weft_history_cpu_buf(struct weft_history *history, int32_t cpu)
{
    struct weft_event_buf **buf = &history->cpu_bufs[(uint32_t)cpu % WEFT_HISTORY_CPU_BUFS];
    if (!*buf)
        *buf = weft_event_buf_new();
    return *buf;
}

/* ---- the cache ------------------------------------------------------------------------------ */

static void slot_unlink(struct weft_history *history, uint32_t id)
{
    struct weft_state_slot *slot = &history->slots.items[id];
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
    struct weft_state_slot *slot = &history->slots.items[id];
    slot->older = history->newest;
    if (history->newest != NONE)
        history->slots.items[history->newest].newer = id;
    history->newest = id;
    if (history->oldest == NONE)
        history->oldest = id;
}

static void slot_forget(struct weft_history *history, uint32_t id)
{
    struct weft_state_slot *slot = &history->slots.items[id];
    slot_unlink(history, id);
    history->used_bytes -= slot->n * sizeof *slot->states;
    free(slot->states);
    slot->states = NULL;
    slot->is_known = false;
}

static enum weft_code slot_fill(struct weft_history *history, uint32_t id, uint64_t end_window,
                                struct weft_err *err)
{
    struct weft_state_slot *slot = &history->slots.items[id];
    const size_t n = history->machine.states.n;
    struct weft_state *states = malloc((n ? n : 1) * sizeof *states);
    if (!states)
        return weft_no_memory(err, "states of threads");
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
                                 const struct weft_thread_facts *facts, uint64_t number,
                                 const struct weft_state_slot **slot, struct weft_err *err)
{
    const uint32_t id = weft_map_add(history->of_window, (uint64_t)thread_id << 32 | number, NULL);
    if (id == WEFT_MAP_NONE)
        return weft_no_memory(err, "states of threads");
    while (history->slots.n <= id) {
        struct weft_state_slot *made = WEFT_VEC_PUSH(&history->slots);
        if (!made)
            return weft_no_memory(err, "states of threads");
        made->newer = made->older = NONE;
    }
    enum weft_code code = WEFT_OK;
    if (history->slots.items[id].is_known) {
        slot_use(history, id);
    } else {
        struct weft_state_window window = { .thread_id = thread_id, .number = number };
        code = weft_window_decode(history, facts, &window, err);
        WEFT_THEN(code, slot_fill(history, id, window.end, err));
    }
    *slot = &history->slots.items[id];
    return code;
}

/* ---- questions ------------------------------------------------------------------------------ */

/* From window `*window` on, the first with a state; `*slot` is NULL if there is none. */
static enum weft_code window_forward(struct weft_history *history, uint32_t thread_id,
                                     const struct weft_thread_facts *facts, uint64_t *window,
                                     const struct weft_state_slot **slot, struct weft_err *err)
{
    while (*window <= facts->n_blocks) {
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
                                  const struct weft_thread_facts *facts, uint64_t *window,
                                  const struct weft_state_slot **slot, struct weft_err *err)
{
    for (;;) {
        struct weft_state_sync start;
        enum weft_code code = window_get(history, thread_id, facts, *window, slot, err);
        if (code != WEFT_OK || (*slot)->n > 0)
            return code;
        *slot = NULL;
        if (*window == 0)
            return WEFT_OK;
        code = weft_window_start(history, thread_id, facts, *window, &start, err);
        WEFT_THEN(code, weft_window_of(history, thread_id, facts, start.time_ns, window, err));
        if (code != WEFT_OK)
            return code;
    }
}

enum weft_code weft_history_life(struct weft_history *history, uint32_t thread_id,
                                 uint64_t *first_ns, uint64_t *last_ns, struct weft_err *err)
{
    struct weft_thread_facts facts;
    const struct weft_state_slot *slot = NULL;
    uint64_t window = 0;
    *first_ns = *last_ns = 0;
    enum weft_code code = weft_history_facts(history, thread_id, &facts, err);
    WEFT_THEN(code, window_forward(history, thread_id, &facts, &window, &slot, err));
    if (code != WEFT_OK || !slot)
        return code;
    *first_ns = slot->states[0].start_ns;
    code = weft_window_of(history, thread_id, &facts, UINT64_MAX, &window, err);
    WEFT_THEN(code, window_back(history, thread_id, &facts, &window, &slot, err));
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
static size_t state_find(const struct weft_state_slot *slot, uint64_t t_ns)
{
    size_t low;
    WEFT_SEARCH_NEAR(low, slot->n, slot->near, slot->states[low].end_ns < t_ns);
    return low;
}

/* The window that holds t_ns and was asked for last for the thread: most questions are for what
 * lies just before the last one. NULL if it is not that. */
static struct weft_state_slot *slot_near(struct weft_history *history, uint32_t thread_id,
                                         uint64_t t_ns)
{
    const uint32_t id = history->near[thread_id % WEFT_HISTORY_NEAR].slot;
    if (id == 0 || history->near[thread_id % WEFT_HISTORY_NEAR].thread_id != thread_id)
        return NULL;
    struct weft_state_slot *slot = &history->slots.items[id - 1];
    if (!slot->is_known || slot->n == 0 || t_ns <= slot->states[0].start_ns ||
        slot->states[slot->n - 1].end_ns < t_ns)
        return NULL;
    slot_use(history, id - 1);
    return slot;
}

/* The window in which t_ns lies. */
static enum weft_code slot_of(struct weft_history *history, uint32_t thread_id, uint64_t t_ns,
                              struct weft_state_slot **slot, struct weft_err *err)
{
    struct weft_thread_facts facts;
    const struct weft_state_slot *found = NULL;
    uint64_t window = 0;
    *slot = slot_near(history, thread_id, t_ns);
    if (*slot)
        return WEFT_OK;
    enum weft_code code = weft_history_facts(history, thread_id, &facts, err);
    WEFT_THEN(code, weft_window_of(history, thread_id, &facts, t_ns, &window, err));
    WEFT_THEN(code, window_get(history, thread_id, &facts, window, &found, err));
    if (code != WEFT_OK)
        return code;
    const uint32_t id = (uint32_t)(found - history->slots.items);
    history->near[thread_id % WEFT_HISTORY_NEAR].thread_id = thread_id;
    history->near[thread_id % WEFT_HISTORY_NEAR].slot = id + 1;
    *slot = &history->slots.items[id];
    return WEFT_OK;
}

enum weft_code weft_history_before(struct weft_history *history, uint32_t thread_id, uint64_t t_ns,
                                   struct weft_state *state, struct weft_err *err)
{
    struct weft_state_slot *slot = NULL;
    *state = unknown_state(0, 0);
    if (t_ns == 0)
        return WEFT_OK;
    WEFT_TRY(slot_of(history, thread_id, t_ns, &slot, err));
    const size_t at = slot->near = state_find(slot, t_ns);
    if (at < slot->n && slot->states[at].start_ns < t_ns) {
        *state = slot->states[at];
        return WEFT_OK;
    }
    uint64_t first_ns, last_ns;
    enum weft_code code = weft_history_life(history, thread_id, &first_ns, &last_ns, err);
    if (code == WEFT_OK && last_ns == 0)
        *state = unknown_state(0, UINT64_MAX);
    else if (code == WEFT_OK)
        *state = t_ns <= first_ns ? unknown_state(0, first_ns) : unknown_state(last_ns, UINT64_MAX);
    return code;
}

struct weft_states {
    struct weft_history *history;
    struct weft_thread_facts facts;
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
        return weft_no_memory(err, "states of threads");
    states->history = history;
    states->thread_id = thread_id;
    states->from_ns = from_ns;
    states->to_ns = to_ns;
    const struct weft_state_slot *slot;
    enum weft_code code = weft_history_facts(history, thread_id, &states->facts, err);
    WEFT_THEN(code, weft_window_of(history, thread_id, &states->facts, weft_add_sat_u64(from_ns, 1),
                                   &states->window, err));
    WEFT_THEN(code, window_get(history, thread_id, &states->facts, states->window, &slot, err));
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
    *state = NULL;
    while (states->window <= states->facts.n_blocks) {
        const struct weft_state_slot *slot;
        WEFT_TRY(
            window_get(history, states->thread_id, &states->facts, states->window, &slot, err));
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
