/* SPDX-License-Identifier: MIT
 *
 * States of threads from kernel events, as so many pixels can show them.
 */
#include "analysis/states/histories.h"
#include "base/vec.h"
#include "model/calls/scan.h"
#include "model/states/states.h"
#include "render/columns/state_strips.h"
#include "serve/state.h"

struct strips {
    struct weft_history *history;
    struct {
        struct weft_lod_span *items;
        size_t n, cap;
    } threads;
    struct {
        struct weft_strip_item *items;
        size_t n, cap;
    } items;
    struct {
        struct weft_str *items;
        size_t n, cap;
    } names;
    uint64_t pixel_ns;
};

/* Names live in the history; there are as many as system calls and kinds of interrupts. */
static bool name_index(struct strips *strips, struct weft_str name, uint32_t *index)
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

static bool say(struct strips *strips, struct weft_strip_item *item, const struct weft_state *state)
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
static bool add_state(struct strips *strips, uint64_t first, const struct weft_state *state)
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

static enum weft_code add_thread(const struct weft_ask *ask, uint32_t thread_id,
                                 struct strips *strips, struct weft_err *err)
{
    struct weft_states *states;
    const struct weft_state *state;
    const uint64_t first = strips->items.n;
    enum weft_code code =
        weft_states_open(strips->history, thread_id, ask->from_ns, ask->to_ns, &states, err);
    if (code != WEFT_OK)
        return code;
    while ((code = weft_states_next(states, &state, err)) == WEFT_OK && state) {
        if (weft_progress_is_cancelled(ask->run->progress))
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
    if (code == WEFT_OK && !span)
        code = weft_no_memory(err, "states");
    return code == WEFT_OK ? weft_ask_fits(strips->items.n * sizeof *strips->items.items, err)
                           : code;
}

static void render(const struct weft_ask *ask, const struct strips *strips)
{
    const struct weft_view view = weft_ask_view(ask);
    const struct weft_strips_view shown = {
        .threads = strips->threads.items,
        .n_threads = strips->threads.n,
        .items = strips->items.items,
        .n_items = strips->items.n,
        .names = strips->names.items,
        .n_names = strips->names.n,
        .from_ns = ask->from_ns,
        .to_ns = ask->to_ns,
        .pixel_ns = strips->pixel_ns,
        .is_known = weft_histories_are_known(ask->trace),
    };
    ask->answer->type = weft_type_columns;
    weft_render_strips(&view, &shown);
}

WEFT_ENDPOINT(states)
{
    uint64_t width = 0;
    struct strips strips = { 0 };
    enum weft_code code = weft_ask_number(ask, WEFT_PARAM_WIDTH, ask->query->width, 0, 1,
                                          WEFT_LOD_MAX_WIDTH, &width, err);
    WEFT_THEN(code, weft_history_open(ask->trace, 0, &strips.history, err));
    if (code != WEFT_OK)
        return code;
    const struct weft_thread_filter filter = weft_session_filter(ask->session);
    const size_t n_threads = weft_scan_n_threads(ask->trace, filter.ids, filter.n_ids);
    strips.pixel_ns = (ask->to_ns - ask->from_ns) / width;
    for (size_t i = 0; code == WEFT_OK && i < n_threads; i++)
        code = add_thread(ask, weft_scan_thread_id(filter.ids, filter.n_ids, i), &strips, err);
    if (code == WEFT_OK)
        render(ask, &strips);
    WEFT_VEC_FINI(&strips.threads);
    WEFT_VEC_FINI(&strips.items);
    WEFT_VEC_FINI(&strips.names);
    weft_history_close(strips.history); /* the names were its */
    return code;
}
