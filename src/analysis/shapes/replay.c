/* SPDX-License-Identifier: MIT
 *
 * Shows the calls of mined threads again, each with its shape.
 */
#include "analysis/shapes/mine.h"
#include "analysis/shapes/parts.h"
#include "model/calls/scan.h"

#include <stdlib.h>

enum { SHOWN_ROWS = 1024 }; /* at once, of a tape: what they are made to stays in the cache */

struct worker {
    struct weft_miner miner;
    bool is_ready;
    struct weft_shape_done done[SHOWN_ROWS];
};

struct weft_shape_replay {
    const struct weft_trace *trace;
    const struct weft_mined *mined;
    const struct weft_mine_opts *opts;
    const struct weft_run *run;
    struct worker *workers;
    unsigned n_workers;
};

struct replay_job {
    struct weft_shape_replay *replay;
    const size_t *parts; /* by piece */
    const struct weft_shape_replay_sink *sink;
};

/* A partition being replayed. */
struct showing {
    const struct weft_shape_replay_sink *sink;
    const struct weft_mined *mined;
    struct worker *worker;
    size_t part;
    unsigned index; /* of the worker */
};

enum weft_code weft_shape_replay_new(const struct weft_trace *trace, const struct weft_mined *mined,
                                     const struct weft_mine_opts *opts, const struct weft_run *run,
                                     struct weft_shape_replay **replay, struct weft_err *err)
{
    struct weft_shape_replay *made = calloc(1, sizeof *made);
    *replay = made;
    if (!made)
        return weft_no_memory(err, "shapes");
    made->trace = trace;
    made->mined = mined;
    made->opts = opts;
    made->run = run;
    made->n_workers = weft_pool_workers(run->pool);
    made->workers = calloc(made->n_workers, sizeof *made->workers);
    return made->workers ? WEFT_OK : weft_no_memory(err, "shapes");
}

void weft_shape_replay_free(struct weft_shape_replay *replay)
{
    if (!replay)
        return;
    for (unsigned w = 0; replay->workers && w < replay->n_workers; w++)
        weft_miner_fini(&replay->workers[w].miner);
    free(replay->workers);
    free(replay);
}

static enum weft_code show(const struct showing *showing, const struct weft_shape_done *done,
                           size_t n_done, struct weft_err *err)
{
    return showing->sink->calls(showing->sink->context, showing->part, showing->index, done, n_done,
                                err);
}

static enum weft_code show_ended(void *context, struct weft_err *err)
{
    const struct showing *showing = context;
    const struct weft_miner *miner = &showing->worker->miner;
    return show(showing, miner->done, miner->n_done, err);
}

/* A partition without a tape is mined again. */
static enum weft_code show_mined(struct showing *showing, struct weft_scan *scan,
                                 struct weft_err *err)
{
    const struct weft_mine_part *part = &showing->mined->parts[showing->part];
    const struct weft_part_walk walk = {
        .part = part,
        .n_open_end = weft_part_is_last(scan, part) ? 0 : part[1].n_given,
        .take = show_ended,
        .context = showing,
    };
    return weft_part_walk(scan, &showing->worker->miner, &walk, err);
}

static enum weft_code show_block(const struct showing *showing, const struct weft_calls *calls,
                                 struct weft_err *err)
{
    const struct weft_mine_part *part = &showing->mined->parts[showing->part];
    const uint32_t *shape_of = showing->mined->names[part->worker].shape_of;
    const uint64_t row = calls->first_row - part->tape.first_row;
    struct weft_shape_done *done = showing->worker->done;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; !code && i < calls->n_rows;) {
        size_t end = i + SHOWN_ROWS < calls->n_rows ? i + SHOWN_ROWS : calls->n_rows, n = 0;
        for (; i < end; i++) {
            uint32_t shape = weft_shape_tape_get(&part->tape, row + i);
            if (shape != WEFT_TAPE_NONE)
                done[n++] = (struct weft_shape_done){ calls->start_ns[i], calls->end_ns[i],
                                                      shape_of[shape] };
        }
        code = show(showing, done, n, err);
    }
    return code;
}

static enum weft_code show_taped(const struct showing *showing, struct weft_scan *scan,
                                 struct weft_err *err)
{
    const struct weft_mine_part *part = &showing->mined->parts[showing->part];
    const struct weft_calls *calls = NULL;
    enum weft_code code = WEFT_OK;
    weft_scan_seek(scan, part->first_block);
    while (!code && scan->next_block < part->end_block &&
           !(code = weft_scan_next(scan, &calls, err)) && calls)
        if (calls->n_rows > 0)
            code = show_block(showing, calls, err);
    return code;
}

static enum weft_code replay_piece(void *context, struct weft_scan *scan, unsigned index,
                                   struct weft_err *err)
{
    struct replay_job *job = context;
    struct weft_shape_replay *replay = job->replay;
    const struct weft_shape_replay_sink *sink = job->sink;
    struct worker *worker = &replay->workers[index];
    struct showing showing = { sink, replay->mined, worker, job->parts[scan->item], index };
    const uint64_t max_states = replay->opts->max_states;
    const struct weft_shape_limits limits = { .max_states =
                                                  max_states ? max_states : WEFT_MINE_MAX_STATES };
    const struct weft_mine_part *part = &replay->mined->parts[showing.part];
    const bool is_taped = replay->mined->threads[part->item].is_taped;
    enum weft_code code = WEFT_OK;
    if (!is_taped && !worker->is_ready) {
        code = weft_miner_init(&worker->miner, weft_trace_n_functions(replay->trace), &limits,
                               &replay->mined->table, replay->opts->is_excluded, err);
        worker->is_ready = true;
    }
    if (!code && sink->begin)
        code = sink->begin(sink->context, showing.part, index, err);
    if (!code)
        code = is_taped ? show_taped(&showing, scan, err) : show_mined(&showing, scan, err);
    if (!code && sink->end)
        code = sink->end(sink->context, showing.part, index, err);
    return code;
}

/* The partitions of the threads, but for the empty ones. */
static size_t list_pieces(const struct weft_shape_replay *replay, const size_t *items,
                          size_t n_items, size_t *parts, struct weft_scan_piece *pieces)
{
    const struct weft_mined *mined = replay->mined;
    size_t n = 0;
    for (size_t i = 0; i < n_items; i++) {
        const struct weft_mined_thread *thread = &mined->threads[items ? items[i] : i];
        for (size_t p = thread->first_part; p < thread->first_part + thread->n_parts; p++)
            if (!mined->parts[p].is_empty) {
                parts[n] = p;
                pieces[n++] = weft_part_piece(replay->trace, mined, p);
            }
    }
    return n;
}

enum weft_code weft_shape_replay_run(struct weft_shape_replay *replay, const size_t *items,
                                     size_t n_items, const struct weft_shape_replay_sink *sink,
                                     struct weft_err *err)
{
    const struct weft_mined *mined = replay->mined;
    size_t *parts = malloc((mined->n_parts + 1) * sizeof *parts);
    struct weft_scan_piece *pieces = malloc((mined->n_parts + 1) * sizeof *pieces);
    struct replay_job job = { .replay = replay, .parts = parts, .sink = sink };
    enum weft_code code = parts && pieces ? WEFT_OK : weft_no_memory(err, "shapes");
    if (!code) {
        size_t n = list_pieces(replay, items, items ? n_items : mined->n_threads, parts, pieces);
        code = weft_scan_pieces(replay->trace, pieces, n, replay->opts->window, replay->run,
                                replay_piece, &job, err);
    }
    free(parts);
    free(pieces);
    return code;
}
