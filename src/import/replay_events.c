/* SPDX-License-Identifier: MIT
 *
 * An iterator over the events of one thread of the sink. Events of one trace may step back in time
 * and keep their order; to merge several traces, each is cut into runs of ascending time and the
 * runs are merged. Where that needs too many runs, or would reorder arguments of calls, the trace
 * stays one run.
 */
#include "import/replay_events.h"

#include "base/checked.h"
#include "base/vec.h"

#include <stdlib.h>

/* Where an event stands in its thread. */
struct place {
    uint64_t block;
    size_t index;
};

struct run {
    const struct weft_replay *replay;
    uint32_t thread_id;
    struct place begin, end; /* end.block UINT64_MAX: to the last event */
    bool has_args;
    /* As it is read: */
    struct weft_event_buf *buf; /* kept from thread to thread */
    const struct weft_event *items;
    size_t n, at;
    uint64_t next_block;
    uint64_t time_ns; /* of the event that comes next, for the sink; never descends */
};

struct weft_replay_events {
    struct {
        struct run *items;
        size_t n, cap;
    } runs;
    size_t n_used;
    struct run *now; /* whose event comes next; NULL: not known yet */
};

struct weft_replay_events *weft_replay_events_new(void)
{
    return calloc(1, sizeof(struct weft_replay_events));
}

void weft_replay_events_free(struct weft_replay_events *events)
{
    if (!events)
        return;
    for (size_t i = 0; i < events->runs.n; i++)
        weft_event_buf_free(events->runs.items[i].buf);
    WEFT_VEC_FINI(&events->runs);
    free(events);
}

static struct run *run_add(struct weft_replay_events *events,
                           const struct weft_replay_source *source, struct place begin,
                           struct weft_err *err)
{
    struct run *run = events->n_used < events->runs.n ? &events->runs.items[events->n_used] : NULL;
    if (!run)
        run = WEFT_VEC_PUSH(&events->runs);
    struct weft_event_buf *buf = run ? run->buf : NULL;
    if (run && !buf)
        buf = weft_event_buf_new();
    if (!buf) {
        (void)weft_no_memory(err, "the events of a thread");
        return NULL;
    }
    *run = (struct run){ .replay = source->replay,
                         .thread_id = source->thread_id,
                         .begin = begin,
                         .end = { .block = UINT64_MAX },
                         .buf = buf,
                         .next_block = begin.block };
    events->n_used++;
    return run;
}

static uint64_t n_blocks_of(const struct run *run)
{
    return weft_store_thread_get(run->replay->store, run->thread_id)->n_event_blocks;
}

/* Loads the next block that the run reaches into; n is 0 at its end. */
static enum weft_code run_load(struct run *run, struct weft_err *err)
{
    const struct weft_replay *replay = run->replay;
    run->n = run->at = 0;
    while (run->next_block < n_blocks_of(run) && run->next_block <= run->end.block) {
        const uint64_t block = run->next_block++;
        const struct weft_event_block_info *info =
            weft_store_event_block_get(replay->store, run->thread_id, block);
        if (info->last_ns < replay->from_ns || info->first_ns >= replay->to_ns)
            continue;
        enum weft_code code = weft_store_load_events(replay->store, run->thread_id, block, run->buf,
                                                     &run->items, &run->n, err);
        if (block == run->begin.block)
            run->at = run->begin.index;
        if (block == run->end.block)
            run->n = run->end.index;
        if (code != WEFT_OK || run->at < run->n)
            return code;
        run->n = run->at = 0;
    }
    return WEFT_OK;
}

/* ---- runs of a thread ------------------------------------------------------------------------ */

/* Cuts the run last added into those in which time never descends. */
static enum weft_code runs_find(struct weft_replay_events *events,
                                const struct weft_replay_source *source, struct weft_err *err)
{
    struct run *run = &events->runs.items[events->n_used - 1];
    const size_t first = events->n_used - 1;
    struct weft_event_buf *buf = run->buf;
    uint64_t last_ns = 0;
    bool has_args_before = false;
    for (uint64_t block = 0; block < n_blocks_of(run); block++) {
        const struct weft_event *items;
        size_t n;
        enum weft_code code = weft_store_load_events(source->replay->store, source->thread_id,
                                                     block, buf, &items, &n, err);
        for (size_t i = 0; i < n && code == WEFT_OK; i++) {
            if (items[i].time_ns < last_ns) {
                const struct place here = { block, i };
                has_args_before |= run->has_args;
                run->end = here;
                run = run_add(events, source, here, err);
                if (!run)
                    return WEFT_E_NOMEM;
            }
            last_ns = items[i].time_ns;
            run->has_args |= items[i].kind == WEFT_EVENT_CALL_ARGS;
            /* Too many; or arguments of calls would change places. */
            if (events->n_used - first > WEFT_REPLAY_RUNS || (has_args_before && run->has_args)) {
                events->n_used = first;
                return run_add(events, source, (struct place){ 0 }, err) ? WEFT_OK : WEFT_E_NOMEM;
            }
        }
        if (code != WEFT_OK)
            return code;
    }
    return WEFT_OK;
}

static enum weft_code run_next(struct run *run, struct weft_err *err)
{
    enum weft_code code = run->at < run->n ? WEFT_OK : run_load(run, err);
    if (code == WEFT_OK && run->at < run->n)
        run->time_ns = weft_max_u64(run->time_ns, weft_replay_time(run->replay, run->thread_id,
                                                                   run->items[run->at].time_ns));
    return code;
}

enum weft_code weft_replay_events_open(struct weft_replay_events *events,
                                       const struct weft_replay_source *sources, size_t n_sources,
                                       struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    events->n_used = 0;
    events->now = NULL;
    for (size_t k = 0; code == WEFT_OK && k < n_sources; k++) {
        if (!run_add(events, &sources[k], (struct place){ 0 }, err))
            return WEFT_E_NOMEM;
        if (n_sources > 1)
            code = runs_find(events, &sources[k], err);
    }
    for (size_t i = 0; code == WEFT_OK && i < events->n_used; i++)
        code = run_next(&events->runs.items[i], err);
    return code;
}

/* ---- one after the other --------------------------------------------------------------------- */

static struct run *earliest(struct weft_replay_events *events)
{
    struct run *first = NULL;
    for (size_t i = 0; i < events->n_used; i++) {
        struct run *run = &events->runs.items[i];
        if (run->n > 0 && (!first || run->time_ns < first->time_ns))
            first = run;
    }
    return first;
}

enum weft_code weft_replay_events_peek(struct weft_replay_events *events,
                                       const struct weft_event **event,
                                       struct weft_replay_source *source, struct weft_err *err)
{
    *event = NULL;
    *source = (struct weft_replay_source){ 0 };
    if (events->now && events->now->n > 0) {
        WEFT_TRY(run_next(events->now, err));
    }
    events->now = events->n_used == 1 ? &events->runs.items[0] : earliest(events);
    if (!events->now || events->now->n == 0)
        return WEFT_OK;
    *event = &events->now->items[events->now->at];
    *source = (struct weft_replay_source){ events->now->replay, events->now->thread_id };
    return WEFT_OK;
}

bool weft_replay_events_is_last(const struct weft_replay_events *events)
{
    return events->now->at + 1 == events->now->n;
}

void weft_replay_events_skip(struct weft_replay_events *events)
{
    events->now->at++;
}
