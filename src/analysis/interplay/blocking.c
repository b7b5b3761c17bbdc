/* SPDX-License-Identifier: MIT
 *
 * dur_w and dur_o (SyncTrace, equation 4) by columns: intervals of a thread that lie in others are
 * part of these.
 */
#include "analysis/interplay/interplay.h"
#include "analysis/interplay/tables.h"
#include "base/room.h"
#include "base/u128.h"

#include <stdlib.h>

enum { MOST_WIDTH = 1 << 16 };

struct piece {
    uint64_t start_ns, end_ns;
    uint8_t kind; /* enum weft_blocking_kind */
};

struct job {
    const struct weft_interplay *interplay;
    const struct weft_blocking_opts *opts;
    struct weft_blocking_table *table;
    uint8_t *is_kept;
    struct {
        struct piece *items;
        size_t n, cap;
    } pieces; /* of a thread */
    struct {
        struct weft_blocking_column *items;
        size_t n, cap;
    } columns; /* of a thread: those with any, ascending; there is room for all */
};

static bool add_piece(struct job *job, uint64_t start_ns, uint64_t end_ns, uint8_t kind)
{
    if (!weft_interplay_touches(start_ns, end_ns, job->opts->from_ns, job->opts->to_ns))
        return true;
    struct piece *piece = WEFT_ROOM_PUSH(&job->pieces);
    if (piece)
        *piece = (struct piece){ start_ns, end_ns, kind };
    return piece != NULL;
}

/* The outermost first. */
static int by_start(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static uint64_t edge_of(const struct job *job, uint64_t column)
{
    const uint64_t window_ns = job->opts->to_ns - job->opts->from_ns;
    return job->opts->from_ns + (uint64_t)((weft_u128)window_ns * column / job->opts->width);
}

static uint32_t column_of(const struct job *job, uint64_t at_ns)
{
    const uint64_t window_ns = job->opts->to_ns - job->opts->from_ns;
    uint64_t column =
        (uint64_t)((weft_u128)(at_ns - job->opts->from_ns) * job->opts->width / window_ns);
    while (column + 1 < job->opts->width && edge_of(job, column + 1) <= at_ns)
        column++;
    return column < job->opts->width ? (uint32_t)column : job->opts->width - 1;
}

/* Times come in ascending order: the column is the last one so far, or comes after it. */
static struct weft_blocking_column *column_at(struct job *job, uint32_t column)
{
    struct weft_blocking_column *items = job->columns.items;
    if (job->columns.n == 0 || items[job->columns.n - 1].column != column)
        items[job->columns.n++] = (struct weft_blocking_column){ .column = column };
    return &items[job->columns.n - 1];
}

static void add_time(struct job *job, struct weft_blocking_thread *thread, uint8_t kind,
                     uint64_t start_ns, uint64_t end_ns)
{
    const bool is_io = kind == WEFT_BLOCKING_IO;
    if (start_ns >= end_ns)
        return;
    for (uint32_t column = column_of(job, start_ns); start_ns < end_ns; column++) {
        const uint64_t edge_ns = edge_of(job, (uint64_t)column + 1);
        const uint64_t to_ns = edge_ns < end_ns ? edge_ns : end_ns;
        if (to_ns <= start_ns)
            continue;
        struct weft_blocking_column *made = column_at(job, column);
        *(is_io ? &made->io_ns : &made->wait_ns) += to_ns - start_ns;
        *(is_io ? &thread->io_ns : &thread->wait_ns) += to_ns - start_ns;
        start_ns = to_ns;
    }
}

/* What of the pieces is in no other. */
static void sum_pieces(struct job *job, struct weft_blocking_thread *thread)
{
    uint64_t until_ns = job->opts->from_ns;
    if (job->pieces.n)
        weft_room_sort(job->pieces.items, job->pieces.n, sizeof *job->pieces.items, by_start);
    for (size_t i = 0; i < job->pieces.n; i++) {
        const struct piece *piece = &job->pieces.items[i];
        const uint64_t start_ns = piece->start_ns > until_ns ? piece->start_ns : until_ns;
        const uint64_t end_ns = piece->end_ns < job->opts->to_ns ? piece->end_ns : job->opts->to_ns;
        if (piece->end_ns <= until_ns && piece->start_ns < until_ns && i > 0 &&
            until_ns > job->opts->from_ns)
            continue; /* inner */
        *(piece->kind == WEFT_BLOCKING_IO ? &thread->io : &thread->waits) += 1;
        add_time(job, thread, piece->kind, start_ns, end_ns);
        until_ns = end_ns > until_ns ? end_ns : until_ns;
    }
}

static size_t first_io(const struct weft_interplay *interplay, uint64_t thread_id)
{
    size_t low = 0, high = interplay->io.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (interplay->io.items[middle].thread_id < thread_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool take_thread(struct job *job, uint32_t thread_id)
{
    const struct weft_interplay *interplay = job->interplay;
    struct weft_blocking_thread *thread = &job->table->threads[job->table->n_threads++];
    size_t first, end;
    *thread = (struct weft_blocking_thread){ .thread_id = thread_id };
    job->pieces.n = job->columns.n = 0;
    weft_interplay_waits_of(interplay, thread_id, &first, &end);
    bool is_good = true;
    for (size_t i = first; i < end && is_good; i++)
        is_good = add_piece(job, interplay->waits.items[i].start_ns,
                            interplay->waits.items[i].end_ns, WEFT_BLOCKING_WAIT);
    for (size_t i = first_io(interplay, thread_id); is_good && i < interplay->io.n; i++) {
        if (interplay->io.items[i].thread_id != thread_id)
            break;
        is_good = add_piece(job, interplay->io.items[i].start_ns, interplay->io.items[i].end_ns,
                            WEFT_BLOCKING_IO);
    }
    sum_pieces(job, thread);
    thread->n_columns = job->columns.n;
    return is_good && weft_arena_copy_items(job->table->arena, &thread->columns, job->columns.items,
                                            job->columns.n, sizeof *thread->columns);
}

static enum weft_code work(struct job *job, const struct weft_thread_filter *filter,
                           struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(job->interplay->trace);
    WEFT_TRY(weft_kept_threads(job->interplay->trace, job->interplay->locks, filter, NULL,
                               &job->is_kept, err));
    job->table->threads = WEFT_ARENA_NEW(job->table->arena, n_threads, struct weft_blocking_thread);
    if (!job->table->threads || !weft_room_reserve(&job->columns.items, &job->columns.cap,
                                                   job->opts->width, sizeof *job->columns.items))
        return weft_no_memory(err, "times of blocking");
    for (uint32_t id = 0; id < n_threads; id++)
        if (job->is_kept[id] && weft_locks_twins(job->interplay->locks)->first[id] == id &&
            !take_thread(job, id))
            return weft_no_memory(err, "times of blocking");
    return WEFT_OK;
}

enum weft_code weft_blocking_run(const struct weft_interplay *interplay,
                                 const struct weft_thread_filter *filter,
                                 const struct weft_blocking_opts *opts, const struct weft_run *run,
                                 struct weft_blocking_table **table, struct weft_err *err)
{
    struct job job = { .interplay = interplay, .opts = opts };
    (void)run;
    *table = NULL;
    if (opts->from_ns >= opts->to_ns || opts->width == 0 || opts->width > MOST_WIDTH)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start, of 1 to %d columns",
                         MOST_WIDTH);
    struct weft_arena *arena = weft_arena_new(0);
    job.table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_blocking_table) : NULL;
    enum weft_code code = job.table ? WEFT_OK : weft_no_memory(err, "times of blocking");
    if (job.table) {
        *job.table = (struct weft_blocking_table){
            .arena = arena, .from_ns = opts->from_ns, .to_ns = opts->to_ns, .width = opts->width
        };
        code = work(&job, filter, err);
    }
    free(job.is_kept);
    WEFT_ROOM_FINI(&job.pieces);
    WEFT_ROOM_FINI(&job.columns);
    if (code == WEFT_OK)
        *table = job.table;
    else if (arena)
        weft_arena_free(arena);
    return code;
}
