/* SPDX-License-Identifier: MIT
 *
 * Mining over the threads of a trace.
 */
#include "analysis/shape_mine.h"

#include "analysis/shape_parts.h"
#include "base/vec.h"
#include "model/scan.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STATES = 1 << 18,
    MAX_TAPE_BYTES = 256 * 1024 * 1024, /* 64 million calls */
};

/* One worker: its miner, and the rows of the partition at hand. */
struct worker {
    struct weft_miner miner;
    bool is_ready;
    struct weft_shape_row *rows; /* by shape of the miner; those not touched are zero */
    size_t n_rows, cap_rows;
    uint32_t *touched;
    size_t n_touched, cap_touched;
};

struct job {
    const struct weft_trace *trace;
    const struct weft_mine_opts *opts;
    const struct weft_run *run;
    struct weft_shape_limits limits;
    const uint32_t *ids;
    size_t n_ids;
    unsigned n_workers;
    struct worker *workers;
    struct weft_mined *mined;
    struct weft_part_found *found; /* by part */
    bool is_strict;                /* one thread after the other, by worker 0 */
    size_t strict_item;
    atomic_bool is_over;
    uint64_t max_tape_bytes;
    _Atomic uint64_t tape_bytes;
    uint32_t **maps; /* by worker: its shapes' numbers among those of all */
    struct weft_joined_calls joined;
    const uint32_t *id_of; /* the canonical numbers of these */
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for shapes");
}

void weft_mined_fini(struct weft_mined *mined)
{
    weft_shape_table_fini(&mined->table);
    free(mined->repeats);
    if (mined->arena)
        weft_arena_free(mined->arena);
    for (size_t i = 0; mined->threads && i < mined->n_threads; i++) {
        free(mined->threads[i].rows);
        free(mined->threads[i].tape);
    }
    for (size_t i = 0; mined->parts && i < mined->n_parts; i++)
        free(mined->parts[i].given);
    free(mined->threads);
    free(mined->parts);
    *mined = (struct weft_mined){ 0 };
}

/* ---- one partition --------------------------------------------------------------------------- */

/* What the scan's block holds at its begin, as a list of calls. */
struct opening {
    struct weft_open_call *items;
    size_t n, cap;
};

static bool copy_opening(struct opening *opening, const struct weft_scan *scan,
                         const struct weft_calls *calls)
{
    size_t n = scan->is_cut ? calls->n_rows : calls->n_open;
    opening->n = n;
    if (!weft_vec_reserve(&opening->items, &opening->cap, n + 1, sizeof *opening->items))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (scan->is_cut)
            opening->items[i] = (struct weft_open_call){
                .start_ns = calls->start_ns[i],
                .end_ns = calls->end_ns[i],
                .row = UINT64_MAX,
                .function_id = calls->function_id[i],
                .flags = calls->flags[i],
            };
        else
            opening->items[i] = calls->open[i];
        if (opening->items[i].row == UINT64_MAX)
            opening->items[i].flags |= WEFT_CALL_CUT_START;
    }
    return true;
}

/* The first block of a partition, and what is open there; `calls` may become NULL: no rows. */
static enum weft_code open_part(struct weft_scan *scan, uint64_t first_block,
                                struct opening *opening, const struct weft_calls **calls,
                                struct weft_err *err)
{
    if (first_block == 0)
        weft_scan_rewind(scan);
    else
        weft_scan_seek(scan, first_block);
    opening->n = 0;
    enum weft_code code = weft_scan_next(scan, calls, err);
    if (code || !*calls || (first_block == 0 && !scan->is_cut))
        return code;
    if (!copy_opening(opening, scan, *calls))
        return no_memory(err);
    return scan->is_cut ? weft_scan_next(scan, calls, err) : WEFT_OK;
}

typedef enum weft_code (*take_fn)(void *context, struct weft_err *err);

/* Shows the calls of a partition to the miner, and after each block what ended to `take`. */
static enum weft_code walk_part(struct weft_scan *scan, struct weft_miner *miner,
                                const struct weft_mine_part *part, bool is_last, size_t n_open_end,
                                struct weft_shape_borders *borders, take_fn take, void *context,
                                struct weft_err *err)
{
    struct opening opening = { 0 };
    const struct weft_calls *calls = NULL;
    enum weft_code code = open_part(scan, part->first_block, &opening, &calls, err);
    const uint32_t *given = borders ? NULL : part->given;
    if (!code)
        code = weft_miner_begin(miner, scan->depth_bound, opening.items, opening.n, given, borders,
                                err);
    free(opening.items);
    while (!code && calls) {
        code = weft_miner_block(miner, calls, err);
        if (!code)
            code = take(context, err);
        calls = NULL;
        if (!code && scan->next_block < part->end_block)
            code = weft_scan_next(scan, &calls, err);
    }
    if (!code)
        code = weft_miner_end(miner, is_last, n_open_end, err);
    return code ? code : take(context, err);
}

/* Partitions without a block are no partitions; but a thread has at least one. */
static bool is_part_empty(const struct weft_scan *scan, const struct weft_mine_part *part)
{
    uint64_t end =
        part->end_block < scan->thread->n_blocks ? part->end_block : scan->thread->n_blocks;
    return part->first_block > 0 && part->first_block >= end;
}

/* Whether no partition after `part` of the thread has blocks. */
static bool is_last_part(const struct weft_scan *scan, const struct weft_mine_part *part)
{
    return part->end_block >= scan->thread->n_blocks;
}

/* ---- mining ---------------------------------------------------------------------------------- */

/* Counts what ended. */
static enum weft_code count_done(void *context, struct weft_err *err)
{
    struct worker *worker = context;
    const struct weft_miner *miner = &worker->miner;
    size_t n = miner->n_shapes;
    if (!weft_vec_reserve(&worker->rows, &worker->cap_rows, n, sizeof *worker->rows) ||
        !weft_vec_reserve(&worker->touched, &worker->cap_touched, n, sizeof *worker->touched))
        return no_memory(err);
    if (n > worker->n_rows)
        memset(worker->rows + worker->n_rows, 0, (n - worker->n_rows) * sizeof *worker->rows);
    worker->n_rows = n > worker->n_rows ? n : worker->n_rows;
    struct weft_shape_row *rows = worker->rows;
    for (size_t i = 0; i < miner->n_done; i++) {
        const struct weft_shape_done *done = &miner->done[i];
        struct weft_shape_row *row = &rows[done->shape];
        uint64_t duration_ns = done->end_ns - done->start_ns;
        if (__builtin_expect(row->count == 0, 0)) {
            worker->touched[worker->n_touched++] = done->shape;
            *row = (struct weft_shape_row){ .min_ns = duration_ns,
                                            .max_ns = duration_ns,
                                            .first_ns = done->start_ns,
                                            .first_end_ns = done->end_ns,
                                            .slowest_ns = done->start_ns };
        }
        row->count++;
        row->sum_ns += duration_ns;
        row->min_ns = duration_ns < row->min_ns ? duration_ns : row->min_ns;
        if (duration_ns > row->max_ns) {
            row->max_ns = duration_ns;
            row->slowest_ns = done->start_ns;
        }
    }
    return WEFT_OK;
}

/* Moves the rows of a partition out of the worker. */
static bool take_rows(struct worker *worker, struct weft_part_found *found)
{
    found->rows = malloc((worker->n_touched + 1) * sizeof *found->rows);
    for (size_t i = 0; i < worker->n_touched; i++) {
        uint32_t shape = worker->touched[i];
        if (found->rows) {
            found->rows[i] = worker->rows[shape];
            found->rows[i].shape_id = shape;
        }
        worker->rows[shape].count = 0;
    }
    found->n_rows = found->rows ? worker->n_touched : 0;
    worker->n_touched = 0;
    return found->rows != NULL;
}

static enum weft_code mine_part(struct job *job, struct weft_scan *scan, size_t part,
                                unsigned index, struct weft_err *err)
{
    struct worker *worker = &job->workers[index];
    struct weft_part_found *found = &job->found[part];
    struct weft_mine_part *mine = &job->mined->parts[part];
    mine->is_empty = is_part_empty(scan, mine);
    if (mine->is_empty)
        return WEFT_OK;
    enum weft_code code = walk_part(scan, &worker->miner, mine, is_last_part(scan, mine), 0,
                                    &found->borders, count_done, worker, err);
    found->worker = index;
    found->tally = worker->miner.tally;
    if (!code && !take_rows(worker, found))
        code = no_memory(err);
    if (worker->miner.is_over)
        atomic_store(&job->is_over, true);
    return code;
}

/* A tape for the thread, if there is room. */
static bool tape_ready(struct job *job, const struct weft_scan *scan,
                       struct weft_mined_thread *thread)
{
    uint64_t n_rows = 0;
    for (uint64_t block = 0; block < scan->thread->n_blocks; block++)
        n_rows += weft_scan_block(scan, block)->n_rows;
    uint64_t n_bytes = (n_rows + 1) * sizeof *thread->tape;
    uint64_t before = atomic_fetch_add(&job->tape_bytes, n_bytes);
    if (before > job->max_tape_bytes || n_bytes > job->max_tape_bytes - before) {
        atomic_fetch_sub(&job->tape_bytes, n_bytes);
        return true;
    }
    thread->tape = malloc((size_t)n_bytes);
    if (thread->tape)
        memset(thread->tape, 0xff, (size_t)n_bytes);
    thread->n_tape = n_rows;
    return thread->tape != NULL;
}

static enum weft_code mine_item(void *context, struct weft_scan *scan, unsigned index,
                                struct weft_err *err)
{
    struct job *job = context;
    size_t item = job->is_strict ? job->strict_item : scan->item;
    unsigned at = job->is_strict ? 0 : index;
    struct weft_mined_thread *thread = &job->mined->threads[item];
    struct worker *worker = &job->workers[at];
    enum weft_code code = tape_ready(job, scan, thread) ? WEFT_OK : no_memory(err);
    if (!code && !worker->is_ready)
        code = weft_miner_init(&worker->miner, weft_trace_n_functions(job->trace), &job->limits,
                               NULL, job->opts->is_excluded, err);
    worker->is_ready = true;
    worker->miner.tape = thread->tape;
    thread->tape_worker = at;
    for (size_t i = 0; !code && i < thread->n_parts; i++) {
        if (!job->is_strict && atomic_load(&job->is_over))
            break; /* all of it will be mined again */
        code = mine_part(job, scan, thread->first_part + i, at, err);
    }
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static uint32_t thread_id_of(const struct job *job, size_t item)
{
    return weft_scan_thread_id(job->ids, job->n_ids, item);
}

/* The cuts of a thread, in their array. */
static void cuts_of(const struct job *job, uint32_t thread_id, size_t *first, size_t *n)
{
    const struct weft_mine_opts *opts = job->opts;
    size_t at = 0;
    while (at < opts->n_cuts && opts->cuts[at].thread_id < thread_id)
        at++;
    *first = at;
    while (at < opts->n_cuts && opts->cuts[at].thread_id == thread_id)
        at++;
    *n = job->is_strict ? 0 : at - *first;
}

static enum weft_code make_parts(struct job *job, struct weft_err *err)
{
    struct weft_mined *mined = job->mined;
    size_t max_parts = mined->n_threads + job->opts->n_cuts;
    mined->parts = calloc(max_parts + 1, sizeof *mined->parts);
    job->found = calloc(max_parts + 1, sizeof *job->found);
    if (!mined->parts || !job->found)
        return no_memory(err);
    mined->n_parts = 0;
    for (size_t item = 0; item < mined->n_threads; item++) {
        struct weft_mined_thread *thread = &mined->threads[item];
        size_t first = 0, n = 0;
        *thread = (struct weft_mined_thread){ .thread_id = thread_id_of(job, item),
                                              .first_part = mined->n_parts };
        cuts_of(job, thread->thread_id, &first, &n);
        uint64_t begin = 0;
        for (size_t i = 0; i <= n; i++) {
            uint64_t end = i < n ? job->opts->cuts[first + i].block : UINT64_MAX;
            if (end <= begin)
                continue;
            mined->parts[mined->n_parts++] =
                (struct weft_mine_part){ .first_block = begin, .end_block = end };
            begin = end;
        }
        thread->n_parts = mined->n_parts - thread->first_part;
    }
    return WEFT_OK;
}

static void drop_found(struct job *job)
{
    for (size_t i = 0; job->found && i < job->mined->n_parts; i++)
        weft_part_found_fini(&job->found[i]);
    free(job->found);
    job->found = NULL;
    for (unsigned w = 0; w < job->n_workers; w++) {
        weft_miner_fini(&job->workers[w].miner);
        free(job->workers[w].rows);
        free(job->workers[w].touched);
        job->workers[w] = (struct worker){ 0 };
    }
}

static enum weft_code merge(struct job *job, struct weft_merged *merged, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    struct weft_mined *mined = job->mined;
    for (unsigned w = 0; !code && w < job->n_workers; w++)
        code = weft_merge_miner(merged, &job->workers[w].miner, &job->maps[w], err);
    for (unsigned w = 0; w < job->n_workers; w++)
        weft_miner_fini(&job->workers[w].miner);
    for (size_t item = 0; !code && item < mined->n_threads; item++) {
        struct weft_mined_thread *thread = &mined->threads[item];
        uint32_t *const *maps = job->maps;
        code = weft_join_parts(mined, thread, job->found, maps, merged, &job->joined, err);
    }
    return code;
}

/* Brings a thread's tape from its worker's numbers to canonical ones. */
static enum weft_code translate_tape(void *context, size_t item, unsigned index,
                                     struct weft_err *err)
{
    (void)index, (void)err;
    struct job *job = context;
    struct weft_mined_thread *thread = &job->mined->threads[item];
    const uint32_t *map = job->maps[thread->tape_worker], *id_of = job->id_of;
    for (uint64_t row = 0; thread->tape && row < thread->n_tape; row++)
        if (thread->tape[row] < WEFT_SHAPE_REFUSED)
            thread->tape[row] = id_of[map[thread->tape[row]]];
    return WEFT_OK;
}

/* Brings all tapes to canonical numbers, with the calls that were joined. */
static enum weft_code finish_tapes(struct job *job, struct weft_err *err)
{
    enum weft_code code =
        weft_pool_run(job->run->pool, job->mined->n_threads, translate_tape, job, NULL, err);
    for (size_t i = 0; i < job->joined.n; i++) {
        const struct weft_joined_call *call = &job->joined.items[i];
        if (job->mined->threads[call->item].tape && call->row != UINT64_MAX)
            job->mined->threads[call->item].tape[call->row] = job->id_of[call->shape];
    }
    return code;
}

static enum weft_code mine_strictly(struct job *job, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t item = 0; !code && item < job->mined->n_threads; item++) {
        uint32_t id = thread_id_of(job, item);
        job->strict_item = item;
        code =
            weft_scan_threads(job->trace, &id, 1, job->opts->window, job->run, mine_item, job, err);
    }
    return code;
}

/* Mines and merges; *is_over says that a limit was met, and the result is not to be used. */
static enum weft_code mine(struct job *job, struct weft_merged *merged, bool *is_over,
                           struct weft_err *err)
{
    enum weft_code code = make_parts(job, err);
    if (!code)
        code = job->is_strict ? mine_strictly(job, err)
                              : weft_scan_threads(job->trace, job->ids, job->n_ids,
                                                  job->opts->window, job->run, mine_item, job, err);
    *is_over = !job->is_strict && atomic_load(&job->is_over);
    if (!code && !*is_over)
        code = merge(job, merged, err);
    *is_over = *is_over || (!job->is_strict && (merged->table.n_nodes > job->limits.max_shapes ||
                                                merged->table.n_child > job->limits.max_children));
    drop_found(job);
    return code;
}

/* Forgets the threads' rows and the partitions, to begin again. */
static void forget(struct job *job)
{
    struct weft_mined *mined = job->mined;
    for (size_t i = 0; i < mined->n_threads; i++) {
        free(mined->threads[i].rows);
        free(mined->threads[i].tape);
        mined->threads[i] = (struct weft_mined_thread){ 0 };
    }
    for (size_t i = 0; i < mined->n_parts; i++)
        free(mined->parts[i].given);
    free(mined->parts);
    mined->parts = NULL;
    mined->n_parts = 0;
    job->joined.n = 0;
    job->tape_bytes = 0;
    for (unsigned w = 0; w < job->n_workers; w++) {
        free(job->maps[w]);
        job->maps[w] = NULL;
    }
}

static uint64_t or_default(uint64_t value, uint64_t standard)
{
    return value ? value : standard;
}

enum weft_code weft_mine_run(const struct weft_trace *trace,
                             const struct weft_thread_filter *filter,
                             const struct weft_mine_opts *opts, const struct weft_run *run,
                             struct weft_mined *mined, struct weft_err *err)
{
    struct job job = {
        .trace = trace,
        .opts = opts,
        .run = run,
        .ids = filter ? filter->ids : NULL,
        .n_ids = filter ? filter->n_ids : 0,
        .n_workers = weft_pool_workers(run->pool),
        .mined = mined,
        .limits = { .max_shapes = or_default(opts->max_shapes, WEFT_MINE_MAX_SHAPES),
                    .max_children = or_default(opts->max_children, WEFT_MINE_MAX_CHILDREN),
                    .max_states = or_default(opts->max_states, MAX_STATES) },
        .max_tape_bytes = or_default(opts->max_tape_bytes, MAX_TAPE_BYTES),
    };
    struct weft_merged merged = { 0 };
    bool is_over = false;
    *mined = (struct weft_mined){ 0 };
    enum weft_code code = weft_scan_check(trace, job.ids, job.n_ids, err);
    if (code)
        return code;
    mined->n_threads = weft_scan_n_threads(trace, job.ids, job.n_ids);
    mined->threads = calloc(mined->n_threads + 1, sizeof *mined->threads);
    job.workers = calloc(job.n_workers, sizeof *job.workers);
    job.maps = calloc(job.n_workers, sizeof *job.maps);
    if (!mined->threads || !job.workers || !job.maps) {
        free(job.workers);
        free(job.maps);
        return no_memory(err);
    }
    code = mine(&job, &merged, &is_over, err);
    if (!code && is_over) {
        forget(&job);
        weft_merged_fini(&merged);
        job.is_strict = true;
        code = mine(&job, &merged, &is_over, err);
    }
    if (!code)
        code = weft_order_shapes(trace, &merged, mined, &job.id_of, err);
    weft_merged_fini(&merged);
    if (!code)
        code = finish_tapes(&job, err);
    for (unsigned w = 0; w < job.n_workers; w++)
        free(job.maps[w]);
    free(job.maps);
    free(job.joined.items);
    free(job.workers);
    return code;
}

/* ---- replay ---------------------------------------------------------------------------------- */

struct weft_shape_replay {
    const struct weft_trace *trace;
    const struct weft_mined *mined;
    const struct weft_mine_opts *opts;
    const struct weft_run *run;
    struct weft_miner *miners; /* by worker */
    bool *is_ready;
    unsigned n_workers;
};

struct replay_job {
    struct weft_shape_replay *replay;
    const size_t *items;
    const struct weft_shape_replay_sink *sink;
};

struct replay_part {
    const struct weft_shape_replay_sink *sink;
    const struct weft_miner *miner;
    size_t item;
    unsigned worker;
};

enum weft_code weft_shape_replay_new(const struct weft_trace *trace, const struct weft_mined *mined,
                                     const struct weft_mine_opts *opts, const struct weft_run *run,
                                     struct weft_shape_replay **replay, struct weft_err *err)
{
    struct weft_shape_replay *made = calloc(1, sizeof *made);
    *replay = made;
    if (!made)
        return no_memory(err);
    made->trace = trace;
    made->mined = mined;
    made->opts = opts;
    made->run = run;
    made->n_workers = weft_pool_workers(run->pool);
    made->miners = calloc(made->n_workers, sizeof *made->miners);
    made->is_ready = calloc(made->n_workers, sizeof *made->is_ready);
    return made->miners && made->is_ready ? WEFT_OK : no_memory(err);
}

void weft_shape_replay_free(struct weft_shape_replay *replay)
{
    if (!replay)
        return;
    for (unsigned w = 0; replay->miners && w < replay->n_workers; w++)
        weft_miner_fini(&replay->miners[w]);
    free(replay->miners);
    free(replay->is_ready);
    free(replay);
}

static enum weft_code take_done(void *context, struct weft_err *err)
{
    const struct replay_part *part = context;
    return part->sink->calls(part->sink->context, part->item, part->worker, part->miner->done,
                             part->miner->n_done, err);
}

static enum weft_code replay_parts(struct replay_part *context, struct weft_scan *scan,
                                   struct weft_shape_replay *replay, struct weft_err *err)
{
    const struct weft_mined_thread *thread = &replay->mined->threads[context->item];
    const struct weft_mine_part *parts = replay->mined->parts + thread->first_part;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; !code && i < thread->n_parts; i++) {
        if (parts[i].is_empty)
            continue;
        bool is_last = is_last_part(scan, &parts[i]);
        code = walk_part(scan, &replay->miners[context->worker], &parts[i], is_last,
                         is_last ? 0 : parts[i + 1].n_given, NULL, take_done, context, err);
    }
    return code;
}

/* The calls of a block of a thread that has a tape. */
static enum weft_code take_taped(struct replay_part *part, struct weft_miner *miner,
                                 const struct weft_calls *calls, const uint32_t *tape,
                                 struct weft_err *err)
{
    size_t n = 0;
    if (!weft_vec_reserve(&miner->done, &miner->cap_done, calls->n_rows + 1, sizeof *miner->done))
        return no_memory(err);
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint32_t shape = tape[calls->first_row + i];
        miner->done[n] = (struct weft_shape_done){ calls->start_ns[i], calls->end_ns[i], shape };
        n += shape < WEFT_SHAPE_REFUSED;
    }
    miner->n_done = n;
    return take_done(part, err);
}

static enum weft_code replay_tape(struct replay_part *part, struct weft_scan *scan,
                                  struct weft_shape_replay *replay, struct weft_err *err)
{
    const struct weft_mined_thread *thread = &replay->mined->threads[part->item];
    const struct weft_calls *calls = NULL;
    enum weft_code code = WEFT_OK;
    weft_scan_rewind(scan);
    while (!code && !(code = weft_scan_next(scan, &calls, err)) && calls)
        if (!scan->is_cut)
            code = take_taped(part, &replay->miners[part->worker], calls, thread->tape, err);
    return code;
}

static enum weft_code replay_item(void *context, struct weft_scan *scan, unsigned index,
                                  struct weft_err *err)
{
    struct replay_job *job = context;
    struct weft_shape_replay *replay = job->replay;
    size_t item = job->items ? job->items[scan->item] : scan->item;
    struct replay_part part = { job->sink, &replay->miners[index], item, index };
    const struct weft_shape_limits limits = { .max_states = MAX_STATES };
    enum weft_code code = WEFT_OK;
    if (!replay->is_ready[index])
        code = weft_miner_init(&replay->miners[index], weft_trace_n_functions(replay->trace),
                               &limits, &replay->mined->table, replay->opts->is_excluded, err);
    replay->is_ready[index] = true;
    if (!code && job->sink->begin)
        code = job->sink->begin(job->sink->context, item, index, err);
    if (!code)
        code = replay->mined->threads[item].tape ? replay_tape(&part, scan, replay, err)
                                                 : replay_parts(&part, scan, replay, err);
    if (!code && job->sink->end)
        code = job->sink->end(job->sink->context, item, index, err);
    return code;
}

enum weft_code weft_shape_replay_run(struct weft_shape_replay *replay, const size_t *items,
                                     size_t n_items, const struct weft_shape_replay_sink *sink,
                                     struct weft_err *err)
{
    const struct weft_mined *mined = replay->mined;
    struct replay_job job = { .replay = replay, .items = items, .sink = sink };
    size_t n = items ? n_items : mined->n_threads;
    uint32_t *ids = malloc((n + 1) * sizeof *ids);
    if (!ids)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        ids[i] = mined->threads[items ? items[i] : i].thread_id;
    enum weft_code code = WEFT_OK;
    if (n > 0)
        code = weft_scan_threads(replay->trace, ids, n, replay->opts->window, replay->run,
                                 replay_item, &job, err);
    free(ids);
    return code;
}
