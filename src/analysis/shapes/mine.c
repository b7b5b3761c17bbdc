/* SPDX-License-Identifier: MIT
 *
 * Mining over the threads of a trace.
 */
#include "analysis/shapes/mine.h"

#include "analysis/shapes/parts.h"
#include "base/checked.h"
#include "base/vec.h"
#include "model/calls/scan.h"
#include "model/calls/scan_window.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_TAPE_BYTES = 256 * 1024 * 1024, /* shapes of 89 million calls, with durations 44 */
    PARTS_A_WORKER = 8,                 /* into which all the blocks are cut, about */
    LEAST_PART_BLOCKS = 8,
    ROWS_JOINED = 2, /* rows of partitions for one of a thread, at most */
};

struct worker {
    struct weft_miner miner;
    bool is_ready;
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
    size_t strict_part;
    size_t cap_parts;
    atomic_bool is_over;
    atomic_uint_fast64_t n_rows; /* found, of all parts */
    uint64_t max_rows;
    uint64_t max_tape_bytes;
    bool has_durations; /* there is room for those of all calls */
    uint32_t **maps;    /* by worker: its shapes' numbers among those of all */
    size_t *n_shapes;   /* by worker */
    struct weft_joined_calls joined;
};

static void part_fini(struct weft_mine_part *part)
{
    free(part->given);
    weft_shape_tape_fini(&part->tape);
}

void weft_mined_fini(struct weft_mined *mined)
{
    weft_shape_table_fini(&mined->table);
    free(mined->repeats);
    if (mined->arena)
        weft_arena_free(mined->arena);
    for (size_t i = 0; mined->threads && i < mined->n_threads; i++)
        free(mined->threads[i].rows);
    for (size_t i = 0; mined->parts && i < mined->n_parts; i++)
        part_fini(&mined->parts[i]);
    for (unsigned w = 0; mined->names && w < mined->n_names; w++)
        free(mined->names[w].shape_of);
    free(mined->names);
    free(mined->threads);
    free(mined->parts);
    *mined = (struct weft_mined){ 0 };
}

/* ---- mining ---------------------------------------------------------------------------------- */

/* A tape for the partition, if its thread is to have some. False without memory. */
static bool tape_ready(const struct job *job, const struct weft_scan *scan,
                       struct weft_mine_part *part)
{
    uint64_t n_rows = 0;
    if (!job->mined->threads[part->item].is_taped)
        return true;
    for (uint64_t block = part->first_block;
         block < part->end_block && block < scan->thread->n_blocks; block++)
        n_rows += weft_scan_block(scan, block)->n_rows;
    return weft_shape_tape_init(&part->tape, n_rows, job->has_durations);
}

static enum weft_code mine_part(struct job *job, struct weft_scan *scan, size_t index,
                                unsigned worker_index, struct weft_err *err)
{
    struct worker *worker = &job->workers[worker_index];
    struct weft_part_found *found = &job->found[index];
    struct weft_mine_part *part = &job->mined->parts[index];
    part->worker = worker_index;
    part->is_empty = weft_part_is_empty(scan, part);
    if (part->is_empty)
        return WEFT_OK;
    const struct weft_part_walk walk = {
        .part = part,
        .borders = &found->borders,
    };
    enum weft_code code = tape_ready(job, scan, part) ? WEFT_OK : weft_no_memory(err, "shapes");
    worker->miner.tape = part->tape.shape ? &part->tape : NULL;
    if (!code)
        code = weft_part_walk(scan, &worker->miner, &walk, err);
    worker->miner.tape = NULL;
    if (worker->miner.n_shapes > WEFT_TAPE_MAX_SHAPES)
        weft_shape_tape_fini(&part->tape);
    found->tally = worker->miner.tally;
    if (!code && !weft_miner_take_rows(&worker->miner, &found->rows, &found->n_rows))
        code = weft_no_memory(err, "shapes");
    atomic_fetch_add(&job->n_rows, found->n_rows);
    if (worker->miner.is_over)
        atomic_store(&job->is_over, true);
    return code;
}

/* Partitions have rows that joining them makes one. */
static bool has_too_many_rows(struct job *job)
{
    const uint64_t n_rows = atomic_load(&job->n_rows);
    return job->is_strict ? n_rows > job->max_rows : n_rows / ROWS_JOINED > job->max_rows;
}

static enum weft_code mine_piece(void *context, struct weft_scan *scan, unsigned index,
                                 struct weft_err *err)
{
    struct job *job = context;
    unsigned at = job->is_strict ? 0 : index;
    struct worker *worker = &job->workers[at];
    enum weft_code code = WEFT_OK;
    if (has_too_many_rows(job) || (!job->is_strict && atomic_load(&job->is_over)))
        return WEFT_OK; /* all of it will be mined again */
    if (!worker->is_ready)
        code = weft_miner_init(&worker->miner, weft_trace_n_functions(job->trace), &job->limits,
                               NULL, job->opts->is_excluded, err);
    worker->is_ready = true;
    return code ? code
                : mine_part(job, scan, job->is_strict ? job->strict_part : scan->item, at, err);
}

/* ---- partitions ------------------------------------------------------------------------------ */

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
    *n = at - *first;
}

/* What of a thread lies in the window: its first block there, how many there are, and how many
 * calls these have, perhaps some more. */
struct extent {
    uint64_t first_block, n_blocks, n_calls;
};

static struct extent extent_of(const struct job *job, uint32_t thread_id)
{
    const struct weft_model_thread *thread = weft_trace_thread(job->trace, thread_id);
    struct weft_scan_part part = { 0 };
    if (!job->opts->window)
        return (struct extent){ 0, thread->n_blocks, thread->calls };
    weft_scan_part_begin(&part, job->trace, thread_id, job->opts->window);
    struct extent extent = { part.first_block, part.thread.n_blocks, 0 };
    for (uint64_t i = 0; i < extent.n_blocks; i++)
        extent.n_calls +=
            weft_store_block_get(weft_trace_store(job->trace), thread_id, extent.first_block + i)
                ->n_rows;
    return extent;
}

/* Gives tapes to threads while there is room, with durations if there is room for those of all. */
static void give_tapes(struct job *job)
{
    uint64_t n_calls = 0, most = job->max_tape_bytes / WEFT_TAPE_FULL_ROW_BYTES;
    for (size_t item = 0; item < job->mined->n_threads; item++)
        n_calls += extent_of(job, job->mined->threads[item].thread_id).n_calls;
    job->has_durations = n_calls <= weft_min_u64(most, UINT32_MAX);
    most = job->max_tape_bytes / WEFT_TAPE_ROW_BYTES;
    for (size_t item = 0; item < job->mined->n_threads; item++) {
        struct weft_mined_thread *thread = &job->mined->threads[item];
        n_calls = extent_of(job, thread->thread_id).n_calls;
        thread->is_taped = job->has_durations || n_calls <= most;
        most -= thread->is_taped && !job->has_durations ? n_calls : 0;
    }
}

/* Blocks of a partition, by default. */
static uint64_t blocks_of_part(const struct job *job)
{
    uint64_t n_blocks = 0, n_parts = (uint64_t)job->n_workers * PARTS_A_WORKER;
    if (job->is_strict || job->n_workers == 1)
        return UINT64_MAX;
    for (size_t item = 0; item < job->mined->n_threads; item++)
        n_blocks += extent_of(job, thread_id_of(job, item)).n_blocks;
    return weft_max_u64(n_blocks / n_parts + 1, LEAST_PART_BLOCKS);
}

/* Appends the partition [begin, end) of the thread being cut. False without memory. */
static bool add_part(struct job *job, size_t item, uint64_t begin, uint64_t end)
{
    struct weft_mined *mined = job->mined;
    if (!weft_vec_reserve(&mined->parts, &job->cap_parts, mined->n_parts + 1, sizeof *mined->parts))
        return false;
    mined->parts[mined->n_parts++] =
        (struct weft_mine_part){ .item = item, .first_block = begin, .end_block = end };
    mined->threads[item].n_parts++;
    return true;
}

/* As the caller wishes. */
static bool cut_as_told(struct job *job, size_t item)
{
    size_t first = 0, n = 0;
    uint64_t begin = 0;
    bool is_ok = true;
    cuts_of(job, job->mined->threads[item].thread_id, &first, &n);
    for (size_t i = 0; is_ok && i <= n; i++) {
        uint64_t end = i < n ? job->opts->cuts[first + i].block : UINT64_MAX;
        if (end <= begin)
            continue;
        is_ok = add_part(job, item, begin, end);
        begin = end;
    }
    return is_ok;
}

/* Into equal parts of at most `most` blocks. */
static bool cut_evenly(struct job *job, size_t item, uint64_t most)
{
    uint64_t n_blocks = extent_of(job, job->mined->threads[item].thread_id).n_blocks;
    uint64_t n_parts = n_blocks > 0 ? (n_blocks - 1) / most + 1 : 1, begin = 0;
    bool is_ok = true;
    for (uint64_t i = 1; is_ok && i <= n_parts; i++) {
        uint64_t end =
            i < n_parts ? n_blocks / n_parts * i + n_blocks % n_parts * i / n_parts : UINT64_MAX;
        is_ok = add_part(job, item, begin, end);
        begin = end;
    }
    return is_ok;
}

static enum weft_code make_parts(struct job *job, struct weft_err *err)
{
    struct weft_mined *mined = job->mined;
    const uint64_t most = blocks_of_part(job);
    bool is_ok = true;
    mined->n_parts = 0;
    job->cap_parts = 0;
    for (size_t item = 0; is_ok && item < mined->n_threads; item++) {
        mined->threads[item] = (struct weft_mined_thread){ .thread_id = thread_id_of(job, item),
                                                           .first_part = mined->n_parts };
        is_ok = job->opts->cuts && !job->is_strict ? cut_as_told(job, item)
                                                   : cut_evenly(job, item, most);
    }
    give_tapes(job);
    job->found = calloc(mined->n_parts + 1, sizeof *job->found);
    return is_ok && job->found ? WEFT_OK : weft_no_memory(err, "shapes");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void drop_found(struct job *job)
{
    for (size_t i = 0; job->found && i < job->mined->n_parts; i++)
        weft_part_found_fini(&job->found[i]);
    free(job->found);
    job->found = NULL;
    for (unsigned w = 0; w < job->n_workers; w++) {
        weft_miner_fini(&job->workers[w].miner);
        job->workers[w] = (struct worker){ 0 };
    }
}

static enum weft_code merge(struct job *job, struct weft_merged *merged, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    struct weft_mined *mined = job->mined;
    for (unsigned w = 0; !code && w < job->n_workers; w++) {
        job->n_shapes[w] = job->workers[w].miner.n_shapes;
        code = weft_merge_miner(merged, &job->workers[w].miner, &job->maps[w], err);
    }
    for (unsigned w = 0; w < job->n_workers; w++)
        weft_miner_fini(&job->workers[w].miner);
    for (size_t item = 0; !code && item < mined->n_threads; item++) {
        struct weft_mined_thread *thread = &mined->threads[item];
        uint32_t *const *maps = job->maps;
        code = weft_join_parts(mined, thread, job->found, maps, merged, &job->joined, err);
        for (size_t i = 0; i < thread->n_parts; i++)
            weft_part_found_fini(&job->found[thread->first_part + i]);
    }
    return code;
}

/* The partition of a thread whose tape has the row, or NULL. */
static struct weft_mine_part *part_of_row(const struct weft_mined *mined, size_t item, uint64_t row)
{
    const struct weft_mined_thread *thread = &mined->threads[item];
    for (size_t i = 0; i < thread->n_parts; i++) {
        struct weft_mine_part *part = &mined->parts[thread->first_part + i];
        if (part->tape.shape && row >= part->tape.first_row &&
            row - part->tape.first_row < part->tape.n_rows)
            return part;
    }
    return NULL;
}

/* A worker's number for a shape that it may not have met. `numbers` is by shape, 0 or the number +
 * 1, and made at the first use. False without memory. */
static bool number_for(struct weft_mined *mined, unsigned worker, uint32_t shape,
                       uint32_t **numbers, uint32_t *number)
{
    struct weft_mine_names *names = &mined->names[worker];
    if (!*numbers) {
        *numbers = calloc(mined->set.n_shapes + 1, sizeof **numbers);
        for (size_t i = 0; *numbers && i < names->n_shapes; i++)
            (*numbers)[names->shape_of[i]] = (uint32_t)i + 1;
    }
    if (!*numbers || !weft_vec_reserve(&names->shape_of, &names->cap_shapes, names->n_shapes + 1,
                                       sizeof *names->shape_of))
        return false;
    if (!(*numbers)[shape]) {
        names->shape_of[names->n_shapes++] = shape;
        (*numbers)[shape] = (uint32_t)names->n_shapes;
    }
    *number = (*numbers)[shape] - 1;
    return true;
}

/* Puts the calls that were joined on the tapes. False without memory. */
static bool put_joined(struct job *job, const uint32_t *id_of)
{
    struct weft_mined *mined = job->mined;
    uint32_t **numbers = calloc(job->n_workers, sizeof *numbers); /* by worker */
    bool is_ok = numbers != NULL;
    for (size_t i = 0; is_ok && i < job->joined.n; i++) {
        const struct weft_joined_call *call = &job->joined.items[i];
        struct weft_mine_part *part = part_of_row(mined, call->item, call->row);
        uint32_t number = 0;
        if (!part)
            continue;
        is_ok =
            number_for(mined, part->worker, id_of[call->shape], &numbers[part->worker], &number);
        if (number >= WEFT_TAPE_MAX_SHAPES) {
            weft_shape_tape_fini(&part->tape);
            continue;
        }
        if (number >= WEFT_TAPE_NARROW_SHAPES)
            is_ok = is_ok && weft_shape_tape_widen(&part->tape);
        if (is_ok)
            weft_shape_tape_put(&part->tape, call->row - part->tape.first_row, number);
    }
    for (unsigned w = 0; numbers && w < job->n_workers; w++)
        free(numbers[w]);
    free(numbers);
    return is_ok;
}

/* Gives the workers' shapes their canonical names. */
static enum weft_code name_shapes(struct job *job, const uint32_t *id_of, struct weft_err *err)
{
    struct weft_mined *mined = job->mined;
    for (unsigned w = 0; w < job->n_workers; w++) {
        struct weft_mine_names *names = &mined->names[w];
        names->n_shapes = job->n_shapes[w];
        names->shape_of = job->maps[w];
        names->cap_shapes = names->n_shapes + 1;
        job->maps[w] = NULL;
        for (size_t i = 0; i < names->n_shapes; i++)
            names->shape_of[i] = id_of[names->shape_of[i]];
    }
    return put_joined(job, id_of) ? WEFT_OK : weft_no_memory(err, "shapes");
}

static enum weft_code mine_strictly(struct job *job, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    const size_t n_parts = job->mined->n_parts;
    for (size_t part = 0; !code && part < n_parts && !has_too_many_rows(job); part++) {
        uint32_t id = thread_id_of(job, job->mined->parts[part].item);
        job->strict_part = part;
        code = weft_scan_threads(job->trace, &id, 1, job->opts->window, job->run, mine_piece, job,
                                 err);
    }
    return code;
}

static enum weft_code mine_freely(struct job *job, struct weft_err *err)
{
    const struct weft_mined *mined = job->mined;
    struct weft_scan_piece *pieces = malloc((mined->n_parts + 1) * sizeof *pieces);
    if (!pieces)
        return weft_no_memory(err, "shapes");
    for (size_t part = 0; part < mined->n_parts; part++)
        pieces[part] = weft_part_piece(job->trace, mined, part);
    enum weft_code code = weft_scan_pieces(job->trace, pieces, mined->n_parts, job->opts->window,
                                           job->run, mine_piece, job, err);
    free(pieces);
    return code;
}

/* Whether what all workers found together is more than there is room for. */
static bool is_beyond_limits(const struct job *job, const struct weft_merged *merged)
{
    uint64_t n_rows = 0;
    for (size_t t = 0; t < job->mined->n_threads; t++)
        n_rows += job->mined->threads[t].n_rows;
    return merged->table.n_nodes > job->limits.max_shapes ||
           merged->table.n_child > job->limits.max_children || n_rows > job->max_rows;
}

/* Room for fewer shapes: as many as would have had room for their rows on all threads, if all have
 * as many as those mined so far; but at most half. */
static void make_room(struct job *job)
{
    const size_t n_mined = job->strict_part + 1, n_parts = job->mined->n_parts;
    const uint64_t n_shapes = job->workers[0].miner.n_shapes;
    const uint64_t fit = n_shapes * n_mined / n_parts;
    job->limits.max_shapes = weft_min_u64(job->limits.max_shapes / 2, fit);
}

/* Mines and merges; *is_over says that a limit was met, and the result is not to be used. */
static enum weft_code mine(struct job *job, struct weft_merged *merged, bool *is_over,
                           struct weft_err *err)
{
    atomic_store(&job->n_rows, 0);
    enum weft_code code = make_parts(job, err);
    if (!code)
        code = job->is_strict ? mine_strictly(job, err) : mine_freely(job, err);
    *is_over = has_too_many_rows(job) || (!job->is_strict && atomic_load(&job->is_over));
    if (!code && *is_over && job->is_strict)
        make_room(job);
    if (!code && !*is_over)
        code = merge(job, merged, err);
    *is_over = *is_over || (!job->is_strict && is_beyond_limits(job, merged));
    drop_found(job);
    return code;
}

/* Forgets the threads' rows and the partitions, to begin again. */
static void forget(struct job *job)
{
    struct weft_mined *mined = job->mined;
    for (size_t i = 0; i < mined->n_threads; i++) {
        free(mined->threads[i].rows);
        mined->threads[i] = (struct weft_mined_thread){ 0 };
    }
    for (size_t i = 0; i < mined->n_parts; i++)
        part_fini(&mined->parts[i]);
    free(mined->parts);
    mined->parts = NULL;
    mined->n_parts = 0;
    job->joined.n = 0;
    for (unsigned w = 0; w < job->n_workers; w++) {
        free(job->maps[w]);
        job->maps[w] = NULL;
    }
}

static uint64_t or_default(uint64_t value, uint64_t standard)
{
    return value ? value : standard;
}

static bool job_ready(struct job *job)
{
    struct weft_mined *mined = job->mined;
    mined->n_threads = weft_scan_n_threads(job->trace, job->ids, job->n_ids);
    mined->threads = calloc(mined->n_threads + 1, sizeof *mined->threads);
    mined->names = calloc(job->n_workers, sizeof *mined->names);
    mined->n_names = job->n_workers;
    job->workers = calloc(job->n_workers, sizeof *job->workers);
    job->maps = calloc(job->n_workers, sizeof *job->maps);
    job->n_shapes = calloc(job->n_workers, sizeof *job->n_shapes);
    return mined->threads && mined->names && job->workers && job->maps && job->n_shapes;
}

static void job_fini(struct job *job)
{
    for (unsigned w = 0; job->maps && w < job->n_workers; w++)
        free(job->maps[w]);
    free(job->maps);
    free(job->n_shapes);
    free(job->joined.items);
    free(job->workers);
}

/* A thread of which a partition lost its tape has none: a replay must see calls that cross
 * partitions once. Returns whether all durations are there. */
static bool check_tapes(struct weft_mined *mined)
{
    bool has_durations = true;
    for (size_t p = 0; p < mined->n_parts; p++)
        if (!mined->parts[p].is_empty && !mined->parts[p].tape.shape)
            mined->threads[mined->parts[p].item].is_taped = false;
    for (size_t p = 0; p < mined->n_parts; p++) {
        struct weft_mine_part *part = &mined->parts[p];
        if (!mined->threads[part->item].is_taped)
            weft_shape_tape_fini(&part->tape);
        has_durations = has_durations && (part->is_empty || part->tape.duration_ns);
    }
    return has_durations;
}

static enum weft_code run_job(struct job *job, struct weft_merged *merged, struct weft_err *err)
{
    const uint32_t *id_of = NULL;
    bool is_over = false;
    enum weft_code code =
        job_ready(job) ? mine(job, merged, &is_over, err) : weft_no_memory(err, "shapes");
    while (!code && is_over) {
        forget(job);
        weft_merged_fini(merged);
        job->is_strict = true;
        code = mine(job, merged, &is_over, err);
    }
    if (!code)
        code = weft_order_shapes(job->trace, merged, job->mined, &id_of, err);
    weft_merged_fini(merged);
    if (!code)
        code = name_shapes(job, id_of, err);
    job->mined->has_durations = !code && check_tapes(job->mined);
    return code;
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
                    .max_states = or_default(opts->max_states, WEFT_MINE_MAX_STATES) },
        .max_rows = or_default(opts->max_rows, UINT64_MAX),
        .max_tape_bytes = or_default(opts->max_tape_bytes, MAX_TAPE_BYTES),
    };
    struct weft_merged merged = { 0 };
    *mined = (struct weft_mined){ 0 };
    enum weft_code code = weft_scan_check(trace, job.ids, job.n_ids, err);
    if (!code)
        code = run_job(&job, &merged, err);
    job_fini(&job);
    return code;
}
