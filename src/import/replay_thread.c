/* SPDX-License-Identifier: MIT
 *
 * Rows in pre-order become entries and exits again by a stack: before a row of depth d, all calls
 * but the d outermost have returned. A call that was entered before the window is on the stack, but
 * its entry was not delivered; its exit then makes it a cut frame, since no call is open in the
 * sink when it returns.
 */
#include "import/replay_thread.h"

#include "base/checked.h"
#include "base/vec.h"
#include "import/replay_events.h"

#include <stdlib.h>

enum { BATCH_CALLS = 4096, BATCH_EVENTS = 64 };

#define NO_ROW UINT64_MAX

struct frame {
    uint64_t end_ns;
    uint32_t function_id, key;
    uint8_t flags;
    bool is_entered; /* the sink saw its entry */
};

struct weft_replay_room {
    struct weft_block_buf *block;
    struct weft_replay_events *stream;
    struct {
        struct frame *items;
        size_t n, cap;
    } stack;
    struct weft_call_event calls[BATCH_CALLS];
    struct weft_event events[BATCH_EVENTS];
};

struct player {
    const struct weft_replay *replay;
    struct weft_sink *sink;
    struct weft_replay_room *room;
    struct weft_replay_counts *counts;
    const struct weft_store_thread *thread;
    uint32_t thread_id, sink_id;
    uint64_t end_ns;              /* of the thread, or the window */
    size_t n_calls;               /* in the batch */
    uint64_t first_row, next_row; /* rows delivered: first .. next - 1 */
    uint64_t args_row;            /* row of the CALL_ARGS that comes next; NO_ROW: none */
    bool is_over;                 /* no row will come */
    bool outlives_calls; /* the trace with its calls ends before another's events of the thread */
};

struct weft_replay_room *weft_replay_room_new(void)
{
    struct weft_replay_room *room = calloc(1, sizeof *room);
    if (!room)
        return NULL;
    room->block = weft_block_buf_new();
    room->stream = weft_replay_events_new();
    if (room->block && room->stream)
        return room;
    weft_replay_room_free(room);
    return NULL;
}

void weft_replay_room_free(struct weft_replay_room *room)
{
    if (!room)
        return;
    weft_block_buf_free(room->block);
    weft_replay_events_free(room->stream);
    WEFT_VEC_FINI(&room->stack);
    free(room);
}

/* Time of the window's end for the thread, or of its last event, whichever comes first; one that is
 * blocked throughout lasts to the end. */
static uint64_t thread_end_ns(const struct weft_replay *replay, uint32_t thread_id)
{
    const uint64_t last_ns = weft_store_thread_get(replay->store, thread_id)->last_ns;
    if (last_ns < replay->from_ns && replay->earlier && replay->earlier[thread_id])
        return weft_min_u64(weft_store_meta_get(replay->store)->duration_ns, replay->to_ns);
    return weft_min_u64(last_ns, replay->to_ns);
}

static uint64_t sink_time(const struct player *player, uint64_t time_ns)
{
    return weft_replay_time(player->replay, player->thread_id, time_ns);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static enum weft_code calls_flush(struct player *player, struct weft_err *err)
{
    const size_t n_calls = player->n_calls;
    player->n_calls = 0;
    if (n_calls == 0)
        return WEFT_OK;
    return player->sink->ops->calls(player->sink, player->sink_id, player->room->calls, n_calls,
                                    err);
}

static enum weft_code call_put(struct player *player, struct weft_call_event event,
                               struct weft_err *err)
{
    if (player->n_calls == BATCH_CALLS) {
        WEFT_TRY(calls_flush(player, err));
    }
    player->room->calls[player->n_calls++] = event;
    return WEFT_OK;
}

/* The call is delivered. */
static void mark_used(const struct player *player, const struct frame *frame)
{
    if (player->replay->is_used)
        atomic_store_explicit(&player->replay->is_used[frame->function_id], 1,
                              memory_order_relaxed);
}

static enum weft_code exit_put(struct player *player, const struct frame *frame, uint64_t end_ns,
                               uint8_t flags, struct weft_err *err)
{
    struct weft_call_event event = { .time_ns = sink_time(player, end_ns),
                                     .function_key = frame->key,
                                     .kind = WEFT_CALL_EXIT };
    if (!frame->is_entered)
        mark_used(player, frame);
    if (flags == WEFT_CALL_TAIL) {
        event.kind = WEFT_CALL_TAIL_EXIT;
    } else if (flags) {
        event.kind = WEFT_CALL_MARKED_EXIT;
        event.flags = flags;
    }
    player->counts->n_cut += !frame->is_entered;
    player->counts->n_repaired += (flags & WEFT_CALL_REPAIRED) != 0;
    return call_put(player, event, err);
}

/* The innermost call returns; before the window it is not visible. */
static enum weft_code frame_pop(struct player *player, struct weft_err *err)
{
    const struct frame *frame = &player->room->stack.items[--player->room->stack.n];
    if (frame->end_ns < player->replay->from_ns)
        return WEFT_OK;
    return exit_put(player, frame, frame->end_ns,
                    (uint8_t)(frame->flags & (WEFT_CALL_REPAIRED | WEFT_CALL_TAIL)), err);
}

static struct frame *frame_push(struct player *player, uint32_t function_id, struct weft_err *err)
{
    struct frame *frame = WEFT_VEC_PUSH(&player->room->stack);
    if (!frame) {
        (void)weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a stack of %zu calls",
                        player->room->stack.n);
        return NULL;
    }
    const struct weft_replay *replay = player->replay;
    frame->function_id = function_id;
    frame->key = replay->function_keys ? replay->function_keys[function_id]
                                       : weft_store_function_get(replay->store, function_id)->key;
    return frame;
}

/* ---- events that are no calls ---------------------------------------------------------------- */

/* Clips an event to the window; false if nothing of it is left. */
static bool event_clip(const struct weft_replay_source *source, const struct weft_event *from,
                       struct weft_event *event)
{
    const struct weft_replay *replay = source->replay;
    const uint64_t begin_ns = weft_max_u64(from->time_ns, replay->from_ns);
    const uint64_t whole_end_ns = weft_add_sat_u64(from->time_ns, from->duration_ns);
    const uint64_t end_ns = weft_min_u64(whole_end_ns, replay->to_ns);
    *event = *from;
    if (from->time_ns >= replay->to_ns || (from->time_ns < begin_ns && end_ns <= begin_ns))
        return false;
    event->time_ns = weft_replay_time(replay, source->thread_id, begin_ns);
    event->duration_ns = weft_replay_time(replay, source->thread_id, end_ns) - event->time_ns;
    if (event->kind == WEFT_EVENT_SPAN && from->time_ns < begin_ns)
        event->prev_state |= WEFT_SPAN_CUT;
    if (event->kind == WEFT_EVENT_SPAN && end_ns < whole_end_ns)
        event->prev_state |= WEFT_SPAN_OPEN;
    if (event->next_thread_id != WEFT_ID_NONE)
        event->next_thread_id = replay->thread_ids[event->next_thread_id];
    return true;
}

static enum weft_code events_flush(struct player *player, size_t *n_batch, struct weft_err *err)
{
    const size_t n = *n_batch;
    *n_batch = 0;
    if (n == 0)
        return WEFT_OK;
    return player->sink->ops->events(player->sink, player->sink_id, player->room->events, n, err);
}

/* Threads that end, or are blocked, where the window begins do or are so since before. */
static enum weft_code earlier_put(const struct player *player,
                                  const struct weft_replay_source *source, struct weft_err *err)
{
    const struct weft_replay *replay = source->replay;
    const uint32_t state = replay->earlier ? replay->earlier[source->thread_id] : 0;
    struct weft_event event = {
        .time_ns = weft_replay_time(replay, source->thread_id, replay->from_ns),
        .kind = WEFT_EVENT_EXIT,
        .next_thread_id = WEFT_ID_NONE,
        .object_id = WEFT_ID_NONE,
        .stack_id = WEFT_ID_NONE,
        .cpu = -1,
        .prev_state = WEFT_EXIT_EARLIER,
    };
    if (replay->is_ending && replay->is_ending[source->thread_id])
        WEFT_TRY(player->sink->ops->events(player->sink, player->sink_id, &event, 1, err));
    event.kind = WEFT_EVENT_SWITCH;
    event.prev_state = state | WEFT_SWITCH_EARLIER;
    return state ? player->sink->ops->events(player->sink, player->sink_id, &event, 1, err)
                 : WEFT_OK;
}

/* Is it kept? Arguments of rows outside of the window go with their calls; some calls were lost
 * with a block of a damaged file. */
static bool is_kept(const struct player *player, const struct weft_event *event)
{
    return event->kind != WEFT_EVENT_CALL_ARGS ||
           (event->value != NO_ROW && event->value >= player->first_row &&
            event->value < player->next_row);
}

/* Delivers events up to the first CALL_ARGS of a row that was not delivered yet. */
static enum weft_code events_catch_up(struct player *player, struct weft_err *err)
{
    struct weft_replay_events *stream = player->room->stream;
    struct weft_replay_source source;
    const struct weft_event *from;
    size_t n_batch = 0;
    enum weft_code code = calls_flush(player, err);
    player->args_row = NO_ROW;
    while (code == WEFT_OK &&
           (code = weft_replay_events_peek(stream, &from, &source, err)) == WEFT_OK && from) {
        if (from->kind == WEFT_EVENT_CALL_ARGS && from->value != NO_ROW &&
            from->value >= player->next_row && !player->is_over) {
            player->args_row = from->value;
            break;
        }
        if (is_kept(player, from))
            n_batch += event_clip(&source, from, &player->room->events[n_batch]);
        /* What comes next may lie where these texts do. */
        if (n_batch == BATCH_EVENTS || weft_replay_events_is_last(stream))
            code = events_flush(player, &n_batch, err);
        weft_replay_events_skip(stream);
    }
    return code == WEFT_OK ? events_flush(player, &n_batch, err) : code;
}

/* ---- blocks of calls ------------------------------------------------------------------------- */

/* The first block with an event at or after the window's begin, or the last one. */
static uint64_t first_block(const struct player *player)
{
    uint64_t low = 0, high = player->thread->n_blocks - 1;
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (weft_store_block_get(player->replay->store, player->thread_id, mid)->last_ns <
            player->replay->from_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Calls that are open when the first block begins: entered before the window, or cut frames. */
static enum weft_code stack_begin(struct player *player, const struct weft_calls *calls,
                                  struct weft_err *err)
{
    player->room->stack.n = 0;
    for (size_t i = 0; i < calls->n_open; i++) {
        struct frame *frame = frame_push(player, calls->open[i].function_id, err);
        if (!frame)
            return WEFT_E_NOMEM;
        frame->end_ns = calls->open[i].end_ns;
        frame->flags = (uint8_t)calls->open[i].flags;
    }
    return WEFT_OK;
}

/* The entry of row i, if it lies in the window, and its arguments from `*arg` on. */
static enum weft_code entry_put(struct player *player, const struct weft_calls *calls, size_t i,
                                size_t *arg, struct weft_err *err)
{
    struct frame *frame = frame_push(player, calls->function_id[i], err);
    if (!frame)
        return WEFT_E_NOMEM;
    frame->end_ns = calls->end_ns[i];
    frame->flags = calls->flags ? calls->flags[i] : 0;
    frame->is_entered = calls->start_ns[i] >= player->replay->from_ns;
    while (*arg < calls->n_args && calls->arg_row[*arg] < i)
        ++*arg;
    if (!frame->is_entered)
        return WEFT_OK;
    if (player->first_row == NO_ROW)
        player->first_row = calls->first_row + i;
    player->next_row = calls->first_row + i + 1;
    mark_used(player, frame);
    enum weft_code code =
        call_put(player,
                 (struct weft_call_event){ .time_ns = sink_time(player, calls->start_ns[i]),
                                           .function_key = frame->key,
                                           .kind = WEFT_CALL_ENTER },
                 err);
    for (; code == WEFT_OK && *arg < calls->n_args && calls->arg_row[*arg] == i; ++*arg)
        code = call_put(
            player,
            (struct weft_call_event){ .value = calls->arg_value[*arg], .kind = WEFT_CALL_ARG },
            err);
    return code;
}

/* `*is_over`: the window ends before the block does. */
static enum weft_code rows_play(struct player *player, const struct weft_calls *calls,
                                bool *is_over, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    size_t arg = 0;
    for (size_t i = 0; code == WEFT_OK && i < calls->n_rows; i++) {
        *is_over = calls->start_ns[i] >= player->replay->to_ns;
        if (*is_over)
            break;
        while (code == WEFT_OK && player->room->stack.n > calls->depth[i])
            code = frame_pop(player, err);
        WEFT_THEN(code, entry_put(player, calls, i, &arg, err));
        if (code == WEFT_OK && player->args_row < player->next_row)
            code = events_catch_up(player, err);
    }
    return code;
}

/* What is on the stack after the last row: calls that return in the window, and below them those
 * that do not. Where the sink did not get one of these, or would end them later, each of them is
 * delivered. */
static enum weft_code stack_end(struct player *player, struct weft_err *err)
{
    const struct weft_replay *replay = player->replay;
    enum weft_code code = WEFT_OK;
    size_t *n = &player->room->stack.n;
    while (code == WEFT_OK && *n > 0) {
        const struct frame *frame = &player->room->stack.items[*n - 1];
        if (frame->end_ns >= replay->to_ns || (frame->flags & WEFT_CALL_CUT_END))
            break;
        code = frame_pop(player, err);
    }
    player->counts->n_open = *n;
    if (*n > 0 && player->room->stack.items[0].is_entered && !player->outlives_calls)
        *n = 0;
    while (code == WEFT_OK && *n > 0)
        code = exit_put(player, &player->room->stack.items[--*n], player->end_ns, WEFT_CALL_CUT_END,
                        err);
    return code;
}

static enum weft_code blocks_play(struct player *player, struct weft_progress *progress,
                                  struct weft_err *err)
{
    const struct weft_replay *replay = player->replay;
    enum weft_code code = WEFT_OK;
    bool is_over = false;
    const uint64_t first = first_block(player);
    for (uint64_t block = first; block < player->thread->n_blocks && !is_over; block++) {
        struct weft_calls calls;
        if (block > first &&
            weft_store_block_get(replay->store, player->thread_id, block)->first_ns >=
                replay->to_ns)
            break;
        if (weft_progress_is_cancelled(progress))
            return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        code = weft_store_load(replay->store, player->thread_id, block, player->room->block, &calls,
                               err);
        if (code == WEFT_OK && block == first)
            code = stack_begin(player, &calls, err);
        WEFT_THEN(code, rows_play(player, &calls, &is_over, err));
        if (code != WEFT_OK)
            return code;
        weft_progress_add(progress, calls.n_rows);
    }
    return stack_end(player, err);
}

/* The one whose calls are delivered: of a joined thread at most one has any. */
static const struct weft_replay_source *caller_of(const struct weft_replay_source *sources,
                                                  size_t n_sources)
{
    for (size_t k = 0; k < n_sources; k++)
        if (weft_store_thread_get(sources[k].replay->store, sources[k].thread_id)->n_blocks > 0)
            return &sources[k];
    return &sources[0];
}

enum weft_code weft_replay_thread(const struct weft_replay_source *sources, size_t n_sources,
                                  struct weft_sink *sink, struct weft_replay_room *room,
                                  struct weft_progress *progress, struct weft_replay_counts *counts,
                                  struct weft_err *err)
{
    const struct weft_replay_source *caller = caller_of(sources, n_sources);
    struct player player = {
        .replay = caller->replay,
        .sink = sink,
        .room = room,
        .counts = counts,
        .thread = weft_store_thread_get(caller->replay->store, caller->thread_id),
        .thread_id = caller->thread_id,
        .sink_id = caller->replay->thread_ids[caller->thread_id],
        .end_ns = thread_end_ns(caller->replay, caller->thread_id),
        .first_row = NO_ROW,
        .args_row = NO_ROW,
    };
    uint64_t last_ns = 0;
    for (size_t k = 0; k < n_sources; k++)
        last_ns = weft_max_u64(
            last_ns, weft_replay_time(sources[k].replay, sources[k].thread_id,
                                      thread_end_ns(sources[k].replay, sources[k].thread_id)));
    player.outlives_calls = last_ns > sink_time(&player, player.end_ns);
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; k < n_sources && code == WEFT_OK; k++)
        code = earlier_put(&player, &sources[k], err);
    WEFT_THEN(code, weft_replay_events_open(room->stream, sources, n_sources, err));
    WEFT_THEN(code, events_catch_up(&player, err));
    if (code == WEFT_OK && player.thread->n_blocks > 0)
        code = blocks_play(&player, progress, err);
    player.is_over = true;
    WEFT_THEN(code, events_catch_up(&player, err));
    WEFT_THEN(code, sink->ops->thread_end(sink, player.sink_id, last_ns, err));
    return code;
}
