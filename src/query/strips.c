/* SPDX-License-Identifier: MIT
 *
 * Joins states that are shorter than a pixel. serve/parts.c asks for them, and
 * render/columns/state_strips.c writes them.
 */
#include "query/strips.h"

#include "analysis/states/histories.h"
#include "base/vec.h"

/* Names live in the history; there are as many as system calls and kinds of interrupts. */
static bool name_index(struct weft_strips *strips, struct weft_str name, uint32_t *index)
{
    for (size_t i = 0; i < strips->names.n; i++) {
        if (weft_str_equal(strips->names.items[i], name)) {
            *index = (uint32_t)i;
            return true;
        }
    }
    struct weft_str *place = WEFT_VEC_PUSH(&strips->names);
    if (!place)
        return false;
    *place = name;
    *index = (uint32_t)(strips->names.n - 1);
    return true;
}

static bool say(struct weft_strips *strips, struct weft_strip_item *item,
                const struct weft_state *state)
{
    item->longest_ns = state->end_ns - state->start_ns;
    item->kind = (uint32_t)state->kind;
    item->reason = (uint32_t)state->reason;
    return name_index(strips, state->name, &item->name);
}

/* How long the thread did something on a CPU in it. */
static uint64_t running_ns(const struct weft_state *state)
{
    const bool is_idling = state->kind != WEFT_STATE_INTERRUPTED && state->flags & WEFT_STATE_IDLE;
    return weft_state_is_on_cpu(state->kind) && !is_idling ? state->end_ns - state->start_ns : 0;
}

/* A state that is longer than a pixel is an item; shorter ones join until they are that long. */
static bool add_state(struct weft_strips *strips, uint64_t first, const struct weft_state *state)
{
    const uint64_t length = state->end_ns - state->start_ns;
    struct weft_strip_item *last =
        strips->items.n > first ? &strips->items.items[strips->items.n - 1] : NULL;
    const bool is_open = last && last->longest_ns <= strips->pixel_ns &&
                         last->end_ns - last->start_ns <= strips->pixel_ns;
    if (is_open && length <= strips->pixel_ns) {
        last->end_ns = state->end_ns;
        last->running_ns += running_ns(state);
        last->count++;
        return length <= last->longest_ns || say(strips, last, state);
    }
    struct weft_strip_item *item = WEFT_VEC_PUSH(&strips->items);
    if (!item)
        return false;
    *item = (struct weft_strip_item){ .start_ns = state->start_ns,
                                      .end_ns = state->end_ns,
                                      .running_ns = running_ns(state),
                                      .count = 1 };
    return say(strips, item, state);
}

enum weft_code weft_strips_init(struct weft_strips *strips, const struct weft_session *session,
                                uint64_t from_ns, uint64_t to_ns, uint64_t width,
                                struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    *strips = (struct weft_strips){ .from_ns = from_ns,
                                    .to_ns = to_ns,
                                    .pixel_ns = (to_ns - from_ns) / width,
                                    .is_known = weft_histories_are_known(trace) };
    return weft_history_open(trace, 0, &strips->history, err);
}

enum weft_code weft_strips_add(struct weft_strips *strips, const struct weft_session *session,
                               uint32_t thread_id, struct weft_err *err)
{
    struct weft_states *states;
    const struct weft_state *state;
    const uint64_t first = strips->items.n;
    WEFT_TRY(
        weft_states_open(strips->history, thread_id, strips->from_ns, strips->to_ns, &states, err));
    enum weft_code code;
    while ((code = weft_states_next(states, &state, err)) == WEFT_OK && state) {
        if (weft_progress_is_cancelled(weft_session_run(session)->progress))
            code = weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        else if (!add_state(strips, first, state))
            code = weft_no_memory(err, "states");
        if (code != WEFT_OK)
            break;
    }
    weft_states_close(states);
    struct weft_lod_span *span = code == WEFT_OK ? WEFT_VEC_PUSH(&strips->threads) : NULL;
    if (span)
        *span = (struct weft_lod_span){ thread_id, first, strips->items.n - first };
    return code == WEFT_OK && !span ? weft_no_memory(err, "states") : code;
}

void weft_strips_fini(struct weft_strips *strips)
{
    WEFT_VEC_FINI(&strips->threads);
    WEFT_VEC_FINI(&strips->items);
    WEFT_VEC_FINI(&strips->names);
    weft_history_close(strips->history);
}
