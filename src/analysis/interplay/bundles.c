/* SPDX-License-Identifier: MIT
 *
 * Correspondences of a window: those that are long enough to be seen stand alone; the others are
 * bundled by the column in which they begin (SyncTrace, section IV.B.2, equation 8).
 */
#include "analysis/interplay/interplay.h"
#include "analysis/interplay/tables.h"
#include "base/map.h"
#include "base/room.h"

#include <stdlib.h>

/* A wait, by what it may be bundled with. */
struct entry {
    uint64_t column; /* of its begin */
    uint64_t wait_ns;
    uint32_t wait;
    uint32_t waiter_id, releaser_id;
    bool is_alone;
};

struct job {
    const struct weft_interplay *interplay;
    const struct weft_correspondences_opts *opts;
    uint8_t *is_kept;
    uint8_t *is_releaser; /* by thread; NULL: all */
    struct {
        struct entry *items;
        size_t n, cap;
    } entries;
    uint64_t column_ns;
    size_t n_rows;
    struct weft_interplay_names names;
    struct weft_map *objects; /* of the bundle in work */
};

static const struct weft_wait *wait_at(const struct job *job, size_t place)
{
    return &job->interplay->waits.items[job->entries.items[place].wait];
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool is_asked_for(const struct job *job, const struct weft_wait *wait)
{
    return job->is_kept[wait->waiter_id] &&
           (job->opts->object_id == UINT64_MAX || job->opts->object_id == wait->object) &&
           (!job->is_releaser ||
            (wait->releaser_id != WEFT_ID_NONE && job->is_releaser[wait->releaser_id])) &&
           weft_interplay_touches(wait->start_ns, wait->end_ns, job->opts->from_ns,
                                  job->opts->to_ns);
}

static enum weft_code choose(struct job *job, struct weft_err *err)
{
    for (uint32_t i = 0; i < job->interplay->waits.n; i++) {
        const struct weft_wait *wait = &job->interplay->waits.items[i];
        if (!is_asked_for(job, wait))
            continue;
        struct entry *entry = WEFT_ROOM_PUSH(&job->entries);
        if (!entry)
            return weft_no_memory(err, "correspondences");
        *entry = (struct entry){ .wait = i,
                                 .wait_ns = wait->end_ns - wait->start_ns,
                                 .waiter_id = wait->waiter_id,
                                 .releaser_id = wait->releaser_id };
    }
    return WEFT_OK;
}

static enum weft_code choose_releasers(struct job *job, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(job->interplay->trace);
    if (!job->opts->releasers)
        return WEFT_OK;
    job->is_releaser = weft_room_new((size_t)n_threads + 1, 1);
    if (!job->is_releaser)
        return weft_no_memory(err, "correspondences");
    for (size_t i = 0; i < job->opts->n_releasers; i++) {
        if (job->opts->releasers[i] >= n_threads)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "the trace has no such thread");
        job->is_releaser[weft_locks_twins(job->interplay->locks)->first[job->opts->releasers[i]]] =
            1;
    }
    return WEFT_OK;
}

/* ---- bundles --------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Those that may be one bundle beside each other. */
static int by_bundle(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->waiter_id != y->waiter_id)
        return order(x->waiter_id, y->waiter_id);
    if (x->releaser_id != y->releaser_id)
        return order(x->releaser_id, y->releaser_id);
    if (x->is_alone != y->is_alone)
        return x->is_alone ? -1 : 1;
    return x->column != y->column ? order(x->column, y->column) : order(x->wait, y->wait);
}

static bool is_bundle(const struct entry *a, const struct entry *b)
{
    return !a->is_alone && !b->is_alone && a->waiter_id == b->waiter_id &&
           a->releaser_id == b->releaser_id && a->column == b->column;
}

/* Columns of this width: how many rows that makes. */
static size_t divide(struct job *job, uint64_t column_ns)
{
    struct entry *items = job->entries.items;
    size_t n_rows = 0;
    job->column_ns = column_ns;
    for (size_t i = 0; i < job->entries.n; i++) {
        const uint64_t start_ns = wait_at(job, i)->start_ns;
        const uint64_t from_ns = job->opts->from_ns;
        items[i].is_alone = items[i].wait_ns >= column_ns;
        /* Waits that begin before the window have columns of their own: those from the end. */
        items[i].column = column_ns == 0        ? 0
                          : start_ns >= from_ns ? (start_ns - from_ns) / column_ns
                                                : UINT64_MAX - (from_ns - start_ns) / column_ns;
    }
    if (job->entries.n)
        weft_room_sort(items, job->entries.n, sizeof *items, by_bundle);
    for (size_t i = 0; i < job->entries.n; i++)
        n_rows += i == 0 || !is_bundle(&items[i - 1], &items[i]);
    return n_rows;
}

static int by_length(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->wait_ns != y->wait_ns ? order(y->wait_ns, x->wait_ns) : order(x->wait, y->wait);
}

/* Columns grow until there are no more rows than are asked for. */
static void find_columns(struct job *job)
{
    const uint64_t window_ns = job->opts->to_ns - job->opts->from_ns;
    const uint32_t limit = job->opts->limit;
    uint64_t column_ns = job->opts->width ? window_ns / job->opts->width : 0;
    if (job->opts->width && column_ns == 0)
        column_ns = 1;
    job->n_rows = divide(job, column_ns);
    if (job->opts->width == 0) { /* the longest ones */
        if (limit && job->entries.n > limit) {
            weft_room_sort(job->entries.items, job->entries.n, sizeof *job->entries.items,
                           by_length);
            job->entries.n = limit;
            job->n_rows = divide(job, 0);
        }
        return;
    }
    while (limit && job->n_rows > limit && column_ns < UINT64_MAX / 2) {
        column_ns *= 2;
        job->n_rows = divide(job, column_ns);
    }
}

static bool count_object(struct job *job, uint32_t object, uint32_t *n_objects)
{
    bool is_new;
    if (weft_map_add(job->objects, object, &is_new) == WEFT_MAP_NONE)
        return false;
    *n_objects += is_new;
    return true;
}

static void widen(struct weft_correspondence *row, const struct weft_wait *wait)
{
    const uint64_t wait_ns = wait->end_ns - wait->start_ns;
    row->start_ns = wait->start_ns < row->start_ns ? wait->start_ns : row->start_ns;
    row->end_ns = wait->end_ns > row->end_ns ? wait->end_ns : row->end_ns;
    row->first_release_ns =
        wait->release_ns < row->first_release_ns ? wait->release_ns : row->first_release_ns;
    row->last_release_ns =
        wait->release_ns > row->last_release_ns ? wait->release_ns : row->last_release_ns;
    row->count++;
    row->sum_ns += wait_ns;
    row->longest_ns = wait_ns > row->longest_ns ? wait_ns : row->longest_ns;
    row->wait_depth = wait->wait_depth < row->wait_depth ? wait->wait_depth : row->wait_depth;
    row->confidence = wait->confidence < row->confidence ? wait->confidence : row->confidence;
    row->flags |= wait->flags;
}

/* Entries [from, to) as one row: what is of one pair of calls is of the longest. */
static bool make_row(struct job *job, size_t from, size_t to, struct weft_correspondence *row)
{
    size_t longest = from;
    for (size_t i = from; i < to; i++)
        if (job->entries.items[i].wait_ns > job->entries.items[longest].wait_ns)
            longest = i;
    if (!weft_interplay_row(&job->names, wait_at(job, longest), row))
        return false;
    weft_map_reset(job->objects);
    row->n_objects = 0;
    bool is_good = count_object(job, wait_at(job, longest)->object, &row->n_objects);
    for (size_t i = from; i < to && is_good; i++) {
        if (i != longest)
            widen(row, wait_at(job, i));
        is_good = count_object(job, wait_at(job, i)->object, &row->n_objects);
    }
    return is_good;
}

static int by_time(const void *a, const void *b)
{
    const struct weft_correspondence *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return order(x->start_ns, y->start_ns);
    if (x->waiter_id != y->waiter_id)
        return order(x->waiter_id, y->waiter_id);
    if (x->releaser_id != y->releaser_id)
        return order(x->releaser_id, y->releaser_id);
    return x->end_ns != y->end_ns ? order(x->end_ns, y->end_ns) : order(x->object, y->object);
}

static bool fill(struct job *job, struct weft_correspondences_table *table)
{
    table->rows = WEFT_ARENA_NEW(table->arena, job->n_rows, struct weft_correspondence);
    if (!table->rows)
        return false;
    for (size_t from = 0, to = 0; from < job->entries.n; from = to) {
        for (to = from + 1; to < job->entries.n &&
                            is_bundle(&job->entries.items[to - 1], &job->entries.items[to]);)
            to++;
        struct weft_correspondence *row = &table->rows[table->n_rows++];
        if (!make_row(job, from, to, row))
            return false;
        table->n_unknown += row->releaser_id == WEFT_ID_NONE ? row->count : 0;
    }
    weft_room_sort(table->rows, table->n_rows, sizeof *table->rows, by_time);
    table->column_ns = job->column_ns;
    return weft_interplay_copy_objects(&job->names, table->arena, &table->objects,
                                       &table->n_objects) &&
           weft_interplay_copy_sites(&job->names, table->arena, &table->sites, &table->n_sites);
}

static enum weft_code work(struct job *job, const struct weft_thread_filter *filter,
                           struct weft_correspondences_table *table, struct weft_err *err)
{
    job->objects = weft_map_new();
    enum weft_code code = job->objects && weft_interplay_names_init(&job->names, job->interplay)
                              ? weft_kept_threads(job->interplay->trace, job->interplay->locks,
                                                  filter, NULL, &job->is_kept, err)
                              : weft_no_memory(err, "correspondences");
    WEFT_THEN(code, choose_releasers(job, err));
    WEFT_THEN(code, choose(job, err));
    if (code != WEFT_OK)
        return code;
    table->n_found = job->entries.n;
    find_columns(job);
    return fill(job, table) ? WEFT_OK : weft_no_memory(err, "correspondences");
}

enum weft_code weft_correspondences_run(const struct weft_interplay *interplay,
                                        const struct weft_thread_filter *filter,
                                        const struct weft_correspondences_opts *opts,
                                        const struct weft_run *run,
                                        struct weft_correspondences_table **table,
                                        struct weft_err *err)
{
    struct job job = { .interplay = interplay, .opts = opts };
    (void)run;
    *table = NULL;
    if (opts->from_ns > opts->to_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_correspondences_table *made =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_correspondences_table) : NULL;
    enum weft_code code = made ? WEFT_OK : weft_no_memory(err, "correspondences");
    if (made) {
        *made = (struct weft_correspondences_table){ .arena = arena,
                                                     .from_ns = opts->from_ns,
                                                     .to_ns = opts->to_ns };
        code = work(&job, filter, made, err);
    }
    weft_interplay_names_fini(&job.names);
    weft_map_free(job.objects);
    free(job.is_kept);
    weft_room_free(job.is_releaser);
    WEFT_ROOM_FINI(&job.entries);
    if (code == WEFT_OK)
        *table = made;
    else if (arena)
        weft_arena_free(arena);
    return code;
}
